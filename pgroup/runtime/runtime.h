/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The runtime: rg_init and rg_finalize, and what all rooms above know of the job. */
#ifndef RGI_RUNTIME_H
#define RGI_RUNTIME_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct {
  int started;         /* how many rg_init are open */
  MPI_Comm comm;       /* the library's world: a duplicate of rg_init's communicator */
  MPI_Group mpi_group; /* its processes */
  int rank, size;      /* in the world */
  int threads;         /* MPI_THREAD_MULTIPLE: several threads may call */
  int threads_of_any;  /* the same of some process: what all members do alike depends on it */
  atomic_long groups;  /* alive in this process */
  uint64_t job;        /* a random number, the same on all since the first rg_init */
  unsigned long epoch; /* counts starts: a group of an earlier start is stale */
  int (*read_algorithms)(void); /* RG_COLL, by rg_init; or NULL */
  int starts_more; /* set by rg_init's caller: it calls rgi_runtime_ready when all have started */
  int (*before_finalize)(void); /* called by the last rg_finalize first of all; or NULL. An error of
                                   it ends rg_finalize */
  /* All handles of the world have one context, so that they count together. Since the start: */
  uint32_t world_rounds;       /* agreements of its survivors (recovery) */
  atomic_ullong world_derived; /* groups derived from it */
  uint64_t world_creations;    /* its operations that create groups */
  int world_sequence;          /* its collectives */
} rgi_runtime_info;

extern rgi_runtime_info rgi_runtime;

/* Whether MPI has MPI_THREAD_MULTIPLE in this process, also before rg_init. Local. */
int rgi_runtime_may_threads_call(void);

/* RG_ERR_NOT_INIT unless the library is started. */
int rgi_runtime_check(const char *call);

/* RG_ERR_MPI unless MPI is initialised and not finalised. */
int rgi_runtime_check_mpi(const char *call);

/* At the end of rg_init, or later for a caller with starts_more: until all have called it a death
 * ends the job. Local. */
void rgi_runtime_ready(void);

/* An error at the start is most probably that a process has been killed. Its guard reports that and
 * ends the job: this process waits a little, or it would go on, or end the job with other words.
 * Returns the error. Local. */
int rgi_runtime_let_guard_report(int error);

/* Collective over all processes: until all have called `call`. What is under way continues. */
int rgi_runtime_await_all(const char *call);

/* A communicator of this process alone that returns its errors: MPI is asked on it what it takes,
 * without an error handler of the application's being called. Made by the first call;
 * MPI_COMM_NULL: there is none, as MPI has no more communicators. Local. */
MPI_Comm rgi_runtime_self(void);

/* At the end of the library, while MPI runs. */
void rgi_runtime_self_free(void);

#endif
