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

static int no_room(const char *what) {
  return rgi_error(RG_ERR_NOMEM, "simulation: no memory for more %s", what);
}

static int add_piece(sim_world *w, int64_t ranks, int32_t formed, int32_t node, int32_t *piece) {
  if (w->pieces == w->pieces_room) {
    int64_t room = 2 * (int64_t)w->pieces_room + 16;
    sim_world_piece *more =
        room < INT32_MAX ? realloc(w->piece, (size_t)room * sizeof *more) : NULL;
    if (!more)
      return no_room("processes");
    w->piece = more;
    w->pieces_room = (int32_t)room;
  }
  w->piece[w->pieces] = (sim_world_piece){ranks, formed, SIM_NONE, node};
  *piece = w->pieces++;
  return RG_SUCCESS;
}

static int add_group(sim_world *w, int32_t *group) {
  if (w->groups == w->groups_room) {
    int64_t room = 2 * (int64_t)w->groups_room + 16;
    sim_world_group *more =
        room < INT32_MAX ? realloc(w->group, (size_t)room * sizeof *more) : NULL;
    if (!more)
      return no_room("groups");
    w->group = more;
    w->groups_room = (int32_t)room;
  }
  w->group[w->groups] = (sim_world_group){.previous = SIM_NONE,
                                          .next = SIM_NONE,
                                          .first = SIM_NONE,
                                          .last = SIM_NONE,
                                          .asks = SIM_NONE,
                                          .also = SIM_NONE,
                                          .asked = SIM_NONE,
                                          .into = SIM_NONE};
  *group = w->groups++;
  return RG_SUCCESS;
}

static void give_pieces(sim_world *w, int32_t to, int32_t first, int32_t last) {
  sim_world_group *g = &w->group[to];
  if (g->first == SIM_NONE)
    g->first = first;
  else
    w->piece[g->last].next = first;
  g->last = last;
}

/* The group works on a walker until that one meets others or ends. */
static void begin_units(sim_world *w, int32_t g, int64_t walker) {
  sim_world_group *x = &w->group[g];
  x->walker = walker;
  x->left = sim_walkers_units(&w->walkers, walker);
  x->later = sim_walkers_later(&w->walkers, walker);
}

/* The group's node follows from its pieces. */
static void note_node(sim_world *w, int32_t g) {
  int32_t node = w->piece[w->group[g].first].node;
  for (int32_t p = w->group[g].first; p != SIM_NONE; p = w->piece[p].next)
    node = w->piece[p].node == node ? node : 0;
  w->group[g].node = node;
}

/* The group of the ranks from `first` on: a piece on each node. */
static int start_group(sim_world *w, int64_t first, int64_t ranks) {
  int64_t nodes = w->setup->nodes > 0 ? w->setup->nodes : 1;
  int64_t each = (w->setup->ranks - 1) / nodes + 1;
  int32_t g, piece;
  RGI_TRY(add_group(w, &g));
  for (int64_t r = first, n; r < first + ranks; r += n) {
    n = (r / each + 1) * each - r;
    n = n < first + ranks - r ? n : first + ranks - r;
    RGI_TRY(add_piece(w, n, 1, (int32_t)(r / each) + 1, &piece));
    give_pieces(w, g, piece, piece);
  }
  note_node(w, g);
  w->group[g].ranks = ranks;
  w->group[g].previous = g - 1;
  if (g > 0)
    w->group[g - 1].next = g;
  if (w->walkers.count > 0 && ranks >= w->setup->least)
    begin_units(w, g, sim_walkers_take_first(&w->walkers));
  w->result->formations++;
  return RG_SUCCESS;
}

int sim_world_start(sim_world *w, const sim_setup *setup, sim_result *result) {
  int64_t groups = (setup->ranks - 1) / setup->group + 1;
  *w = (sim_world){.setup = setup, .result = result};
  if (groups > INT_MAX / 4)
    return rgi_error(RG_ERR_ARG, "simulation: %lld groups are too many", (long long)groups);
  w->groups_room = w->pieces_room = (int32_t)(groups + groups / 4);
  w->group = malloc(((size_t)w->groups_room + 1) * sizeof *w->group);
  w->piece = malloc(((size_t)w->pieces_room + 1) * sizeof *w->piece);
  if (!w->group || !w->piece)
    return no_room("groups");
  RGI_TRY(sim_walkers_start(&w->walkers, setup));
  for (int64_t j = 0; j < groups; j++)
    RGI_TRY(start_group(w, j * setup->group,
                        j < groups - 1 ? setup->group : setup->ranks - j * setup->group));
  sim_walkers_sort(&w->walkers);
  return RG_SUCCESS;
}

void sim_world_free(sim_world *w) {
  free(w->group);
  free(w->piece);
  sim_walkers_free(&w->walkers);
}

static void insert_after(sim_world *w, int32_t g, int32_t part) {
  sim_world_group *left = &w->group[g], *new = &w->group[part];
  new->previous = g;
  new->next = left->next;
  if (left->next != SIM_NONE)
    w->group[left->next].previous = part;
  left->next = part;
}

int sim_world_split(sim_world *w, int32_t g, int64_t ranks, int32_t *part) {
  RGI_TRY(add_group(w, part));
  w->group[*part].ranks = ranks;
  w->group[g].ranks -= ranks;
  while (ranks > 0) {
    int32_t at = w->group[g].first, cut = at;
    if (w->piece[at].ranks > ranks) {
      RGI_TRY(add_piece(w, ranks, w->piece[at].formed, w->piece[at].node, &cut));
      w->piece[at].ranks -= ranks;
    } else {
      w->group[g].first = w->piece[at].next;
      w->piece[at].next = SIM_NONE;
    }
    ranks -= w->piece[cut].ranks;
    give_pieces(w, *part, cut, cut);
  }
  note_node(w, *part);
  if (w->group[g].ranks > 0)
    note_node(w, g);
  insert_after(w, g, *part);
  return RG_SUCCESS;
}

static void take_out(sim_world *w, int32_t g) {
  sim_world_group *x = &w->group[g];
  if (x->previous == SIM_NONE)
    w->head = x->next;
  else
    w->group[x->previous].next = x->next;
  if (x->next != SIM_NONE)
    w->group[x->next].previous = x->previous;
}

void sim_world_join(sim_world *w, int32_t to, int32_t from) {
  sim_world_group *f = &w->group[from];
  int one_node = f->node == w->group[to].node;
  w->result->crossed += !one_node && f->node > 0;
  w->group[to].node = one_node ? f->node : 0;
  give_pieces(w, to, f->first, f->last);
  w->group[to].ranks += f->ranks;
  take_out(w, from);
  f->state = SIM_GONE;
  f->into = to;
  f->stamp++;
}

void sim_world_formed(sim_world *w, int32_t g) {
  for (int32_t p = w->group[g].first; p != SIM_NONE; p = w->piece[p].next)
    w->piece[p].formed++;
  w->result->formations++;
}

int32_t sim_world_now(const sim_world *w, int32_t g) {
  while (w->group[g].state == SIM_GONE)
    g = w->group[g].into;
  return g;
}

double sim_world_formation(const sim_world *w, int32_t g) {
  const sim_machine *m = &w->setup->machine;
  return sim_machine_formation(m, w->group[g].ranks) + (w->group[g].node ? 0 : 2 * m->between);
}

double sim_world_unit(const sim_world *w, int32_t g) {
  const sim_setup *s = w->setup;
  const sim_world_group *x = &w->group[g];
  philox2x64_ctr_t c = {{(uint64_t)g, (uint64_t)x->stints}};
  philox2x64_key_t k = {{s->seed}};
  double noise = s->machine.jitter
                     ? ((double)(philox2x64(c, k).v[0] >> 11) * 0x1p-52 - 1) * s->machine.jitter
                     : 0;
  double unit = x->left > 0 ? sim_walkers_unit(&w->walkers, x->walker) : s->unit;
  return unit * sim_machine_speed(&s->machine, x->ranks) * (1 + noise) +
         sim_machine_agreement(&s->machine, x->ranks) +
         (x->node ? 0 : s->machine.steps * s->machine.between);
}

#define NOT_BEGUN 1e-300 /* seconds of a unit: no group joins one that has not begun */

rg_load sim_world_load(const sim_world *w, int32_t g, double time) {
  const sim_world_group *x = &w->group[g];
  int joinable = x->left > 0 || w->setup->machine.idle_join;
  /* Negative while the group is formed: units that this takes. */
  int64_t done = x->state == SIM_WORKING ? (int64_t)((time - x->base) / x->unit + 1e-9) : 0;
  rg_load l = {.id = g,
               .ranks = x->ranks,
               .coming = x->coming,
               .least = x->left > 0 ? w->setup->least : 0,
               .most = x->left > 0 ? w->setup->most : 0,
               .state = (x->left > 0 ? RG_LOAD_ACTIVE | RG_LOAD_LEAVABLE : 0) |
                        (joinable ? RG_LOAD_JOINABLE : 0),
               .walkers = x->left > 0,
               .left = (double)(x->later + (done < x->left ? x->left - done : 0)),
               .done = (double)(done > 0 ? x->done + done : x->done),
               .unit = x->left > 0 ? fmax(x->unit, NOT_BEGUN) : RG_LOAD_UNKNOWN,
               .node = w->setup->nodes > 1 ? x->node : 0,
               .pace = x->pace};
  if (x->left > 0 && w->walkers.one)
    l.awaited = w->walkers.one[x->walker].awaited;
  return l;
}

void sim_world_take(sim_world *w, int32_t g, int64_t at) {
  sim_world_group *x = &w->group[g];
  int64_t walker = sim_walkers_take_shown(&w->walkers, at);
  begin_units(w, g, walker);
  x->done = w->walkers.one ? w->walkers.one[walker].done : 0;
  x->pace = (rg_pace){0};
}

void sim_world_end_units(sim_world *w, int32_t g, int *met) {
  sim_world_group *x = &w->group[g];
  sim_walkers_next next = sim_walkers_end_round(&w->walkers, x->walker);
  *met = 0;
  if (next == SIM_WALKERS_GOES_ON)
    begin_units(w, g, x->walker);
  if (next != SIM_WALKERS_MEETS)
    return;
  w->walkers.one[x->walker].done = x->done;
  w->walkers.one[x->walker].unit = rg_pace_at(&x->pace, 1);
  *met = sim_walkers_set_aside(&w->walkers, x->walker);
  w->result->meetings += *met;
}

void sim_world_count(const sim_world *w) {
  sim_result *r = w->result;
  double sum = 0, squares = 0, n = (double)w->setup->ranks;
  r->least = INT64_MAX;
  r->most = 0;
  for (int32_t p = 0; p < w->pieces; p++) {
    double ranks = (double)w->piece[p].ranks;
    int32_t formed = w->piece[p].formed;
    sum += ranks * formed;
    squares += ranks * formed * formed;
    r->least = formed < r->least ? formed : r->least;
    r->most = formed > r->most ? formed : r->most;
  }
  r->mean = sum / n;
  r->sd = sqrt(fmax(0, squares / n - r->mean * r->mean));
}
