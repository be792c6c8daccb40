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

int rgi_aggregate_open(const rgi_access *access, rgi_aggregate **aggregate) {
  rgi_aggregate *j = calloc(1, sizeof *j + (size_t)access->a->d.owners * sizeof *j->of);
  if (!j)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d owners", access->call,
                     access->a->d.owners);
  j->m = access;
  *aggregate = j;
  return RG_SUCCESS;
}

static int move_transfer(const rgi_access *access, rgi_transfer *transfer) {
  rgi_engine_handle handle;
  if (access->started)
    return rgi_access_start(access, transfer);
  RGI_TRY(rgi_engine_start(transfer, &handle));
  return rgi_engine_wait(&handle);
}

/* Sends the runs, relative to the lowest address of each side. */
static int move_runs(rgi_aggregate *aggregate, int rank) {
  owner_runs *b = &aggregate->of[rank];
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
  rg_array a = aggregate->m->a;
  rgi_transfer transfer = {.kind = aggregate->m->kind,
                           .target = a->world[rank],
                           .offset = a->heap_offsets[rank] + (uint64_t)target,
                           .origin = aggregate->m->buf + origin,
                           .type = a->type,
                           .alpha = aggregate->m->alpha,
                           .runs = b->runs,
                           .n = n,
                           .may_block = !aggregate->m->started};
  return move_transfer(aggregate->m, &transfer);
}

static int add_run(rgi_aggregate *aggregate, int rank, rgi_strided_run run) {
  owner_runs *b = &aggregate->of[rank];
  if (!b->runs)
    b->runs = malloc(RUNS * sizeof *b->runs);
  if (!b->runs)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d runs", aggregate->m->call, RUNS);
  b->runs[b->n++] = run;
  return b->n == RUNS ? move_runs(aggregate, rank) : RG_SUCCESS;
}

/* Adds the rows of a patch. first: its first row. */
static int add_rows(rgi_aggregate *aggregate, int rank, const rgi_strided *p,
                    rgi_strided_run first) {
  int64_t at[RGI_STRIDED_DIMS] = {0}, rows = p->dims > 1 ? p->extent[1] : 1;
  int64_t origin = 0, target = 0;
  do
    for (int64_t i = 0; i < rows; i++) {
      rgi_strided_run row = {first.origin + origin, first.target + target, p->extent[0]};
      if (i > 0) {
        row.origin += i * p->origin_stride[1];
        row.target += i * p->target_stride[1];
      }
      RGI_TRY(add_run(aggregate, rank, row));
    }
  while (rgi_strided_step(p, at, &origin, &target));
  return RG_SUCCESS;
}

int rgi_aggregate_add(rgi_aggregate *aggregate, int rank, rgi_transfer *transfer) {
  if (rgi_strided_bytes(&transfer->patch) >= LARGE)
    return move_transfer(aggregate->m, transfer);
  rgi_strided_run first = {transfer->origin - aggregate->m->buf,
                           (int64_t)(transfer->offset - aggregate->m->a->heap_offsets[rank]), 0};
  return add_rows(aggregate, rank, &transfer->patch, first);
}

int rgi_aggregate_close(rgi_aggregate *aggregate, int error) {
  for (int rank = 0; rank < aggregate->m->a->d.owners; rank++) {
    if (!error && aggregate->of[rank].n > 0)
      error = move_runs(aggregate, rank);
    free(aggregate->of[rank].runs);
  }
  free(aggregate);
  return error;
}
