/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Starting the node daemons (noded/daemon/daemon.h): each node's first process tells its guard to
 * become the node's daemon, the addresses of all daemons are exchanged, and the daemons connect. */
#ifndef RGI_DAEMONS_H
#define RGI_DAEMONS_H

#include <mpi.h>
#include <stddef.h>

/* Decides whether there are to be daemons: on several nodes, if each process has a guard. The same
 * on all processes. Collective over the world. RG_ERR_SYSTEM: guards cannot do their work. */
int rgi_daemons_choose(MPI_Comm world, MPI_Comm node);

/* Bytes of the daemons' directory in the arena; 0 without daemons. world: its size. After
 * rgi_daemons_choose. */
size_t rgi_daemons_bytes(int world);

/* Tells the caller's guard, if it has one, where the table of processes is. Local. */
void rgi_daemons_tell_guard(void);

/* Collective over the world, when the arena is open. memory: the directory's bytes, zeroed. Returns
 * when all daemons are connected; the same error on all processes. rgi_overlay_close ends it. */
int rgi_daemons_open(MPI_Comm world, MPI_Comm node, void *memory);

#endif
