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
static uint64_t hash_of(const struct rg_balancer_s *balancer) {
  const rg_walker_kind *kind = &balancer->work.kind;
  uint64_t h = mix_in(kind->bytes, (kind->unpack != NULL) + 2 * (kind->changed != NULL) +
                                       4 * (kind->finished != NULL) + 8 * (kind->start != NULL) +
                                       16 * (kind->leaving != NULL) + 32 * (kind->meets != NULL));
  h = mix_in(mix_in(h, (uint64_t)balancer->options.group), of_double(balancer->options.limit));
  h = mix_in(mix_in(h, (uint64_t)balancer->planner.policy.interval),
             (uint64_t)balancer->planner.policy.asks);
  for (const char *c = rgi_planner_name(&balancer->planner); *c; c++)
    h = mix_in(h, (uint64_t)*c);
  for (int i = 0; i < RG_POLICY_OPTIONS; i++)
    h = mix_in(h, of_double(balancer->planner.policy.option[i]));
  h = mix_in(h, balancer->drops);
  for (int i = 0; i < balancer->list.count; i++) {
    const rgi_queue_entry *entry = &balancer->list.at[i];
    h = mix_in(mix_in(h, (uint64_t)entry->id), of_double(entry->left));
    h = mix_in(mix_in(h, (uint64_t)entry->least), (uint64_t)entry->most);
    h = mix_in(mix_in(h, entry->bytes), entry->memory != NULL);
    h = mix_in(h, (uint64_t)entry->met);
  }
  return h;
}

int rgi_first_agree(rg_balancer balancer) {
  uint64_t h = hash_of(balancer), ends[2] = {h, ~h};
  RGI_TRY(rg_allreduce(balancer->members.group, MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MAX));
  if (ends[0] != ~ends[1])
    return rgi_error(
        RG_ERR_MISMATCH,
        "%s: processes disagree about the list of walkers, the size of their state, the "
        "options, or what was dropped since the last run",
        balancer->members.call);
  return RG_SUCCESS;
}

/* The largest number of processes that a walker can use. */
static int largest_most(const struct rg_balancer_s *balancer) {
  int most = 0;
  for (int i = 0; i < balancer->list.count; i++) {
    const rgi_queue_entry *entry = &balancer->list.at[i];
    if (entry->most == 0 || entry->most > balancer->members.size)
      return balancer->members.size;
    most = (int)entry->most > most ? (int)entry->most : most;
  }
  return most ? most : balancer->members.size;
}

/* Processes in a group at first: as the options say, but enough for every walker, and not more than
 * any can use. */
static int first_size(const struct rg_balancer_s *balancer) {
  int size = balancer->options.group, walkers = balancer->list.count;
  if (size == 0)
    size = walkers == 0 || walkers >= balancer->members.size
               ? 1
               : (balancer->members.size + walkers - 1) / walkers;
  int most = largest_most(balancer);
  size = size < most ? size : most;
  for (int i = 0; i < walkers; i++)
    if (balancer->list.at[i].least > size)
      size = (int)balancer->list.at[i].least;
  return size < balancer->members.size ? size : balancer->members.size;
}

/* Only the last group may have fewer processes than a walker needs; then that walker waits. */
int rgi_first_starting(const struct rg_balancer_s *balancer) {
  int groups = rgi_team_first_count(&balancer->team), last = groups - 1;
  if (balancer->list.count < groups)
    return balancer->list.count;
  return balancer->list.at[last].least <= rgi_team_first_of(&balancer->team, last) ? groups : last;
}

int rgi_first_head(const struct rg_balancer_s *balancer, int group) {
  int n = rgi_team_first_of(&balancer->team, group);
  if (group >= rgi_first_starting(balancer))
    return n;
  int64_t most = balancer->list.at[group].most;
  return most > 0 && most < n ? (int)most : n;
}

int rgi_first_starts(const struct rg_balancer_s *balancer) {
  int group = rgi_team_first_number(&balancer->team);
  int place = balancer->members.rank - group * balancer->team.first_size;
  return group < rgi_first_starting(balancer) && place < rgi_first_head(balancer, group);
}

int rgi_first_share_paces(rg_balancer balancer) {
  if (balancer->work.run == 0)
    return RG_SUCCESS;
  RGI_TRY(rgi_pace_table_share(&balancer->paces, &balancer->members));
  for (int i = 0; i < balancer->list.count; i++) {
    rgi_queue_entry *entry = &balancer->list.at[i];
    if (!(entry->unit > 0))
      entry->unit = rgi_pace_table_unit(&balancer->paces, entry->id);
    if (entry->memory && entry->met == 0)
      entry->met = rgi_pace_table_met(&balancer->paces, entry->id);
  }
  return RG_SUCCESS;
}

int rgi_first_make(rg_balancer balancer) {
  balancer->team.first_size = first_size(balancer);
  RGI_TRY(rgi_planner_open(&balancer->planner, balancer->members.size));
  /* The walkers that find no group at first come behind the others. */
  rgi_queue_sort(&balancer->list, rgi_first_starting(balancer));
  return RG_SUCCESS;
}
