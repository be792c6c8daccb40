/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers that are set aside on a node's load board until all that they meet are there. All of
 * it is read and changed under the board's lock. */
#ifndef RGI_WALKERS_MEETING_BOARD_H
#define RGI_WALKERS_MEETING_BOARD_H

#include "walkers/load_board.h"
#include "walkers/meeting.h"

/* Sets a walker aside; entry->memory is copied into the arena. While its meeting is incomplete it
 * is not one of the open walkers: it cannot go on by itself. */
int rgi_meeting_board_add(rgi_load_board *b, const rgi_queue_entry *entry, const rgi_meeting *m);

/* Takes the walkers of a complete meeting, in the order of their ids, and its number; *count 0:
 * there is none. The array and the walkers' memory belong to the caller. */
int rgi_meeting_board_take(rgi_load_board *b, int64_t *count, rgi_queue_entry **entries,
                           int64_t *number);

/* The next walker whose meeting stays incomplete, since no walker can go on: a copy, which belongs
 * to the caller. *there 0: there is no further one. `text`, of so many bytes, gets whom it waits
 * for. */
int rgi_meeting_board_stuck(rgi_load_board *b, int *there, rgi_queue_entry *entry, char *text,
                            size_t bytes);

/* How many walkers on this board have been set aside until this one comes. */
int64_t rgi_meeting_board_awaits(const rgi_load_board *b, int64_t id);

/* Frees what is left. */
void rgi_meeting_board_free(rgi_load_board *b);

#endif
