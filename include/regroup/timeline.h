/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A timeline: what each process did when. Every process records its own spans; they
 * are gathered at the end and written as a picture or as data.
 *
 * Recording is local and needs neither rg_init nor MPI; a timeline is used by one
 * thread at a time. All calls may return RG_ERR_ARG (a pointer is NULL). */
#ifndef REGROUP_TIMELINE_H
#define REGROUP_TIMELINE_H

#include <stdint.h>

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_timeline_s *rg_timeline;

/* What a process may do. */
typedef enum {
  RG_SPAN_IDLE,    /* it has no work */
  RG_SPAN_REGROUP, /* a group is formed, a state handed over */
  RG_SPAN_WORK,    /* it works */
  RG_SPAN_WAIT     /* it has work, or has asked for some, and waits for other groups */
} rg_span_kind;

/* A span: from start to end (seconds) the process did `kind`, for the walker `key` if
 * that was work, in its `group`-th group, which has `size` members; `first` is the lowest
 * rank in it and `together` tells whether they are first, first + 1, ... */
typedef struct {
  double start, end;
  int64_t key;
  int32_t kind, first, size, group, together, unused;
} rg_span;

typedef enum { RG_TIMELINE_SVG, RG_TIMELINE_CHROME, RG_TIMELINE_JSON } rg_timeline_format;

/* An empty timeline. Errors: RG_ERR_NOMEM. */
RG_API int rg_timeline_create(rg_timeline *t);
RG_API int rg_timeline_free(rg_timeline *t);

/* From now on the process does this; the span before ends. start and end are not
 * looked at. A span that goes on (same kind, group and key) stays one. Cost: a look at
 * the clock and 56 bytes for each span; t may be NULL, then nothing is done. A span for
 * which there is no memory is lost, which rg_timeline_gather tells. */
RG_API int rg_timeline_mark(rg_timeline t, const rg_span *span);

/* The same for a time of CLOCK_MONOTONIC that is given. */
RG_API int rg_timeline_mark_at(rg_timeline t, const rg_span *span, double when);

/* Ends the last span, at a time of CLOCK_MONOTONIC; what begins after it is dropped. */
RG_API int rg_timeline_end(rg_timeline t, double when);

/* The spans recorded here, in order; or, on the root after gathering, those of all
 * processes in the order of ranks, counts[r] of them of rank r. They belong to the
 * timeline. counts may be NULL. Local. */
RG_API int rg_timeline_spans(rg_timeline t, int64_t *count, const rg_span **spans,
                             const int64_t **counts);

/* Gathers the spans of all members of g at one of them, with times counted from each
 * process's own `origin` (its time when the work began). Every member calls.
 * Cost: a gather of counts and one of spans. Errors, on all members alike: RG_ERR_NOMEM (a
 * process had no memory for a span, or the root has none); RG_ERR_RANK. */
RG_API int rg_timeline_gather(rg_timeline t, rg_group g, double origin, int root);

/* A rank that has died, and when, on the timeline's clock. */
typedef struct {
  int rank;
  double when;
} rg_timeline_death;

/* What a picture says besides the spans. Zero and NULL: nothing. */
typedef struct {
  const char *title, *subtitle;
  double seconds; /* when the work ended; 0: with the last span */
  double ideal;   /* drawn as a line */
  /* If some have died, those that were gathered are not all: so many ranks there were, and
   * which ranks those gathered had, ascending. What the dead recorded is lost. */
  int ranks;
  const int *rank_of;
  int deaths; /* marked in the picture */
  const rg_timeline_death *death;
} rg_timeline_words;

/* Writes a gathered timeline, on the root, to a file: a self-contained SVG picture with
 * a row for each rank; JSON for chrome://tracing and Perfetto (a thread for each rank);
 * or plain JSON: {"title", "seconds", "ideal", "ranks", "totals": [{"work", "regroup",
 * "wait", "idle"}], "spans": [[rank, kind, start, end, key, group, first, size]]}.
 * words may be NULL. Errors: RG_ERR_FILE (it cannot be written); RG_ERR_ARG (not
 * gathered here; no such format). */
RG_API int rg_timeline_write(rg_timeline t, const char *path, rg_timeline_format format,
                             const rg_timeline_words *words);

#ifdef __cplusplus
}
#endif
#endif
