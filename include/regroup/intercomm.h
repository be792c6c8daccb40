/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Inter-communicators: additional processes while the program runs, and functions for
 * benchmark suites that measure between two groups.
 *
 * The functions for suites extend a program that was written for MPI_COMM_WORLD:
 *
 *     rg_inter_options how = {.size = sizeof how};
 *     rg_inter_view v = {.size = sizeof v};
 *     int part;
 *     MPI_Init(&argc, &argv);
 *     rg_inter_parse(&argc, argv, &how);      // --split[=n] --spawn=n --connect=n
 *     rg_inter_start(&how, &part);            // an inter-communicator, if asked for
 *     if (part) {
 *       rg_inter_get_view(&v);
 *       MPI_Barrier(v.benchmark);             // instead of MPI_COMM_WORLD
 *       if (v.io) puts("done");               // once, not once for each group
 *     }
 *     rg_inter_end();
 *     MPI_Finalize();
 *
 * Four communicators:
 *
 *  - world: the processes that were started together with the caller;
 *  - benchmark: the inter-communicator, for the operations that are measured;
 *  - local: the caller's own group, for communication inside it;
 *  - global: both groups, for synchronising clocks and gathering results: the
 *    initiators in their order, then the responders in theirs.
 *
 * They are cached as an attribute of MPI_COMM_SELF, so that every function of the
 * program finds them without an argument. They belong to the library; the caller does
 * not free them. The *initiators* are the group with rank 0 of the world (split), the
 * clients (connect), or the masters (spawn); the *responders* are the other group. The
 * inter-communicator itself caches to which group a process belongs.
 *
 * Without an inter-communicator all four are the world, every process is both initiator
 * and responder, and every number is that of the world, so one program serves all cases.
 * Before rg_inter_start and after rg_inter_end the results are those for MPI_COMM_WORLD.
 *
 * MPI starts additional processes if it can; otherwise they are acquired from the
 * reserve (regroup/reserve.h). If MPI cannot start processes and there is no reserve, the
 * call returns RG_ERR_UNSUPPORTED, whose message says how to start the job.
 *
 * The queries are local and need no rg_init; any thread may call. MPI must be initialised
 * and not finalised. They may return RG_ERR_ARG (an output is NULL), RG_ERR_MPI (MPI does
 * not run) and RG_ERR_GROUP (this process of the reserve takes no part); only other
 * errors are named below. */
#ifndef REGROUP_INTERCOMM_H
#define REGROUP_INTERCOMM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <regroup/error.h>
#include <regroup/reserve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- more processes ---------------------------------------------------------- */

/* Starts n processes and connects them: by MPI_Comm_spawn, or, if a reserve is open, by
 * acquiring n processes from it. Differences from MPI_Comm_spawn in the second case:
 * command and argv are ignored, since the processes of the reserve run already; either n
 * processes are acquired or none.
 *
 * Callers: collective over comm, an intra-communicator. command, argv (arguments without
 * the program's name, terminated by NULL; may be NULL) and n are significant only at its
 * rank 0. *inter belongs to the caller; both sides free or disconnect it. It has comm's
 * error handler.
 * Cost: as MPI's; from the reserve as rg_group_grow, and two communicators.
 * Errors, on every process of comm: RG_ERR_ARG (n < 1; no program of this name);
 * RG_ERR_UNSUPPORTED; RG_ERR_RESERVE; RG_ERR_COMM; RG_ERR_MPI; RG_ERR_PROC_FAILED,
 * RG_ERR_REVOKED (a process of comm, or an acquired process, has died meanwhile; the other
 * acquired processes are in reserve again). */
RG_API int rg_intercomm_spawn(MPI_Comm comm, const char *command, char *argv[], int n,
                              MPI_Comm *inter);

/* The counterpart of MPI_COMM_WORLD and MPI_Comm_get_parent for a process that MPI may have
 * started or that may come from the reserve. *world: the processes that were started
 * together; *parent: the inter-communicator to the processes that started them, or
 * MPI_COMM_NULL. A process of the reserve sleeps in this call until it is acquired. If it is
 * not needed (the reserve has ended, or rg_group_grow has acquired it: rg_reserve_acquisition tells
 * which) both are MPI_COMM_NULL.
 *
 * Callers: all processes of MPI_COMM_WORLD, before any other call except MPI_Init. If
 * RG_RESERVE requests a reserve, the call starts the library over MPI_COMM_WORLD, opens the
 * reserve and sets *started to 1; the process then calls rg_finalize at the end. *world
 * belongs to the library, *parent to the caller.
 * Cost: a reduction over MPI_COMM_WORLD.
 * Errors: as rg_init and rg_reserve_open. */
RG_API int rg_intercomm_parent(MPI_Comm *world, MPI_Comm *parent, int *started);

/* --- options and construction ------------------------------------------------- */

typedef enum { RG_INTER_NONE, RG_INTER_SPLIT, RG_INTER_SPAWN, RG_INTER_CONNECT } rg_inter_kind;

typedef struct {
  size_t size; /* sizeof(rg_inter_options): error.h */
  rg_inter_kind kind;
  int n;       /* processes of the second group; 0: split by even and odd rank */
  char **argv; /* the program's, without these options; spawned processes get it */
} rg_inter_options;

/* Removes these options from argv, anywhere before an argument "--", and fills in *how, whose
 * `size` the caller has set. The other arguments keep their order, and argv[*argc] is NULL:
 *
 *   --split[=n]   the highest n ranks are the second group; without n the odd ranks
 *   --spawn=n     n processes are started as workers
 *   --connect=n   n processes are started as a server and disconnected; the initiators
 *                 then connect to the server through a port
 *
 * Local; works before MPI_Init. argv[0] and the strings belong to the caller and are used
 * until rg_inter_start.
 * Errors: RG_ERR_ARG (two of the options at once; n is missing, zero, negative, too large
 * or not a number; an argument is NULL; the size of *how is not set): argc, argv and *how are then
 * unchanged. */
RG_API int rg_inter_parse(int *argc, char **argv, rg_inter_options *how);

/* The options as lines of text for a program's --help. Local. The string belongs to the
 * library. */
RG_API const char *rg_inter_help(void);

/* Makes the communicators.
 *
 * Callers: all processes of MPI_COMM_WORLD with the same options, as early as possible;
 * how may be NULL for none. If a reserve is open already, all processes outside it.
 * Spawned or acquired processes call as soon as they run. With RG_RESERVE in the
 * environment the call starts the library over MPI_COMM_WORLD and opens the reserve, whose
 * processes sleep in this call.
 * *part: 1 if the caller takes part; 0 for a process of the reserve that was not needed, or
 * that rg_group_grow has acquired (rg_reserve_acquisition); it goes on to rg_inter_end.
 * Cost: a few communicators; two reductions over the world.
 * Errors, the same on all processes: RG_ERR_ARG (n leaves no process in the first group;
 * one process cannot be split); RG_ERR_MISMATCH (different options); RG_ERR_INIT (called
 * again without rg_inter_end); RG_ERR_UNSUPPORTED; RG_ERR_RESERVE; RG_ERR_LIMIT;
 * RG_ERR_MPI. */
RG_API int rg_inter_start(const rg_inter_options *how, int *part);

/* Frees the objects that rg_inter_start has made; if there are none it does nothing.
 * Callers: all processes that called rg_inter_start. If a program does not call it,
 * MPI_Finalize frees the objects. */
RG_API int rg_inter_end(void);

/* --- all queries at once -------------------------------------------------------- */

typedef struct {
  size_t size; /* sizeof(rg_inter_view): error.h */
  rg_inter_kind kind;
  int is_inter; /* whether benchmark is an inter-communicator */
  MPI_Comm world, benchmark, local, global;
  int is_initiator, is_responder;
  int io;                              /* 1 on the process that reads and writes */
  int rank;                            /* in the caller's own group of benchmark */
  int global_rank;                     /* in global */
  int initiator_size, responder_size;  /* processes in the two groups */
  int local_size, remote_size;         /* in the own group and in the other */
  int larger_size, global_size;        /* the larger size; the sum of both */
  int64_t combined_size, maximum_size; /* least common multiple; product */
} rg_inter_view;

/* Returns the results of all queries that have no argument, for use before timing
 * starts; the caller has set the `size` of *view. Local. */
RG_API int rg_inter_get_view(rg_inter_view *view);

/* --- communicators ---------------------------------------------------------------- */

/* The four communicators (see the beginning of this header). They belong to the library.
 * Local. */
RG_API int rg_inter_world(MPI_Comm *comm);
RG_API int rg_inter_benchmark(MPI_Comm *comm);
RG_API int rg_inter_local(MPI_Comm *comm);
RG_API int rg_inter_global(MPI_Comm *comm);

/* Whether the benchmark communicator is an inter-communicator. */
RG_API int rg_inter_is_inter(int *flag);

/* How the benchmark communicator was made, and the name of a kind: "none", "split",
 * "spawn", "connect" (NULL if there is no such kind). */
RG_API int rg_inter_get_kind(rg_inter_kind *kind);
RG_API const char *rg_inter_kind_name(rg_inter_kind kind);

/* Whether an operation may be measured on the benchmark communicator. The name may have
 * the prefix "MPI_", and upper or lower case ("scan", "MPI_Iexscan"). Errors:
 * RG_ERR_UNSUPPORTED for the scans, which MPI does not define between groups;
 * rg_error_detail is the message to print. */
RG_API int rg_inter_check(const char *operation);

/* --- ranks and identity -------------------------------------------------------------- */

/* Whether the caller is an initiator, or a responder. */
RG_API int rg_inter_is_initiator(int *flag);
RG_API int rg_inter_is_responder(int *flag);

/* Whether the caller is the process that reads input and writes output: rank 0 of the
 * initiators. */
RG_API int rg_inter_io(int *flag);

/* The caller's rank in its own group of the benchmark communicator. */
RG_API int rg_inter_rank(int *rank);

/* Whether the caller has this rank among the initiators, or the responders. */
RG_API int rg_inter_has_initiator_rank(int rank, int *flag);
RG_API int rg_inter_has_responder_rank(int rank, int *flag);

/* The value to pass as root if the initiator of this rank is the root: MPI_ROOT on that
 * initiator, MPI_PROC_NULL on the other initiators, the rank on the responders; without an
 * inter-communicator the rank. Errors: RG_ERR_RANK. */
RG_API int rg_inter_root(int initiator_rank, int *root);

/* Conversions between ranks in the global communicator and ranks in the two groups.
 * rg_inter_global_rank returns the caller's rank. Errors: RG_ERR_RANK. */
RG_API int rg_inter_global_rank(int *rank);
RG_API int rg_inter_lookup_rank(int global_rank, int *rank);
RG_API int rg_inter_lookup_global_rank(int initiator_rank, int *global_rank);
RG_API int rg_inter_lookup_is_initiator(int global_rank, int *flag);
RG_API int rg_inter_lookup_is_responder(int global_rank, int *flag);

/* --- numbers of processes --------------------------------------------------------------- */

/* The numbers of initiators and responders, and of processes in the caller's own group and
 * in the other group. */
RG_API int rg_inter_initiator_size(int *size);
RG_API int rg_inter_responder_size(int *size);
RG_API int rg_inter_local_size(int *size);
RG_API int rg_inter_remote_size(int *size);

/* The local and remote size for the process of this rank in global. Errors: RG_ERR_RANK. */
RG_API int rg_inter_lookup_local_size(int global_rank, int *size);
RG_API int rg_inter_lookup_remote_size(int global_rank, int *size);

/* The size of the larger group, and the number of processes in both groups. */
RG_API int rg_inter_larger_size(int *size);
RG_API int rg_inter_global_size(int *size);

/* The least common multiple of both sizes, which MPI_Reduce_scatter_block needs, and their
 * product, which is an upper bound of it. Without an inter-communicator both are the size
 * of the world. */
RG_API int rg_inter_combined_size(int64_t *size);
RG_API int rg_inter_maximum_size(int64_t *size);

#ifdef __cplusplus
}
#endif
#endif
