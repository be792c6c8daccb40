/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers that are set aside on a node's load board. All of it is read and changed under the
 * board's lock. */
#ifndef RGI_WALKERS_MEETING_BOARD_H
#define RGI_WALKERS_MEETING_BOARD_H

#include "walkers/load_board.h"
#include "walkers/meeting_list.h"

static inline rgi_meeting_list rgi_meeting_board_list(const rgi_load_board *b) {
  return (rgi_meeting_list){&b->shared->aside, 1};
}

/* Sets a walker aside. While its meeting is incomplete it is not one of the open walkers: it cannot
 * go on by itself. */
int rgi_meeting_board_add(rgi_load_board *b, const rgi_queue_entry *entry, const rgi_meeting *m);

/* Takes the walkers of a meeting that can take place (rgi_meeting_list_take). */
int rgi_meeting_board_take(rgi_load_board *b, int64_t *count, rgi_queue_entry **entries,
                           int64_t *number);

#endif
