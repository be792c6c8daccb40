/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What fault tolerance keeps on each communicator, as an attribute: the group by which deaths and
 * revocations are found, and which failures the program has acknowledged.
 *
 * The group's context stands for the communicator: revoking it revokes the communicator, and the
 * group of the communicator's collectives has it among the numbers that end its waits. A
 * communicator gets its group where it is made, so that members find the same context without a
 * message. One that has been made otherwise has none: calls on it are MPI's. */
#ifndef RGI_FAULT_COMM_H
#define RGI_FAULT_COMM_H

#include <mpi.h>
#include <regroup/group.h>
#include <stdatomic.h>

#include "formation/members.h"

typedef struct rgi_fault_comm {
  MPI_Comm comm;
  rg_group group;     /* all processes: of an inter-communicator both sides */
  rgi_members *peers; /* whom ranks in messages name: the members, or the other side */
  int is_inter;
  int acknowledged;    /* failures, the first so many of rg_group_failed */
  atomic_uint started; /* agreements, and shrinkings with requests, so far */
  atomic_int revoked;  /* has been seen to be: stays when the numbers are forgotten */
  struct rgi_fault_comm *next, **back;
  atomic_int uses; /* the communicator and its requests */
} rgi_fault_comm;

/* Whether this job tolerates faults: since MPI_Init, until MPI_Finalize. */
extern int rgi_fault_comm_on;

/* In MPI_Init: MPI_COMM_WORLD's and MPI_COMM_SELF's. RG_ERR_NOMEM. */
int rgi_fault_comm_open(void);

/* NULL: MPI_COMM_NULL, one that was made otherwise, or no fault tolerance. */
rgi_fault_comm *rgi_fault_comm_find(MPI_Comm comm);

/* Calls the function with the state of each communicator that is not freed. */
void rgi_fault_comm_each(void (*visit)(rgi_fault_comm *state));

/* For a request on the communicator, which the program may free before the request has ended. */
void rgi_fault_comm_use(rgi_fault_comm *state);
void rgi_fault_comm_drop(rgi_fault_comm *state);

/* Gives a new communicator its state and its collectives' group. The group is taken over, also on
 * failure. Local. RG_ERR_NOMEM. */
int rgi_fault_comm_attach(MPI_Comm comm, rg_group group);

/* As rgi_fault_comm_attach, with a group of an intra-communicator's processes, in the order of its
 * ranks. Where one of them fails the communicator is revoked for the others. */
int rgi_fault_comm_attach_own(MPI_Comm comm);

/* The world ranks of an MPI group's processes. RG_ERR_NOMEM, RG_ERR_GROUP. */
int rgi_fault_comm_members(MPI_Group group, rgi_members **members);

/* The program has freed a communicator that MPI is not to free. */
void rgi_fault_comm_forget(rgi_fault_comm *state);

/* Whether it is revoked; how many of its processes are known to have failed. */
int rgi_fault_comm_is_revoked(rgi_fault_comm *state);
int rgi_fault_comm_failures(rgi_fault_comm *state);

/* The error of a call that needs all processes: RG_SUCCESS, RG_ERR_REVOKED or RG_ERR_PROC_FAILED,
 * with a text. A revocation comes first. */
int rgi_fault_comm_check(rgi_fault_comm *state, const char *call);

/* The error of a message: RG_SUCCESS, RG_ERR_REVOKED or RG_ERR_PROC_FAILED. peer: a rank, or
 * MPI_ANY_SOURCE, for which failures count that have not been acknowledged. */
int rgi_fault_comm_check_peer(rgi_fault_comm *state, int peer, const char *call);

#endif
