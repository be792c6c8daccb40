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
rgi_failure_scope rgi_failure_scope_of(const rgi_members *m);

/* Sets this thread's failure scope to the processes of a and b (b may be MPI_GROUP_NULL) that
 * belong to the library's world. *m holds them, for rgi_failure_scope_end; NULL: none, and the
 * scope is empty. RG_ERR_NOMEM. */
int rgi_failure_scope_begin(const char *call, MPI_Group a, MPI_Group b, rgi_members **m);

/* Empties the scope: no death ends this thread's waits any more. */
void rgi_failure_scope_end(rgi_members *m);

#endif
