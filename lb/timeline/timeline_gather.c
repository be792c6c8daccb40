/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gathering. Each process sends its spans as they are; the root counts their times from one origin,
 * and finds the rows: the members of the group and, after deaths, the dead. The processes of a node
 * have one clock; those of other nodes are compared with the root's by short messages, of which the
 * fastest counts. */
#include <math.h>
#include <regroup/collectives.h>
#include <regroup/p2p.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "shm/node.h"
#include "timeline/timeline.h"

#define CALL "rg_timeline_gather"

enum { PINGS = 8, TAG = 0 };

/* What a process has recorded. */
typedef struct {
  int64_t spans, deaths;
  double origin;
} record_head;

typedef struct {
  rg_group g;
  int rank, size, root;
  /* On the root: */
  record_head *heads;
  MPI_Count *bytes;
  MPI_Aint *starts;
  rg_span *spans;
  rg_timeline_death *deaths;
  int64_t *counts, span_count, death_count;
  double *shift; /* of each rank: its clock less the root's */
  int *row_of, *rank_of, rows;
} gathered_records;

static void free_gathered(gathered_records *x) {
  free(x->heads);
  free(x->bytes);
  free(x->starts);
  free(x->spans);
  free(x->deaths);
  free(x->counts);
  free(x->shift);
  free(x->row_of);
  free(x->rank_of);
}

static int no_memory(int64_t n, const char *what) {
  return rgi_error(RG_ERR_NOMEM, CALL ": no memory for %lld %s", (long long)n, what);
}

static int make_room(gathered_records *x) {
  size_t n = (size_t)x->size;
  x->heads = calloc(n, sizeof *x->heads);
  x->bytes = calloc(n, sizeof *x->bytes);
  x->starts = calloc(n, sizeof *x->starts);
  x->counts = calloc(n, sizeof *x->counts);
  x->shift = calloc(n, sizeof *x->shift);
  x->row_of = calloc(n, sizeof *x->row_of);
  return x->heads && x->bytes && x->starts && x->counts && x->shift && x->row_of
             ? RG_SUCCESS
             : no_memory(x->size, "processes");
}

/* --- clocks ---------------------------------------------------------------------------------- */

static int node_of(const gathered_records *x, int rank) {
  return rgi_node_of(rgi_members_at(x->g->members, rank));
}

/* The lowest rank on each node answers for it. */
static int first_on_node(const gathered_records *x, int node) {
  int rank = 0;
  while (node_of(x, rank) != node)
    rank++;
  return rank;
}

static int answer_pings(rg_group g, int root) {
  for (int i = 0; i < PINGS; i++) {
    RGI_TRY(rg_recv(g, NULL, 0, MPI_BYTE, root, TAG, NULL));
    double now = rgi_clock_now();
    RGI_TRY(rg_send(g, &now, 1, MPI_DOUBLE, root, TAG));
  }
  return RG_SUCCESS;
}

static int ping(rg_group g, int rank, double *shift) {
  double fastest = -1;
  for (int i = 0; i < PINGS; i++) {
    double there, sent = rgi_clock_now();
    RGI_TRY(rg_send(g, NULL, 0, MPI_BYTE, rank, TAG));
    RGI_TRY(rg_recv(g, &there, 1, MPI_DOUBLE, rank, TAG, NULL));
    double took = rgi_clock_now() - sent;
    if (fastest < 0 || took < fastest) {
      fastest = took;
      *shift = there - (sent + took / 2);
    }
  }
  return RG_SUCCESS;
}

/* g: a group of the same members, for these messages. */
static int compare_clocks(gathered_records *x, rg_group g) {
  int mine = node_of(x, x->rank), roots = node_of(x, x->root);
  if (x->rank != x->root)
    return mine != roots && first_on_node(x, mine) == x->rank ? answer_pings(g, x->root)
                                                              : RG_SUCCESS;
  int nodes = 0;
  for (int r = 0; r < x->size; r++)
    nodes = node_of(x, r) >= nodes ? node_of(x, r) + 1 : nodes;
  int *first = calloc((size_t)nodes, sizeof *first), error = RG_SUCCESS; /* rank + 1 */
  if (!first)
    return no_memory(nodes, "nodes");
  for (int r = 0; r < x->size && !error; r++) {
    int node = node_of(x, r);
    if (node != roots && !first[node])
      error = ping(g, r, &x->shift[r]);
    first[node] = first[node] ? first[node] : r + 1;
    x->shift[r] = x->shift[first[node] - 1];
  }
  free(first);
  return error;
}

static int find_shifts(gathered_records *x) {
  rg_group own;
  int error = rg_group_dup(x->g, &own); /* its messages are no other's */
  RGI_TRY(rgi_group_error_share(x->g, CALL, error));
  error = compare_clocks(x, own);
  rg_group_free(&own);
  return error;
}

/* --- what all have recorded --------------------------------------------------------------------
 */

/* Where each process's n[r] items of so many bytes go. Returns their number. */
static int64_t lay_out(gathered_records *x, int deaths, size_t bytes) {
  int64_t n = 0;
  for (int r = 0; r < x->size; r++) {
    int64_t own = deaths ? x->heads[r].deaths : x->heads[r].spans;
    x->bytes[r] = (MPI_Count)(own * (int64_t)bytes);
    x->starts[r] = (MPI_Aint)(n * (int64_t)bytes);
    n += own;
  }
  return n;
}

static int make_room_for_records(gathered_records *x) {
  for (int r = 0; r < x->size; r++) {
    x->counts[r] = x->heads[r].spans;
    x->span_count += x->heads[r].spans;
    x->death_count += x->heads[r].deaths;
    if ((x->heads[r].origin < 0) != (x->heads[0].origin < 0))
      return rgi_error(RG_ERR_ARG, CALL ": ranks 0 and %d have different kinds of origin", r);
    if (!isfinite(x->heads[r].origin))
      return rgi_error(RG_ERR_ARG, CALL ": the origin of rank %d is %g", r, x->heads[r].origin);
  }
  x->spans = malloc((size_t)(x->span_count + 1) * sizeof *x->spans);
  x->deaths = malloc((size_t)(x->death_count + 1) * sizeof *x->deaths);
  x->rank_of = calloc((size_t)(x->size + x->death_count), sizeof *x->rank_of);
  return x->spans && x->deaths && x->rank_of ? RG_SUCCESS : no_memory(x->span_count, "spans");
}

static int collect_records(rg_timeline t, double origin, gathered_records *x) {
  const record_head head = {t->count, t->death_count, origin};
  const int is_root = x->rank == x->root;
  int error = t->lost     ? rgi_error(RG_ERR_NOMEM, CALL ": a span was lost")
              : t->counts ? rgi_error(RG_ERR_ARG, CALL ": gathered already, on rank %d", x->rank)
              : is_root   ? make_room(x)
                          : RG_SUCCESS;
  RGI_TRY(rgi_group_error_share(x->g, CALL, error));
  RGI_TRY(rg_gather(x->g, &head, sizeof head, MPI_BYTE, x->heads, sizeof head, MPI_BYTE, x->root));
  RGI_TRY(rgi_group_error_share(x->g, CALL, is_root ? make_room_for_records(x) : RG_SUCCESS));
  if (origin < 0) {
    error = find_shifts(x);
    RGI_TRY(rgi_group_error_share(x->g, CALL, error));
  }
  if (is_root)
    lay_out(x, 0, sizeof *t->spans);
  RGI_TRY(rg_gatherv(x->g, t->spans, t->count * (MPI_Count)sizeof *t->spans, MPI_BYTE, x->spans,
                     x->bytes, x->starts, MPI_BYTE, x->root));
  if (is_root)
    lay_out(x, 1, sizeof *t->deaths);
  return rg_gatherv(x->g, t->deaths, t->death_count * (MPI_Count)sizeof *t->deaths, MPI_BYTE,
                    x->deaths, x->bytes, x->starts, MPI_BYTE, x->root);
}

/* --- one origin ------------------------------------------------------------------------------- */

/* The time of the first span, on the root's clock. */
static double first_start(const gathered_records *x) {
  const rg_span *s = x->spans;
  double first = -1;
  for (int r = 0; r < x->size; s += x->counts[r], r++)
    if (x->counts[r] && (first < 0 || s->start - x->shift[r] < first))
      first = s->start - x->shift[r];
  return first;
}

static void set_origin(gathered_records *x) {
  int own_clock = x->heads[0].origin < 0;
  double first = own_clock ? first_start(x) : 0;
  rg_span *s = x->spans;
  rg_timeline_death *d = x->deaths;
  for (int r = 0; r < x->size; r++) {
    /* Two subtractions, as in first_start: the first span then begins at 0 exactly. */
    double shift = own_clock ? x->shift[r] : 0, origin = own_clock ? first : x->heads[r].origin;
    for (int64_t i = 0; i < x->counts[r]; i++, s++) {
      s->start = s->start - shift - origin;
      s->end = s->end - shift - origin;
    }
    for (int64_t i = 0; i < x->heads[r].deaths; i++, d++)
      d->when = d->when - shift - origin;
  }
}

/* --- rows ------------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b) {
  const rg_timeline_death *x = a, *y = b;
  return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                            : (x->when > y->when) - (x->when < y->when);
}

static int ascending(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Of each rank the first notice. */
static void unite_deaths(gathered_records *x) {
  int64_t n = 0;
  qsort(x->deaths, (size_t)x->death_count, sizeof *x->deaths, by_rank);
  for (int64_t i = 0; i < x->death_count; i++)
    if (n == 0 || x->deaths[i].rank != x->deaths[n - 1].rank)
      x->deaths[n++] = x->deaths[i];
  x->death_count = n;
}

/* The row of a rank of the world, or -1. */
static int find_row(const gathered_records *x, int world_rank) {
  if (x->death_count == 0)
    return rgi_members_find(x->g->members, world_rank);
  const int *at = bsearch(&world_rank, x->rank_of, (size_t)x->rows, sizeof *x->rank_of, ascending);
  return at ? (int)(at - x->rank_of) : -1;
}

static void find_rows(gathered_records *x) {
  unite_deaths(x);
  x->rows = x->size;
  for (int r = 0; r < x->size; r++)
    x->rank_of[r] = x->death_count ? rgi_members_at(x->g->members, r) : r;
  for (int64_t i = 0; i < x->death_count; i++)
    x->rank_of[x->rows++] = x->deaths[i].rank;
  if (x->death_count)
    qsort(x->rank_of, (size_t)x->rows, sizeof *x->rank_of, ascending);
  for (int r = 0; r < x->size; r++)
    x->row_of[r] = find_row(x, rgi_members_at(x->g->members, r));
  for (int64_t i = 0; i < x->death_count; i++)
    x->deaths[i].rank = find_row(x, x->deaths[i].rank);
}

/* Spans that balancers have recorded name ranks of the world, others ranks of the group. */
static void name_rows(const gathered_records *x) {
  rg_span *s = x->spans;
  for (int r = 0; r < x->size; r++)
    for (int64_t i = 0; i < x->counts[r]; i++, s++) {
      int in_group = s->first >= 0 && s->first < x->size;
      int first = s->unused ? find_row(x, s->first) : in_group ? x->row_of[s->first] : -1;
      if (s->unused && s->together)
        s->together = first >= 0 && find_row(x, s->first + s->size - 1) == first + s->size - 1;
      s->together = first >= 0 && s->together;
      s->first = first >= 0 ? first : x->row_of[r];
    }
}

static void keep_gathered(rg_timeline t, gathered_records *x) {
  free(t->spans);
  free(t->deaths);
  t->spans = x->spans;
  t->deaths = x->deaths;
  t->counts = x->counts;
  t->row_of = x->row_of;
  t->rank_of = x->rank_of;
  t->count = t->room = x->span_count;
  t->death_count = x->death_count;
  t->ranks = x->size;
  t->rows = x->rows;
  x->spans = NULL;
  x->deaths = NULL;
  x->counts = NULL;
  x->row_of = x->rank_of = NULL;
}

int rg_timeline_gather(rg_timeline t, rg_group g, double origin, int root) {
  gathered_records x = {.g = g, .root = root};
  RGI_TRY(rgi_timeline_check(__func__, t));
  RGI_TRY(rg_group_rank(g, &x.rank));
  RGI_TRY(rg_group_size(g, &x.size));
  if (root < 0 || root >= x.size)
    return rgi_error(RG_ERR_RANK, "%s: root %d; the group's ranks go from 0 to %d", __func__, root,
                     x.size - 1);
  int error = collect_records(t, origin, &x);
  if (!error && x.rank == root) {
    set_origin(&x);
    find_rows(&x);
    name_rows(&x);
    keep_gathered(t, &x);
  }
  free_gathered(&x);
  return error;
}
