/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A group gets a walker, and hands it over to new members. All members call. */
#ifndef RGI_WALKERS_WORK_START_H
#define RGI_WALKERS_WORK_START_H

#include "walkers/work.h"

/* Begins a walker. Only the leader's entry is used, and its memory is freed; the other members get
 * it from there. *next: RGI_WORK_GO_ON; RGI_WORK_FINISH: no unit is left; RGI_WORK_MEET; or
 * RGI_WORK_FAIL: it has failed. */
int rgi_work_start(rgi_work *work, const rgi_queue_entry *entry, int *next);
/* The group has changed: its new members get the walker and its state from the leader. */
int rgi_work_hand_over(rgi_work *work);
/* Before the members from position `stay` on leave: the members of the group as it still is call.
 * An error of the application is kept until rgi_work_hand_over. */
int rgi_work_part(rgi_work *work, int stay);

#endif
