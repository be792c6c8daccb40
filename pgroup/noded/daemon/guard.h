/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Guards keep a job alive when a process is killed.
 *
 * MPICH's launcher ends all processes of a node when one that it has started itself ends by a
 * signal. With RG_SURVIVE=1 every process of a job therefore forks before main begins: the child
 * goes on as the rank; the parent, which is the process that the launcher knows, waits for it.
 * When the rank is killed the parent, its guard, stays as long as the survivors need it, and ends
 * as they tell it through the node's arena. */
#ifndef RGI_GUARD_H
#define RGI_GUARD_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* What a rank tells its guard when the library starts: where things are in the arena, as offsets,
 * and some options. With it come descriptors: the arena's; and, where the guard is to be the
 * node's daemon, its listener and the reading end of its pipe. */
typedef struct {
  uint64_t process_table; /* the table of processes (shm/process_table.h) */
  uint64_t members;       /* the node's processes (shm/node.h) */
  uint64_t overlay;       /* or 0 */
  int32_t processes;      /* of the node */
  int32_t world;          /* ranks of the world */
  double patience;        /* RG_PATIENCE */
  double stopped;         /* RG_STOPPED */
} rgi_guard_addresses;

#define RGI_GUARD_FDS 3 /* arena, listener, pipe */

/* What a rank tells its guard when it ends by exit. */
typedef enum { RGI_GUARD_NOTHING, RGI_GUARD_MPI_BEGUN, RGI_GUARD_MPI_ENDED } rgi_guard_phase;

/* The signals that a guard takes through a descriptor: its caller blocks them. */
void rgi_guard_signals(sigset_t *set);

/* The guard's work: waits for its child, the rank, and for all that may end the guard. socket:
 * from the rank. Returns the status with which the guard is to exit. */
int rgi_guard_watch(pid_t rank, int socket, const sigset_t *signals);

#endif
