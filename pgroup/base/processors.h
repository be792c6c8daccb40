/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processors that this process may use. Inline: polite.c is also built alone. */
#ifndef RGI_PROCESSORS_H
#define RGI_PROCESSORS_H

#include <sched.h>

/* How many, by its affinity mask, which is stored in *set; 1 if that cannot be read. */
static inline int rgi_processors_mine(cpu_set_t *set) {
  CPU_ZERO(set);
  if (sched_getaffinity(0, sizeof *set, set) != 0)
    return 1;
  int n = CPU_COUNT(set);
  return n > 0 ? n : 1;
}

#endif
