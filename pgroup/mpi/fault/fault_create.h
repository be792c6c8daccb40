/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The creation of communicators by the members of another one, the parent: fault_create.c tells how
 * they come to one result. */
#ifndef RGI_FAULT_CREATE_H
#define RGI_FAULT_CREATE_H

#include "mpi/fault/fault_comm.h"
#include "mpi/fault/fault_guard.h"

typedef struct {
  const char *call;
  rgi_fault_comm *parent;
  rg_group votes;      /* of the parent's members */
  uint64_t number;     /* revoked where a member has no communicator, */
  int decided;         /* unless all know it from the vote */
  uint64_t derivation; /* of the new communicators' groups; part 0 of them is not used */
  rgi_fault_guard guard;
} rgi_fault_creation;

/* Local: all members do so in the same order. Returns the parent's error, if it has one. */
int rgi_fault_create_begin(rgi_fault_creation *made, rgi_fault_comm *parent, const char *call);

/* The members agree; error: the caller's own. RG_SUCCESS on all or on none. comm: NULL, or what MPI
 * has made: it is freed where all members have it and one has an error. */
int rgi_fault_create_vote(rgi_fault_creation *made, int error, MPI_Comm *comm);

/* Where the caller knows of a failure: it takes no part in the creation that comes next on the
 * communicator, so that members which are in it do not wait for it. */
void rgi_fault_create_abandon(rgi_fault_comm *state);

#endif
