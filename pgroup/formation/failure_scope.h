/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Failure scopes (shm/failure.h) made from members: the deaths that end the waits of a call. */
#ifndef RGI_FAILURE_SCOPE_H
#define RGI_FAILURE_SCOPE_H

#include <mpi.h>

#include "formation/members.h"
#include "shm/failure.h"

/* The failure scope of these members, which remain the caller's. */
rgi_failure_scope rgi_failure_scope_of(const rgi_members *members);

/* As rgi_failure_scope_of, with a group's context and creations, stored member by member: each
 * collective does it, and to load a whole structure just after its parts have been stored takes
 * longer than all these stores. */
int rgi_failure_scope_find(const void *members, int world_rank);
static inline void rgi_failure_scope_set(rgi_failure_scope *scope, const rgi_members *members,
                                         uint64_t context,
                                         const uint64_t creation_ids[RGI_CREATION_IDS]) {
  scope->members = members;
  scope->find = rgi_failure_scope_find;
  scope->context = context;
  scope->parent = 0;
  for (int i = 0; i < RGI_CREATION_IDS; i++)
    scope->creation_ids[i] = creation_ids[i];
}

/* Sets this thread's failure scope to the processes of a and b (b may be MPI_GROUP_NULL) that
 * belong to the library's world. *members holds them, for rgi_failure_scope_end; NULL: none, and
 * the scope is empty. RG_ERR_NOMEM. */
int rgi_failure_scope_begin(const char *call, MPI_Group a, MPI_Group b, rgi_members **members);

/* A context whose revocation ends the scopes that this thread begins, too; 0: none. */
extern _Thread_local uint64_t rgi_failure_scope_within;

/* Empties the scope: no death ends this thread's waits any more. */
void rgi_failure_scope_end(rgi_members *members);

/* Collective over comm: waits until all have come, before calls of MPI's that wait themselves and
 * move nothing of the library's on. The death of a process of comm ends it, no other. */
int rgi_failure_scope_meet(const char *call, MPI_Comm comm);

#endif
