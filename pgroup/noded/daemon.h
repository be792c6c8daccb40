/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The node daemon: the guard of its node's first rank (overlay.h). It is connected with some
 * other daemons, the next living ones at distances 1, 2, 4, ... around the ring of
 * nodes; every fact that is new to it goes to all of them. Nothing here blocks. */
#ifndef RGI_DAEMON_H
#define RGI_DAEMON_H

#include <sys/types.h>

#include "noded/overlay.h"
#include "shm/process_table.h"

/* The arena is mapped (rgi_arena_attach). overlay: in it; table: of the node's processes, the
 * guard's; listener, pipe: descriptors, taken over. */
int rgi_daemon_open(rgi_overlay *overlay, rgi_process_table *table, int listener, int pipe);
void rgi_daemon_close(void);

/* Readable when there is something to do (-1: no daemon); then, and every 0.1 s where
 * busy, step. */
int rgi_daemon_fd(void);
int rgi_daemon_busy(void);
void rgi_daemon_step(void);

/* Why the job cannot go on here, or NULL. */
const char *rgi_daemon_fatal_reason(void);

/* Whether the other nodes still need this one. */
int rgi_daemon_needed(void);

#endif
