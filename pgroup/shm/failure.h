/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Failure scopes: the members whose death, and the contexts whose revocation, end the waits of a
 * public call with an error. */
#ifndef RGI_FAILURE_H
#define RGI_FAILURE_H

#include <stdint.h>

/* A group remembers the operations by which it was created, as numbers that their participants
 * share; 0: none. A participant that gets an error revokes the number: then not all members have
 * the group, and it cannot be used. */
#define RGI_CREATION_IDS 2

/* RG_ERR_REVOKED, with a text, if one of them is revoked; else RG_SUCCESS. */
int rgi_failure_check_creation(const uint64_t creation_ids[RGI_CREATION_IDS], const char *call);

/* Of the public call that this thread is in: the members of its group. find: the position of a
 * world rank among them, or -1. */
typedef struct {
  const void *members;
  int (*find)(const void *members, int world_rank);
  uint64_t context, parent; /* whose revocation ends it; 0: none */
  uint64_t creation_ids[RGI_CREATION_IDS];
} rgi_failure_scope;

extern _Thread_local rgi_failure_scope rgi_failure_scope_now;

/* RG_ERR_PROC_FAILED, with a text, if a member is known to be dead; RG_ERR_REVOKED; else
 * RG_SUCCESS. */
int rgi_failure_check(const rgi_failure_scope *scope, const char *call);

/* The cause of a message's error: the error of the scope, if there is one, since the other side may
 * have seen that first and given up the message. Else the error as it is, with its text. */
int rgi_failure_cause(const rgi_failure_scope *scope, int error, const char *call);

#endif
