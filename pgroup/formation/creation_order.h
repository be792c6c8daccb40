/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Taking turns, where threads of a process may create at the same time.
 *
 * MPICH's inter-communicators are not made for that: the leaders of
 * MPI_Intercomm_create exchange their members under a tag of MPICH's own, and
 * MPI_Intercomm_merge works on a temporary context that another thread's may
 * equal, so that two threads read one another's messages. Creations that need
 * them therefore run one at a time in each process. They take the processes'
 * turns in ascending order of ranks, which cannot deadlock. */
#ifndef RGI_CREATION_ORDER_H
#define RGI_CREATION_ORDER_H

#include <mpi.h>

/* Takes this process's turn for the creation with these members (ranks in comm,
 * the caller's own at `me`). Messages: n - 1 in all, with MPI_THREAD_MULTIPLE;
 * otherwise none. RG_ERR_TIMEOUT. */
int rgi_creation_order_begin(MPI_Comm comm, int n, const int ranks[], int me, int tag,
                             const char *call);

void rgi_creation_order_end(void);

#endif
