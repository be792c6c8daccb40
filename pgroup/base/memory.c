/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/memory.h"

#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cgroup.h"

#define MIB ((uint64_t)1 << 20)
#define LEAST ((uint64_t)1 << 30)
#define MOST ((uint64_t)1 << 41)

static uint64_t physical_bytes(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : LEAST;
}

static uint64_t from_limit(int resource) {
  struct rlimit limit;
  return getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? limit.rlim_cur
             : UINT64_MAX;
}

size_t rgi_memory_half(const char *root) {
  const uint64_t limits[] = {rgi_cgroup_memory(root), from_limit(RLIMIT_AS),
                             from_limit(RLIMIT_FSIZE)};
  uint64_t all = physical_bytes();
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i] < all)
      all = limits[i];
  uint64_t half = all / 2 / MIB * MIB;
  return (size_t)(half < LEAST ? LEAST : half > MOST ? MOST : half);
}

/* What the system can give without swapping; UINT64_MAX: it does not say. */
static uint64_t available_bytes(const char *root) {
  char path[PATH_MAX], line[128];
  unsigned long long kib;
  uint64_t found = UINT64_MAX;
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  FILE *f = fopen(path, "re");
  while (f && found == UINT64_MAX && fgets(line, sizeof line, f))
    if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
      found = (uint64_t)kib << 10;
  if (f)
    fclose(f);
  return found;
}

uint64_t rgi_memory_free(const char *root) {
  uint64_t machine = available_bytes(root), groups = rgi_cgroup_memory_free(root);
  return machine < groups ? machine : groups;
}
