/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which ranks form a group that is measured. No MPI. */
#ifndef BENCH_MEMBERS_H
#define BENCH_MEMBERS_H

#include <stdint.h>

typedef enum { BENCH_BLOCK, BENCH_SPREAD, BENCH_RANDOM, BENCH_CHOICES } bench_choice;

/* "block", "spread", "random". */
extern const char *const bench_choice_name[BENCH_CHOICES];

/* Fills ranks[0..g-1] with g of the ranks 0..p-1, g <= p. block: the first g;
 * spread: as evenly apart as may be; random: any, in any order, each list equally
 * likely. The same arguments give the same list everywhere. */
void bench_choose(bench_choice choice, int g, int p, uint64_t seed, int ranks[]);

#endif
