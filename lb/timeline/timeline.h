/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A timeline: what each rank did when. Every rank records its own spans; they
 * are gathered at the end and drawn (svg.h). */
#ifndef RGI_TIMELINE_H
#define RGI_TIMELINE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { RGI_SPAN_IDLE, RGI_SPAN_REGROUP, RGI_SPAN_WORK } rgi_span_kind;

/* From start to end (seconds) the rank, a member of the group of `size` ranks
 * from rank `first` on, was doing `kind`; for work: for the walker with this
 * key. formation counts the rank's groups. */
typedef struct {
  double start, end;
  int64_t key;
  int32_t kind, first, size, formation;
} rgi_span;

typedef struct {
  rgi_span *spans;
  int count, room;
  int recording;
  int lost; /* no memory for a span: the picture would be wrong */
} rgi_timeline;

/* Starts recording; with recording 0 all calls do nothing. */
void rgi_timeline_start(rgi_timeline *t, int recording);

/* From `now` on the rank is in this group, as its formation-th, and does this;
 * the span before ends. Marking what holds already changes nothing. */
void rgi_timeline_mark(rgi_timeline *t, double now, rgi_span span);

/* Ends the last span. */
void rgi_timeline_end(rgi_timeline *t, double now);

void rgi_timeline_free(rgi_timeline *t);

/* All ranks' spans on rank 0 of comm, with times counted from each rank's own
 * `origin`; collective over comm. On rank 0 *all holds the spans in rank order
 * and counts[r] says how many are rank r's; free both. Elsewhere they are NULL.
 * Returns 1; or 0, on every rank, if a rank had no memory for it. */
int rgi_timeline_gather(const rgi_timeline *t, double origin, MPI_Comm comm, rgi_span **all,
                        int **counts);

#endif
