/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Groups lie in an array and are linked from left to right; a group that has joined another points
 * to it. Processes are not kept one by one: a piece is a run of processes that have been in the
 * same groups, so that a million ranks need little memory. */
#include "world.h"

#include <Random123/philox.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"

static int no_room(const char *what) {
  return rgi_error(RG_ERR_NOMEM, "simulation: no memory for more %s", what);
}

static int add_piece(sim_world *world, int64_t ranks, int32_t formed, int32_t node,
                     int32_t *piece) {
  if (world->pieces == INT32_MAX)
    return no_room("processes");
  RGI_TRY(rgi_grow(&world->piece, world->pieces, &world->pieces_room, sizeof *world->piece,
                   "simulation: no memory for %lld parts of groups"));
  world->piece[world->pieces] =
      (sim_world_piece){.ranks = ranks, .formed = formed, .next = SIM_NONE, .node = node};
  *piece = world->pieces++;
  return RG_SUCCESS;
}

static int add_group(sim_world *world, int32_t *group) {
  if (world->groups == INT32_MAX)
    return no_room("groups");
  RGI_TRY(rgi_grow(&world->group, world->groups, &world->groups_room, sizeof *world->group,
                   "simulation: no memory for %lld groups"));
  world->group[world->groups] = (sim_world_group){.previous = SIM_NONE,
                                                  .next = SIM_NONE,
                                                  .first = SIM_NONE,
                                                  .last = SIM_NONE,
                                                  .asks = SIM_NONE,
                                                  .also = SIM_NONE,
                                                  .asked = SIM_NONE,
                                                  .into = SIM_NONE};
  *group = world->groups++;
  return RG_SUCCESS;
}

static void give_pieces(sim_world *world, int32_t to, int32_t first, int32_t last) {
  sim_world_group *group = &world->group[to];
  if (group->first == SIM_NONE)
    group->first = first;
  else
    world->piece[group->last].next = first;
  group->last = last;
}

/* The group works on a walker until that one meets others or ends. */
static void begin_units(sim_world *world, int32_t g, int64_t walker) {
  sim_world_group *group = &world->group[g];
  group->walker = walker;
  group->left = sim_walkers_units(&world->walkers, walker);
  group->later = sim_walkers_later(&world->walkers, walker);
}

/* The group's node follows from its pieces. */
static void note_node(sim_world *world, int32_t g) {
  int32_t node = world->piece[world->group[g].first].node;
  for (int32_t p = world->group[g].first; p != SIM_NONE; p = world->piece[p].next)
    node = world->piece[p].node == node ? node : 0;
  world->group[g].node = node;
}

/* The group of the ranks from `first` on: a piece on each node. */
static int start_group(sim_world *world, int64_t first, int64_t ranks) {
  int64_t nodes = world->setup->nodes > 0 ? world->setup->nodes : 1;
  int64_t each = (world->setup->ranks - 1) / nodes + 1;
  int32_t g, piece;
  RGI_TRY(add_group(world, &g));
  for (int64_t r = first, n; r < first + ranks; r += n) {
    n = (r / each + 1) * each - r;
    n = n < first + ranks - r ? n : first + ranks - r;
    RGI_TRY(add_piece(world, n, 1, (int32_t)(r / each) + 1, &piece));
    give_pieces(world, g, piece, piece);
  }
  note_node(world, g);
  world->group[g].ranks = ranks;
  world->group[g].previous = g - 1;
  if (g > 0)
    world->group[g - 1].next = g;
  if (world->walkers.count > 0 && ranks >= world->setup->least)
    begin_units(world, g, sim_walkers_take_first(&world->walkers));
  world->result->formations++;
  return RG_SUCCESS;
}

int sim_world_start(sim_world *world, const sim_setup *setup, sim_result *result) {
  int64_t groups = (setup->ranks - 1) / setup->group + 1;
  *world = (sim_world){.setup = setup, .result = result};
  if (groups > INT_MAX / 4)
    return rgi_error(RG_ERR_ARG, "simulation: %lld groups are too many", (long long)groups);
  world->groups_room = world->pieces_room = groups + groups / 4;
  world->group = malloc(((size_t)world->groups_room + 1) * sizeof *world->group);
  world->piece = malloc(((size_t)world->pieces_room + 1) * sizeof *world->piece);
  if (!world->group || !world->piece)
    return no_room("groups");
  RGI_TRY(sim_walkers_start(&world->walkers, setup));
  for (int64_t j = 0; j < groups; j++)
    RGI_TRY(start_group(world, j * setup->group,
                        j < groups - 1 ? setup->group : setup->ranks - j * setup->group));
  sim_walkers_sort(&world->walkers);
  return RG_SUCCESS;
}

void sim_world_free(sim_world *world) {
  free(world->group);
  free(world->piece);
  sim_walkers_free(&world->walkers);
}

static void insert_after(sim_world *world, int32_t g, int32_t part) {
  sim_world_group *left = &world->group[g], *new = &world->group[part];
  new->previous = g;
  new->next = left->next;
  if (left->next != SIM_NONE)
    world->group[left->next].previous = part;
  left->next = part;
}

int sim_world_split(sim_world *world, int32_t g, int64_t ranks, int32_t *part) {
  RGI_TRY(add_group(world, part));
  world->group[*part].ranks = ranks;
  world->group[g].ranks -= ranks;
  while (ranks > 0) {
    int32_t at = world->group[g].first, cut = at;
    if (world->piece[at].ranks > ranks) {
      RGI_TRY(add_piece(world, ranks, world->piece[at].formed, world->piece[at].node, &cut));
      world->piece[at].ranks -= ranks;
    } else {
      world->group[g].first = world->piece[at].next;
      world->piece[at].next = SIM_NONE;
    }
    ranks -= world->piece[cut].ranks;
    give_pieces(world, *part, cut, cut);
  }
  note_node(world, *part);
  if (world->group[g].ranks > 0)
    note_node(world, g);
  insert_after(world, g, *part);
  return RG_SUCCESS;
}

static void take_out(sim_world *world, int32_t g) {
  sim_world_group *group = &world->group[g];
  if (group->previous == SIM_NONE)
    world->head = group->next;
  else
    world->group[group->previous].next = group->next;
  if (group->next != SIM_NONE)
    world->group[group->next].previous = group->previous;
}

void sim_world_join(sim_world *world, int32_t to, int32_t from) {
  sim_world_group *group = &world->group[from];
  int one_node = group->node == world->group[to].node;
  world->result->crossed += !one_node && group->node > 0;
  world->group[to].node = one_node ? group->node : 0;
  give_pieces(world, to, group->first, group->last);
  world->group[to].ranks += group->ranks;
  take_out(world, from);
  group->state = SIM_GONE;
  group->into = to;
  group->stamp++;
}

void sim_world_formed(sim_world *world, int32_t g) {
  for (int32_t p = world->group[g].first; p != SIM_NONE; p = world->piece[p].next)
    world->piece[p].formed++;
  world->result->formations++;
}

int32_t sim_world_now(const sim_world *world, int32_t g) {
  while (world->group[g].state == SIM_GONE)
    g = world->group[g].into;
  return g;
}

double sim_world_formation(const sim_world *world, int32_t g) {
  const sim_machine *machine = &world->setup->machine;
  return sim_machine_formation(machine, world->group[g].ranks) +
         (world->group[g].node ? 0 : 2 * machine->between);
}

double sim_world_unit(const sim_world *world, int32_t g) {
  const sim_setup *setup = world->setup;
  const sim_world_group *group = &world->group[g];
  philox2x64_ctr_t c = {{(uint64_t)g, (uint64_t)group->stints}};
  philox2x64_key_t k = {{setup->seed}};
  double noise = setup->machine.jitter
                     ? ((double)(philox2x64(c, k).v[0] >> 11) * 0x1p-52 - 1) * setup->machine.jitter
                     : 0;
  double unit = group->left > 0 ? sim_walkers_unit(&world->walkers, group->walker) : setup->unit;
  return unit * sim_machine_speed(&setup->machine, group->ranks) * (1 + noise) +
         sim_machine_agreement(&setup->machine, group->ranks) +
         (group->node ? 0 : setup->machine.steps * setup->machine.between);
}

#define NOT_BEGUN 1e-300 /* seconds of a unit: no group joins one that has not begun */

rg_load sim_world_load(const sim_world *world, int32_t g, double time) {
  const sim_world_group *group = &world->group[g];
  int joinable = group->left > 0 || world->setup->machine.idle_join;
  /* Negative while the group is formed: units that this takes. */
  int64_t done =
      group->state == SIM_WORKING ? (int64_t)((time - group->base) / group->unit + 1e-9) : 0;
  rg_load load = {.id = g,
                  .ranks = group->ranks,
                  .coming = group->coming,
                  .least = group->left > 0 ? world->setup->least : 0,
                  .most = group->left > 0 ? world->setup->most : 0,
                  .state = (group->left > 0 ? RG_LOAD_ACTIVE | RG_LOAD_LEAVABLE : 0) |
                           (joinable ? RG_LOAD_JOINABLE : 0),
                  .walkers = group->left > 0,
                  .left = (double)(group->later + (done < group->left ? group->left - done : 0)),
                  .done = (double)(done > 0 ? group->done + done : group->done),
                  .unit = group->left > 0 ? fmax(group->unit, NOT_BEGUN) : RG_LOAD_UNKNOWN,
                  .node = world->setup->nodes > 1 ? group->node : 0,
                  .pace = group->pace};
  if (group->left > 0 && world->walkers.one)
    load.awaited = world->walkers.one[group->walker].awaited;
  return load;
}

void sim_world_take(sim_world *world, int32_t g, int64_t at) {
  sim_world_group *group = &world->group[g];
  int64_t walker = sim_walkers_take_shown(&world->walkers, at);
  begin_units(world, g, walker);
  group->done = world->walkers.one ? world->walkers.one[walker].done : 0;
  group->pace = (rg_pace){0};
}

void sim_world_end_units(sim_world *world, int32_t g, int *met) {
  sim_world_group *group = &world->group[g];
  sim_walkers_next next = sim_walkers_end_round(&world->walkers, group->walker);
  *met = 0;
  if (next == SIM_WALKERS_GOES_ON)
    begin_units(world, g, group->walker);
  if (next != SIM_WALKERS_MEETS)
    return;
  world->walkers.one[group->walker].done = group->done;
  world->walkers.one[group->walker].unit = rg_pace_at(&group->pace, 1);
  *met = sim_walkers_set_aside(&world->walkers, group->walker);
  world->result->meetings += *met;
}

void sim_world_count(const sim_world *world) {
  sim_result *result = world->result;
  double sum = 0, squares = 0, n = (double)world->setup->ranks;
  result->least = INT64_MAX;
  result->most = 0;
  for (int32_t p = 0; p < world->pieces; p++) {
    double ranks = (double)world->piece[p].ranks;
    int32_t formed = world->piece[p].formed;
    sum += ranks * formed;
    squares += ranks * formed * formed;
    result->least = formed < result->least ? formed : result->least;
    result->most = formed > result->most ? formed : result->most;
  }
  result->mean = sum / n;
  result->sd = sqrt(fmax(0, squares / n - result->mean * result->mean));
}
