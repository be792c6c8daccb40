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
static void choose(waiting_state *s, int64_t row, int64_t limit) {
  if (s->left[row] < s->need)
    return;
  while (s->first < s->t->waiting_count && s->ranks[s->first])
    s->first++;
  for (int64_t w = s->first; w < s->t->waiting_count && limit > 0 && s->left[row] > 0; w++) {
    int64_t need = rgi_load_need(&s->t->waiting[w]);
    if (s->ranks[w] || need > s->left[row])
      continue;
    s->ranks[w] = need;
    s->row[w] = row;
    s->left[row] -= need;
    s->heap[s->size++] = w;
    s->open--;
    limit--;
  }
}

static int takes_longer(const waiting_state *s, int64_t a, int64_t b) {
  double x = rgi_load_waiting_seconds(&s->t->waiting[a], s->ranks[a]);
  double y = rgi_load_waiting_seconds(&s->t->waiting[b], s->ranks[b]);
  return x != y ? x > y : a < b;
}

static void sift_down(waiting_state *s, int64_t at) {
  int64_t *heap = s->heap, moved = heap[at];
  for (int64_t child; (child = 2 * at + 1) < s->size; at = child) {
    child += child + 1 < s->size && takes_longer(s, heap[child + 1], heap[child]);
    if (!takes_longer(s, heap[child], moved))
      break;
    heap[at] = heap[child];
  }
  heap[at] = moved;
}

static int may_grow(const waiting_state *s, int64_t w) {
  int64_t most = s->t->waiting[w].most;
  return !most || s->ranks[w] < most;
}

/* Those of the chosen walkers that may get more. */
static void make_heap(waiting_state *s) {
  int64_t n = 0;
  for (int64_t i = 0; i < s->size; i++)
    if (may_grow(s, s->heap[i]))
      s->heap[n++] = s->heap[i];
  s->size = n;
  for (int64_t i = n / 2 - 1; i >= 0; i--)
    sift_down(s, i);
}

enum { STEPS = 64 };

/* Gives the row's processes to the walker that takes longest, one by one, or a small part of them
 * where they are many; all, if there is one walker. */
static void grow(waiting_state *s, int64_t row) {
  for (make_heap(s); s->left[row] > 0 && s->size > 0;) {
    int64_t longest = s->heap[0], most = s->t->waiting[longest].most, more = s->left[row];
    if (s->size > 1)
      more = 1 + s->left[row] / (STEPS * s->size);
    if (most && more > most - s->ranks[longest])
      more = most - s->ranks[longest];
    s->ranks[longest] += more;
    s->left[row] -= more;
    if (!may_grow(s, longest))
      s->heap[0] = s->heap[--s->size];
    if (s->size > 0)
      sift_down(s, 0);
  }
  s->size = 0;
}

/* Processes that may start walkers besides those of the rows up to `row`. */
static int64_t count_others(const waiting_state *s, int64_t row) {
  int64_t sum = 0;
  if (s->t->self == RG_LOAD_ALL_ROWS)
    for (int64_t i = row + 1; i < s->t->count; i++)
      sum += s->left[i];
  else
    for (int64_t i = 0; i < s->t->count; i++)
      sum += i != row && !(s->t->load[i].state & RG_LOAD_ACTIVE) ? s->t->load[i].ranks : 0;
  return sum;
}

/* The row's part of the walkers, at least one. */
static void start_on(waiting_state *s, int64_t row, int64_t others) {
  double part = (double)s->left[row] / (double)(s->left[row] + others);
  choose(s, row, (int64_t)ceil((double)s->open * part));
  grow(s, row);
  if (s->left[row] > 0 && s->open > 0) {
    choose(s, row, s->open);
    grow(s, row);
  }
}

static int write_starts(const waiting_state *s, rg_plan *plan) {
  for (int64_t w = 0; w < s->t->waiting_count; w++)
    if (s->ranks[w])
      RGI_TRY(rg_plan_add(plan, &(rg_move){s->row[w], RG_MOVE_NO_ROW, s->ranks[w], w, {0}}));
  return RG_SUCCESS;
}

int rgi_waiting_start(const rg_load_table *table, int64_t left[], rg_plan *plan) {
  int64_t walkers = table->waiting_count, others = -1;
  if (walkers == 0)
    return RG_SUCCESS;
  waiting_state s = {.t = table,
                     .left = left,
                     .ranks = calloc((size_t)walkers, sizeof *s.ranks),
                     .row = calloc((size_t)walkers, sizeof *s.row),
                     .heap = malloc((size_t)walkers * sizeof *s.heap),
                     .open = walkers,
                     .need = INT64_MAX};
  for (int64_t w = 0; w < walkers; w++)
    s.need =
        rgi_load_need(&table->waiting[w]) < s.need ? rgi_load_need(&table->waiting[w]) : s.need;
  int error =
      s.ranks && s.row && s.heap
          ? RG_SUCCESS
          : rgi_error(RG_ERR_NOMEM, "a policy: no memory for %lld walkers", (long long)walkers);
  for (int64_t row = 0; row < table->count && s.open > 0 && !error; row++) {
    if (left[row] <= 0)
      continue;
    others =
        others < 0 || table->self != RG_LOAD_ALL_ROWS ? count_others(&s, row) : others - left[row];
    start_on(&s, row, others);
  }
  if (!error)
    error = write_starts(&s, plan);
  free(s.ranks);
  free(s.row);
  free(s.heap);
  return error;
}

/* What is taken for what is not known of a waiting walker: the mean of the active rows. */
typedef struct {
  double left, unit; /* units; seconds of one on one process */
} waiting_typical;

static waiting_typical typical_of(const rg_load_table *table) {
  double left = 0, unit = 0, rows = 0, units = 0;
  for (int64_t i = 0; i < table->count; i++) {
    const rg_load *l = &table->load[i];
    if (!(l->state & RG_LOAD_ACTIVE))
      continue;
    rows++;
    left += (l->left > 0 ? l->left : 0) + l->done;
    units += l->unit > 0;
    unit += l->unit > 0 ? l->unit * (double)l->ranks : 0;
  }
  return (waiting_typical){left > 0 ? left / rows : 1, units > 0 ? unit / units : 1};
}

static double seconds_of(const rg_waiting_walker *w, const waiting_typical *typical,
                         int64_t ranks) {
  rg_waiting_walker known = *w;
  known.left = w->left >= 0 ? w->left : typical->left;
  known.unit = w->unit > 0 ? w->unit : typical->unit;
  return rgi_load_waiting_seconds(&known, ranks);
}

/* --- what active rows can spare -------------------------------------------------------------- */

rgi_waiting_sum rgi_waiting_sum_up(const rg_load_table *table, double cost) {
  double work = 0;
  int64_t ranks = 0, idle = 0;
  waiting_typical typical = typical_of(table);
  rgi_waiting_sum sum = {.cost = cost};
  for (int64_t i = 0; i < table->count; i++) {
    const rg_load *l = &table->load[i];
    ranks += l->ranks;
    if (l->state & RG_LOAD_ACTIVE)
      work += rgi_load_seconds(l, l->ranks) * (double)l->ranks;
    else
      idle += l->ranks;
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
