/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pieces are cut into rows, each a run of bytes. The runs of one owner are collected until there
 * are enough for a message. */
#include "onesided/aggregate.h"

#include <stdlib.h>

#include "base/error.h"

/* Runs of one message. */
#define RUNS 1024
/* A piece of so many bytes or more is a message of its own. */
#define LARGE ((int64_t)1 << 16)

/* The runs of one owner, relative to the start of the buffer and of the owner's memory. */
typedef struct {
  rgi_strided_run *runs;
  int n;
} owner_runs;

struct rgi_aggregate {
  const rgi_access *m;
  owner_runs of[]; /* for each owner */
};

int rgi_aggregate_open(const rgi_access *m, rgi_aggregate **aggregate) {
  rgi_aggregate *j = calloc(1, sizeof *j + (size_t)m->a->d.owners * sizeof *j->of);
  if (!j)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d owners", m->call, m->a->d.owners);
  j->m = m;
  *aggregate = j;
  return RG_SUCCESS;
}

/* Sends the runs, relative to the lowest address of each side. */
static int move_runs(rgi_aggregate *j, int rank) {
  owner_runs *b = &j->of[rank];
  int64_t origin = INT64_MAX, target = INT64_MAX;
  for (int i = 0; i < b->n; i++) {
    origin = b->runs[i].origin < origin ? b->runs[i].origin : origin;
    target = b->runs[i].target < target ? b->runs[i].target : target;
  }
  for (int i = 0; i < b->n; i++) {
    b->runs[i].origin -= origin;
    b->runs[i].target -= target;
  }
  int n = b->n;
  b->n = 0;
  return rgi_access_runs(j->m, rank, j->m->a->heap_offsets[rank] + (uint64_t)target,
                         j->m->buf + origin, n, b->runs);
}

static int add_run(rgi_aggregate *j, int rank, rgi_strided_run run) {
  owner_runs *b = &j->of[rank];
  if (!b->runs)
    b->runs = malloc(RUNS * sizeof *b->runs);
  if (!b->runs)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d runs", j->m->call, RUNS);
  b->runs[b->n++] = run;
  return b->n == RUNS ? move_runs(j, rank) : RG_SUCCESS;
}

/* Adds the rows of dimension d and the inner ones. */
static int add_rows(rgi_aggregate *j, int rank, const rgi_strided *p, int d, int64_t origin,
                    int64_t target) {
  if (d == p->dims - 1)
    return add_run(j, rank, (rgi_strided_run){origin, target, p->extent[d]});
  for (int64_t i = 0; i < p->extent[d]; i++)
    RGI_TRY(add_rows(j, rank, p, d + 1, origin + i * p->origin_stride[d],
                     target + i * p->target_stride[d]));
  return RG_SUCCESS;
}

int rgi_aggregate_add(rgi_aggregate *j, const rgi_access_piece *part) {
  rgi_strided p = rgi_access_strided(j->m, part);
  if (rgi_strided_simplify(&p, &p) >= LARGE)
    return rgi_access_other_node(j->m, part);
  return add_rows(j, part->rank, &p, 0, part->buf - j->m->buf,
                  part->offset * (int64_t)j->m->a->element);
}

int rgi_aggregate_close(rgi_aggregate *j, int error) {
  for (int rank = 0; rank < j->m->a->d.owners; rank++) {
    if (!error && j->of[rank].n > 0)
      error = move_runs(j, rank);
    free(j->of[rank].runs);
  }
  free(j);
  return error;
}
