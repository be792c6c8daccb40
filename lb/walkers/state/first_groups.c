/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the processes work out before the first unit: whether all were told the same, by comparing a
 * hash of list and options in one allreduce; the size of the first groups; and the order of the
 * walkers that wait. Each process computes it from its own list, so nothing has to be sent. */
#include <regroup/collectives.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/first_groups.h"

static uint64_t mix_in(uint64_t hash, uint64_t x) {
  return rgi_mix_bits(hash ^ x) + 0x9e3779b97f4a7c15u;
}

static uint64_t of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* A hash of what must be the same on all processes. */
static uint64_t hash_of(const struct rg_balancer_s *b) {
  const rg_walker_kind *k = &b->work.kind;
  uint64_t h = mix_in(k->bytes, (k->unpack != NULL) + 2 * (k->changed != NULL) +
                                    4 * (k->finished != NULL) + 8 * (k->start != NULL) +
                                    16 * (k->leaving != NULL) + 32 * (k->meets != NULL));
  h = mix_in(mix_in(h, (uint64_t)b->options.group), of_double(b->options.limit));
  h = mix_in(mix_in(h, (uint64_t)b->planner.policy.interval), (uint64_t)b->planner.policy.asks);
  for (const char *c = rgi_planner_name(&b->planner); *c; c++)
    h = mix_in(h, (uint64_t)*c);
  for (int i = 0; i < RG_POLICY_OPTIONS; i++)
    h = mix_in(h, of_double(b->planner.policy.option[i]));
  h = mix_in(h, b->drops);
  for (int i = 0; i < b->list.count; i++) {
    const rgi_queue_entry *e = &b->list.at[i];
    h = mix_in(mix_in(h, (uint64_t)e->id), of_double(e->left));
    h = mix_in(mix_in(h, (uint64_t)e->least), (uint64_t)e->most);
    h = mix_in(mix_in(h, e->bytes), e->memory != NULL);
    h = mix_in(h, (uint64_t)e->met);
  }
  return h;
}

int rgi_first_agree(rg_balancer b) {
  uint64_t h = hash_of(b), ends[2] = {h, ~h};
  RGI_TRY(rg_allreduce(b->members.group, MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MAX));
  if (ends[0] != ~ends[1])
    return rgi_error(
        RG_ERR_MISMATCH,
        "%s: processes disagree about the list of walkers, the size of their state, the "
        "options, or what was dropped since the last run",
        b->members.call);
  return RG_SUCCESS;
}

/* The largest number of processes that a walker can use. */
static int largest_most(const struct rg_balancer_s *b) {
  int most = 0;
  for (int i = 0; i < b->list.count; i++) {
    const rgi_queue_entry *e = &b->list.at[i];
    if (e->most == 0 || e->most > b->members.size)
      return b->members.size;
    most = (int)e->most > most ? (int)e->most : most;
  }
  return most ? most : b->members.size;
}

/* Processes in a group at first: as the options say, but enough for every walker, and not more than
 * any can use. */
static int first_size(const struct rg_balancer_s *b) {
  int size = b->options.group, walkers = b->list.count;
  if (size == 0)
    size =
        walkers == 0 || walkers >= b->members.size ? 1 : (b->members.size + walkers - 1) / walkers;
  int most = largest_most(b);
  size = size < most ? size : most;
  for (int i = 0; i < walkers; i++)
    if (b->list.at[i].least > size)
      size = (int)b->list.at[i].least;
  return size < b->members.size ? size : b->members.size;
}

/* Only the last group may have fewer processes than a walker needs; then that walker waits. */
int rgi_first_starting(const struct rg_balancer_s *b) {
  int groups = rgi_team_first_count(&b->team), last = groups - 1;
  if (b->list.count < groups)
    return b->list.count;
  return b->list.at[last].least <= rgi_team_first_of(&b->team, last) ? groups : last;
}

int rgi_first_head(const struct rg_balancer_s *b, int group) {
  int n = rgi_team_first_of(&b->team, group);
  if (group >= rgi_first_starting(b))
    return n;
  int64_t most = b->list.at[group].most;
  return most > 0 && most < n ? (int)most : n;
}

int rgi_first_starts(const struct rg_balancer_s *b) {
  int group = rgi_team_first_number(&b->team);
  int place = b->members.rank - group * b->team.first_size;
  return group < rgi_first_starting(b) && place < rgi_first_head(b, group);
}

int rgi_first_share_paces(rg_balancer b) {
  if (b->work.run == 0)
    return RG_SUCCESS;
  RGI_TRY(rgi_pace_table_share(&b->paces, &b->members));
  for (int i = 0; i < b->list.count; i++) {
    rgi_queue_entry *e = &b->list.at[i];
    if (!(e->unit > 0))
      e->unit = rgi_pace_table_unit(&b->paces, e->id);
    if (e->memory && e->met == 0)
      e->met = rgi_pace_table_met(&b->paces, e->id);
  }
  return RG_SUCCESS;
}

int rgi_first_make(rg_balancer b) {
  b->team.first_size = first_size(b);
  RGI_TRY(rgi_planner_open(&b->planner, b->members.size));
  /* The walkers that find no group at first come behind the others. */
  rgi_queue_sort(&b->list, rgi_first_starting(b));
  return RG_SUCCESS;
}
