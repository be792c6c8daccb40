/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that are set aside until all that they meet are there: on a node's load board, or in
 * synchronous balancing on each process. */
#ifndef RGI_TEAM_MEETING_LIST_H
#define RGI_TEAM_MEETING_LIST_H

#include "walkers/team/meeting.h"
#include "walkers/team/queue.h"

typedef struct {
  uint64_t *first; /* the block of the walker that came last, or 0 */
  int shared;      /* the blocks are in the node's arena, else in memory of this process */
} rgi_meeting_list;

/* Adds a walker; its memory and the meeting are copied. rank: of the leader that has set it aside.
 * *comes: whether it is the last of its meeting, which can take place now. A second walker of one
 * id has no part in the meeting: it waits until rgi_meeting_list_stuck finds it. */
int rgi_meeting_list_add(rgi_meeting_list list, const rgi_queue_entry *entry,
                         const rgi_meeting *meeting, int rank, int *comes);

/* Takes the walkers of a meeting that can take place, in the order of their ids; its number, and
 * the rank of the first one. *count 0: there is none. The array and the walkers' memory belong to
 * the caller. */
int rgi_meeting_list_take(rgi_meeting_list list, int64_t *count, rgi_queue_entry **entries,
                          int64_t *number, int *rank);

/* The next walker whose meeting stays incomplete, since no walker can go on: a copy, which belongs
 * to the caller. *there 0: there is no further one. `text`, of so many bytes, gets whom it waits
 * for. none: RGI_MEETING_..., what is known of walkers that are not in the list. */
int rgi_meeting_list_stuck(rgi_meeting_list list, int64_t none, int *there, rgi_queue_entry *entry,
                           char *text, size_t bytes);

/* How many walkers are set aside until this one comes. */
int64_t rgi_meeting_list_awaits(rgi_meeting_list list, int64_t id);

void rgi_meeting_list_free(rgi_meeting_list list);

#endif
