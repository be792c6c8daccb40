/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that sample a posterior: the same states on any group, in any units,
 * handed over in the middle; and their draws, wherever they were made.
 * ranks: 1 2 3 4 7 16
 * sources: examples/mcmc/models/model.c examples/mcmc/models/matrix.c
 * sources: examples/mcmc/models/poisson.c examples/mcmc/models/schools.c
 * sources: examples/mcmc/models/regression.c
 * sources: examples/mcmc/chain/density.c
 * sources: examples/mcmc/chain/draws.c examples/mcmc/chain/sampler.c
 * sources: examples/mcmc/chain/tuning.c examples/mcmc/chain/walker.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "examples/mcmc/chain/walker.h"
#include "groups.h"

enum { WALKERS = 3, TUNE = 16, SAMPLES = 6, THIN = 2 };

static post_walker_setup setup(const post_model_kind *kind, post_walker_sampler sampler) {
  post_walker_setup s = {.kind = kind,
                         .sampler = sampler,
                         .seed = rgt_seed() >> 1,
                         .walkers = WALKERS,
                         .samples = SAMPLES,
                         .thin = THIN,
                         .tune = TUNE,
                         .scale = 1};
  s.model = calloc(WALKERS, sizeof *s.model);
  return s;
}

static void clean(post_walker_setup *s) {
  for (int w = 0; w < WALKERS; w++)
    post_model_free(s->model[w]);
  free(s->model);
}

static post_walker_state run_alone(post_walker_setup *s, int64_t walker, post_draws *draws) {
  post_walker_state state;
  RGT_OK(post_walker_start(s, walker, &state));
  RGT_INT(post_walker_left(s, &state), TUNE + SAMPLES * THIN);
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
    RGT_OK(post_walker_start(s, walker, &state));
    RGT_OK(post_walker_advance(self, s, &state, TUNE + THIN, draws));
  }
  RGT_OK(rg_bcast(world, &state, sizeof state, MPI_BYTE, 0));
  while (post_walker_left(s, &state) > 0)
    RGT_OK(post_walker_advance(world, s, &state, unit, draws));
  return state;
}

static void check_states(const post_model_kind *kind, post_walker_sampler sampler) {
  post_walker_setup s = setup(kind, sampler);
  for (int64_t w = 0; w < WALKERS; w++) {
    post_draws alone = {NULL, 0, 0}, handed = {NULL, 0, 0};
    post_walker_state a = run_alone(&s, w, &alone), b = run_handed(&s, w, 5, &handed);
    RGT_TRUE(memcmp(&a, &b, sizeof a) == 0);
    RGT_INT(a.tried, POST_CHAINS * SAMPLES * THIN);
    RGT_TRUE(a.accepted >= 0 && a.accepted <= a.tried);
    RGT_INT(handed.used, rgt_rank == 0 ? alone.used : 0);
    if (rgt_rank == 0)
      RGT_TRUE(memcmp(alone.record, handed.record, (size_t)alone.used * sizeof(double)) == 0);
    post_draws_free(&alone);
    post_draws_free(&handed);
  }
  clean(&s);
}

static void test_states(void) {
  for (const post_model_kind *k = post_models; k->name; k++) {
    check_states(k, POST_HMC);
    check_states(k, POST_METROPOLIS);
  }
}

/* Another seed, walker or chain has other draws. */
static void test_different(void) {
  post_walker_setup s = setup(&post_models[1], POST_HMC);
  post_draws d = {NULL, 0, 0};
  post_walker_state a = run_alone(&s, 0, &d), b = run_alone(&s, 1, &d);
  s.seed++;
  post_walker_state c = run_alone(&s, 0, &d);
  RGT_TRUE(a.position[0][0] != b.position[0][0]);
  RGT_TRUE(a.position[0][0] != a.position[1][0]);
  RGT_TRUE(a.position[0][0] != c.position[0][0]);
  post_draws_free(&d);
  clean(&s);
}

static void test_weights(void) {
  post_walker_setup s = setup(&post_models[0], POST_HMC);
  const post_model *m, *again;
  RGT_OK(post_walker_model(&s, 2, &m));
  RGT_OK(post_walker_model(&s, 2, &again));
  RGT_TRUE(m == again);
  RGT_DBL(post_walker_weight(&s, 2) / post_walker_weight(&s, 0), 4, 0);
  clean(&s);
  s = setup(&post_models[1], POST_HMC);
  RGT_DBL(post_walker_weight(&s, 2) / post_walker_weight(&s, 0), 1, 0);
  clean(&s);
}

/* --- draws ------------------------------------------------------------------------------ */

enum { PER_WALKER = 2, QUANTITIES = 3 };

/* What draw i of a chain is, in these tests. */
static double drawn(int64_t chain, int64_t i, int quantity) {
  return (double)(1000 * chain + 10 * i + quantity);
}

static void add(post_draws *d, int64_t walker, int64_t i) {
  double *record = post_draws_add(d, 2 + PER_WALKER * QUANTITIES);
  record[0] = (double)walker;
  record[1] = (double)i;
  for (int c = 0; c < PER_WALKER; c++)
    for (int q = 0; q < QUANTITIES; q++)
      record[2 + c * QUANTITIES + q] = drawn(walker * PER_WALKER + c, i, q);
}

static post_draws_table table(void) {
  return (post_draws_table){
      .quantities = QUANTITIES, .chains = WALKERS * PER_WALKER, .samples = SAMPLES};
}

/* Each draw is made by some rank. */
static void test_gather(void) {
  post_draws d = {NULL, 0, 0};
  post_draws_table t = table();
  for (int64_t w = WALKERS - 1; w >= 0; w--)
    for (int64_t i = 0; i < SAMPLES; i++)
      if ((w * 5 + i * 3) % rgt_size == rgt_rank)
        add(&d, w, i);
  RGT_OK(post_draws_gather(world, &d, PER_WALKER, &t));
  if (rgt_rank == 0) {
    for (int64_t c = 0; c < t.chains; c++)
      for (int64_t i = 0; i < SAMPLES; i++)
        for (int q = 0; q < QUANTITIES; q++)
          RGT_DBL(post_draws_table_chain(&t, q, c)[i], drawn(c, i, q), 0);
    uint64_t before = post_draws_table_checksum(&t);
    t.value[7] = nextafter(t.value[7], HUGE_VAL);
    RGT_TRUE(post_draws_table_checksum(&t) != before);
    free(t.value);
  }
  post_draws_free(&d);
}

/* The last rank has one too many, or too few, or one twice instead of another. */
static void check_wrong(int kind) {
  post_draws d = {NULL, 0, 0};
  post_draws_table t = table();
  if (rgt_rank == rgt_size - 1) {
    for (int64_t w = 0; w < WALKERS; w++)
      for (int64_t i = 0; i < SAMPLES; i++)
        if (kind == 0 || w + i > 0)
          add(&d, w, i);
    if (kind != 1)
      add(&d, 1, 1);
  }
  int error = post_draws_gather(world, &d, PER_WALKER, &t);
  RGT_INT(error, rgt_rank == 0 ? RG_ERR_MISMATCH : RG_SUCCESS);
  post_draws_free(&d);
}

static void test_gather_wrong(void) {
  for (int kind = 0; kind < 3; kind++)
    check_wrong(kind);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", test_begin},
                                   {"states", test_states},
                                   {"different", test_different},
                                   {"weights", test_weights},
                                   {"gather", test_gather},
                                   {"gather: wrong draws", test_gather_wrong},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "model_walker", tests);
}
