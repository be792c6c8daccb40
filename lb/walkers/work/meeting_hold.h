/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A meeting takes place: on one process, which need not work on a walker of its own. */
#ifndef RGI_WORK_MEETING_HOLD_H
#define RGI_WORK_MEETING_HOLD_H

#include "walkers/team/queue.h"
#include "walkers/work/work.h"

/* Calls the application with the walkers, which then have new states, and writes these into the
 * walker store, if there is one. Local. *failed: the application met an error; then all of the
 * walkers have failed, and their memory is freed. */
int rgi_meeting_hold(rgi_work *work, int64_t count, rgi_queue_entry entries[], int64_t number,
                     int *failed);

#endif
