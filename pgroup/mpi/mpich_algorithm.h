/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which algorithm MPICH uses in a non-blocking collective. MPICH's own choice suits processes on
 * processors of their own: trees in which members send on what they have received. Where ranks
 * share processors such a member may not run when it is needed, and MPICH's "tsp" algorithms, some
 * of which have no such members, take down to a twentieth of the time. They are chosen by MPICH's
 * control variables through MPI's tool interface, for one call: the next may be on a communicator
 * whose members do not all have this library. */
#ifndef RGI_MPICH_ALGORITHM_H
#define RGI_MPICH_ALGORITHM_H

#include <mpi.h>

/* X(id, collective, algorithm, variable of its radix or NULL, radix). */
#define RGI_MPICH_ALGORITHM_LIST(X)                                                                \
  X(IBCAST, "IBCAST", "tsp_tree", "IBCAST_TREE_KVAL", 8)                                           \
  X(ISCATTERV, "ISCATTERV", "tsp_linear", NULL, 0)                                                 \
  X(IREDUCE, "IREDUCE", "tsp_tree", NULL, 0)

typedef enum {
#define RGI_ID(id, collective, algorithm, variable, radix) RGI_MPICH_##id,
  RGI_MPICH_ALGORITHM_LIST(RGI_ID)
#undef RGI_ID
      RGI_MPICH_ALGORITHMS
} rgi_mpich_algorithm;

/* Finds the variables that the user has left as they are, on all processes of comm. Where threads
 * of one may call MPI at the same time none is changed, nor with another MPI than MPICH. Collective
 * over comm, after rg_init: a small allreduce. */
void rgi_mpich_algorithms_open(MPI_Comm comm);

/* The next call of this collective uses the algorithm, until end undoes it. All members of the
 * call's communicator do so, or none. 0: what the program has set itself meanwhile is kept, and end
 * is not called. Local. */
int rgi_mpich_algorithm_begin(rgi_mpich_algorithm a);
void rgi_mpich_algorithm_end(rgi_mpich_algorithm a);

#endif
