/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which ranks the benchmark chooses, and how it reads lists.
 * ranks: 1
 * sources: tests/bench/members.c tests/bench/settings.c */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests/bench/members.h"
#include "tests/bench/settings.h"

#define MOST 40

static int distinct(int g, int p, const int ranks[]) {
  for (int i = 0; i < g; i++) {
    if (ranks[i] < 0 || ranks[i] >= p)
      return 0;
    for (int j = 0; j < i; j++)
      if (ranks[i] == ranks[j])
        return 0;
  }
  return 1;
}

static void test_all_choices(void) {
  int ranks[MOST], again[MOST];
  for (int p = 1; p <= MOST; p++)
    for (int g = 1; g <= p; g++)
      for (bench_choice c = 0; c < BENCH_CHOICES; c++) {
        bench_choose(c, g, p, rgt_seed(), ranks);
        bench_choose(c, g, p, rgt_seed(), again);
        RGT_TRUE(distinct(g, p, ranks));
        RGT_TRUE(memcmp(ranks, again, (size_t)g * sizeof *ranks) == 0);
      }
}

static void test_block_and_spread(void) {
  int ranks[MOST];
  bench_choose(BENCH_BLOCK, 5, 32, 1, ranks);
  for (int i = 0; i < 5; i++)
    RGT_INT(ranks[i], i);
  for (int p = 1; p <= MOST; p++)
    for (int g = 1; g <= p; g++) {
      bench_choose(BENCH_SPREAD, g, p, 1, ranks);
      for (int i = 0; i < g; i++) { /* gaps, also the one around the end, differ by 1 at most */
        int gap = (i + 1 < g ? ranks[i + 1] : ranks[0] + p) - ranks[i];
        RGT_TRUE(gap == p / g || gap == (p + g - 1) / g);
      }
    }
}

/* Every rank comes at every place about equally often: 6,000 draws of 3 out of
 * 6, 1,000 expected, standard deviation 28.9; 200 is 7 of them. */
static void test_random_is_even(void) {
  int ranks[3], seen[3][6] = {{0}};
  for (unsigned i = 0; i < 6000; i++) {
    bench_choose(BENCH_RANDOM, 3, 6, rgt_seed() + i, ranks);
    for (int k = 0; k < 3; k++)
      seen[k][ranks[k]]++;
  }
  for (int k = 0; k < 3; k++)
    for (int r = 0; r < 6; r++)
      RGT_TRUE(abs(seen[k][r] - 1000) < 200);
}

static void test_numbers(void) {
  static const char *const bad[] = {"",     "2,",  ",2", "2;3", "2,x", " 2",
                                    "2, 3", "1.5", "0",  "9",   "2,2", "4,2"};
  int out[4];
  char why[RGP_TEXT];
  RGT_INT(bench_numbers("--sizes", "2,4,8", 1, 8, 4, out, why), 3);
  RGT_INT(out[0], 2);
  RGT_INT(out[2], 8);
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    why[0] = 0;
    RGT_INT(bench_numbers("--sizes", bad[i], 1, 8, 4, out, why), -1);
    RGT_TRUE(strncmp(why, "--sizes: ", 9) == 0);
  }
  RGT_INT(bench_numbers("--sizes", "1,2,3,4", 1, 8, 4, out, why), 4);
  RGT_INT(bench_numbers("--sizes", "1,2,3,4,5", 1, 8, 4, out, why), -1);
  RGT_STR(why, "--sizes: more than 4 numbers");
}

static void test_words(void) {
  static const char *const names[] = {"recursive", "native", "auto", NULL};
  static const char *const bad[] = {"", "auto,", ",auto", "nativ", "natives", "auto,native,auto"};
  int out[3];
  char why[RGP_TEXT];
  RGT_INT(bench_words("--contenders", "auto,recursive", names, out, why), 2);
  RGT_INT(out[0], 2);
  RGT_INT(out[1], 0);
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
    RGT_INT(bench_words("--contenders", bad[i], names, out, why), -1);
  RGT_STR(why, "--contenders: auto is named twice");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"all choices", test_all_choices},
                                   {"block and spread", test_block_and_spread},
                                   {"random is even", test_random_is_even},
                                   {"numbers", test_numbers},
                                   {"words", test_words},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "bench_members", tests);
}
