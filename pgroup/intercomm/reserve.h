/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Processes in reserve: what the other files of this room use. */
#ifndef RGI_RESERVE_H
#define RGI_RESERVE_H

#include <regroup/group.h>
#include <regroup/reserve.h>
#include <stdint.h>

#include "formation/members.h"
#include "intercomm/reserve_message.h"

/* Whether a reserve is open in this process. */
int rgi_reserve_is_open(void);

/* RG_ERR_UNSUPPORTED unless one is open: the text says how to start the job. */
int rgi_reserve_need(const char *call);

/* The caller's world. Outside the reserve: the processes that were outside when it was
 * opened (all of them call, the first time). In reserve the caller sleeps; then the world
 * is the processes that it was acquired with, and parent the inter-communicator to those
 * that acquired them, which is given once. Both are MPI_COMM_NULL where the caller is not
 * acquired by spawning. */
int rgi_reserve_enter(MPI_Comm *world, MPI_Comm *parent);

/* The number of the operation that has acquired the caller last. */
uint64_t rgi_reserve_number(void);

/* The confirmation of a replacement: acquired processes form the new group only after the
 * survivors have agreed that all of them have it. Every member of g calls: all of them have the new
 * group. Tells the acquired. */
int rgi_reserve_confirm(const char *call, rg_group g, uint64_t number, const rgi_members *acquired);

/* An acquired process waits for it. RG_ERR_REVOKED, with no text: a member of the callers
 * has died, and the replacement has failed. */
int rgi_reserve_confirm_await(const char *call, const rgi_members *callers, uint64_t number);

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
