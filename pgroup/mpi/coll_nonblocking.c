/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's non-blocking collectives are passed on. Two things are done for them all the same, where
 * the library has shared memory for all of the communicator's members:
 *  - Where up to 8 ranks share processors, and between two ranks, MPICH uses the algorithm that
 *    suits them (mpich/mpich.h). All members decide alike, by the group alone.
 *  - Where ranks share processors, the root of one that gives to all others leaves a barrier after
 *    it first, as after the blocking ones (step.c): otherwise the members that leave it before
 *    the root wait in vain for the next one of these. */
#include "collectives/node/node_coll.h"
#include "collectives/schedule/coll_state.h"
#include "formation/group.h"
#include "mpi/coll_check.h"
#include "mpi/intercept.h"
#include "mpich/mpich.h"
#include "shm/node.h"

/* Of the communicator's group, if it has one already; else NULL. */
static const rgi_coll *state_of(MPI_Comm comm) {
  rg_group g = rgi_intercept_known_group(comm);
  const rgi_coll *coll = g ? g->collectives : NULL;
  return coll && coll->state && coll->state->memory ? coll : NULL;
}

/* Only inside a node: on another one the members may find it otherwise. A root that gives to each
 * member itself is slower than MPICH's choice from 32 ranks on. */
enum { MOST_SUITED = 8 };

static int is_suited(const rgi_coll *coll) {
  return coll && coll->nodes.count == 1 &&
         (coll->all.size == 2 || (rgi_node.oversubscribed && coll->all.size <= MOST_SUITED));
}

/* The tree for a reduction takes no other operation. */
static int is_commutative(MPI_Datatype type, MPI_Op op) {
  int commutes = 0;
  return !rgi_coll_check_ask_op(type, op) && PMPI_Op_commutative(op, &commutes) == MPI_SUCCESS &&
         commutes;
}

/* Before the call: afterwards the communicator may be freed. */
static void note_root(const rgi_coll *coll, int root) {
  if (rgi_node.oversubscribed && coll && coll->all.me == root)
    rgi_node_coll_note_given(coll->state);
}

#define PASS_ON(algorithm, suited, call)                                                           \
  ({                                                                                               \
    int error_ = MPI_SUCCESS;                                                                      \
    if (!rgi_intercept_fault.starts || !rgi_intercept_fault.starts(comm, request, &error_)) {      \
      int chosen_ = (suited) && rgi_mpich_algorithm_begin(algorithm);                              \
      error_ = (call);                                                                             \
      if (chosen_)                                                                                 \
        rgi_mpich_algorithm_end(algorithm);                                                        \
      if (error_ == MPI_SUCCESS && rgi_intercept_fault.started)                                    \
        rgi_intercept_fault.started(comm, *request);                                               \
    }                                                                                              \
    error_;                                                                                        \
  })

#define COUNT int
#define DISPL int
#define FORM(name) name
#include "mpi/coll_nonblocking_forms.h"
#undef COUNT
#undef DISPL
#undef FORM

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define DISPL MPI_Aint
#define FORM(name) name##_c
#include "mpi/coll_nonblocking_forms.h"
#endif
