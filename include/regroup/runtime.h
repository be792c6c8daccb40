/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The runtime: start and stop, options, version.
 *
 * Threads. The level that MPI_Init_thread provided determines which threads may call:
 *
 *  - MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED: the thread that initialised MPI.
 *  - MPI_THREAD_SERIALIZED: any thread, one at a time.
 *  - MPI_THREAD_MULTIPLE: any threads at the same time, by the rules below.
 *
 * Processes may have different levels. A child that a process makes by fork is no process of the
 * job: what a call needs rg_init for returns RG_ERR_NOT_INIT there.
 *
 * At every level, any thread may at any time make calls marked "any thread" and local
 * queries about a group (rg_group_rank, _size, _members, _leader, _translate, _compare,
 * _tag, _name, _node, _node_count), also on the same group. rg_error_detail belongs to the
 * calling thread. With MPI_THREAD_MULTIPLE:
 *
 *  - Any threads may at any time send, receive and probe (p2p.h), wait for requests and test
 *    them (each request in one thread at a time), make one-sided calls (array.h), and lock and
 *    unlock mutexes, also on the same group or array.
 *  - Collective calls (those that all members make, also non-blocking ones) on one group, on
 *    its arrays and on other objects made on it: one thread at a time, in the same order on
 *    all members. On different groups, different threads may make them at the same time.
 *  - Calls that form groups or communicators with common members at the same time, also out of
 *    the same parent, need different tags (rg_group_comm needs none). rg_group_split, _merge and
 *    _reassign are also collective calls on their first group: one thread at a time.
 *  - Calls that set something on an object (rg_group_set_name, rg_group_set_algorithm): while no
 *    other thread is inside a call on it.
 *  - rg_init and rg_finalize: one thread, while no other thread is inside a call of the library.
 *
 * Freeing. A function that frees an object takes the address of its handle, sets the handle to
 * NULL and returns RG_SUCCESS or an error code; a handle that is NULL is fine. An object may be
 * freed while operations that this process has started on it are under way: they end normally,
 * and the memory is given back with the last of them. It must not be freed while another thread is
 * inside a call on it. Each such function says whether all members call it. */
#ifndef REGROUP_RUNTIME_H
#define REGROUP_RUNTIME_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the library over the processes of `comm`, which form the group that
 * rg_group_world returns.
 *
 * Callers: collective over comm, an intra-communicator that may be a part of
 * MPI_COMM_WORLD; MPI must be initialised. Calls are counted: further calls over the
 * same processes in the same order only increment the count, and each needs an
 * rg_finalize. After the last rg_finalize the library may be started again, also over
 * other processes. The thread that calls may end before another one calls rg_finalize, from
 * MPI_THREAD_SERIALIZED on; then each process has a thread of the library's that sleeps.
 * options: NULL, or "name=value,name=value" with the names of `regroup-info` (without
 * RG_, in lower case: "log=debug,timeout=30"). The environment (RG_LOG, RG_TIMEOUT, ...)
 * takes precedence, so that the user decides.
 * Cost: a duplicate of comm, a communicator of the node's processes, two small reductions, a small
 * broadcast (the first process reads RG_TUNING's file for all); small broadcasts and reductions of
 * the node; an allgather of 8 bytes if RG_DOMAINS names several failure domains. The call waits for
 * all processes, longer than RG_TIMEOUT too; after RG_STALL_REPORT seconds a warning says so.
 * The caller keeps comm; the library sends nothing on it afterwards.
 * Errors: RG_ERR_COMM; RG_ERR_INIT (already started over other processes);
 * RG_ERR_OPTION (the same on all processes, also if only one has the invalid value; for
 * RG_TUNING the message names the file, the line and the fault); RG_ERR_MPI (MPI is not
 * initialised, or an MPI call failed: the error handler of comm is not called); RG_ERR_SYSTEM (the
 * processes of a node cannot share memory, or the job cannot survive deaths as RG_SURVIVE=1 wants).
 */
RG_API int rg_init(MPI_Comm comm, const char *options);

/* Undoes one rg_init; the last call waits for all processes, as rg_init, and stops the library.
 * Callers: collective over the processes of rg_init, before MPI_Finalize. Local queries
 * of groups that are not freed still work, and these groups can be freed, but they can
 * no longer communicate. Errors: RG_ERR_NOT_INIT. */
RG_API int rg_finalize(void);

/* *flag is 1 between the first rg_init and the last rg_finalize, else 0.
 * Local; any thread. Errors: RG_ERR_ARG (flag is NULL). */
RG_API int rg_initialized(int *flag);

/* The version of the library at run time (that of the header is RG_VERSION_...). Any of
 * the pointers may be NULL. Local; any thread; no errors. */
RG_API int rg_version(int *major, int *minor, int *patch);

/* Options: the environment, `regroup-info`, the documentation and these calls use one
 * table. Local; any thread; the calls work before rg_init (with the values of the
 * environment and the built-in values). */

/* The number of options; they are numbered from 0. */
RG_API int rg_option_count(int *count);

/* Option number i: its name ("RG_TIMEOUT"), its present value, its built-in value, its
 * possible values, its meaning, and the origin of its value ("default", "environment" or
 * "rg_init"). The strings belong to the library and are valid until the next rg_init or
 * rg_finalize; any pointer may be NULL.
 * Errors: RG_ERR_ARG (no such option); RG_ERR_OPTION (the environment has an invalid
 * value: the message says which). */
RG_API int rg_option_get(int i, const char **name, const char **value, const char **builtin,
                         const char **values, const char **meaning, const char **origin);

/* Levels of the lines that the library logs. RG_LOG ("error", "warn", ...) is the level up to
 * which there are lines. */
enum rg_log_level { RG_LOG_NONE, RG_LOG_ERROR, RG_LOG_WARN, RG_LOG_INFO, RG_LOG_DEBUG };

/* From now on the lines that the library logs in this process go to callback instead of standard
 * error; NULL: to standard error again. line: the text, without a prefix and a line end; it is
 * valid during the call. context is passed on as it is.
 *
 * The library calls callback from any thread that is inside one of its calls, and from threads of
 * its own, but never from two threads at once. callback returns soon, must not call the library
 * or MPI, and must not throw. Guards and node daemons are other processes: they keep writing to
 * standard error.
 * Local; any thread; works before rg_init and stays set after rg_finalize. When the call returns
 * the earlier callback is not running and is not called any more. No errors. */
RG_API int rg_log_set(void (*callback)(int level, const char *line, void *context), void *context);

/* From now on a thread that has been waiting in a call of the library for 50 ms calls hook, and
 * again every 50 ms; NULL: no longer. What hook returns is the error of the wait, unless it is
 * RG_SUCCESS (error.h): so an interpreter ends a wait when the user interrupts it. After that the
 * operation and its group are as after RG_ERR_TIMEOUT. In waits inside MPI's own functions hook is
 * not called. hook must not call the library but for rg_error_set, nor MPI.
 * Local; while no other thread is inside a call of the library; works before rg_init. No errors. */
RG_API int rg_wait_hook_set(int (*hook)(void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
