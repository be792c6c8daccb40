/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Stalls: what a process that has been waiting for long shows to the others of its node, so that
 * members which were given different lists, and wait for each other on different groups, can say
 * so. */
#ifndef RGI_STALL_H
#define RGI_STALL_H

#include "shm/failure.h"
#include "shm/process_table.h"

/* A note of this thread's wait, or a newer time of it; *noted: the note's number, 0 for the first
 * one of a wait. Of several threads that wait the last one to call has the process's note. unmet:
 * it is in the group's first operation; until: how long it counts. Any thread. */
void rgi_stall_note(const rgi_failure_scope *scope, const char *call, int unmet, double until,
                    uint32_t *noted);

/* A process of the node that is a member of the scope's group and waits on another group, of which
 * the caller is a member. text: describes both. *begins: it waits in this call, its group's first.
 * Returns 0 where there is none. */
#define RGI_STALL_TEXT 512
int rgi_stall_find(const rgi_failure_scope *scope, const char *call, double now, int *begins,
                   char text[RGI_STALL_TEXT]);

#endif
