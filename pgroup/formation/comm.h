/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Communicators created by their members alone: what the methods share. */
#ifndef RGI_COMM_H
#define RGI_COMM_H

#include <stdint.h>

#include "formation/comm_creation.h"

/* The methods, all arguments checked. While they run the parent's errors are returned. */
int rgi_comm_create_recursive(const rgi_comm_creation *creation, MPI_Comm *newcomm);
int rgi_comm_create_native(const rgi_comm_creation *creation, MPI_Comm *newcomm);
int rgi_comm_create_by_method(const rgi_comm_creation *creation, MPI_Comm *newcomm);

/* rg_comm_create_group; the deaths of the failure scope that the caller has set
 * (rgi_failure_scope_now) end it. */
int rgi_comm_create_group(const rgi_comm_creation *asked, MPI_Comm *newcomm);

/* Checks the parent, the tag and the method, and replaces RG_METHOD_AUTO by the method to use. */
int rgi_comm_check_parent(rgi_comm_creation *creation);

/* The communicator to talk on for a creation of these members of comm: a duplicate of the library's
 * world where the library runs and they belong to it, since the program may have receives from any
 * source open on its own. All members find the same. other: one more group, or MPI_GROUP_EMPTY. */
MPI_Comm rgi_comm_to_talk_on(MPI_Comm comm, MPI_Group members, MPI_Group other);

/* Whether the members' messages go over the library's communicator (comm: as rgi_comm_to_talk_on
 * has found it). On one of the program's, where a receive of any message may be open, the library
 * sends none: there is no agreement, and a creation is as MPI's own. */
int rgi_comm_may_talk(MPI_Comm comm);

/* The ranks in comm of group's n members, in memory that the caller frees.
 * RG_ERR_GROUP if one is not in comm. */
int rgi_comm_ranks_of_group(const char *call, MPI_Comm comm, MPI_Group group, int n, int **ranks);

/* rg_intercomm_create_group from the caller's side to `remote`; the revocation of creation_id ends
 * it, too (0: none). */
int rgi_comm_create_intercomm(const rgi_comm_creation *side, MPI_Group remote, uint64_t creation_id,
                              MPI_Comm *newcomm);

/* A tag for a creation over the library's world, made from a number that its members share.
 * Messages left over from a creation that a death has ended then do not match a later creation. */
int rgi_comm_creation_tag(uint64_t number);

/* RG_ERR_LIMIT if this process cannot make as many communicators as a creation
 * takes while it runs. Local. */
int rgi_comm_check_room(const char *call);

/* A communicator of this process alone, whose errors are returned: a duplicate
 * of MPI_COMM_SELF. */
int rgi_comm_self(MPI_Comm *self);

/* Counts a finished communicator until it is freed. */
int rgi_comm_track(MPI_Comm newcomm);

/* A hash of n ranks in order. */
uint64_t rgi_comm_hash_ranks(uint64_t seed, int n, const int ranks[]);

#endif
