/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Inter-communicators: more processes while the program runs, and a benchmark
 * suite's building blocks for measuring between two groups.
 *
 * The building blocks serve a program that was written for MPI_COMM_WORLD:
 *
 *     rg_inter_options how;
 *     rg_inter_view v;
 *     int part;
 *     MPI_Init(&argc, &argv);
 *     rg_inter_parse(&argc, argv, &how);      // --split[=n] --spawn=n --connect=n
 *     rg_inter_start(&how, &part);            // an inter-communicator, if asked for
 *     if (part) {
 *       rg_inter_get_view(&v);
 *       MPI_Barrier(v.benchmark);             // instead of MPI_COMM_WORLD
 *       if (v.io) puts("done");               // once, and not once for each group
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
 * program finds them without an argument; they are the library's: do not free
 * them. The *initiators* are the group that holds rank 0 of the world (split), the
 * clients (connect), or the masters (spawn); the *responders* are the other one.
 * Which of them a process is is cached on the inter-communicator itself.
 *
 * Without an inter-communicator all four are the world, everybody is initiator and
 * responder, and every number is that of the world: one program text serves all
 * cases. Before rg_inter_start and after rg_inter_end the answers are those for
 * MPI_COMM_WORLD.
 *
 * More processes come from MPI where it can start them, otherwise out of processes
 * in reserve (regroup/reserve.h). Where neither is there the call returns
 * RG_ERR_UNSUPPORTED, and its text says how to start the job.
 *
 * The queries are local, need no rg_init, and may be made by any thread; MPI is
 * initialised and not finalised. They may return RG_ERR_ARG (an output is NULL),
 * RG_ERR_MPI (MPI does not run) and RG_ERR_GROUP (this process of the reserve
 * takes no part); only other errors are named below. */
#ifndef REGROUP_INTERCOMM_H
#define REGROUP_INTERCOMM_H

#include <mpi.h>
#include <stdint.h>

#include <regroup/error.h>
#include <regroup/reserve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- more processes ---------------------------------------------------------- */

/* Starts n processes and connects them: MPI_Comm_spawn, or as many out of the
 * reserve if one is open (then command and argv are not looked at: the reserve's
 * processes run already).
 *
 * Who calls: collective over comm, an intra-communicator; command, argv (arguments
 * without the program's name, closed by NULL; may be NULL) and n count on its rank
 * 0. *inter: the caller's, to be freed or disconnected by both sides; it has
 * comm's error handler.
 * Cost: as MPI's; from the reserve as rg_group_grow, and two communicators.
 * Errors, on every process of comm: RG_ERR_ARG (n < 1; no program of this name);
 * RG_ERR_UNSUPPORTED; RG_ERR_RESERVE; RG_ERR_COMM; RG_ERR_MPI; RG_ERR_PROC_FAILED,
 * RG_ERR_REVOKED (one of comm's, or of those that were drawn, has died meanwhile; the others of
 * them are in reserve again). */
RG_API int rg_intercomm_spawn(MPI_Comm comm, const char *command, char *argv[], int n,
                              MPI_Comm *inter);

/* What MPI_COMM_WORLD and MPI_Comm_get_parent are to a process that may have been
 * started by MPI or may come out of the reserve. *world: the processes that were
 * started together; *parent: the inter-communicator to those that started them, or
 * MPI_COMM_NULL. A process of the reserve sleeps in this call until it is drawn;
 * where it is not needed (the reserve has ended, or it was drawn by
 * rg_group_grow: rg_reserve_drawn tells) both are MPI_COMM_NULL.
 *
 * Who calls: all processes of MPI_COMM_WORLD, before anything else but MPI_Init. It
 * starts the library over MPI_COMM_WORLD and opens the reserve if RG_RESERVE asks
 * for one: then rg_finalize is called at the end (*started is 1). *world is the
 * library's; *parent is the caller's.
 * Cost: a reduction over MPI_COMM_WORLD.
 * Errors: as rg_init and rg_reserve_open. */
RG_API int rg_intercomm_parent(MPI_Comm *world, MPI_Comm *parent, int *started);

/* --- options and construction ------------------------------------------------- */

typedef enum { RG_INTER_NONE, RG_INTER_SPLIT, RG_INTER_SPAWN, RG_INTER_CONNECT } rg_inter_kind;

typedef struct {
  rg_inter_kind kind;
  int n;       /* processes: of the second group; 0: split by even and odd rank */
  char **argv; /* the program's, without these options: spawned processes get it */
} rg_inter_options;

/* Takes these options out of argv, wherever they stand before an argument "--";
 * everything else stays in its order, and argv[*argc] is NULL:
 *
 *   --split[=n]   the highest n ranks are the second group; without n the odd ranks
 *   --spawn=n     n processes are started as workers
 *   --connect=n   n processes are started as a server, part company, and are
 *                 connected to through a port
 *
 * Local; works before MPI_Init. argv[0] and the strings stay the caller's and in
 * use until rg_inter_start.
 * Errors: RG_ERR_ARG (two of them at once; n missing, zero, negative, too large or
 * no number; an argument is NULL): argc, argv and *how are as they were. */
RG_API int rg_inter_parse(int *argc, char **argv, rg_inter_options *how);

/* The options as lines of text for a program's --help, in the library's memory. */
RG_API const char *rg_inter_help(void);

/* Makes the communicators.
 *
 * Who calls: all processes of MPI_COMM_WORLD with the same options, as early as
 * possible; how may be NULL for none. Where a reserve is open already, all outside
 * it; processes that were spawned or drawn, as soon as they run. With RG_RESERVE
 * in the environment it starts the library over MPI_COMM_WORLD and opens the
 * reserve, which sleeps in this call.
 * *part: 1 if the caller takes part; 0 for a process of the reserve that was not
 * needed, or drawn by rg_group_grow (rg_reserve_drawn): it goes on to
 * rg_inter_end.
 * Cost: a few communicators; two reductions over the world.
 * Errors, the same on all: RG_ERR_ARG (n leaves nobody in the first group; one
 * process cannot be split); RG_ERR_MISMATCH (different options); RG_ERR_INIT
 * (called again without rg_inter_end); RG_ERR_UNSUPPORTED; RG_ERR_RESERVE;
 * RG_ERR_LIMIT; RG_ERR_MPI. */
RG_API int rg_inter_start(const rg_inter_options *how, int *part);

/* Frees what rg_inter_start made. Who calls: all that called it. Does nothing
 * where nothing was made. MPI_Finalize does it too, for a program that forgets. */
RG_API int rg_inter_end(void);

/* --- everything at once --------------------------------------------------------- */

typedef struct {
  rg_inter_kind kind;
  int is_inter; /* whether benchmark is an inter-communicator */
  MPI_Comm world, benchmark, local, global;
  int is_initiator, is_responder;
  int io;                              /* this one process reads and writes */
  int rank;                            /* in its own group of benchmark */
  int global_rank;                     /* in global */
  int initiator_size, responder_size;  /* processes in the two groups */
  int local_size, remote_size;         /* in the own group and in the other */
  int larger_size, global_size;        /* the larger one; both together */
  int64_t combined_size, maximum_size; /* least common multiple; product */
} rg_inter_view;

/* All answers that need no argument, before timing starts. */
RG_API int rg_inter_get_view(rg_inter_view *view);

/* --- communicators ---------------------------------------------------------------- */

RG_API int rg_inter_world(MPI_Comm *comm);
RG_API int rg_inter_benchmark(MPI_Comm *comm);
RG_API int rg_inter_local(MPI_Comm *comm);
RG_API int rg_inter_global(MPI_Comm *comm);

/* Whether the benchmark communicator is an inter-communicator. */
RG_API int rg_inter_is_inter(int *flag);

/* How it was made, and the word for it: "none", "split", "spawn", "connect" (NULL
 * for a number that is no kind). */
RG_API int rg_inter_get_kind(rg_inter_kind *kind);
RG_API const char *rg_inter_kind_name(rg_inter_kind kind);

/* Whether an operation may be measured on the benchmark communicator: its name with
 * or without "MPI_", in any case ("scan", "MPI_Iexscan"). RG_ERR_UNSUPPORTED for the
 * scans, which MPI does not define between groups: rg_error_detail is the message to
 * print. */
RG_API int rg_inter_check(const char *operation);

/* --- ranks and identity -------------------------------------------------------------- */

RG_API int rg_inter_is_initiator(int *flag);
RG_API int rg_inter_is_responder(int *flag);

/* Whether the caller is the one process that reads input and writes output: rank 0
 * of the initiators. */
RG_API int rg_inter_io(int *flag);

/* The caller's rank in its own group of the benchmark communicator. */
RG_API int rg_inter_rank(int *rank);

/* Whether the caller has this rank among the initiators, or the responders. */
RG_API int rg_inter_has_initiator_rank(int rank, int *flag);
RG_API int rg_inter_has_responder_rank(int rank, int *flag);

/* What to pass as root where the initiator of this rank is the root: MPI_ROOT there,
 * MPI_PROC_NULL on the other initiators, the rank on the responders; without an
 * inter-communicator the rank. Errors: RG_ERR_RANK. */
RG_API int rg_inter_root(int initiator_rank, int *root);

/* Look-ups between ranks in the global communicator and in the two groups. Errors:
 * RG_ERR_RANK. */
RG_API int rg_inter_global_rank(int *rank);
RG_API int rg_inter_lookup_rank(int global_rank, int *rank);
RG_API int rg_inter_lookup_global_rank(int initiator_rank, int *global_rank);
RG_API int rg_inter_lookup_is_initiator(int global_rank, int *flag);
RG_API int rg_inter_lookup_is_responder(int global_rank, int *flag);

/* --- numbers of processes --------------------------------------------------------------- */

RG_API int rg_inter_initiator_size(int *size);
RG_API int rg_inter_responder_size(int *size);
RG_API int rg_inter_local_size(int *size);
RG_API int rg_inter_remote_size(int *size);

/* The same two for the process of this rank in global. Errors: RG_ERR_RANK. */
RG_API int rg_inter_lookup_local_size(int global_rank, int *size);
RG_API int rg_inter_lookup_remote_size(int global_rank, int *size);

RG_API int rg_inter_larger_size(int *size);
RG_API int rg_inter_global_size(int *size);

/* The least common multiple of both sizes (what MPI_Reduce_scatter_block needs), and
 * their product, which it never exceeds. Without an inter-communicator both are the
 * world's size. */
RG_API int rg_inter_combined_size(int64_t *size);
RG_API int rg_inter_maximum_size(int64_t *size);

#ifdef __cplusplus
}
#endif
#endif
