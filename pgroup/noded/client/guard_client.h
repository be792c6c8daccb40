/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A rank's guard (guard.h) as the rank sees it. Runs in ranks. */
#ifndef RGI_GUARD_CLIENT_H
#define RGI_GUARD_CLIENT_H

#include "noded/daemon/guard.h"

/* Whether this process has a guard. */
int rgi_guard_exists(void);

/* Whether this copy of the library is to start no guard: another copy in this process does, or the
 * program has no MPI. libregroup-mpi.so has a definition of its own (mpi/fault/fault_start.c). */
int rgi_guard_is_unwanted(void);

/* Why the guard cannot be told when a process that is not its child ends: an errno; 0: it can. */
int rgi_guard_blind(void);

/* Sends the addresses to the guard, if there is one. fd: the arena's. listener and pipe: the guard
 * is to be the node's daemon (daemon.h) with these descriptors; or -1. Local. */
void rgi_guard_tell(const rgi_guard_addresses *addresses, int fd, int listener, int pipe);

/* How far MPI is when this process ends by exit. Local. */
void rgi_guard_tell_end(rgi_guard_phase phase);

#endif
