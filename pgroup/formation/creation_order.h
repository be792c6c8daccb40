/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Creation order: one creation at a time in each process, where threads may create at the same
 * time.
 *
 * MPICH's inter-communicators do not allow more: the leaders of MPI_Intercomm_create exchange
 * their members under a tag of MPICH's own, and MPI_Intercomm_merge works on a temporary context
 * that may equal another thread's, so that two threads receive one another's messages. */
#ifndef RGI_CREATION_ORDER_H
#define RGI_CREATION_ORDER_H

#include "formation/comm_creation.h"

/* Waits until no other creation runs in this process, on all members (creation->comm, n, me, ranks
 * and tag). Messages: n - 1 in all where a process has MPI_THREAD_MULTIPLE, otherwise none.
 * RG_ERR_TIMEOUT. */
int rgi_creation_order_begin(const rgi_comm_creation *creation);

void rgi_creation_order_end(void);

#endif
