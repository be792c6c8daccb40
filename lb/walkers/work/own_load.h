/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: the row of this process's group on the load board. */
#ifndef RGI_WORK_OWN_LOAD_H
#define RGI_WORK_OWN_LOAD_H

#include "walkers/board/board.h"
#include "walkers/work/work.h"

/* The leader writes its row as things are now; `coming`: processes on their way to the group.
 * Returns whether something has changed that a policy may answer differently: the state, the size,
 * or a unit's first time on a new size. And how many are on their way. With the lock held. */
int rgi_own_load_write(rgi_board *board, const rgi_work *work, int coming);
int rgi_own_load_coming(const rgi_board *board);

/* Writes the row if this process is the leader; removes the row. Without the lock. */
int rgi_own_load_publish(rgi_board *board, const rgi_work *work);
int rgi_own_load_withdraw(rgi_board *board);

#endif
