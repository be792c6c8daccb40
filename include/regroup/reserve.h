/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Processes in reserve.
 *
 * Many MPI libraries cannot start processes while a job runs. Instead the user can
 * start a job with more processes than it works with. rg_reserve_open puts the last
 * ones into the reserve. There they sleep in rg_reserve_park, which uses almost no
 * processor time, until another process acquires them: by letting a group grow
 * (rg_group_grow), by replacing dead members (rg_group_replace), or by spawning
 * (rg_intercomm_spawn, rg_inter_start).
 *
 *     mpiexec -n 8 -genv RG_RESERVE 3 ./program
 *
 *     rg_acquisition drawn = {.size = sizeof drawn};
 *     rg_init(MPI_COMM_WORLD, NULL);
 *     rg_reserve_open(RG_RESERVE_OPTION, &team);   // NULL for the last three
 *     if (team)
 *       work(team);                                // may grow it
 *     else
 *       while (rg_reserve_park(&drawn) == RG_SUCCESS && drawn.group)
 *         help(drawn.group);
 *     rg_finalize();
 *
 *  - A process is outside or inside the reserve. Every process that has been
 *    acquired may return to the reserve by rg_reserve_park, and so may a process
 *    that was never in it.
 *  - Different groups, also on different nodes, may acquire processes at the same
 *    time. Each group gets the number of processes that it requests, or the error
 *    RG_ERR_RESERVE at once; no group waits for processes to return.
 *  - The processes with the lowest ranks in the world are acquired first, unless two
 *    groups acquire processes at the same time.
 *  - The reserve ends when every process outside it has called rg_reserve_leave or
 *    its last rg_finalize. Then no process can acquire others any more, and
 *    rg_reserve_park returns in all sleeping processes with a null result.
 *  - In a job that survives (docs/recovery.md): a process that dies asleep is not
 *    acquired. If a process dies while it acquires another one, the acquired process
 *    sleeps again, or gets a group whose calls return RG_ERR_REVOKED or
 *    RG_ERR_PROC_FAILED, and calls rg_reserve_park again. The reserve ends when all
 *    processes outside it have left or died; if all of them have died,
 *    rg_reserve_park returns RG_ERR_PROC_FAILED.
 *  - The reserve directory records which processes sleep. On one node, and in a job that
 *    survives, the shared memory of each node has the records of its processes: whichever
 *    process dies, all others that sleep can be acquired. In a job on several nodes that
 *    does not survive the last process of the world holds the directory; this process
 *    answers from within rg_reserve_park and is never acquired, so such a job can acquire
 *    one process less than there are in reserve.
 *
 * rg_init must have been called; the library's world includes the reserve. Every
 * function may return RG_ERR_NOT_INIT, RG_ERR_ARG (an output is NULL), RG_ERR_NOMEM and,
 * if no reserve is open, RG_ERR_UNSUPPORTED, whose message says how to start the job.
 * One thread at a time calls them. */
#ifndef REGROUP_RESERVE_H
#define REGROUP_RESERVE_H

#include <mpi.h>
#include <stddef.h>

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of processes that the option RG_RESERVE gives. */
#define RG_RESERVE_OPTION (-1)

/* Puts the last n processes of the world into the reserve. *outside is the group of the
 * others, which they free. It is NULL on the processes in reserve, which call
 * rg_reserve_park before rg_finalize.
 *
 * Callers: all processes of rg_init, once for each rg_init that starts the library. n is
 * less than the number of processes; the first process's n counts for all. With n = 0 no
 * reserve is opened, and *outside is the group of all processes.
 * Cost: a message from the first process to each other one (in a job on several nodes that does
 * not survive, a broadcast).
 * Errors: RG_ERR_ARG (n is negative, or no process would be left; also if RG_RESERVE gives
 * such an n); RG_ERR_INIT (open already). */
RG_API int rg_reserve_open(int n, rg_group *outside);

/* The purpose for which a process of the reserve was acquired. */
typedef struct {
  size_t size;     /* sizeof(rg_acquisition): error.h */
  rg_group group;  /* by rg_group_grow or rg_group_replace: the group of which it is a
                      member now; the process frees it; else NULL */
  MPI_Comm world;  /* by spawning: the processes acquired together with it; it belongs to the
                      library and is valid until the process returns to the reserve or
                      rg_finalize; else MPI_COMM_NULL */
  MPI_Comm parent; /* and the inter-communicator to the processes that acquired them, which both
                      sides free or disconnect; else MPI_COMM_NULL */
} rg_acquisition;

/* Puts the caller into the reserve (rg_reserve_open may have put it there already) and sleeps
 * until the caller is acquired or the reserve ends. The caller has set the `size` of *drawn. In
 * the second case its other members are null, and the caller goes on to rg_finalize.
 *
 * Caller: a single process. It has freed, or no longer uses, the groups of which it was a
 * member, since it answers no messages while it sleeps. RG_TIMEOUT does not apply. Local; the
 * process sleeps.
 * Errors: RG_ERR_RESERVE (the caller has called rg_reserve_leave); RG_ERR_PROC_FAILED (all
 * processes outside the reserve have died: their work is lost). */
RG_API int rg_reserve_park(rg_acquisition *drawn);

/* The result of this process's last call that put it into the reserve (rg_reserve_park,
 * rg_inter_start); the other members than `size`, which the caller has set, are null if there
 * was none. Local. */
RG_API int rg_reserve_acquisition(rg_acquisition *drawn);

/* Declares that the caller will acquire no more processes. Local (between nodes a message, or,
 * in a job that survives and by the last one that leaves on its node, a query to each other
 * node). The last one of all sends a message to each process that sleeps. Further calls do nothing.
 * rg_finalize includes this call. Errors: RG_ERR_RESERVE (the caller is in the reserve: it has
 * not called rg_reserve_park since rg_reserve_open). */
RG_API int rg_reserve_leave(void);

/* The number of processes that can be acquired now. Local (between nodes two messages, or in a
 * job that survives a query to each node). */
RG_API int rg_reserve_count(int *sleeping);

/* A group of the members of g in their order, followed by n processes from the reserve. In
 * the acquired processes rg_reserve_park returns with the same group. g stays valid and
 * belongs to the caller; the new group has g's tag. To replace members that died, use
 * rg_group_replace (recovery.h).
 *
 * Callers: every member of g, with the same n (rank 0's counts).
 * Cost: a message to each acquired process and a broadcast in g (g - 1 messages);
 * between nodes two messages to the process that holds the reserve directory, or in a job
 * that survives a query to each node and three for each acquired process there.
 * Errors, on every member: RG_ERR_RESERVE (fewer than n processes sleep: the message says
 * how many); RG_ERR_ARG (n < 1); as rg_group_create. No process is acquired then. After a
 * death during the call some members may have the group: its calls return RG_ERR_REVOKED,
 * and the acquired processes return to the reserve. */
RG_API int rg_group_grow(rg_group g, int n, rg_group *grown);

#ifdef __cplusplus
}
#endif
#endif
