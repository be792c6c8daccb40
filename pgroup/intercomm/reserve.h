/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Processes in reserve: what the other files of this room use. */
#ifndef RGI_RESERVE_H
#define RGI_RESERVE_H

#include <regroup/reserve.h>

/* Whether a reserve is open in this process. */
int rgi_reserve_is_open(void);

/* RG_ERR_UNSUPPORTED unless one is open: the text says how to start the job. */
int rgi_reserve_need(const char *call);

/* The caller's world. Outside the reserve: the processes that were outside when it was
 * opened (all of them call, the first time). In reserve the caller sleeps; then the world
 * is the processes that it was acquired with, and parent the inter-communicator to those
 * that acquired them, which is given once. Both are MPI_COMM_NULL where the caller is not
 * acquired by spawning. */
int rgi_reserve_enter(MPI_Comm *world, MPI_Comm *parent);

#endif
