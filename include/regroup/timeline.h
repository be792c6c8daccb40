/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A timeline: the activities of each process over time. Every process records its own
 * spans; the root gathers them at the end and writes them as a picture or as data. Any number of
 * balancers may record on one timeline, one after the other or at the same time, on the same
 * processes or on others. Walkers with the same id count as the same walker.
 *
 * Recording is local and needs neither rg_init nor MPI. One thread at a time uses a
 * timeline. All calls may return RG_ERR_ARG (a pointer is NULL). */
#ifndef REGROUP_TIMELINE_H
#define REGROUP_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_timeline_s *rg_timeline;

/* The activities of a process. */
typedef enum {
  RG_SPAN_IDLE,    /* it has no work */
  RG_SPAN_REGROUP, /* a group is formed, or a state handed over */
  RG_SPAN_WORK,    /* it works */
  RG_SPAN_WAIT     /* it has work, or has requested some, and waits for other groups */
} rg_span_kind;

/* A span: from start to end (seconds) the process did `kind`, for the walker `key` if
 * that was work, in its `group`-th group, which has `size` members. `first` is the lowest
 * rank in the group; `together` is 1 if the ranks are first, first + 1, ..., else 0. Ranks are
 * those in the group of rg_timeline_gather. */
typedef struct {
  double start, end;
  int64_t key;
  int32_t kind, first, size, group, together, unused; /* unused: 0 */
} rg_span;

typedef enum {
  RG_TIMELINE_SVG,    /* a picture */
  RG_TIMELINE_CHROME, /* JSON for chrome://tracing and Perfetto */
  RG_TIMELINE_JSON,   /* plain JSON */
  RG_TIMELINE_HTML    /* the picture in a page in which time can be zoomed and moved */
} rg_timeline_format;

/* The origin by which times are counted on the timeline's own clock. */
#define RG_TIMELINE_CLOCK (-1.0)

/* Makes an empty timeline; rg_timeline_free frees it and sets the handle to NULL. Local.
 * Errors: RG_ERR_NOMEM. */
RG_API int rg_timeline_create(rg_timeline *t);
RG_API int rg_timeline_free(rg_timeline *t);

/* Begins a span and ends the previous one. start and end of *span are ignored. If the span
 * has the kind, group and key of the previous one, that one continues. Local. Cost: reading
 * the clock, and 48 bytes for each span. t may be NULL; then nothing is done. A span for
 * which there is no memory is lost; rg_timeline_gather reports this. */
RG_API int rg_timeline_mark(rg_timeline t, const rg_span *span);

/* The same at the given time of CLOCK_MONOTONIC. Errors: RG_ERR_ARG (when is infinite or NaN). */
RG_API int rg_timeline_mark_at(rg_timeline t, const rg_span *span, double when);

/* Ends the last span at a time of CLOCK_MONOTONIC; spans that begin later are dropped.
 * Local. Errors: RG_ERR_ARG (when is infinite or NaN). */
RG_API int rg_timeline_end(rg_timeline t, double when);

/* The spans that this process has recorded, in order. On the root, after gathering, the
 * spans of all processes in the order of ranks, counts[r] of them of rank r. They belong to
 * the timeline. counts may be NULL. Local. */
RG_API int rg_timeline_spans(rg_timeline t, int64_t *count, const rg_span **spans,
                             const int64_t **counts);

/* Gathers the spans of all members of g at the root, once. origin, the same kind on all members:
 *
 *  - RG_TIMELINE_CLOCK: the timeline's own clock. Times are counted from the first span of any
 *    process. The clocks of different nodes are compared by messages: spans of two nodes are
 *    right to within half the time of a message there and back.
 *  - Otherwise this process's time of CLOCK_MONOTONIC when the work began, not negative: times
 *    are counted from it.
 *
 * A row of the result is a member of g, and row r is rank r in g. If a balancer has noticed deaths,
 * the dead have rows too: then rows are in the order of the ranks in rg_group_world and named by
 * these. What the dead had recorded is lost.
 * Callers: every member of g. Cost: a gather of counts, one of spans and one of deaths; with
 * RG_TIMELINE_CLOCK, 16 messages between the root and one member on each other node. Errors, the
 * same on all members: RG_ERR_NOMEM (a process had no memory for a span, or the root has none);
 * RG_ERR_RANK; RG_ERR_ARG (gathered already); RG_ERR_PROC_FAILED, after which the survivors may
 * gather on a group of their own. */
RG_API int rg_timeline_gather(rg_timeline t, rg_group g, double origin, int root);

/* A rank that has died, and the time of its death, counted as the spans' times are. */
typedef struct {
  int rank;
  double when;
  int64_t reserved[2]; /* 0 */
} rg_timeline_death;

/* How a picture shows the walker `key`. */
typedef struct {
  int64_t key;
  const char *name;    /* NULL: "walker KEY" */
  const char *colour;  /* "#rrggbb"; NULL: one of the library's, as without this struct */
  int64_t reserved[2]; /* 0 */
} rg_timeline_walker;

/* What a picture shows in addition to the spans. Zero and NULL: nothing. */
typedef struct {
  size_t size; /* sizeof(rg_timeline_words): error.h */
  const char *title, *subtitle;
  double seconds; /* when the work ended; 0: with the last span */
  double ideal;   /* drawn as a line */
  /* Where the program knows of deaths and no balancer has noticed them: `ranks` is the number of
   * ranks that there were, and rank_of[] are the ranks of the gathered ones, ascending. 0: the
   * rows of rg_timeline_gather. */
  int ranks;
  const int *rank_of;
  /* Marked in the picture by a cross. 0: the deaths that balancers have noticed, at the time when
   * they did; otherwise these instead. */
  int deaths;
  const rg_timeline_death *death;
  int64_t walkers; /* how many have names and colours; the others as if they had none */
  const rg_timeline_walker *walker;
} rg_timeline_words;

/* Writes a gathered timeline to a file: a self-contained SVG picture with a row for each
 * rank; JSON for chrome://tracing and Perfetto (a thread for each rank); plain JSON:
 * {"title", "seconds", "ideal", "ranks", "totals": [{"work", "regroup",
 * "wait", "idle"}], "spans": [[row, kind, start, end, key, group, first, size]],
 * "deaths": [[row, when]], "rows": [rank], "names": {"KEY": name}}, where "ranks" is the number of
 * rows; or a self-contained HTML page, which needs no network: the picture, where the wheel or two
 * fingers zoom time, dragging moves it, and a walker of the legend can be singled out.
 * A row of a dead process is blank up to its death. A group of several is framed: members that are
 * neighbours in the picture together, others each by a dashed frame. Bytes of texts that are no
 * UTF-8 are replaced. The legend names 128 walkers and counts the others. Caller: the root of
 * rg_timeline_gather; local. words may be NULL. Errors: RG_ERR_FILE (the file cannot be written);
 * RG_ERR_NOMEM; RG_ERR_ARG (not gathered on this process; no such format; the size of words is not
 * set; deaths without death, or walkers without walker; a colour that is none; a walker that is
 * there twice; seconds, ideal or the time of a death infinite or NaN); RG_ERR_RANK (a death of a
 * rank that has no row). */
RG_API int rg_timeline_write(rg_timeline t, const char *path, rg_timeline_format format,
                             const rg_timeline_words *words);

#ifdef __cplusplus
}
#endif
#endif
