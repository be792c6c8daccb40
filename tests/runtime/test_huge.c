/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 4
 * Large objects begin with a huge page; where the system has huge pages of shared memory, they are
 * used. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "shm/arena.h"
#include "shm/huge.h"
#include "tests/check/check.h"

static rgi_huge_use use_of(const char *line) {
  char path[RGT_PATH];
  rgt_temporary(path);
  int fd = mkstemp(path);
  RGT_TRUE(write(fd, line, strlen(line)) == (ssize_t)strlen(line));
  close(fd);
  rgi_huge_use use = rgi_huge_find(path);
  remove(path);
  return use;
}

static void test_find(void) {
  RGT_INT(use_of("always within_size advise [never] deny force\n"), RGI_HUGE_NEVER);
  RGT_INT(use_of("always within_size [advise] never deny force\n"), RGI_HUGE_ADVISED);
  RGT_INT(use_of("[always] within_size advise never deny force\n"), RGI_HUGE_ALWAYS);
  RGT_INT(use_of("always [within_size] advise never deny force\n"), RGI_HUGE_ALWAYS);
  RGT_INT(use_of("always within_size advise never [deny] force\n"), RGI_HUGE_NEVER);
  RGT_INT(use_of(""), RGI_HUGE_NEVER);
  RGT_INT(rgi_huge_find("/nonexistent"), RGI_HUGE_NEVER);
}

/* KiB of this process's mapping around an address that are mapped by huge pages. */
static long huge_around(const void *at) {
  char line[512];
  unsigned long begin, end;
  long kib = 0;
  int inside = 0;
  FILE *f = fopen("/proc/self/smaps", "r");
  while (f && fgets(line, sizeof line, f)) {
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
      inside = (unsigned long)at >= begin && (unsigned long)at < end;
    else if (inside)
      sscanf(line, "ShmemPmdMapped: %ld", &kib);
  }
  if (f)
    fclose(f);
  return kib;
}

static void test_blocks(void) {
  enum { BLOCKS = 5 };
  static const size_t bytes[BLOCKS] = {(size_t)4 << 20, ((size_t)5 << 20) + 1, 20000,
                                       (size_t)16 << 20, ((size_t)6 << 20) - 5000};
  uint64_t at[BLOCKS];
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_INT((uintptr_t)rgi_arena_at(0) % RGI_HUGE, 0);
  RGT_INT((uintptr_t)rgi_arena_heap() % RGI_HUGE, 0);
  for (int i = 0; i < BLOCKS; i++) {
    RGT_OK(rgi_arena_alloc("a test", bytes[i], &at[i]));
    memset(rgi_arena_at(at[i]), rgt_rank + i, bytes[i]);
    RGT_TRUE(at[i] % (bytes[i] < 2 * RGI_HUGE ? 4096 : RGI_HUGE) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < BLOCKS; i++) {
    const unsigned char *block = rgi_arena_at(at[i]);
    RGT_TRUE(block[0] == rgt_rank + i && block[bytes[i] - 1] == rgt_rank + i);
  }
  if (rgi_huge_find(NULL) == RGI_HUGE_NEVER)
    fprintf(stderr, "the system has no huge pages of shared memory: nothing tested\n");
  else
    RGT_TRUE(huge_around(rgi_arena_at(at[3])) >= 2048);
  for (int i = 0; i < BLOCKS; i++)
    rgi_arena_free(at[i], bytes[i]);
  RGT_OK(rg_finalize());
}

/* An arena in which only pages as such are free, and no huge page's place. */
static void test_without_room(void) {
  rgi_arena_sizes sizes = {.bytes = (size_t)8 << 20};
  rgi_arena_address address;
  uint64_t at, second;
  RGT_OK(rgi_arena_make(&sizes, &address));
  size_t most = (size_t)address.size & ~(size_t)4095;
  while (most && rgi_arena_alloc("a test", most, &at) != RG_SUCCESS)
    most -= 4096;
  RGT_TRUE(most > (size_t)7 << 20);
  rgi_arena_free(at, most);
  RGT_OK(rgi_arena_alloc("a test", (size_t)4 << 20, &at));
  RGT_INT(at % RGI_HUGE, 0);
  rgi_arena_free(at, (size_t)4 << 20);
  RGT_OK(rgi_arena_alloc("a test", 4096 * 5, &second));
  RGT_OK(rgi_arena_alloc("a test", most - 4096 * 5, &at));
  rgi_arena_close();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"find", test_find},
                                   {"blocks", test_blocks},
                                   {"without_room", test_without_room},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "huge", tests);
}
