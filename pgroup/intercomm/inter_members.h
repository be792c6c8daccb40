/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Communicators of processes of this job that are given as members, not by a communicator
 * that they have in common. */
#ifndef RGI_INTER_MEMBERS_H
#define RGI_INTER_MEMBERS_H

#include <mpi.h>
#include <stdint.h>

#include <regroup/group.h>

#include "formation/members.h"

/* The inter-communicator between the caller's side and the other one. All members of both
 * sides call, with the same number. */
int rgi_inter_members_create(const rgi_members *mine, const rgi_members *others, uint64_t number,
                             MPI_Comm *inter);

/* For processes that are new together: a communicator of theirs, and the inter-communicator
 * to those that acquired them, which call rgi_inter_members_create. */
int rgi_inter_members_join(const rgi_members *acquired, const rgi_members *callers, uint64_t number,
                           MPI_Comm *world, MPI_Comm *parent);

/* Every member of g gets member 0's list, or member 0's error (the others pass RG_SUCCESS).
 * *members: on member 0 its list, which becomes g's own if the call fails; to be dropped. */
int rgi_inter_members_share(const char *call, rg_group g, int error, rgi_members **members);

#endif
