/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A meeting of two groups: their first members tell each other who their members
 * are and which of them leave, and each tells its own group. */
#ifndef RGI_MEETING_H
#define RGI_MEETING_H

#include "formation/group.h"

typedef enum { RGI_MERGE = 1, RGI_REASSIGN } rgi_meeting_kind;

typedef struct {
  rg_group parent;
  int remote_leader, tag;
  rgi_meeting_kind kind;
  int high;           /* merging: which side goes last */
  int n;              /* reassigning: how many of the own members leave */
  const int *leaving; /* their ranks in the own group */
  int error;          /* the caller's own error, told to all */
} rgi_proposal;

/* What the other side brings. Free it by rgi_meeting_end. */
typedef struct {
  rgi_members *members;
  int high, n, *leaving; /* as in the proposal, of the other group */
  int *ints;             /* the memory of leaving */
  uint64_t number[2];    /* of this operation (group.h): the caller's side's, the other's */
  int apart;             /* one of the two groups is of survivors */
} rgi_visitor;

/* Members of both groups call. Messages: one each way between the first members
 * (two where deaths are survived), and g - 1 inside each group. All members of both return the same
 * error, or RG_ERR_TIMEOUT where the leaders do not meet. */
int rgi_meet(const char *call, rg_group mine, const rgi_proposal *proposal, rgi_visitor *visitor);
void rgi_meeting_end(rgi_visitor *visitor);

#endif
