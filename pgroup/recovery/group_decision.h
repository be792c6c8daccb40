/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Decisions that the living members of a group make together, also when some of them die
 * meanwhile. All members that get a decision get the same one. */
#ifndef RGI_GROUP_DECISION_H
#define RGI_GROUP_DECISION_H

#include <regroup/group.h>

typedef struct {
  unsigned word;       /* the bitwise and of the members' words */
  int deaths;          /* whether any was dead */
  unsigned char *dead; /* for each rank of the group: 1 if it is dead; the caller frees it */
} rgi_group_decision;

/* Every living member calls. all: waits until each member has voted or died; otherwise the first
 * caller decides at once, by the deaths that it knows of. Members on one node send no message.
 * RG_ERR_REVOKED where a creation id of g is revoked; RG_ERR_TIMEOUT; RG_ERR_UNSUPPORTED: the
 * members are on several nodes, and the job was not started so that it survives deaths. */
int rgi_group_decision_make(rg_group g, const char *call, unsigned word, int all,
                            rgi_group_decision *decision);

/* The same in parts. begin votes, and waits for nobody; test looks once, and ends with the errors
 * of rgi_group_decision_make; end, once test has said *done or an error, frees the ballot, and
 * gives the decision if that is not NULL. On one group ballots are held one after the other, in the
 * same order on all members. */
typedef struct rgi_group_ballot rgi_group_ballot;
int rgi_group_ballot_begin(rg_group g, const char *call, unsigned word, rgi_group_ballot **ballot);
int rgi_group_ballot_test(rgi_group_ballot *ballot, int *done);
int rgi_group_ballot_end(rgi_group_ballot *ballot, rgi_group_decision *decision);

#endif
