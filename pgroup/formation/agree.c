/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/agree.h"

#include <stdlib.h>

#include "formation/tree.h"
#include "runtime/error.h"
#include "runtime/wait.h"

typedef struct {
  uint64_t what;
  int32_t error;     /* RG_... that the sender found or was told */
  int32_t rank;      /* who found it: rank in comm */
  int32_t withdrawn; /* the sender has given up waiting for the verdict */
  int32_t unused;
} notice;

/* Everything a member needs while it agrees. On the heap: a receive that was
 * given up stays posted, so that the late message goes to it and not to the next
 * call with the same tag; its buffer is left behind then. */
typedef struct {
  MPI_Comm comm;
  const int *ranks;
  int tag, me, parent, children, child[RGI_TREE_CHILDREN], left_behind;
  const char *call;
  notice mine, verdict, heard[RGI_TREE_CHILDREN];
  MPI_Request request[RGI_TREE_CHILDREN + 1];
} round_of;

static int send(round_of *r, const notice *n, int to) {
  /* A few bytes: MPI takes them at once. */
  RGI_TRY_MPI(MPI_Send(n, sizeof *n, MPI_BYTE, r->ranks[to], r->tag, r->comm));
  return RG_SUCCESS;
}

static int receive(round_of *r, notice *n, int from, MPI_Request *request) {
  RGI_TRY_MPI(MPI_Irecv(n, sizeof *n, MPI_BYTE, r->ranks[from], r->tag, r->comm, request));
  return RG_SUCCESS;
}

static void note(round_of *r, int error, int rank) {
  if (error && !r->mine.error) {
    r->mine.error = error;
    r->mine.rank = rank;
  }
}

/* Hears all children, until one reports an error: then those still missing are
 * not waited for. */
static int hear_children(round_of *r) {
  for (int i = 0; i < r->children; i++)
    RGI_TRY(receive(r, &r->heard[i], r->child[i], &r->request[i]));
  for (int i = 0; i < r->children; i++) {
    int error = r->mine.error ? RG_ERR_TIMEOUT
                              : rgi_wait_request(&r->request[i], r->call, r->ranks[r->child[i]]);
    if (error == RG_ERR_TIMEOUT) {
      r->left_behind = 1;
      note(r, error, r->ranks[r->child[i]]);
      continue;
    }
    RGI_TRY(error);
    note(r, r->heard[i].error, r->heard[i].rank);
    if (r->heard[i].what != r->mine.what)
      note(r, RG_ERR_MISMATCH, r->ranks[r->child[i]]);
  }
  return RG_SUCCESS;
}

static int hear_verdict(round_of *r) {
  if (r->parent < 0) {
    r->verdict = r->mine;
    return RG_SUCCESS;
  }
  MPI_Request *request = &r->request[RGI_TREE_CHILDREN];
  RGI_TRY(send(r, &r->mine, r->parent));
  RGI_TRY(receive(r, &r->verdict, r->parent, request));
  int error = rgi_wait_request(request, r->call, r->ranks[r->parent]);
  if (error == RG_ERR_TIMEOUT) {
    notice gone = r->mine;
    gone.withdrawn = 1;
    r->left_behind = 1;
    RGI_TRY(send(r, &gone, r->parent));
    note(r, error, r->ranks[r->parent]);
    r->verdict = r->mine;
    return RG_SUCCESS;
  }
  /* A parent that agrees to something else speaks to others as well. */
  if (!error && !r->verdict.error && r->verdict.what != r->mine.what) {
    r->verdict.error = RG_ERR_MISMATCH;
    r->verdict.rank = r->ranks[r->parent];
  }
  return error;
}

/* A child whose patience ended while a late member came is not sent into a
 * creation that it will not take part in. */
static int look_for_withdrawn(round_of *r) {
  for (int i = 0; i < r->children && !r->mine.error; i++) {
    int there = 0;
    notice gone;
    RGI_TRY_MPI(MPI_Iprobe(r->ranks[r->child[i]], r->tag, r->comm, &there, MPI_STATUS_IGNORE));
    if (!there)
      continue;
    RGI_TRY_MPI(MPI_Recv(&gone, sizeof gone, MPI_BYTE, r->ranks[r->child[i]], r->tag, r->comm,
                         MPI_STATUS_IGNORE));
    note(r, RG_ERR_TIMEOUT, r->ranks[r->child[i]]);
  }
  return RG_SUCCESS;
}

static int run(round_of *r) {
  RGI_TRY(hear_children(r));
  RGI_TRY(look_for_withdrawn(r));
  RGI_TRY(hear_verdict(r));
  for (int i = r->children - 1; i >= 0; i--)
    RGI_TRY(send(r, &r->verdict, r->child[i]));
  return RG_SUCCESS;
}

static int say(const round_of *r, int own_error) {
  const notice *v = &r->verdict;
  if (v->error == own_error) /* own text stays, also of a time-out */
    return own_error;
  if (v->error == RG_ERR_MISMATCH)
    return rgi_error(RG_ERR_MISMATCH,
                     "%s: rank %d called with another list of members, method or kind of call; all "
                     "members must pass the same",
                     r->call, v->rank);
  if (v->error == RG_ERR_TIMEOUT)
    return rgi_error(RG_ERR_TIMEOUT, "%s: rank %d did not take part within RG_TIMEOUT", r->call,
                     v->rank);
  return rgi_error_from(v->error, r->call, v->rank);
}

int rgi_agree(MPI_Comm comm, int n, const int ranks[], int me, int tag, uint64_t what, int error,
              const char *call) {
  if (n == 1)
    return error;
  round_of *r = calloc(1, sizeof *r);
  if (!r)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  *r = (round_of){.comm = comm, .ranks = ranks, .tag = tag, .me = me, .call = call};
  r->parent = rgi_tree_parent(me);
  r->children = rgi_tree_children(me, n, r->child);
  r->mine = (notice){.what = what, .error = error, .rank = ranks[me]};
  int broken = run(r);
  int verdict = broken ? broken : say(r, error);
  if (!r->left_behind && !broken)
    free(r);
  return verdict;
}
