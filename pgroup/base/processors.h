/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processors that this process may run on. Inline: polite.c is also built alone. */
#ifndef RGI_PROCESSORS_H
#define RGI_PROCESSORS_H

#include <sched.h>
#include <string.h>

/* A set of processors. A cpu_set_t has room for 1,024, and the system call fails where the kernel
 * has more; Linux can be built for 8,192. */
#define RGI_PROCESSORS_MOST 65536
#define RGI_PROCESSORS_WORD (8 * sizeof(unsigned long))
typedef struct {
  unsigned long word[RGI_PROCESSORS_MOST / RGI_PROCESSORS_WORD];
} rgi_processors;

static inline int rgi_processors_count(const rgi_processors *set) {
  return CPU_COUNT_S(sizeof *set, (const cpu_set_t *)set);
}

/* How many, by its affinity mask, which is stored in *set; 1 if that cannot be read. */
static inline int rgi_processors_mine(rgi_processors *set) {
  memset(set, 0, sizeof *set);
  if (sched_getaffinity(0, sizeof *set, (cpu_set_t *)set) != 0)
    return 1;
  int n = rgi_processors_count(set);
  return n > 0 ? n : 1;
}

/* So many words from the beginning on hold all of the set. */
static inline int rgi_processors_words(const rgi_processors *set) {
  int n = (int)(RGI_PROCESSORS_MOST / RGI_PROCESSORS_WORD);
  while (n > 0 && !set->word[n - 1])
    n--;
  return n;
}

#endif
