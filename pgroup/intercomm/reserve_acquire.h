/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Acquiring processes out of the reserve for the members of a group. */
#ifndef RGI_RESERVE_ACQUIRE_H
#define RGI_RESERVE_ACQUIRE_H

#include <regroup/group.h>

#include "formation/members.h"
#include "intercomm/reserve_message.h"

/* What processes are acquired for. */
typedef struct {
  rgi_reserve_purpose kind;
  int n;
  uint64_t number;           /* of the operation (rgi_group_creation_begin); 0: none */
  int diverged;              /* of the group that results */
  const rgi_members *before; /* replace: the group whose dead are replaced */
} rgi_reserve_request;

/* Called by all members of g: acquires processes for them, and sends these the message.
 * *acquired is to be dropped. */
int rgi_reserve_acquire(const char *call, rg_group g, const rgi_reserve_request *request,
                        rgi_members **acquired);

/* The members of `before`, each that `members` lacks replaced by the next of the acquired. */
int rgi_reserve_substitute(const char *call, const rgi_members *before, const rgi_members *members,
                           const rgi_members *acquired, rgi_members **all);

#endif
