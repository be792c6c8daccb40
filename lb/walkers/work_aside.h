/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A group's walker is set aside, with its state. */
#ifndef RGI_WALKERS_WORK_ASIDE_H
#define RGI_WALKERS_WORK_ASIDE_H

#include "walkers/queue.h"
#include "walkers/work.h"

/* All members call; the group has no walker afterwards. On the leader *e is the walker, whose
 * memory belongs to the caller; elsewhere it is empty. *failed: the application could not pack it,
 * and it has failed. */
int rgi_work_aside(rgi_work *work, rgi_queue_entry *e, int *failed);

#endif
