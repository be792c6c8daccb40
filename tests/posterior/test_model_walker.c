/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that sample a posterior: the same states on any group, in any units,
 * handed over in the middle; and their draws, wherever they were made.
 * ranks: 1 2 3 4 7 16
 * sources: examples/posterior/model.c examples/posterior/schools.c
 * sources: examples/posterior/regression.c examples/posterior/draws.c
 * sources: examples/posterior/sampler.c examples/posterior/walker.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "examples/posterior/walker.h"
#include "groups.h"

enum { WALKERS = 3, TUNE = 16, SAMPLES = 12 };

static const char *const names[] = {"eight-schools", "regression"};

static post_walker_setup setup(const char *name) {
  return (post_walker_setup){.model = post_model_find(name),
                             .seed = rgt_seed() >> 1,
                             .walkers = WALKERS,
                             .samples = SAMPLES,
                             .tune = TUNE};
}

static post_walker_state run_alone(post_walker_setup *s, int64_t walker, post_draws *draws) {
  post_walker_state state = post_walker_start(s, walker);
  RGT_INT(post_walker_left(s, &state), TUNE + SAMPLES);
  RGT_OK(post_walker_advance(self, s, &state, 1000000, draws));
  RGT_INT(post_walker_left(s, &state), 0);
  return state;
}

/* Rank 0 begins alone; then all go on with its state. */
static post_walker_state run_handed(post_walker_setup *s, int64_t walker, int64_t unit,
                                    post_draws *draws) {
  post_walker_state state;
  memset(&state, 0, sizeof state);
  if (rgt_rank == 0) {
    state = post_walker_start(s, walker);
    RGT_OK(post_walker_advance(self, s, &state, TUNE + 2, draws));
  }
  RGT_OK(rg_bcast(world, &state, sizeof state, MPI_BYTE, 0));
  while (post_walker_left(s, &state) > 0)
    RGT_OK(post_walker_advance(world, s, &state, unit, draws));
  return state;
}

static void test_states(void) {
  for (int k = 0; k < 2; k++)
    for (int64_t w = 0; w < WALKERS; w++) {
      post_walker_setup s = setup(names[k]);
      post_draws alone = {0}, handed = {0};
      post_walker_state a = run_alone(&s, w, &alone), b = run_handed(&s, w, 5, &handed);
      RGT_TRUE(memcmp(&a, &b, sizeof a) == 0);
      RGT_INT(a.tried, POST_CHAINS * SAMPLES);
      RGT_TRUE(a.accepted >= 0 && a.accepted <= a.tried);
      RGT_INT(handed.used, rgt_rank == 0 ? alone.used : 0);
      if (rgt_rank == 0)
        RGT_TRUE(memcmp(alone.number, handed.number, (size_t)alone.used * sizeof(double)) == 0);
      post_draws_free(&alone);
      post_draws_free(&handed);
    }
}

/* Another seed, walker or chain has other draws. */
static void test_different(void) {
  post_walker_setup s = setup("eight-schools");
  post_draws d = {0};
  post_walker_state a = run_alone(&s, 0, &d), b = run_alone(&s, 1, &d);
  s.seed++;
  post_walker_state c = run_alone(&s, 0, &d);
  RGT_TRUE(a.position[0][0] != b.position[0][0]);
  RGT_TRUE(a.position[0][0] != a.position[1][0]);
  RGT_TRUE(a.position[0][0] != c.position[0][0]);
  post_draws_free(&d);
}

/* --- draws ------------------------------------------------------------------------------ */

enum { LENGTH = 4 };

static void add(post_draws *draws, int64_t walker, int64_t i) {
  double *record = post_draws_add(draws, LENGTH);
  record[0] = (double)walker;
  record[1] = (double)i;
  record[2] = (double)(10 * walker + i);
  record[3] = -record[2];
}

/* Whatever their order was, they are sorted alike. */
static void test_sort(void) {
  post_draws d = {.length = LENGTH}, other = {.length = LENGTH};
  for (int64_t w = WALKERS - 1; w >= 0; w--)
    for (int64_t i = 0; i < SAMPLES; i++)
      add(&d, w, (i * 5 + rgt_rank) % SAMPLES);
  for (int64_t w = 0; w < WALKERS; w++)
    for (int64_t i = 0; i < SAMPLES; i++)
      add(&other, w, i);
  RGT_OK(post_draws_sort(&d, WALKERS, SAMPLES));
  RGT_TRUE(memcmp(d.number, other.number, (size_t)d.used * sizeof *d.number) == 0);
  uint64_t before = post_draws_checksum(&d);
  RGT_TRUE(before == post_draws_checksum(&other));
  d.number[7] = nextafter(d.number[7], HUGE_VAL);
  RGT_TRUE(post_draws_checksum(&d) != before);
  post_draws_free(&d);
  post_draws_free(&other);
}

/* One too many, or too few, or one twice instead of another. */
static void test_sort_wrong(void) {
  for (int kind = 0; kind < 3; kind++) {
    post_draws d = {.length = LENGTH};
    for (int64_t w = 0; w < WALKERS; w++)
      for (int64_t i = 0; i < SAMPLES; i++)
        if (kind == 0 || w + i > 0)
          add(&d, w, i);
    if (kind != 1)
      add(&d, 1, 1);
    RGT_INT(post_draws_sort(&d, WALKERS, SAMPLES), RG_ERR_MISMATCH);
    post_draws_free(&d);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", test_begin},
                                   {"states", test_states},
                                   {"different", test_different},
                                   {"sort", test_sort},
                                   {"sort: wrong draws", test_sort_wrong},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "model_walker", tests);
}
