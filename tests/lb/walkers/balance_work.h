/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker for tests, with a result in closed form. In unit u walker w adds up
 * (w + 1) (u + 1) i for the items i = 0 .. ITEMS - 1, which are dealt to the members. */
#ifndef TESTS_BALANCE_WORK_H
#define TESTS_BALANCE_WORK_H

#include <regroup.h>
#include <string.h>
#include <time.h>

#include "check.h"

enum { ITEMS = 20 };

typedef struct {
  int64_t units, done, sum;
} work_state;

typedef struct {
  rg_balancer b;
  uint64_t random; /* 0: no delays */
  int early;       /* fails while the others wait and do not know it */
  int fails, rank; /* the walker with this id + 1 fails in its second unit, at this rank */
  int endless;     /* the walker with this id + 1 never ends */
  int children;    /* each walker with an id < 100 makes so many in its first unit */
  int alike;       /* the kind says so */
  int finished, dropped, changed;
} work_context;

static inline int64_t work_sum(int64_t id, int64_t units) {
  return (id + 1) * (units * (units + 1) / 2) * (ITEMS * (ITEMS - 1) / 2);
}

/* How many units a walker has. */
static inline int64_t work_units(int64_t id) {
  return id * 7 % 11;
}

static inline void work_delay(work_context *context) {
  if (!context->random)
    return;
  context->random = context->random * 6364136223846793005u + 1442695040888963407u;
  struct timespec t = {0, (long)(context->random >> 44 & 0xff) * 1000};
  if ((context->random >> 60) < 6)
    nanosleep(&t, NULL);
}

static inline int work_start(rg_walker *walker, void *context) {
  (void)context;
  work_state *s = walker->state;
  *s = (work_state){.units = work_units(walker->id)};
  return RG_SUCCESS;
}

static inline int work_unit(rg_walker *walker, rg_group g, void *context) {
  work_context *c = context;
  work_state *s = walker->state;
  int rank, size;
  int64_t sum = 0;
  rg_group_rank(g, &rank);
  rg_group_size(g, &size);
  work_delay(c);
  for (int i = rank; i < ITEMS; i += size)
    sum += (walker->id + 1) * (s->done + 1) * i;
  for (int i = 0; i < c->children && rank == 0 && walker->id < 100 && s->done == 0; i++) {
    rg_walker_new child = {.size = sizeof child,
                           .id = 100 + 10 * walker->id + i,
                           .left = (double)work_units(100 + 10 * walker->id + i)};
    RGT_OK(rg_balance_add(c->b, &child));
  }
  if (c->early && c->fails && walker->id + 1 == c->fails && s->done == 1 && rank == c->rank % size)
    return RG_ERR_SYSTEM;
  int error = rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM);
  s->sum += sum;
  s->done++;
  if (!error && c->fails && walker->id + 1 == c->fails && s->done == 2 && rank == c->rank % size)
    return RG_ERR_SYSTEM;
  return error;
}

static inline double work_left(const rg_walker *walker, void *context) {
  const work_context *c = context;
  const work_state *s = walker->state;
  if (c->endless && walker->id + 1 == c->endless)
    return 10;
  return (double)(s->units - s->done);
}

static inline int work_changed(rg_walker *walker, rg_group g, void *context) {
  work_context *c = context;
  int size;
  (void)walker;
  rg_group_size(g, &size);
  c->changed++;
  work_delay(c);
  return RG_SUCCESS;
}

static inline int work_finished(rg_walker *walker, rg_group g, void *context) {
  work_context *c = context;
  const work_state *s = walker->state;
  int rank;
  rg_group_rank(g, &rank);
  c->finished += rank == 0;
  work_delay(c);
  RGT_INT(s->sum, work_sum(walker->id, s->units));
  return RG_SUCCESS;
}

static inline rg_walker_kind work_kind(work_context *c) {
  return (rg_walker_kind){.size = sizeof(rg_walker_kind),
                          .bytes = sizeof(work_state),
                          .unit = work_unit,
                          .left = work_left,
                          .start = work_start,
                          .changed = work_changed,
                          .finished = work_finished,
                          .alike = c->alike,
                          .context = c};
}

/* Whether an outcome is what it should be. */
static inline void work_check(const rg_balance_outcome *outcome) {
  const work_state *s = outcome->state;
  RGT_INT(outcome->error, RG_SUCCESS);
  RGT_STR(outcome->text, "");
  RGT_INT(outcome->bytes, sizeof *s);
  if (!RGT_PTR_NOT_NULL(s))
    return;
  RGT_INT(s->units, work_units(outcome->id));
  RGT_INT(s->done, s->units);
  RGT_INT(outcome->done, s->units);
  RGT_INT(s->sum, work_sum(outcome->id, s->units));
}

#endif
