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

static int move_transfer(const rgi_access *m, rgi_transfer *t) {
  rgi_engine_handle handle;
  if (m->started)
    return rgi_access_start(m, t);
  RGI_TRY(rgi_engine_start(t, &handle));
  return rgi_engine_wait(&handle);
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
  rg_array a = j->m->a;
  rgi_transfer t = {.kind = j->m->kind,
                    .target = a->world[rank],
                    .offset = a->heap_offsets[rank] + (uint64_t)target,
                    .origin = j->m->buf + origin,
                    .type = a->type,
                    .alpha = j->m->alpha,
                    .runs = b->runs,
                    .n = n,
                    .may_block = !j->m->started};
  return move_transfer(j->m, &t);
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

/* Adds the rows of a patch. first: its first row. */
static int add_rows(rgi_aggregate *j, int rank, const rgi_strided *p, rgi_strided_run first) {
  int64_t at[RGI_STRIDED_DIMS] = {0}, rows = p->dims > 1 ? p->extent[1] : 1;
  int64_t origin = 0, target = 0;
  do
    for (int64_t i = 0; i < rows; i++) {
      rgi_strided_run row = {first.origin + origin, first.target + target, p->extent[0]};
      if (i > 0) {
        row.origin += i * p->origin_stride[1];
        row.target += i * p->target_stride[1];
      }
      RGI_TRY(add_run(j, rank, row));
    }
  while (rgi_strided_step(p, at, &origin, &target));
  return RG_SUCCESS;
}

int rgi_aggregate_add(rgi_aggregate *j, int rank, rgi_transfer *t) {
  if (rgi_strided_bytes(&t->patch) >= LARGE)
    return move_transfer(j->m, t);
  rgi_strided_run first = {t->origin - j->m->buf,
                           (int64_t)(t->offset - j->m->a->heap_offsets[rank]), 0};
  return add_rows(j, rank, &t->patch, first);
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
