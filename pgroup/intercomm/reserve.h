/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Processes in reserve: what the other files of this layer use. */
#ifndef RGI_RESERVE_H
#define RGI_RESERVE_H

#include <regroup/reserve.h>

#include "formation/members.h"

typedef enum { RGI_RESERVE_GROW = 1, RGI_RESERVE_SPAWN, RGI_RESERVE_REPLACE } rgi_reserve_purpose;

/* What processes are acquired for. */
typedef struct {
  rgi_reserve_purpose kind;
  int n;
  uint64_t number;           /* of the operation (rgi_group_creation_begin); 0: none */
  int diverged;              /* of the group that results */
  const rgi_members *before; /* replace: the members in whose places they come */
} rgi_reserve_request;

/* Whether a reserve is open in this process. */
int rgi_reserve_is_open(void);

/* The caller's world: those outside when the reserve was opened (all of them call,
 * the first time), or those it was acquired with and the inter-communicator to who drew
 * them, which is given once. Sleeps if the caller is in reserve; both are
 * MPI_COMM_NULL where it is not acquired by spawning. */
int rgi_reserve_enter(MPI_Comm *world, MPI_Comm *parent);

/* RG_ERR_UNSUPPORTED unless one is open: the text says how to start the job. */
int rgi_reserve_need(const char *call);

/* Draws processes for the members of g, who all call, and tells them who calls
 * and for what. The processes that were acquired, to be dropped. */
int rgi_reserve_acquire(const char *call, rg_group g, const rgi_reserve_request *request,
                        rgi_members **acquired);

/* The members of `before`, with those that were acquired in the places of whom g has not. */
int rgi_reserve_substitute(const char *call, const rgi_members *before, const rgi_members *g,
                           const rgi_members *acquired, rgi_members **all);

/* After a draw of that kind: all members of g have the group. To those that were acquired. */
int rgi_reserve_confirm(const char *call, rg_group g, uint64_t number, const rgi_members *acquired);

#endif
