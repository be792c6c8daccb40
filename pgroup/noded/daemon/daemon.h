/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The node daemon: the guard of its node's first rank, which also detects deaths for its node and
 * tells the other nodes of them. Nothing here blocks: the guard calls rgi_daemon_step when there is
 * something to do. Runs in guards. */
#ifndef RGI_DAEMON_H
#define RGI_DAEMON_H

#include <sys/types.h>

#include "noded/wire/overlay.h"
#include "shm/process_table.h"

/* Makes this guard the daemon. The arena is mapped (rgi_arena_attach), and overlay lies in it.
 * table: the guard's view of the node's processes. listener, pipe: descriptors, taken over. 0: no
 * memory. */
int rgi_daemon_open(rgi_overlay *overlay, rgi_process_table *table, int listener, int pipe);
void rgi_daemon_close(void);

/* A descriptor that is readable when there is something to do; -1: this guard is no daemon. The
 * guard then calls step, and at the latest after timeout seconds (-1: no limit). */
int rgi_daemon_fd(void);
double rgi_daemon_timeout(void);
void rgi_daemon_step(void);

/* Why the job cannot go on here, or NULL; whether that concerns this node only: it has no part in
 * the job any more, and others may go on. */
const char *rgi_daemon_fatal_reason(void);
int rgi_daemon_is_given_up(void);

/* Whether other nodes still need this daemon. */
int rgi_daemon_needed(void);

#endif
