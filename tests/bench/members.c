/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "members.h"

const char *const bench_choice_name[BENCH_CHOICES] = {"block", "spread", "random"};

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int is_in(int n, const int list[], int rank) {
  for (int i = 0; i < n; i++)
    if (list[i] == rank)
      return 1;
  return 0;
}

void bench_choose(bench_choice choice, int g, int p, uint64_t seed, int ranks[]) {
  uint64_t state = seed + (uint64_t)g * 0x632be59bd9b4e019u;
  for (int i = 0; i < g; i++) {
    if (choice == BENCH_BLOCK)
      ranks[i] = i;
    else if (choice == BENCH_SPREAD)
      ranks[i] = (int)((long long)i * p / g);
    else
      do /* g is some dozens at most: drawing again is cheap enough */
        ranks[i] = (int)(draw(&state) % (uint64_t)p);
      while (is_in(i, ranks, ranks[i]));
  }
}
