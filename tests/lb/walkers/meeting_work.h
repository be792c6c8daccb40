/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that meet, for tests: who meets whom follows from a seed, and a serial reference has the
 * results. In each round the walkers are divided at random into sets of one to four. A walker does
 * 0 to 3 units in a round, and then meets those of its set, if it is not alone. A unit and a
 * meeting mix what the walkers have, so that any other order has another result. */
#ifndef TESTS_MEETING_WORK_H
#define TESTS_MEETING_WORK_H

#include <regroup.h>
#include <stdlib.h>
#include <string.h>

enum { MEETING_WALKERS = 24, MEETING_ROUNDS = 12, MEETING_SET = 4 };

typedef struct {
  int64_t units, met; /* done; the last meeting's number + 1 */
  uint64_t value;
} meeting_state;

typedef struct {
  uint64_t seed;
  int walkers, rounds;
  int forgets;                                    /* the walker does not note that it has met */
  int set[MEETING_ROUNDS][MEETING_WALKERS];       /* of each walker in each round */
  int64_t until[MEETING_ROUNDS][MEETING_WALKERS]; /* units that it has done at the end of a round */
  int64_t with[MEETING_WALKERS];                  /* for the answer of meets */
  int64_t held;                                   /* meetings on this process */
} meeting_plan;

static inline uint64_t meeting_mix(uint64_t x) {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

static inline void meeting_plan_make(meeting_plan *plan, uint64_t seed, int walkers, int rounds,
                                     int forgets) {
  *plan = (meeting_plan){.seed = seed, .walkers = walkers, .rounds = rounds, .forgets = forgets};
  for (int r = 0; r < rounds; r++) {
    int order[MEETING_WALKERS];
    for (int i = 0; i < walkers; i++) {
      seed = meeting_mix(seed + 1);
      int j = (int)(seed % (uint64_t)(i + 1));
      order[i] = order[j];
      order[j] = i;
    }
    for (int i = 0, set = 0, room = 0; i < walkers; i++, room--) {
      seed = meeting_mix(seed + 1);
      if (room == 0) {
        room = 1 + (int)(seed % MEETING_SET);
        set++;
      }
      plan->set[r][order[i]] = set;
      plan->until[r][order[i]] =
          (r ? plan->until[r - 1][order[i]] : 0) + forgets + (int64_t)(seed >> 40) % (4 - forgets);
    }
  }
}

/* The other walkers of a set, in p->with. */
static inline int64_t meeting_others(meeting_plan *plan, int round, int64_t id) {
  int64_t n = 0;
  for (int i = plan->walkers - 1; i >= 0; i--)
    if (i != id && plan->set[round][i] == plan->set[round][id])
      plan->with[n++] = i;
  return n;
}

static inline int64_t meeting_units(const meeting_plan *plan, int64_t id) {
  return plan->until[plan->rounds - 1][id];
}

static inline uint64_t meeting_begin_value(const meeting_plan *plan, int64_t id) {
  return meeting_mix(plan->seed ^ (uint64_t)id);
}

/* What a unit adds, of which item i is one part. */
enum { MEETING_ITEMS = 12 };
static inline uint64_t meeting_item(const meeting_state *state, int i) {
  return meeting_mix(state->value + (uint64_t)state->units * 64 + (uint64_t)i);
}

static inline void meeting_exchange(int64_t n, meeting_state *const states[], int64_t number) {
  uint64_t sum = (uint64_t)number;
  for (int64_t i = 0; i < n; i++)
    sum = meeting_mix(sum + states[i]->value);
  for (int64_t i = 0; i < n; i++) {
    states[i]->value = meeting_mix(states[i]->value ^ sum) + (uint64_t)i;
    states[i]->met = number + 1;
  }
}

/* The results, one walker after another. */
static inline void meeting_reference(meeting_plan *plan, meeting_state states[]) {
  for (int i = 0; i < plan->walkers; i++)
    states[i] = (meeting_state){.value = meeting_begin_value(plan, i)};
  for (int r = 0; r < plan->rounds; r++) {
    for (int i = 0; i < plan->walkers; i++)
      while (states[i].units < plan->until[r][i]) {
        uint64_t sum = 0;
        for (int k = 0; k < MEETING_ITEMS; k++)
          sum += meeting_item(&states[i], k);
        states[i].value += sum;
        states[i].units++;
      }
    for (int i = 0; i < plan->walkers; i++) {
      meeting_state *all[MEETING_WALKERS];
      int n = 0;
      for (int j = 0; j < plan->walkers; j++)
        if (plan->set[r][j] == plan->set[r][i])
          all[n++] = &states[j];
      if (n > 1 && all[0] == &states[i])
        meeting_exchange(n, all, r);
    }
  }
}

/* --- the walker's kind ---------------------------------------------------------------------- */

static inline int meeting_start(rg_walker *walker, void *context) {
  *(meeting_state *)walker->state =
      (meeting_state){.value = meeting_begin_value(context, walker->id)};
  return RG_SUCCESS;
}

static inline int meeting_unit(rg_walker *walker, rg_group g, void *context) {
  meeting_state *s = walker->state;
  uint64_t sum = 0;
  int rank, size;
  (void)context;
  rg_group_rank(g, &rank);
  rg_group_size(g, &size);
  for (int i = rank; i < MEETING_ITEMS; i += size)
    sum += meeting_item(s, i);
  int error = rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM);
  s->value += sum;
  s->units++;
  return error;
}

static inline double meeting_left(const rg_walker *walker, void *context) {
  const meeting_state *s = walker->state;
  return (double)(meeting_units(context, walker->id) - s->units);
}

static inline int meeting_meets(const rg_walker *walker, rg_meeting *meeting, void *context) {
  meeting_plan *p = context;
  const meeting_state *s = walker->state;
  for (int r = p->forgets ? 0 : (int)s->met; r < p->rounds; r++) {
    int64_t others = meeting_others(p, r, walker->id);
    if (p->until[r][walker->id] > s->units)
      break;
    if (p->until[r][walker->id] < s->units || others == 0)
      continue;
    *meeting = (rg_meeting){.with = p->with, .count = others, .number = r};
    break;
  }
  return RG_SUCCESS;
}

static inline int meeting_hold(int64_t count, rg_walker *const walkers[], int64_t number,
                               void *context) {
  meeting_plan *p = context;
  meeting_state *s[MEETING_WALKERS];
  for (int64_t i = 0; i < count; i++)
    s[i] = walkers[i]->state;
  meeting_exchange(count, s, number);
  p->held++;
  return RG_SUCCESS;
}

static inline rg_walker_kind meeting_kind(meeting_plan *plan) {
  return (rg_walker_kind){.size = sizeof(rg_walker_kind),
                          .bytes = sizeof(meeting_state),
                          .unit = meeting_unit,
                          .left = meeting_left,
                          .start = meeting_start,
                          .meets = meeting_meets,
                          .meeting = meeting_hold,
                          .context = plan};
}

/* How many meetings there are. */
static inline int64_t meeting_count(meeting_plan *plan) {
  int64_t n = 0;
  for (int r = 0; r < plan->rounds; r++)
    for (int i = 0; i < plan->walkers; i++) {
      int64_t others = meeting_others(plan, r, i), lowest = others ? plan->with[others - 1] : -1;
      n += others > 0 && i < lowest;
    }
  return n;
}

#endif
