/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define LEAST ((uint64_t)1 << 30)
#define MOST ((uint64_t)1 << 41)

static uint64_t physical_bytes(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : LEAST;
}

/* The number in a file; UINT64_MAX, no limit, without one. */
static uint64_t from_file(const char *path) {
  unsigned long long value = UINT64_MAX;
  FILE *f = fopen(path, "r");
  if (!f)
    return UINT64_MAX;
  if (fscanf(f, "%llu", &value) != 1)
    value = UINT64_MAX;
  fclose(f);
  return value;
}

static uint64_t from_limit(int resource) {
  struct rlimit limit;
  return getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? limit.rlim_cur
             : UINT64_MAX;
}

size_t rgi_memory_half(void) {
  const uint64_t limits[] = {from_file("/sys/fs/cgroup/memory.max"),
                             from_file("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
                             from_limit(RLIMIT_AS), from_limit(RLIMIT_FSIZE)};
  uint64_t all = physical_bytes();
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i] < all)
      all = limits[i];
  uint64_t half = all / 2 / MIB * MIB;
  return (size_t)(half < LEAST ? LEAST : half > MOST ? MOST : half);
}
