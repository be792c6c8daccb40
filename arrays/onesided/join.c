/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Many small pieces of one owner as one message: its rows, as runs of bytes. */
#include <stdlib.h>

#include "base/error.h"
#include "engine/remote.h"
#include "onesided/move.h"

/* So many runs go in one message. */
#define RUNS 1024
/* A part of so many bytes is a message of its own. */
#define LARGE ((int64_t)1 << 16)

/* What is collected for one owner. Distances are from 0 until they are moved. */
typedef struct {
  rgi_far_run *runs;
  int n;
} bundle;

struct rgi_joint {
  const rgi_move *m;
  bundle of[]; /* for each owner */
};

int rgi_joint_open(const rgi_move *m, rgi_joint **joint) {
  rgi_joint *j = calloc(1, sizeof *j + (size_t)m->a->d.owners * sizeof *j->of);
  if (!j)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d owners", m->call, m->a->d.owners);
  j->m = m;
  *joint = j;
  return RG_SUCCESS;
}

/* Distances from the lowest of each side. */
static int move(rgi_joint *j, int rank) {
  bundle *b = &j->of[rank];
  int64_t near = INT64_MAX, far = INT64_MAX;
  for (int i = 0; i < b->n; i++) {
    near = b->runs[i].near < near ? b->runs[i].near : near;
    far = b->runs[i].far < far ? b->runs[i].far : far;
  }
  for (int i = 0; i < b->n; i++) {
    b->runs[i].near -= near;
    b->runs[i].far -= far;
  }
  int n = b->n;
  b->n = 0;
  return rgi_move_far_runs(j->m, rank, j->m->a->shares[rank] + (uint64_t)far, j->m->buf + near, n,
                           b->runs);
}

static int add_run(rgi_joint *j, int rank, rgi_far_run run) {
  bundle *b = &j->of[rank];
  if (!b->runs)
    b->runs = malloc(RUNS * sizeof *b->runs);
  if (!b->runs)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d runs", j->m->call, RUNS);
  b->runs[b->n++] = run;
  return b->n == RUNS ? move(j, rank) : RG_SUCCESS;
}

/* The rows of dimensions d and inside it. */
static int add_rows(rgi_joint *j, int rank, const rgi_far_patch *p, int d, int64_t near,
                    int64_t far) {
  if (d == p->dims - 1)
    return add_run(j, rank, (rgi_far_run){near, far, p->extent[d]});
  for (int64_t i = 0; i < p->extent[d]; i++)
    RGI_TRY(add_rows(j, rank, p, d + 1, near + i * p->near_stride[d], far + i * p->far_stride[d]));
  return RG_SUCCESS;
}

int rgi_joint_add(rgi_joint *j, const rgi_part *part) {
  rgi_far_patch p = rgi_move_far_patch(j->m, part);
  if (rgi_remote_simplify(&p, &p) >= LARGE)
    return rgi_move_far(j->m, part);
  return add_rows(j, part->rank, &p, 0, part->buf - j->m->buf,
                  part->offset * (int64_t)j->m->a->element);
}

int rgi_joint_close(rgi_joint *j, int error) {
  for (int rank = 0; rank < j->m->a->d.owners; rank++) {
    if (!error && j->of[rank].n > 0)
      error = move(j, rank);
    free(j->of[rank].runs);
  }
  free(j);
  return error;
}
