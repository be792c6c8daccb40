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

static void free_gathered(gathered_records *records) {
  free(records->heads);
  free(records->bytes);
  free(records->starts);
  free(records->spans);
  free(records->deaths);
  free(records->counts);
  free(records->shift);
  free(records->row_of);
  free(records->rank_of);
}

static int no_memory(int64_t n, const char *what) {
  return rgi_error(RG_ERR_NOMEM, CALL ": no memory for %lld %s", (long long)n, what);
}

static int make_room(gathered_records *records) {
  size_t n = (size_t)records->size;
  records->heads = calloc(n, sizeof *records->heads);
  records->bytes = calloc(n, sizeof *records->bytes);
  records->starts = calloc(n, sizeof *records->starts);
  records->counts = calloc(n, sizeof *records->counts);
  records->shift = calloc(n, sizeof *records->shift);
  records->row_of = calloc(n, sizeof *records->row_of);
  return records->heads && records->bytes && records->starts && records->counts && records->shift &&
                 records->row_of
             ? RG_SUCCESS
             : no_memory(records->size, "processes");
}

/* --- clocks ---------------------------------------------------------------------------------- */

static int node_of(const gathered_records *records, int rank) {
  return rgi_node_of(rgi_members_at(records->g->members, rank));
}

/* The lowest rank on each node answers for it. */
static int first_on_node(const gathered_records *records, int node) {
  int rank = 0;
  while (node_of(records, rank) != node)
    rank++;
  return rank;
}

static int answer_pings(rg_group group, int root) {
  for (int i = 0; i < PINGS; i++) {
    RGI_TRY(rg_recv(group, NULL, 0, MPI_BYTE, root, TAG, NULL));
    double now = rgi_clock_now();
    RGI_TRY(rg_send(group, &now, 1, MPI_DOUBLE, root, TAG));
  }
  return RG_SUCCESS;
}

static int ping(rg_group group, int rank, double *shift) {
  double fastest = -1;
  for (int i = 0; i < PINGS; i++) {
    double there, sent = rgi_clock_now();
    RGI_TRY(rg_send(group, NULL, 0, MPI_BYTE, rank, TAG));
    RGI_TRY(rg_recv(group, &there, 1, MPI_DOUBLE, rank, TAG, NULL));
    double took = rgi_clock_now() - sent;
    if (fastest < 0 || took < fastest) {
      fastest = took;
      *shift = there - (sent + took / 2);
    }
  }
  return RG_SUCCESS;
}

/* g: a group of the same members, for these messages. */
static int compare_clocks(gathered_records *records, rg_group group) {
  int mine = node_of(records, records->rank), roots = node_of(records, records->root);
  if (records->rank != records->root)
    return mine != roots && first_on_node(records, mine) == records->rank
               ? answer_pings(group, records->root)
               : RG_SUCCESS;
  int nodes = 0;
  for (int r = 0; r < records->size; r++)
    nodes = node_of(records, r) >= nodes ? node_of(records, r) + 1 : nodes;
  int *first = calloc((size_t)nodes, sizeof *first), error = RG_SUCCESS; /* rank + 1 */
  if (!first)
    return no_memory(nodes, "nodes");
  for (int r = 0; r < records->size && !error; r++) {
    int node = node_of(records, r);
    if (node != roots && !first[node])
      error = ping(group, r, &records->shift[r]);
    first[node] = first[node] ? first[node] : r + 1;
    records->shift[r] = records->shift[first[node] - 1];
  }
  free(first);
  return error;
}

static int find_shifts(gathered_records *records) {
  rg_group own;
  int error = rg_group_dup(records->g, &own); /* its messages are no other's */
  RGI_TRY(rgi_group_error_share(records->g, CALL, error));
  error = compare_clocks(records, own);
  rg_group_free(&own);
  return error;
}

/* --- what all have recorded ---------------------------------------------------------------- */

/* Where each process's n[r] items of so many bytes go. Returns their number. */
static int64_t lay_out(gathered_records *records, int deaths, size_t bytes) {
  int64_t n = 0;
  for (int r = 0; r < records->size; r++) {
    int64_t own = deaths ? records->heads[r].deaths : records->heads[r].spans;
    records->bytes[r] = (MPI_Count)(own * (int64_t)bytes);
    records->starts[r] = (MPI_Aint)(n * (int64_t)bytes);
    n += own;
  }
  return n;
}

static int make_room_for_records(gathered_records *records) {
  for (int r = 0; r < records->size; r++) {
    records->counts[r] = records->heads[r].spans;
    records->span_count += records->heads[r].spans;
    records->death_count += records->heads[r].deaths;
    if ((records->heads[r].origin < 0) != (records->heads[0].origin < 0))
      return rgi_error(RG_ERR_ARG, CALL ": ranks 0 and %d have different kinds of origin", r);
    if (!isfinite(records->heads[r].origin))
      return rgi_error(RG_ERR_ARG, CALL ": the origin of rank %d is %g", r,
                       records->heads[r].origin);
  }
  records->spans = malloc((size_t)(records->span_count + 1) * sizeof *records->spans);
  records->deaths = malloc((size_t)(records->death_count + 1) * sizeof *records->deaths);
  records->rank_of =
      calloc((size_t)(records->size + records->death_count), sizeof *records->rank_of);
  return records->spans && records->deaths && records->rank_of
             ? RG_SUCCESS
             : no_memory(records->span_count, "spans");
}

static int collect_records(rg_timeline timeline, double origin, gathered_records *records) {
  const record_head head = {timeline->count, timeline->death_count, origin};
  const int is_root = records->rank == records->root;
  int error = timeline->lost ? rgi_error(RG_ERR_NOMEM, CALL ": a span was lost")
              : timeline->counts
                  ? rgi_error(RG_ERR_ARG, CALL ": gathered already, on rank %d", records->rank)
              : is_root ? make_room(records)
                        : RG_SUCCESS;
  RGI_TRY(rgi_group_error_share(records->g, CALL, error));
  RGI_TRY(rg_gather(records->g, &head, sizeof head, MPI_BYTE, records->heads, sizeof head, MPI_BYTE,
                    records->root));
  RGI_TRY(rgi_group_error_share(records->g, CALL,
                                is_root ? make_room_for_records(records) : RG_SUCCESS));
  if (origin < 0) {
    error = find_shifts(records);
    RGI_TRY(rgi_group_error_share(records->g, CALL, error));
  }
  if (is_root)
    lay_out(records, 0, sizeof *timeline->spans);
  RGI_TRY(rg_gatherv(records->g, timeline->spans,
                     timeline->count * (MPI_Count)sizeof *timeline->spans, MPI_BYTE, records->spans,
                     records->bytes, records->starts, MPI_BYTE, records->root));
  if (is_root)
    lay_out(records, 1, sizeof *timeline->deaths);
  return rg_gatherv(records->g, timeline->deaths,
                    timeline->death_count * (MPI_Count)sizeof *timeline->deaths, MPI_BYTE,
                    records->deaths, records->bytes, records->starts, MPI_BYTE, records->root);
}

/* --- one origin ------------------------------------------------------------------------------- */

/* The time of the first span, on the root's clock. */
static double first_start(const gathered_records *records) {
  const rg_span *span = records->spans;
  double first = -1;
  for (int r = 0; r < records->size; span += records->counts[r], r++)
    if (records->counts[r] && (first < 0 || span->start - records->shift[r] < first))
      first = span->start - records->shift[r];
  return first;
}

static void set_origin(gathered_records *records) {
  int own_clock = records->heads[0].origin < 0;
  double first = own_clock ? first_start(records) : 0;
  rg_span *span = records->spans;
  rg_timeline_death *death = records->deaths;
  for (int r = 0; r < records->size; r++) {
    /* Two subtractions, as in first_start: the first span then begins at 0 exactly. */
    double shift = own_clock ? records->shift[r] : 0,
           origin = own_clock ? first : records->heads[r].origin;
    for (int64_t i = 0; i < records->counts[r]; i++, span++) {
      span->start = span->start - shift - origin;
      span->end = span->end - shift - origin;
    }
    for (int64_t i = 0; i < records->heads[r].deaths; i++, death++)
      death->when = death->when - shift - origin;
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
static void unite_deaths(gathered_records *records) {
  int64_t n = 0;
  qsort(records->deaths, (size_t)records->death_count, sizeof *records->deaths, by_rank);
  for (int64_t i = 0; i < records->death_count; i++)
    if (n == 0 || records->deaths[i].rank != records->deaths[n - 1].rank)
      records->deaths[n++] = records->deaths[i];
  records->death_count = n;
}

/* The row of a rank of the world, or -1. */
static int find_row(const gathered_records *records, int world_rank) {
  if (records->death_count == 0)
    return rgi_members_find(records->g->members, world_rank);
  const int *at = bsearch(&world_rank, records->rank_of, (size_t)records->rows,
                          sizeof *records->rank_of, ascending);
  return at ? (int)(at - records->rank_of) : -1;
}

static void find_rows(gathered_records *records) {
  unite_deaths(records);
  records->rows = records->size;
  for (int r = 0; r < records->size; r++)
    records->rank_of[r] = records->death_count ? rgi_members_at(records->g->members, r) : r;
  for (int64_t i = 0; i < records->death_count; i++)
    records->rank_of[records->rows++] = records->deaths[i].rank;
  if (records->death_count)
    qsort(records->rank_of, (size_t)records->rows, sizeof *records->rank_of, ascending);
  for (int r = 0; r < records->size; r++)
    records->row_of[r] = find_row(records, rgi_members_at(records->g->members, r));
  for (int64_t i = 0; i < records->death_count; i++)
    records->deaths[i].rank = find_row(records, records->deaths[i].rank);
}

/* Spans that balancers have recorded name ranks of the world, others ranks of the group. */
static void name_rows(const gathered_records *records) {
  rg_span *span = records->spans;
  for (int r = 0; r < records->size; r++)
    for (int64_t i = 0; i < records->counts[r]; i++, span++) {
      int in_group = span->first >= 0 && span->first < records->size;
      int first = span->unused ? find_row(records, span->first)
                  : in_group   ? records->row_of[span->first]
                               : -1;
      if (span->unused && span->together)
        span->together =
            first >= 0 && find_row(records, span->first + span->size - 1) == first + span->size - 1;
      span->together = first >= 0 && span->together;
      span->first = first >= 0 ? first : records->row_of[r];
    }
}

static void keep_gathered(rg_timeline timeline, gathered_records *records) {
  free(timeline->spans);
  free(timeline->deaths);
  timeline->spans = records->spans;
  timeline->deaths = records->deaths;
  timeline->counts = records->counts;
  timeline->row_of = records->row_of;
  timeline->rank_of = records->rank_of;
  timeline->count = timeline->room = records->span_count;
  timeline->death_count = records->death_count;
  timeline->ranks = records->size;
  timeline->rows = records->rows;
  records->spans = NULL;
  records->deaths = NULL;
  records->counts = NULL;
  records->row_of = records->rank_of = NULL;
}

int rg_timeline_gather(rg_timeline timeline, rg_group group, double origin, int root) {
  gathered_records records = {.g = group, .root = root};
  RGI_TRY(rgi_timeline_check(__func__, timeline));
  RGI_TRY(rg_group_rank(group, &records.rank));
  RGI_TRY(rg_group_size(group, &records.size));
  if (root < 0 || root >= records.size)
    return rgi_error(RG_ERR_RANK, "%s: root %d; the group's ranks go from 0 to %d", __func__, root,
                     records.size - 1);
  int error = collect_records(timeline, origin, &records);
  if (!error && records.rank == root) {
    set_origin(&records);
    find_rows(&records);
    name_rows(&records);
    keep_gathered(timeline, &records);
  }
  free_gathered(&records);
  return error;
}
