/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walker that a group works on. All members call. */
#ifndef RGI_WALKERS_WORK_H
#define RGI_WALKERS_WORK_H

#include <regroup/balance.h>

#include "walkers/queue.h"

/* What the group does after a unit. */
enum { RGI_WORK_GO_ON, RGI_WORK_FINISH, RGI_WORK_MERGE, RGI_WORK_RELEASE, RGI_WORK_FAIL };
typedef struct {
  int64_t kind, count;
} rgi_work_decision;

/* Begins a walker. Only the leader's entry is used, and its memory is freed; the other members get
 * it from there. *next: RGI_WORK_GO_ON; RGI_WORK_FINISH: no unit is left; or RGI_WORK_FAIL: it has
 * failed. */
int rgi_work_start(rg_balancer b, const rgi_queue_entry *entry, int *next);
/* The group has changed: its new members get the walker and its state from the leader. */
int rgi_work_hand_over(rg_balancer b);
/* Before the members from position `stay` on leave: the members of the group as it still is call.
 * An error of the application is kept until rgi_work_hand_over. */
int rgi_work_part(rg_balancer b, int stay);
/* Does one unit. The leader calls decide; *next is what it decided, on all members. */
int rgi_work_unit(rg_balancer b, int (*decide)(rg_balancer b, rgi_work_decision *d),
                  rgi_work_decision *next);
/* The walker has ended. The group has no walker afterwards. */
int rgi_work_finish(rg_balancer b);
/* This process no longer works on the walker. Local. */
void rgi_work_leave(rg_balancer b);

#endif
