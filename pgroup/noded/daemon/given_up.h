/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whether the other nodes have given this one up, found out without its daemon: a daemon that is
 * stopped learns nothing. Its heartbeat in the arena (overlay.h) is no proof by itself, since a
 * debugger may have stopped it; it only tells when to ask. Runs in guards and in ranks; nothing
 * blocks. */
#ifndef RGI_GIVEN_UP_H
#define RGI_GIVEN_UP_H

#include "noded/wire/overlay.h"

#define RGI_GIVEN_UP_SECONDS 0.5 /* between calls, at most */

/* Asks the other nodes' daemons, one after the other, when this node's has not moved for the limit.
 * 1: one has told that this node is lost; or all refuse, twice, and could have come to the end
 * without this one. */
int rgi_given_up_step(rgi_overlay *overlay);

/* The daemon's heart beats; by the daemon. */
void rgi_given_up_beat(rgi_overlay *overlay);

/* This node has no part in the job any more: its daemon goes on, if it can, and ends. By whoever
 * has found that out. 1: the caller is the first one. */
int rgi_given_up_tell(rgi_overlay *overlay);

#endif
