/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing: the walkers that are set aside until all that they meet are there. After
 * each round the list is the same on all processes. */
#ifndef RGI_WALKERS_MEETING_LIST_H
#define RGI_WALKERS_MEETING_LIST_H

#include "walkers/meeting.h"
#include "walkers/queue.h"

typedef struct {
  rgi_queue_entry entry;
  rgi_meeting meeting;
  int rank; /* of the leader that has set it aside */
} rgi_meeting_aside;

typedef struct {
  rgi_meeting_aside *at;
  int count, room;
} rgi_meeting_list;

/* Adds a walker: its memory moves, the meeting is copied. */
int rgi_meeting_list_add(rgi_meeting_list *l, const rgi_queue_entry *e, const rgi_meeting *m,
                         int rank);
/* Takes the walkers of a complete meeting, in the order of their ids, into the array; its number,
 * and the rank of the first one. *count 0: there is none. The array belongs to the caller. */
int rgi_meeting_list_take(rgi_meeting_list *l, int64_t *count, rgi_queue_entry **entries,
                          int64_t *number, int *rank);
/* How many walkers are set aside until this one comes. */
int64_t rgi_meeting_list_awaits(const rgi_meeting_list *l, int64_t id);
/* Whom walker i waits for. */
void rgi_meeting_list_say(const rgi_meeting_list *l, int i, char *text, size_t bytes);
void rgi_meeting_list_free(rgi_meeting_list *l);

#endif
