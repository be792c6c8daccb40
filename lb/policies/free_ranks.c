/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Idle processes, and those that active groups can spare or are faster without, first start walkers
 * that wait; the others are divided among the active groups so that these end together. */
#include "policies/free_ranks.h"

#include <math.h>
#include <regroup/policy.h>
#include <stdlib.h>

#include "base/error.h"
#include "policies/load.h"

/* --- walkers that wait ------------------------------------------------------------------------ */

/* Walkers that wait, and the processes that rows give. Walkers are chosen for one row after
 * another, then grow within the processes of their row. A group of its own is the most efficient
 * for each walker, since members that agree after a unit take time; so processes are put together
 * only where there are too few walkers. */
/* The work of all rows and waiting walkers. */
typedef struct {
  double seconds;   /* that all processes together need for it */
  int64_t unserved; /* the waiting walkers for which idle rows have no process */
  int64_t need;     /* the least number of processes with which one of them can start */
  double cost;      /* seconds of forming a group */
} waiting_sum;

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

/* Adds moves by which waiting walkers start on the processes that rows give, left[row] of each row;
 * reduces left[] by what the moves take. If there are more walkers than processes, each that starts
 * gets the least number that it needs, the longest first; else they get so many that they end
 * together, at most `most`. Processes that no walker can use stay in left[]. In asynchronous
 * balancing the row that asks leaves walkers to the other idle rows, in proportion.
 * O((rows + walkers + processes) log walkers) where all walkers need as many processes at least;
 * otherwise each row may look at all of them. */
static int start_waiting(const rg_load_table *table, int64_t left[], rg_plan *plan) {
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

/* O(rows + walkers). */
static waiting_sum sum_up_waiting(const rg_load_table *table, double cost) {
  double work = 0;
  int64_t ranks = 0, idle = 0;
  waiting_typical typical = typical_of(table);
  waiting_sum sum = {.cost = cost};
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

/* How many processes an active row can spare for walkers that wait, such that its own work does not
 * end later than all work could. It spares none if no walker could use them, or if its work ends
 * before new groups would pay. */
static int64_t spare_for_waiting(const waiting_sum *sum, const rg_load *row) {
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

/* --- walkers that need more ------------------------------------------------------------------- */

static int is_started(const rg_plan *plan, int64_t walker) {
  int64_t i = plan->count - 1;
  while (i >= 0 && plan->move[i].walker != walker)
    i--;
  return i >= 0;
}

/* Whether an idle row should stay idle, so that others can join it or it can join others, since a
 * walker waits that needs more processes than the row has and that is longer than all active rows.
 */
static int holds_for_waiting(const rg_load_table *table, const rg_plan *plan, int64_t ranks) {
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

typedef struct {
  const rg_load_table *t;
  double cost, gain;
  int full;           /* no processor is free */
  int64_t first, end; /* the rows that may give */
  int64_t *left;      /* what each of them still gives */
  int64_t *give;      /* to other rows (division.h) */
} free_ranks_state;

/* The processes that an active row does not need: its unit was as short at a smaller size, or no
 * processor is free, so that a larger group only takes from the others what it gains. *faster: it
 * was shorter there, or all could be faster. */
static int64_t surplus_of(const free_ranks_state *state, const rg_load *load, int *faster) {
  const rg_pace *pace = &load->pace;
  double limit = state->full ? INFINITY : (1 + state->gain) * load->unit;
  *faster = 0;
  if (!(load->state & RG_LOAD_ACTIVE) || !(load->state & RG_LOAD_LEAVABLE))
    return 0;
  for (int i = 0; i < pace->count && pace->ranks[i] < load->ranks; i++)
    if (pace->ranks[i] >= load->least && pace->seconds[i] <= limit) {
      *faster = state->full || pace->seconds[i] < load->unit;
      return load->ranks - pace->ranks[i];
    }
  return 0;
}

/* What the rows give to walkers that wait. */
static int give_to_waiting(free_ranks_state *state, rg_plan *plan) {
  int faster;
  waiting_sum sum = {0};
  if (state->t->waiting_count > 0)
    sum = sum_up_waiting(state->t, state->cost);
  for (int64_t row = state->first; row < state->end; row++) {
    const rg_load *load = &state->t->load[row];
    int64_t surplus = surplus_of(state, load, &faster), spare = spare_for_waiting(&sum, load);
    state->left[row] = rgi_load_gives(state->t, row) ? load->ranks
                       : surplus > spare             ? surplus
                                                     : spare;
  }
  return start_waiting(state->t, state->left, plan);
}

/* What is left of them for other groups: of active rows only what they do not need. */
static int give_to_others(free_ranks_state *state, rg_plan *plan) {
  int faster;
  for (int64_t row = state->first; row < state->end; row++) {
    const rg_load *load = &state->t->load[row];
    int64_t surplus = surplus_of(state, load, &faster);
    int idle = rgi_load_gives(state->t, row);
    state->give[row] = idle                         ? state->left[row]
                       : state->left[row] < surplus ? state->left[row]
                                                    : surplus;
    if (idle && state->t->self == row && holds_for_waiting(state->t, plan, load->ranks))
      state->give[row] = 0;
  }
  for (int64_t i = 0; i < plan->count; i++) /* it may not get processes, too */
    if (state->give[plan->move[i].from] == 0)
      state->give[plan->move[i].from] = -1;
  return rgi_free_ranks_divide(state->t, state->give, state->cost, plan);
}

static int64_t given_by(const rg_plan *plan, int64_t row) {
  int64_t sum = 0;
  for (int64_t i = 0; i < plan->count; i++)
    sum += plan->move[i].from == row ? plan->move[i].ranks : 0;
  return sum;
}

/* Processes that no other group can use leave all the same if their group is faster without them.
 */
static int give_rest(const free_ranks_state *state, rg_plan *plan) {
  for (int64_t row = state->first; row < state->end; row++) {
    int faster;
    int64_t rest = surplus_of(state, &state->t->load[row], &faster);
    if (rest > 0 && faster)
      rest -= given_by(plan, row);
    if (rest > 0 && faster)
      RGI_TRY(rg_plan_add(plan, &(rg_move){.from = row,
                                           .to = RG_MOVE_NO_ROW,
                                           .ranks = rest,
                                           .walker = RG_MOVE_NO_WALKER}));
  }
  return RG_SUCCESS;
}

int rgi_free_ranks_plan(const rg_load_table *table, double cost, double gain, rg_plan *plan) {
  size_t rows = (size_t)table->count;
  int all = table->self == RG_LOAD_ALL_ROWS;
  free_ranks_state state = {.t = table,
                            .cost = cost >= 0 ? cost : table->merge,
                            .gain = gain,
                            .full = rgi_load_free_processors(table) <= 0,
                            .first = all ? 0 : table->self,
                            .end = all ? table->count : table->self + 1,
                            .left = calloc(rows + 1, sizeof *state.left),
                            .give = calloc(rows + 1, sizeof *state.give)};
  int error = state.left && state.give
                  ? give_to_waiting(&state, plan)
                  : rgi_error(RG_ERR_NOMEM, "share-out: no memory for %zu rows", rows);
  if (!error)
    error = give_to_others(&state, plan);
  if (!error)
    error = give_rest(&state, plan);
  free(state.left);
  free(state.give);
  return error;
}
