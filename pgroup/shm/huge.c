/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * fallocate gives huge pages only where all shared memory has them. Where a process has to ask for
 * them, they come when the memory is touched; the system does that for the process and returns an
 * error where a touch would end in SIGBUS. */
#include "shm/huge.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

static rgi_huge_use use;

rgi_huge_use rgi_huge_find(const char *path) {
  char line[128] = "";
  FILE *f = fopen(path ? path : "/sys/kernel/mm/transparent_hugepage/shmem_enabled", "r");
  char *read = f ? fgets(line, sizeof line, f) : NULL;
  if (f)
    fclose(f);
  if (!read)
    return RGI_HUGE_NEVER;
  if (strstr(line, "[advise]"))
    return RGI_HUGE_ADVISED;
  return strstr(line, "[always]") || strstr(line, "[within_size]") || strstr(line, "[force]")
             ? RGI_HUGE_ALWAYS
             : RGI_HUGE_NEVER;
}

static uintptr_t round_up(uintptr_t at) {
  return (at + RGI_HUGE - 1) / RGI_HUGE * RGI_HUGE;
}

/* Address space that is longer by one huge page, of which the ends are given back. */
void *rgi_huge_map(int fd, size_t bytes) {
  char *space =
      mmap(NULL, bytes + RGI_HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED)
    return NULL;
  char *base = (char *)round_up((uintptr_t)space), *end = space + bytes + RGI_HUGE;
  char *after = base + (bytes + 4095) / 4096 * 4096;
  if (base > space)
    munmap(space, (size_t)(base - space));
  if (end > after)
    munmap(after, (size_t)(end - after));
  if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
    munmap(base, bytes);
    return NULL;
  }
  use = rgi_huge_find(NULL);
  if (use != RGI_HUGE_NEVER)
    madvise(base, bytes, MADV_HUGEPAGE);
  return base;
}

void rgi_huge_touch(void *at, size_t bytes) {
  uintptr_t begin = round_up((uintptr_t)at), end = ((uintptr_t)at + bytes) / RGI_HUGE * RGI_HUGE;
  if (use == RGI_HUGE_ADVISED && end > begin)
    madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}
