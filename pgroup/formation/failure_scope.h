/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whose deaths end the waits of a call that is made on MPI's groups. */
#ifndef RGI_FAILURE_SCOPE_H
#define RGI_FAILURE_SCOPE_H

#include <mpi.h>

#include "formation/members.h"
#include "shm/failure.h"

/* The scope of these members; they stay the caller's. */
rgi_failure_scope rgi_failure_scope_of(const rgi_members *m);

/* From here on the deaths of a's and b's processes end this thread's waits, as far as they are
 * the library's: *m holds them, or is NULL. b: or MPI_GROUP_NULL. RG_ERR_NOMEM. */
int rgi_failure_scope_begin(const char *call, MPI_Group a, MPI_Group b, rgi_members **m);

/* Nobody's deaths do any more. */
void rgi_failure_scope_end(rgi_members *m);

#endif
