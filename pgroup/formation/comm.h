/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Communicators by their members alone: what the methods share. */
#ifndef RGI_COMM_H
#define RGI_COMM_H

#include <mpi.h>
#include <regroup/comm.h>
#include <stdint.h>

#include "formation/members.h"

/* A creation under way, all arguments checked. */
typedef struct {
  const char *call; /* the public function, for errors */
  MPI_Comm comm;    /* the parent */
  MPI_Group group;  /* the members */
  int n, me;        /* how many, and which one calls */
  const int *ranks; /* the members' ranks in comm */
  int tag;
} rgi_comm_creation;

/* The methods. While they run the parent's errors are returned. */
int rgi_comm_create_recursive(const rgi_comm_creation *c, MPI_Comm *newcomm);
int rgi_comm_create_native(const rgi_comm_creation *c, MPI_Comm *newcomm);
int rgi_comm_create_by(rg_method method, const rgi_comm_creation *c, MPI_Comm *newcomm);

/* rg_comm_create_group, ended by the deaths that rgi_failure_scope_now is about. */
int rgi_comm_create_group(const char *call, MPI_Comm comm, MPI_Group group, int tag,
                          rg_method method, MPI_Comm *newcomm);

/* Checks a parent, a tag and a method; rank_limit: comm's size. */
int rgi_comm_check_parent(const char *call, MPI_Comm comm, int tag, rg_method *method);

/* The ranks in `to` of from's n members, MPI_UNDEFINED for who is not there, in memory that the
 * caller frees. */
int rgi_comm_translate_ranks(const char *call, MPI_Group from, int n, MPI_Group to, int **ranks);

/* The ranks in comm of group's n members, in memory that the caller frees.
 * RG_ERR_GROUP if one is not in comm. */
int rgi_comm_ranks_of_group(const char *call, MPI_Comm comm, MPI_Group group, int n, int **ranks);

/* rg_intercomm_create_group; the revocation of the number, too, ends it (0: none). */
int rgi_comm_create_intercomm(const char *call, MPI_Comm comm, MPI_Group local, MPI_Group remote,
                              int tag, rg_method method, uint64_t number, MPI_Comm *newcomm);

/* The members as an MPI group, over the library's world: of O(1) size where they are a range. */
int rgi_comm_mpi_group(const rgi_members *m, MPI_Group *group);

/* A tag for a creation over the library's world, out of a number that its members share: what is
 * left of a creation that a death has ended is not taken for another one's. */
int rgi_comm_creation_tag(uint64_t number);

/* RG_ERR_LIMIT if this process cannot make as many communicators as a creation
 * takes while it runs. Local. */
int rgi_comm_check_room(const char *call);

/* A communicator of this process alone, whose errors are returned: a duplicate
 * of MPI_COMM_SELF. */
int rgi_comm_self(MPI_Comm *self);

/* Counts a finished communicator as long as it lives. */
int rgi_comm_track(MPI_Comm newcomm);

/* A hash of n ranks in order. */
uint64_t rgi_comm_hash_ranks(uint64_t seed, int n, const int ranks[]);

#endif
