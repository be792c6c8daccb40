/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "timeline.h"

#include <limits.h>
#include <stdlib.h>

void rgi_timeline_start(rgi_timeline *t, int recording) {
  *t = (rgi_timeline){.recording = recording};
}

void rgi_timeline_free(rgi_timeline *t) {
  free(t->spans);
  *t = (rgi_timeline){0};
}

static int same(const rgi_span *a, const rgi_span *b) {
  return a->kind == b->kind && a->formation == b->formation &&
         (a->kind != RGI_SPAN_WORK || a->key == b->key);
}

static int grow(rgi_timeline *t) {
  if (t->count < t->room)
    return 1;
  int room = t->room ? 2 * t->room : 64;
  rgi_span *spans = t->room < INT_MAX / 2 ? realloc(t->spans, sizeof *spans * (size_t)room) : NULL;
  if (!spans)
    return 0;
  t->spans = spans;
  t->room = room;
  return 1;
}

void rgi_timeline_mark(rgi_timeline *t, double now, rgi_span span) {
  if (!t->recording || t->lost)
    return;
  if (t->count && same(&t->spans[t->count - 1], &span))
    return;
  rgi_timeline_end(t, now);
  if (!grow(t)) {
    t->lost = 1;
    return;
  }
  span.start = span.end = now;
  t->spans[t->count++] = span;
}

void rgi_timeline_end(rgi_timeline *t, double now) {
  if (t->count)
    t->spans[t->count - 1].end = now;
}

/* Room on rank 0 for what all have. */
static int prepare(int size, const int counts[], int **starts, rgi_span **all) {
  int64_t total = 0;
  *starts = malloc(sizeof **starts * (size_t)size);
  for (int r = 0; *starts && r < size; r++) {
    (*starts)[r] = (int)total;
    total += counts[r];
    if (total > INT_MAX)
      return 0;
  }
  *all = malloc(sizeof **all * (size_t)(total ? total : 1));
  return *starts && *all;
}

static void shift(rgi_span *spans, int count, double by) {
  for (int i = 0; i < count; i++) {
    spans[i].start -= by;
    spans[i].end -= by;
  }
}

int rgi_timeline_gather(const rgi_timeline *t, double origin, MPI_Comm comm, rgi_span **all,
                        int **counts) {
  int rank, size, *starts = NULL;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  *all = NULL;
  *counts = rank == 0 ? calloc((size_t)size, sizeof **counts) : NULL;
  int good = !t->lost && (rank != 0 || *counts), everywhere;
  MPI_Allreduce(&good, &everywhere, 1, MPI_INT, MPI_MIN, comm);
  if (everywhere) {
    MPI_Gather(&t->count, 1, MPI_INT, *counts, 1, MPI_INT, 0, comm);
    good = rank != 0 || prepare(size, *counts, &starts, all);
    MPI_Allreduce(&good, &everywhere, 1, MPI_INT, MPI_MIN, comm);
  }
  if (everywhere) {
    MPI_Datatype type;
    shift(t->spans, t->count, origin);
    MPI_Type_contiguous((int)sizeof(rgi_span), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Gatherv(t->spans, t->count, type, *all, *counts, starts, type, 0, comm);
    MPI_Type_free(&type);
    shift(t->spans, t->count, -origin);
  }
  free(starts);
  if (!everywhere) {
    free(*all);
    free(*counts);
    *all = NULL;
    *counts = NULL;
  }
  return everywhere;
}
