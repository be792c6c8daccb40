/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The runtime: start and stop, options, version.
 *
 * Threads. What may be called by whom depends on the level that MPI_Init_thread
 * provided:
 *
 *  - MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED: by the thread that initialised MPI.
 *  - MPI_THREAD_SERIALIZED: by any thread, one at a time.
 *  - MPI_THREAD_MULTIPLE: by any threads at the same time: calls on different
 *    groups. Calls that communicate on the same group may not run at the same
 *    time, nor may a group be freed while another thread uses it. Calls that
 *    form groups or communicators with common members at the same time need
 *    different tags. rg_init and rg_finalize are called by one thread at a time,
 *    while no other thread is inside a call of the library.
 *
 * At every level, calls marked "any thread", and local questions about a group
 * (rg_group_rank, _size, _members, _leader, _translate, _compare, _tag), may be
 * made by any thread at any time, also on the same group. rg_error_detail is the
 * calling thread's own. */
#ifndef REGROUP_RUNTIME_H
#define REGROUP_RUNTIME_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the library over the processes of `comm`: the group that
 * rg_group_world gives.
 *
 * Who calls: collective over comm, an intra-communicator that may be a part of
 * MPI_COMM_WORLD; MPI must be initialised. Counted: further calls over the same
 * processes in the same order only count, and need as many rg_finalize; after
 * the last rg_finalize the library may be started again, over other processes
 * too. The thread that calls it first is to live as long as the library runs: when
 * it ends, the others take the process for dead.
 * options: NULL, or "name=value,name=value" in the names of `regroup-info`
 * (without RG_, in lower case: "log=debug,timeout=30"). The environment (RG_LOG,
 * RG_TIMEOUT, ...) goes before it, so that the user has the last word.
 * Cost: a duplicate of comm, a communicator of the node's processes, two small
 * reductions, a small broadcast (the first process reads RG_TUNING's file for
 * all). comm stays the caller's; nothing is ever sent on it afterwards.
 * Errors: RG_ERR_COMM; RG_ERR_INIT (already started over other processes);
 * RG_ERR_OPTION (the same on all processes, also when one alone has the bad
 * value; RG_TUNING: the file, the line and what is wrong there); RG_ERR_MPI (MPI is not
 * initialised, or an MPI call failed). */
RG_API int rg_init(MPI_Comm comm, const char *options);

/* Takes back one rg_init; the last one stops the library.
 * Who calls: collective over the processes of rg_init, before MPI_Finalize.
 * Groups that are still alive keep answering local questions and can be freed,
 * but cannot communicate any more.
 * Errors: RG_ERR_NOT_INIT. */
RG_API int rg_finalize(void);

/* *flag is 1 between the first rg_init and the last rg_finalize, else 0.
 * Local; any thread. Errors: RG_ERR_ARG (flag is NULL). */
RG_API int rg_initialized(int *flag);

/* The version of the library that runs (the header's is RG_VERSION_...). Any of
 * the pointers may be NULL. Local; any thread; no errors. */
RG_API int rg_version(int *major, int *minor, int *patch);

/* Options: one table serves the environment, `regroup-info`, the documentation
 * and these calls. Local; any thread; they work before rg_init (then with the
 * environment's and the built-in values). */

/* How many options there are; they are numbered from 0. */
RG_API int rg_option_count(int *count);

/* Option number i: its name ("RG_TIMEOUT"), its value now, its built-in value,
 * the values it may have, what it means, and where its value came from
 * ("default", "environment" or "rg_init"). The texts belong to the library and
 * last until the next rg_init or rg_finalize; any pointer may be NULL.
 * Errors: RG_ERR_ARG (no such option); RG_ERR_OPTION (the environment has a bad
 * value: the text says which). */
RG_API int rg_option_get(int i, const char **name, const char **value, const char **builtin,
                         const char **values, const char **meaning, const char **origin);

#ifdef __cplusplus
}
#endif
#endif
