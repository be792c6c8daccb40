/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's groups: ranks of one in another, and the library's members as one. */
#ifndef RGI_MPI_GROUP_H
#define RGI_MPI_GROUP_H

#include <mpi.h>

#include "formation/members.h"

/* The ranks in `to` of from's n members, in memory that the caller frees; MPI_UNDEFINED for a
 * process that is not in `to`. */
int rgi_mpi_group_translate(const char *call, MPI_Group from, int n, MPI_Group to, int **ranks);

/* Whether all processes of the first group are in the second. Takes no memory of the library's,
 * since a member that lacks it must come to the same result as the others. MPI's errors count as
 * 1. */
int rgi_mpi_group_is_among(MPI_Group some, MPI_Group all);

/* The members as an MPI group, over the library's world: of O(1) size where they are a range. */
int rgi_mpi_group_of(const rgi_members *members, MPI_Group *group);

#endif
