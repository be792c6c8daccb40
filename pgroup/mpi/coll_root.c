/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's non-blocking collectives in which one member gives to all others. They are passed on; but
 * where ranks share processors, the root leaves a barrier after it first, as after the blocking
 * ones (shm_step.c): otherwise the members that leave it before the root wait in vain for the next
 * one of these. */
#include "collectives/coll_state.h"
#include "collectives/shm_coll.h"
#include "formation/group.h"
#include "mpi/intercept.h"
#include "shm/node.h"

/* Before the call: afterwards the communicator may be freed. */
static void note_root(MPI_Comm comm, int root) {
  if (!rgi_node.oversubscribed)
    return;
  rg_group g = rgi_intercept_latest_group(comm);
  const rgi_coll *coll = g && g->me == root ? g->collectives : NULL;
  if (coll && coll->state && coll->state->memory)
    rgi_shm_coll_note_given(coll->state);
}

#define COUNT int
#define DISPL int
#define FORM(name) name
#include "mpi/coll_root_forms.h"
#undef COUNT
#undef DISPL
#undef FORM

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define DISPL MPI_Aint
#define FORM(name) name##_c
#include "mpi/coll_root_forms.h"
#endif
