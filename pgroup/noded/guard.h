/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Guards: what keeps a job alive when a process is killed.
 *
 * MPICH's launcher ends all processes of a node when one that it has started itself
 * ends by a signal. With RG_SURVIVE=1 every process of a job therefore parts in two
 * before main begins: the child goes on as the rank, its parent, which is what the
 * launcher knows, waits for it. When the rank is killed the parent stays as long as
 * the survivors need, and ends as they tell it through the node's arena. */
#ifndef RGI_GUARD_H
#define RGI_GUARD_H

#include <stdint.h>

/* Whether this process has a guard. */
int rgi_guard_exists(void);

/* Where things are in the arena: offsets; and how many processes the node has. */
typedef struct {
  uint64_t process_table; /* the table of processes (shm/process_table.h) */
  uint64_t members;       /* the node's processes (node.h) */
  uint64_t overlay;       /* or 0 */
  int32_t processes, world;
  double patience; /* RG_PATIENCE */
  double stopped;  /* RG_STOPPED */
} rgi_guard_addresses;

/* Tells the guard: fd is the arena's; listener and pipe make it the node's daemon
 * (daemon.h), or are -1. Local. */
void rgi_guard_tell(const rgi_guard_addresses *a, int fd, int listener, int pipe);

#endif
