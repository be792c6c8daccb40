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
#include "base/spare.h"
#include "formation/binomial.h"
#include "mpich/mpich.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/module.h"
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

static void leave_behind(agree_state *state) {
  state->next = atomic_load(&left_behind);
  while (!atomic_compare_exchange_weak(&left_behind, &state->next, state))
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
    rgi_spare_free(r);
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
static int send_notice(agree_state *state, const agree_notice *notice, int kind, int to) {
  agree_notice out = *notice;
  out.kind = kind;
  rgi_mpich_interrupt_begin(RGI_MPICH_INTERRUPT_ANY);
  int code = MPI_Send(&out, sizeof out, MPI_BYTE, to, state->tag, state->comm);
  int error = rgi_mpich_interrupt_end(rgi_mpi_error(code, "MPI_Send"), state->call);
  return gave_up(error) ? RG_SUCCESS : error;
}

static int post_receive(agree_state *state, agree_notice *notice, int from, MPI_Request *request) {
  RGI_TRY_MPI(MPI_Irecv(notice, sizeof *notice, MPI_BYTE, from, state->tag, state->comm, request));
  return RG_SUCCESS;
}

static void note_error(agree_state *state, int error, int rank) {
  if (error && !state->mine.error) {
    state->mine.error = error;
    state->mine.rank = rank;
  }
}

/* All members' waits end at about the same time. So one that waits for others to report gives them
 * a little longer, for each level between: their report names the member that is missing. */
#define LEVEL_SECONDS 0.1

static int await_notice(agree_state *state, MPI_Request *request, int from, int levels) {
  int error = rgi_wait_request(request, state->call, from), there = 0;
  double end = rgi_clock_now() + levels * LEVEL_SECONDS;
  while (error == RG_ERR_TIMEOUT && !there && rgi_clock_now() < end) {
    RGI_TRY_MPI(rgi_wait_mpi_test(request, &there));
    rgi_clock_sleep(1e-3);
  }
  return there ? RG_SUCCESS : error;
}

/* A GONE that belongs to an earlier agreement and came too late for it is skipped: the child's
 * report for this agreement is still to come. */
static int await_child(agree_state *state, int i) {
  RGI_TRY(await_notice(state, &state->request[i], state->child[i], i));
  while (state->report[i].kind == GONE) {
    RGI_TRY(post_receive(state, &state->report[i], state->child[i], &state->request[i]));
    RGI_TRY(rgi_wait_request(&state->request[i], state->call, state->child[i]));
  }
  return RG_SUCCESS;
}

/* Waits for the reports of all children, until one reports an error. The remaining children are
 * not waited for then. */
static int await_children(agree_state *state) {
  for (int i = 0; i < state->children; i++)
    RGI_TRY(post_receive(state, &state->report[i], state->child[i], &state->request[i]));
  for (int i = 0; i < state->children; i++) {
    int error = state->mine.error ? RG_ERR_TIMEOUT : await_child(state, i);
    if (gave_up(error)) {
      state->left_behind = 1;
      note_error(state, error, state->child[i]);
      continue;
    }
    RGI_TRY(error);
    note_error(state, state->report[i].error, state->report[i].rank);
    if (state->report[i].what != state->mine.what)
      note_error(state, RG_ERR_MISMATCH, state->child[i]);
  }
  return RG_SUCCESS;
}

/* A decision about another hash is a late one of an agreement that failed: it is skipped. */
static int await_parent(agree_state *state) {
  MPI_Request *request = &state->request[RGI_BINOMIAL_CHILDREN];
  do {
    RGI_TRY(post_receive(state, &state->received, state->parent, request));
    RGI_TRY(await_notice(state, request, state->parent, state->levels + 2));
  } while (state->received.what != state->mine.what && state->received.error != RG_ERR_MISMATCH);
  return RG_SUCCESS;
}

static int await_decision(agree_state *state) {
  if (state->parent < 0) {
    state->decision = state->mine;
    return RG_SUCCESS;
  }
  RGI_TRY(send_notice(state, &state->mine, UP, state->parent));
  int error = await_parent(state);
  if (!gave_up(error)) {
    state->decision = state->received;
    return error;
  }
  state->left_behind = 1;
  note_error(state, error, state->parent);
  RGI_TRY(send_notice(state, &state->mine, GONE, state->parent));
  state->decision = state->mine;
  return RG_SUCCESS;
}

/* A child may have given up after its report, while this member waited for a late one. Then the
 * creation must not begin. */
static int look_for_gone(agree_state *state) {
  for (int i = 0; i < state->children && !state->mine.error; i++) {
    int there = 0;
    agree_notice gone;
    RGI_TRY_MPI(
        rgi_wait_mpi_probe(state->child[i], state->tag, state->comm, &there, MPI_STATUS_IGNORE));
    if (!there)
      continue;
    RGI_TRY_MPI(MPI_Recv(&gone, sizeof gone, MPI_BYTE, state->child[i], state->tag, state->comm,
                         MPI_STATUS_IGNORE));
    note_error(state, gone.error, state->child[i]);
  }
  return RG_SUCCESS;
}

/* A member was missing. A process that reported to this one although it is not its child has a
 * list with another set of members: it and the caller get RG_ERR_MISMATCH. The process that has
 * been told so looks, too: its parent in the others' tree sends it a decision that it does not wait
 * for. */
static int look_for_strays(agree_state *state) {
  for (double end = rgi_clock_now() + STRAY_SECONDS; rgi_clock_now() < end; sched_yield()) {
    int there = 0;
    agree_notice stray;
    MPI_Status status;
    RGI_TRY_MPI(rgi_wait_mpi_probe(MPI_ANY_SOURCE, state->tag, state->comm, &there, &status));
    if (!there)
      continue;
    RGI_TRY_MPI(MPI_Recv(&stray, sizeof stray, MPI_BYTE, status.MPI_SOURCE, state->tag, state->comm,
                         MPI_STATUS_IGNORE));
    if (stray.kind != UP || stray.what == state->mine.what)
      continue;
    state->decision.error = RG_ERR_MISMATCH;
    state->decision.rank = status.MPI_SOURCE;
    RGI_TRY(send_notice(state, &state->decision, OTHER_SET, status.MPI_SOURCE));
  }
  return RG_SUCCESS;
}

static int run_agreement(agree_state *state) {
  RGI_TRY(await_children(state));
  RGI_TRY(look_for_gone(state));
  RGI_TRY(await_decision(state));
  int other_set = state->decision.kind == OTHER_SET;
  for (int i = state->children - 1; i >= 0; i--)
    RGI_TRY(send_notice(state, &state->decision, other_set ? OTHER_SET : DOWN, state->child[i]));
  if (state->decision.error == RG_ERR_TIMEOUT || other_set)
    RGI_TRY(look_for_strays(state));
  return RG_SUCCESS;
}

static int explain_decision(const agree_state *state, int own_error) {
  const agree_notice *notice = &state->decision;
  if (notice->error == own_error) /* its text has been set already */
    return own_error;
  if (notice->error == RG_ERR_MISMATCH)
    return rgi_error(RG_ERR_MISMATCH,
                     "%s: rank %d called with another list of members, method or kind of call; all "
                     "members must pass the same",
                     state->call, notice->rank);
  if (notice->error == RG_ERR_TIMEOUT)
    return rgi_error(RG_ERR_TIMEOUT, "%s: rank %d did not take part within RG_TIMEOUT", state->call,
                     notice->rank);
  int error = rgi_error_from(notice->error, state->call, notice->rank, NULL);
  return gave_up(error) ? rgi_wait_cause(error, state->call) : error;
}

static int compare_ints(const void *a, const void *b) {
  const int *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The tree is over the members in ascending order, so that members whose lists differ in order
 * alone still exchange messages. */
static int take_place(agree_state *state, int n, const int ranks[], int my_rank) {
  int *sorted = rgi_spare_alloc((size_t)n * sizeof *sorted), me = 0;
  if (!sorted)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d ranks", state->call, n);
  memcpy(sorted, ranks, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, compare_ints);
  while (sorted[me] != my_rank)
    me++;
  state->parent = me ? sorted[rgi_binomial_parent(me)] : -1;
  state->children = rgi_binomial_children(me, n, state->child);
  while ((1LL << state->levels) < n)
    state->levels++;
  for (int i = 0; i < state->children; i++)
    state->child[i] = sorted[state->child[i]];
  rgi_spare_free(sorted);
  return RG_SUCCESS;
}

int rgi_comm_agree(const rgi_comm_creation *creation, uint64_t what, int error) {
  if (creation->n == 1)
    return error;
  agree_state *state = rgi_spare_alloc_zeroed(1, sizeof *state);
  if (!state)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", creation->call);
  state->comm = creation->comm;
  state->tag = creation->tag;
  state->call = creation->call;
  state->mine = (agree_notice){.what = what, .error = error, .rank = creation->ranks[creation->me]};
  for (int i = 0; i <= RGI_BINOMIAL_CHILDREN; i++)
    state->request[i] = MPI_REQUEST_NULL;
  int broken = take_place(state, creation->n, creation->ranks, creation->ranks[creation->me]);
  if (!broken)
    broken = run_agreement(state);
  int decision = broken ? broken : explain_decision(state, error);
  if (state->left_behind || broken)
    leave_behind(state);
  else
    rgi_spare_free(state);
  return decision;
}
