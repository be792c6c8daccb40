/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Agreement before and after a creation.
 *
 * Reports (UP) go up a binomial tree over the members in ascending order of their ranks; the root
 * decides, and the decision (DOWN) goes down. The first error found decides. A member that stops
 * waiting for its parent's decision sends GONE, so that the parent does not decide for a creation
 * in which that member no longer takes part.
 *
 * A call that gives up leaves its receives posted: the late message must go there, not into the
 * next call with the same tag. Their memory is therefore put on a list until the library ends: then
 * no message is under way any more, and what is left of both is ended. */
#include "formation/comm_agree.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/binomial.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/module.h"
#include "runtime/mpi_interrupt.h"
#include "runtime/runtime.h"

/* UP: to the parent, the report of a member and its subtree. DOWN: the decision. GONE: to the
 * parent, that the sender has stopped waiting for the decision, and the error. OTHER_SET: the
 * decision where the members' lists name different sets. */
enum { UP, DOWN, GONE, OTHER_SET };

/* How long to look for messages of other members. MPI_Iprobe shows one message at a time, not
 * always at the first call, and the first message between two processes takes longer. */
#define STRAY_SECONDS 0.1

typedef struct {
  uint64_t what;
  int32_t kind;
  int32_t error; /* RG_...: the first error that the sender knows of */
  int32_t rank;  /* the member that the error is about: rank in comm */
  int32_t unused;
} agree_notice;

/* One agreement of this member. On the heap, since it may have to outlive the call. */
typedef struct agree_state {
  struct agree_state *next; /* in left_behind */
  MPI_Comm comm;
  int levels;                                                           /* of the tree */
  int tag, parent, children, child[RGI_BINOMIAL_CHILDREN], left_behind; /* ranks in comm */
  const char *call;
  agree_notice mine, decision, report[RGI_BINOMIAL_CHILDREN];
  agree_notice received; /* the parent's decision, also when it comes after the wait was given up */
  MPI_Request request[RGI_BINOMIAL_CHILDREN + 1]; /* the last one: of the parent's decision */
} agree_state;

/* The states to which MPI may still write. Threads add states without a lock. */
static _Atomic(agree_state *) left_behind;

static void leave_behind(agree_state *r) {
  r->next = atomic_load(&left_behind);
  while (!atomic_compare_exchange_weak(&left_behind, &r->next, r))
    ;
}

/* The receive ends without a message, or with one that has come. */
static void end_receive(MPI_Request *request) {
  if (*request == MPI_REQUEST_NULL)
    return;
  MPI_Cancel(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Messages for which a receive was not posted any more, or which this process has not asked for. */
static void take_messages(MPI_Comm comm) {
  agree_notice late;
  int there = 0;
  MPI_Status status;
  while (rgi_wait_mpi_probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &status) == MPI_SUCCESS &&
         there)
    MPI_Recv(&late, sizeof late, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
             MPI_STATUS_IGNORE);
}

void rgi_comm_agree_close(int mpi) {
  agree_state *next, *r = mpi ? atomic_exchange(&left_behind, NULL) : NULL;
  for (agree_state *of = r; of; of = of->next)
    for (int i = 0; i <= RGI_BINOMIAL_CHILDREN; i++)
      end_receive(&of->request[i]);
  if (mpi)
    take_messages(rgi_runtime.comm);
  for (; r; r = next) {
    next = r->next;
    free(r);
  }
}

__attribute__((constructor)) static void register_agreements(void) {
  static rgi_module module = {
      .name = "creations", .stage = RGI_MODULE_BASIC, .close = rgi_comm_agree_close};
  rgi_module_register(&module);
}

/* Whether the wait ended without the message, which may still come. */
static int gave_up(int error) {
  return error == RG_ERR_TIMEOUT || error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED;
}

/* MPI sends a few bytes at once, unless it has to connect first and the receiver has died. That
 * is no error here: a member that waits for an answer notices the death itself. */
static int send_notice(agree_state *r, const agree_notice *n, int kind, int to) {
  agree_notice out = *n;
  out.kind = kind;
  rgi_mpi_interrupt_begin(RGI_MPI_INTERRUPT_ANY);
  int code = MPI_Send(&out, sizeof out, MPI_BYTE, to, r->tag, r->comm);
  int error = rgi_mpi_interrupt_end(rgi_mpi_error(code, "MPI_Send"), r->call);
  return gave_up(error) ? RG_SUCCESS : error;
}

static int post_receive(agree_state *r, agree_notice *n, int from, MPI_Request *request) {
  RGI_TRY_MPI(MPI_Irecv(n, sizeof *n, MPI_BYTE, from, r->tag, r->comm, request));
  return RG_SUCCESS;
}

static void note_error(agree_state *r, int error, int rank) {
  if (error && !r->mine.error) {
    r->mine.error = error;
    r->mine.rank = rank;
  }
}

/* All members' waits end at about the same time. So one that waits for others to report gives them
 * a little longer, for each level between: their report names the member that is missing. */
#define LEVEL_SECONDS 0.1

static int await_notice(agree_state *r, MPI_Request *request, int from, int levels) {
  int error = rgi_wait_request(request, r->call, from), there = 0;
  double end = rgi_clock_now() + levels * LEVEL_SECONDS;
  while (error == RG_ERR_TIMEOUT && !there && rgi_clock_now() < end) {
    RGI_TRY_MPI(rgi_wait_mpi_test(request, &there));
    rgi_clock_sleep(1e-3);
  }
  return there ? RG_SUCCESS : error;
}

/* A GONE that belongs to an earlier agreement and came too late for it is skipped: the child's
 * report for this agreement is still to come. */
static int await_child(agree_state *r, int i) {
  RGI_TRY(await_notice(r, &r->request[i], r->child[i], i));
  while (r->report[i].kind == GONE) {
    RGI_TRY(post_receive(r, &r->report[i], r->child[i], &r->request[i]));
    RGI_TRY(rgi_wait_request(&r->request[i], r->call, r->child[i]));
  }
  return RG_SUCCESS;
}

/* Waits for the reports of all children, until one reports an error. The remaining children are
 * not waited for then. */
static int await_children(agree_state *r) {
  for (int i = 0; i < r->children; i++)
    RGI_TRY(post_receive(r, &r->report[i], r->child[i], &r->request[i]));
  for (int i = 0; i < r->children; i++) {
    int error = r->mine.error ? RG_ERR_TIMEOUT : await_child(r, i);
    if (gave_up(error)) {
      r->left_behind = 1;
      note_error(r, error, r->child[i]);
      continue;
    }
    RGI_TRY(error);
    note_error(r, r->report[i].error, r->report[i].rank);
    if (r->report[i].what != r->mine.what)
      note_error(r, RG_ERR_MISMATCH, r->child[i]);
  }
  return RG_SUCCESS;
}

/* A decision about another hash is a late one of an agreement that failed: it is skipped. */
static int await_parent(agree_state *r) {
  MPI_Request *request = &r->request[RGI_BINOMIAL_CHILDREN];
  do {
    RGI_TRY(post_receive(r, &r->received, r->parent, request));
    RGI_TRY(await_notice(r, request, r->parent, r->levels + 2));
  } while (r->received.what != r->mine.what && r->received.error != RG_ERR_MISMATCH);
  return RG_SUCCESS;
}

static int await_decision(agree_state *r) {
  if (r->parent < 0) {
    r->decision = r->mine;
    return RG_SUCCESS;
  }
  RGI_TRY(send_notice(r, &r->mine, UP, r->parent));
  int error = await_parent(r);
  if (!gave_up(error)) {
    r->decision = r->received;
    return error;
  }
  r->left_behind = 1;
  note_error(r, error, r->parent);
  RGI_TRY(send_notice(r, &r->mine, GONE, r->parent));
  r->decision = r->mine;
  return RG_SUCCESS;
}

/* A child may have given up after its report, while this member waited for a late one. Then the
 * creation must not begin. */
static int look_for_gone(agree_state *r) {
  for (int i = 0; i < r->children && !r->mine.error; i++) {
    int there = 0;
    agree_notice gone;
    RGI_TRY_MPI(rgi_wait_mpi_probe(r->child[i], r->tag, r->comm, &there, MPI_STATUS_IGNORE));
    if (!there)
      continue;
    RGI_TRY_MPI(
        MPI_Recv(&gone, sizeof gone, MPI_BYTE, r->child[i], r->tag, r->comm, MPI_STATUS_IGNORE));
    note_error(r, gone.error, r->child[i]);
  }
  return RG_SUCCESS;
}

/* A member was missing. A process that reported to this one although it is not its child has a
 * list with another set of members: it and the caller get RG_ERR_MISMATCH. The process that has
 * been told so looks, too: its parent in the others' tree sends it a decision that it does not wait
 * for. */
static int look_for_strays(agree_state *r) {
  for (double end = rgi_clock_now() + STRAY_SECONDS; rgi_clock_now() < end; sched_yield()) {
    int there = 0;
    agree_notice stray;
    MPI_Status status;
    RGI_TRY_MPI(rgi_wait_mpi_probe(MPI_ANY_SOURCE, r->tag, r->comm, &there, &status));
    if (!there)
      continue;
    RGI_TRY_MPI(MPI_Recv(&stray, sizeof stray, MPI_BYTE, status.MPI_SOURCE, r->tag, r->comm,
                         MPI_STATUS_IGNORE));
    if (stray.kind != UP || stray.what == r->mine.what)
      continue;
    r->decision.error = RG_ERR_MISMATCH;
    r->decision.rank = status.MPI_SOURCE;
    RGI_TRY(send_notice(r, &r->decision, OTHER_SET, status.MPI_SOURCE));
  }
  return RG_SUCCESS;
}

static int run_agreement(agree_state *r) {
  RGI_TRY(await_children(r));
  RGI_TRY(look_for_gone(r));
  RGI_TRY(await_decision(r));
  int other_set = r->decision.kind == OTHER_SET;
  for (int i = r->children - 1; i >= 0; i--)
    RGI_TRY(send_notice(r, &r->decision, other_set ? OTHER_SET : DOWN, r->child[i]));
  if (r->decision.error == RG_ERR_TIMEOUT || other_set)
    RGI_TRY(look_for_strays(r));
  return RG_SUCCESS;
}

static int explain_decision(const agree_state *r, int own_error) {
  const agree_notice *v = &r->decision;
  if (v->error == own_error) /* its text has been set already */
    return own_error;
  if (v->error == RG_ERR_MISMATCH)
    return rgi_error(RG_ERR_MISMATCH,
                     "%s: rank %d called with another list of members, method or kind of call; all "
                     "members must pass the same",
                     r->call, v->rank);
  if (v->error == RG_ERR_TIMEOUT)
    return rgi_error(RG_ERR_TIMEOUT, "%s: rank %d did not take part within RG_TIMEOUT", r->call,
                     v->rank);
  int error = rgi_error_from(v->error, r->call, v->rank, NULL);
  return gave_up(error) ? rgi_wait_cause(error, r->call) : error;
}

static int compare_ints(const void *a, const void *b) {
  const int *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The tree is over the members in ascending order, so that members whose lists differ in order
 * alone still exchange messages. */
static int take_place(agree_state *r, int n, const int ranks[], int my_rank) {
  int *sorted = malloc((size_t)n * sizeof *sorted), me = 0;
  if (!sorted)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d ranks", r->call, n);
  memcpy(sorted, ranks, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, compare_ints);
  while (sorted[me] != my_rank)
    me++;
  r->parent = me ? sorted[rgi_binomial_parent(me)] : -1;
  r->children = rgi_binomial_children(me, n, r->child);
  while ((1LL << r->levels) < n)
    r->levels++;
  for (int i = 0; i < r->children; i++)
    r->child[i] = sorted[r->child[i]];
  free(sorted);
  return RG_SUCCESS;
}

int rgi_comm_agree(const rgi_comm_creation *c, uint64_t what, int error) {
  if (c->n == 1)
    return error;
  agree_state *r = calloc(1, sizeof *r);
  if (!r)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", c->call);
  r->comm = c->comm;
  r->tag = c->tag;
  r->call = c->call;
  r->mine = (agree_notice){.what = what, .error = error, .rank = c->ranks[c->me]};
  for (int i = 0; i <= RGI_BINOMIAL_CHILDREN; i++)
    r->request[i] = MPI_REQUEST_NULL;
  int broken = take_place(r, c->n, c->ranks, c->ranks[c->me]);
  if (!broken)
    broken = run_agreement(r);
  int decision = broken ? broken : explain_decision(r, error);
  if (r->left_behind || broken)
    leave_behind(r);
  else
    free(r);
  return decision;
}
