/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that wait, and the processes that rows give. Walkers are chosen for one row after
 * another, then grow within the processes of their row. A group of its own is the most efficient
 * for each walker, since members that agree after a unit take time; so processes are put together
 * only where there are too few walkers. */
#include "policies/waiting.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "policies/load.h"

typedef struct {
  const rg_load_table *t;
  int64_t *left;        /* of each row */
  int64_t *ranks, *row; /* of each walker: what it gets, and from where; 0: it does not start */
  int64_t open;         /* walkers that do not start yet; */
  int64_t first, need;  /* the first of them; what each of them needs at least */
  int64_t *heap, size;  /* walkers that have just been chosen, the one that takes longest on top */
} waiting_state;

/* Lets up to `limit` walkers start on a row with the least that they need. */
static void choose(waiting_state *state, int64_t row, int64_t limit) {
  if (state->left[row] < state->need)
    return;
  while (state->first < state->t->waiting_count && state->ranks[state->first])
    state->first++;
  for (int64_t w = state->first; w < state->t->waiting_count && limit > 0 && state->left[row] > 0;
       w++) {
    int64_t need = rgi_load_need(&state->t->waiting[w]);
    if (state->ranks[w] || need > state->left[row])
      continue;
    state->ranks[w] = need;
    state->row[w] = row;
    state->left[row] -= need;
    state->heap[state->size++] = w;
    state->open--;
    limit--;
  }
}

static int takes_longer(const waiting_state *state, int64_t a, int64_t b) {
  double x = rgi_load_waiting_seconds(&state->t->waiting[a], state->ranks[a]);
  double y = rgi_load_waiting_seconds(&state->t->waiting[b], state->ranks[b]);
  return x != y ? x > y : a < b;
}

static void sift_down(waiting_state *state, int64_t at) {
  int64_t *heap = state->heap, moved = heap[at];
  for (int64_t child; (child = 2 * at + 1) < state->size; at = child) {
    child += child + 1 < state->size && takes_longer(state, heap[child + 1], heap[child]);
    if (!takes_longer(state, heap[child], moved))
      break;
    heap[at] = heap[child];
  }
  heap[at] = moved;
}

static int may_grow(const waiting_state *state, int64_t w) {
  int64_t most = state->t->waiting[w].most;
  return !most || state->ranks[w] < most;
}

/* Those of the chosen walkers that may get more. */
static void make_heap(waiting_state *state) {
  int64_t n = 0;
  for (int64_t i = 0; i < state->size; i++)
    if (may_grow(state, state->heap[i]))
      state->heap[n++] = state->heap[i];
  state->size = n;
  for (int64_t i = n / 2 - 1; i >= 0; i--)
    sift_down(state, i);
}

enum { STEPS = 64 };

/* Gives the row's processes to the walker that takes longest, one by one, or a small part of them
 * where they are many; all, if there is one walker. */
static void grow(waiting_state *state, int64_t row) {
  for (make_heap(state); state->left[row] > 0 && state->size > 0;) {
    int64_t longest = state->heap[0], most = state->t->waiting[longest].most,
            more = state->left[row];
    if (state->size > 1)
      more = 1 + state->left[row] / (STEPS * state->size);
    if (most && more > most - state->ranks[longest])
      more = most - state->ranks[longest];
    state->ranks[longest] += more;
    state->left[row] -= more;
    if (!may_grow(state, longest))
      state->heap[0] = state->heap[--state->size];
    if (state->size > 0)
      sift_down(state, 0);
  }
  state->size = 0;
}

/* Processes that may start walkers besides those of the rows up to `row`. */
static int64_t count_others(const waiting_state *state, int64_t row) {
  int64_t sum = 0;
  if (state->t->self == RG_LOAD_ALL_ROWS)
    for (int64_t i = row + 1; i < state->t->count; i++)
      sum += state->left[i];
  else
    for (int64_t i = 0; i < state->t->count; i++)
      sum += i != row && !(state->t->load[i].state & RG_LOAD_ACTIVE) ? state->t->load[i].ranks : 0;
  return sum;
}

/* The row's part of the walkers, at least one. */
static void start_on(waiting_state *state, int64_t row, int64_t others) {
  double part = (double)state->left[row] / (double)(state->left[row] + others);
  choose(state, row, (int64_t)ceil((double)state->open * part));
  grow(state, row);
  if (state->left[row] > 0 && state->open > 0) {
    choose(state, row, state->open);
    grow(state, row);
  }
}

static int write_starts(const waiting_state *state, rg_plan *plan) {
  for (int64_t w = 0; w < state->t->waiting_count; w++)
    if (state->ranks[w])
      RGI_TRY(rg_plan_add(plan, &(rg_move){.from = state->row[w],
                                           .to = RG_MOVE_NO_ROW,
                                           .ranks = state->ranks[w],
                                           .walker = w}));
  return RG_SUCCESS;
}

int rgi_waiting_start(const rg_load_table *table, int64_t left[], rg_plan *plan) {
  int64_t walkers = table->waiting_count, others = -1;
  if (walkers == 0)
    return RG_SUCCESS;
  waiting_state state = {.t = table,
                         .left = left,
                         .ranks = calloc((size_t)walkers, sizeof *state.ranks),
                         .row = calloc((size_t)walkers, sizeof *state.row),
                         .heap = malloc((size_t)walkers * sizeof *state.heap),
                         .open = walkers,
                         .need = INT64_MAX};
  for (int64_t w = 0; w < walkers; w++)
    state.need = rgi_load_need(&table->waiting[w]) < state.need ? rgi_load_need(&table->waiting[w])
                                                                : state.need;
  int error =
      state.ranks && state.row && state.heap
          ? RG_SUCCESS
          : rgi_error(RG_ERR_NOMEM, "a policy: no memory for %lld walkers", (long long)walkers);
  for (int64_t row = 0; row < table->count && state.open > 0 && !error; row++) {
    if (left[row] <= 0)
      continue;
    others = others < 0 || table->self != RG_LOAD_ALL_ROWS ? count_others(&state, row)
                                                           : others - left[row];
    start_on(&state, row, others);
  }
  if (!error)
    error = write_starts(&state, plan);
  free(state.ranks);
  free(state.row);
  free(state.heap);
  return error;
}

/* What is taken for what is not known of a waiting walker: the mean of the active rows. */
typedef struct {
  double left, unit; /* units; seconds of one on one process */
} waiting_typical;

static waiting_typical typical_of(const rg_load_table *table) {
  double left = 0, unit = 0, rows = 0, units = 0;
  for (int64_t i = 0; i < table->count; i++) {
    const rg_load *load = &table->load[i];
    if (!(load->state & RG_LOAD_ACTIVE))
      continue;
    rows++;
    left += (load->left > 0 ? load->left : 0) + load->done;
    units += load->unit > 0;
    unit += load->unit > 0 ? load->unit * (double)load->ranks : 0;
  }
  return (waiting_typical){left > 0 ? left / rows : 1, units > 0 ? unit / units : 1};
}

static double seconds_of(const rg_waiting_walker *waiting, const waiting_typical *typical,
                         int64_t ranks) {
  rg_waiting_walker known = *waiting;
  known.left = waiting->left >= 0 ? waiting->left : typical->left;
  known.unit = waiting->unit > 0 ? waiting->unit : typical->unit;
  return rgi_load_waiting_seconds(&known, ranks);
}

/* --- what active rows can spare -------------------------------------------------------------- */

rgi_waiting_sum rgi_waiting_sum_up(const rg_load_table *table, double cost) {
  double work = 0;
  int64_t ranks = 0, idle = 0;
  waiting_typical typical = typical_of(table);
  rgi_waiting_sum sum = {.cost = cost};
  for (int64_t i = 0; i < table->count; i++) {
    const rg_load *load = &table->load[i];
    ranks += load->ranks;
    if (load->state & RG_LOAD_ACTIVE)
      work += rgi_load_seconds(load, load->ranks) * (double)load->ranks;
    else
      idle += load->ranks;
  }
  for (int64_t w = 0; w < table->waiting_count; w++) {
    int64_t need = rgi_load_need(&table->waiting[w]);
    work += seconds_of(&table->waiting[w], &typical, 1);
    if ((idle -= need) >= 0)
      continue;
    sum.unserved++;
    sum.need = sum.unserved == 1 || need < sum.need ? need : sum.need;
  }
  sum.seconds = ranks > 0 ? work / (double)ranks : 0;
  return sum;
}

enum { PAYS = 4 }; /* a row spares processes if its work takes so many times the cost at least */

int64_t rgi_waiting_spare(const rgi_waiting_sum *sum, const rg_load *row) {
  int wanted = RG_LOAD_ACTIVE | RG_LOAD_LEAVABLE;
  if (sum->unserved == 0 || (row->state & wanted) != wanted || row->ranks == 1)
    return 0;
  double seconds = rgi_load_seconds(row, row->ranks);
  if (seconds <= PAYS * sum->cost || sum->seconds <= 0)
    return 0;
  double wants = floor(seconds * (double)row->ranks / sum->seconds);
  int64_t keep = row->least > 1 ? row->least : 1;
  if (wants > (double)keep)
    keep = wants < (double)row->ranks ? (int64_t)wants : row->ranks;
  return row->ranks - keep >= sum->need ? row->ranks - keep : 0;
}

/* --- walkers that need more --------------------------------------------------------------------
 */

static int is_started(const rg_plan *plan, int64_t walker) {
  int64_t i = plan->count - 1;
  while (i >= 0 && plan->move[i].walker != walker)
    i--;
  return i >= 0;
}

int rgi_waiting_holds(const rg_load_table *table, const rg_plan *plan, int64_t ranks) {
  double longest = 0;
  waiting_typical typical = typical_of(table);
  for (int64_t i = 0; i < table->count; i++)
    if (table->load[i].state & RG_LOAD_ACTIVE)
      longest = fmax(longest, rgi_load_seconds(&table->load[i], table->load[i].ranks));
  for (int64_t w = 0; w < table->waiting_count; w++) {
    int64_t need = rgi_load_need(&table->waiting[w]);
    if (need > ranks && !is_started(plan, w) &&
        seconds_of(&table->waiting[w], &typical, need) >= longest)
      return 1;
  }
  return 0;
}
