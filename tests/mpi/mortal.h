/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the programs fault_*.c share: processes that die, and what the survivors do then. They use
 * MPI alone, with its fault-tolerance extension, for fault_programs.py:
 *
 *     fault_<x> SEED ROUNDS PLAN
 *
 * The seed draws what is done, alike on all ranks. PLAN is "rank:moment,rank:moment", or "none":
 * the rank of MPI_COMM_WORLD kills itself at its so many-th mortal_point, or "250us" after its
 * start. At the end each survivor prints "RESULT checksum deaths wrong points".
 *
 * In a job with processes in reserve they take the places of the dead, for as long as there are
 * enough: the program has to begin with mortal_comm and mortal_is_new, and may use nothing of
 * MPI_COMM_WORLD. */
#ifndef MORTAL_H
#define MORTAL_H

#include <mpi.h>
#include <stdint.h>

#ifndef MPIX_ERR_PROC_FAILED /* another MPI: nothing runs */
#define MPIX_ERR_PROC_FAILED MPI_ERR_LASTCODE
#define MPIX_ERR_PROC_FAILED_PENDING MPI_ERR_LASTCODE
#define MPIX_ERR_REVOKED MPI_ERR_LASTCODE
#define MPIX_Comm_revoke(comm) ((void)(comm))
#define MPIX_Comm_agree(comm, flag) ((void)(comm), (void)(flag), MPI_ERR_OTHER)
#define MPIX_Comm_shrink(comm, made) ((void)(comm), (void)(made), MPI_ERR_OTHER)
#endif

extern int mortal_rank, mortal_rounds; /* in MPI_COMM_WORLD; how much is to be done */
extern MPI_Comm mortal_comm; /* of all at the beginning; on a spawned process with the survivors */
extern int mortal_is_new;    /* this process has been spawned, and nothing is restored yet */

/* Starts MPI; MPI_COMM_WORLD returns errors. threads: the level that is asked for. */
void mortal_begin(int argc, char **argv, int threads);

/* Where a process may die. */
void mortal_point(void);

/* Something is wrong. */
void mortal_fail(const char *what, long long number);

/* The code of a call, which must be the extension's if it is an error. */
int mortal_code(int code, const char *call);

/* Leaves the function with a call's error. */
#define MORTAL_TRY(call)                                                                           \
  do {                                                                                             \
    mortal_point();                                                                                \
    int code_ = mortal_code(call, #call);                                                          \
    if (code_)                                                                                     \
      return code_;                                                                                \
  } while (0)

/* A number that depends on nothing but its arguments and the seed. */
uint64_t mortal_draw(uint64_t a, uint64_t b);

/* The rank in MPI_COMM_WORLD of a member. */
int mortal_world_rank(MPI_Comm comm, int rank);

/* All members come here, at the end of their work or with an error. 1: all are at the end. 0: the
 * communicator is that of the survivors, and *round the least of theirs. */
int mortal_settle(MPI_Comm *comm, int failed, int *round);

/* The same with what a program has on it: it is called for the survivors' communicator until it
 * ends without an error. */
typedef int mortal_restore(MPI_Comm comm, void *data);
int mortal_settle_with(MPI_Comm *comm, int failed, mortal_restore *restore, void *data);

/* Prints the result and ends MPI. Returns the process's status. */
int mortal_end(uint64_t checksum);

#endif
