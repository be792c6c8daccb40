/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Agreement among the members of a group during a call that creates groups: reports go up a
 * binomial tree to member 0, with the data of the members; its decision, with its data, comes
 * down. An error that one member finds is an error on all; what one member passes unlike another
 * one is RG_ERR_MISMATCH on all. */
#ifndef RGI_GROUP_CONSENT_H
#define RGI_GROUP_CONSENT_H

#include "formation/group.h"

/* Ranks that an error may be about besides those of the group. */
#define RGI_GROUP_CONSENT_ELSEWHERE (-1)

/* What each message has before its data, in ints. */
#define RGI_GROUP_CONSENT_HEAD 6

typedef struct {
  rg_group g;
  const char *call;
  uint64_t id;                      /* of the creation: the same on all members */
  uint64_t what;                    /* a hash of what all members must pass alike */
  int error, rank;                  /* the first error known, and the member that it is about */
  int own;                          /* an error whose text this member has recorded */
  int lost;                         /* a wait has failed: nothing is waited for any more */
  int told, count;                  /* whether the decision has come; its length */
  int room, *in;                    /* the last message that has come, in so much memory */
  int head[RGI_GROUP_CONSENT_HEAD]; /* instead of that where there is none */
} rgi_group_consent;

/* Begins a creation. error: the caller's own, with its text; the others get it. room: the most ints
 * that rgi_group_consent_tell or one report has; their memory is taken here, so that a lack of it
 * is an error on all. */
rgi_group_consent rgi_group_consent_begin(rg_group g, const char *call, uint64_t what, int error,
                                          int room);

/* The caller has found an error, whose text is recorded. rank: its own, or
 * RGI_GROUP_CONSENT_ELSEWHERE. */
void rgi_group_consent_fail(rgi_group_consent *consent, int error, int rank);

/* The reports, with each member's block of `width` ints: all[size * width] on member 0, in the
 * order of ranks. Member 0 may leave it out where it has found an error. */
void rgi_group_consent_gather(rgi_group_consent *consent, int width, const int mine[], int all[]);

/* The decision. Member 0 passes its block of *count ints in *ints; the others get memory, which
 * they free. Returns the same error on all members, on one that has an error of its own that one;
 * then consent->error and consent->rank are what all know. The caller says what an error elsewhere
 * was. */
int rgi_group_consent_tell(rgi_group_consent *consent, int *count, int **ints);

#endif
