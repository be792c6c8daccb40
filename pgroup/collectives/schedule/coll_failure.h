/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Errors that end an operation of a group at once. The members on a node learn of it from the state
 * that they share, also where they wait for messages; those on other nodes, which may wait for
 * messages of the member with the error, get a message. After that no collective of the group goes
 * on: the group is formed anew. A death, a revocation and a time limit reach the members in other
 * ways. */
#ifndef RGI_COLL_FAILURE_H
#define RGI_COLL_FAILURE_H

#include "collectives/schedule/coll_state.h"

/* By a member whose operation has ended with this error at once, or cannot begin: tells the others.
 * Returns the error, with its text. A message to each member on other nodes, the first time. */
int rgi_coll_failure_tell(rgi_coll *coll, const char *call, int error);

/* The same by a member that cannot even make its collective state. */
int rgi_coll_failure_absent(rg_group g, const char *call, int error);

/* Whether another member has told that. By a member that waits for messages: RG_SUCCESS, or the
 * error with which it is to end. */
int rgi_coll_failure_look(rgi_coll *coll, const char *call);

/* By a member that is to begin a blocking operation, or has found in one that the group has failed:
 * RG_SUCCESS, or the error of its operation. Those on its node then end, too. */
int rgi_coll_failure_check(rgi_coll *coll, const char *call);

#endif
