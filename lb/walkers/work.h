/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walker that a group works on. All members call. */
#ifndef RGI_WALKERS_WORK_H
#define RGI_WALKERS_WORK_H

#include <regroup/balance.h>

#include "walkers/outcome.h"
#include "walkers/queue.h"

typedef struct {
  int working;
  rg_walker walker;
  rgi_queue_entry entry; /* what is known of it (state and memory unused) */
  double started;
  double left;  /* after the last unit */
  int may;      /* what the application says after the last unit */
  double unit;  /* seconds, at the present size; or RG_UNKNOWN */
  rg_pace pace; /* the leader's */
  int new_size; /* the last unit was the first one on so many processes */
  int skip;     /* units until the members agree again, if they are alike */
  int pending;  /* an error that handing over is to tell, and its text */
  char text[RGI_OUTCOME_TEXT];
  int in_unit;    /* a unit is being done: walkers may be added */
  rgi_queue born; /* by this process in this unit */
} rgi_work;

/* What is next. */
enum { RGI_WORK_GO_ON, RGI_WORK_FINISH, RGI_WORK_MERGE, RGI_WORK_RELEASE, RGI_WORK_FAIL };
typedef struct {
  int64_t kind, count;
} rgi_work_decision;

/* Begins a walker. entry, with its memory (freed here), is the leader's; the others get it.
 * *next: RGI_WORK_GO_ON; RGI_WORK_FINISH, there is nothing left of it; or RGI_WORK_FAIL, it has
 * failed. */
int rgi_work_start(rg_balancer b, const rgi_queue_entry *entry, int *next);
/* The group has changed: the members that do not work on it yet get the state from the
 * leader. */
int rgi_work_hand_over(rg_balancer b);
/* Before the members from position `stay` on leave it: those of the group as it is. An error is
 * told when the others are handed the walker. */
int rgi_work_part(rg_balancer b, int stay);
/* One unit. *next: what the leader decided (it is asked by decide). */
int rgi_work_unit(rg_balancer b, int (*decide)(rg_balancer b, rgi_work_decision *d),
                  rgi_work_decision *next);
/* The walker has ended well; or, with an error, fails. The group has none then. */
int rgi_work_finish(rg_balancer b);
int rgi_work_fail(rg_balancer b, int error, int rank, const char *text);
/* This process is no longer among those that work on it. */
void rgi_work_leave(rg_balancer b);

#endif
