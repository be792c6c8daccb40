/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Processes in reserve.
 *
 * Many MPI libraries cannot start processes while a job runs. A job can be
 * started with more processes than it works with instead: the last ones are put
 * aside by rg_reserve_open, sleep in rg_reserve_park at next to no processor
 * time, and are drawn when they are wanted: by a group that grows
 * (rg_group_grow), or by spawning (rg_intercomm_spawn, rg_inter_start).
 *
 *     mpiexec -n 8 -genv RG_RESERVE 3 ./program
 *
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
 *    drawn may go back by rg_reserve_park, and so may those that were never in
 *    it.
 *  - Draws by different groups may happen at the same time, also from within
 *    different nodes: each gets as many processes as it asked for, or the error
 *    RG_ERR_RESERVE at once; none waits for processes to come back.
 *  - Those with the lowest ranks in the world are drawn first, as long as no two
 *    groups draw at once.
 *  - The reserve ends by itself: when every process outside it has called
 *    rg_reserve_leave or its last rg_finalize, nobody can draw any more, and all
 *    that sleep are woken with nothing.
 *  - Where deaths are survived (docs/recovery.md): who dies asleep is not drawn; who was
 *    drawn by one that died on the way goes back to sleep, or gets a group whose calls
 *    end with RG_ERR_REVOKED or RG_ERR_PROC_FAILED, and parks again. The reserve ends
 *    when those outside it have left or died; when all of them have died, parking is
 *    RG_ERR_PROC_FAILED.
 *  - On one node the books about who sleeps are in shared memory. On several
 *    nodes the last process of the world keeps them; it answers from within
 *    rg_reserve_park and is never drawn, so that a job on several nodes has one
 *    process less to draw than there are in reserve. If it dies, the reserve is empty;
 *    those that sleep still hear of the end.
 *
 * rg_init is needed; the library's world holds the reserve too. Every function
 * may return RG_ERR_NOT_INIT, RG_ERR_ARG (an output is NULL), RG_ERR_NOMEM and,
 * where no reserve is open, RG_ERR_UNSUPPORTED, whose text says how to start the
 * job. All of them are called by one thread at a time. */
#ifndef REGROUP_RESERVE_H
#define REGROUP_RESERVE_H

#include <mpi.h>

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As many processes as the option RG_RESERVE says. */
#define RG_RESERVE_OPTION (-1)

/* Puts the last n processes of the world aside. *outside: the group of the
 * others, to be freed by them; NULL on those in reserve, which call
 * rg_reserve_park before rg_finalize.
 *
 * Who calls: all processes of rg_init, once for each rg_init that starts the
 * library. n: less than there are processes; the first process's n counts for
 * all. 0 opens no reserve: *outside is then everybody.
 * Cost: a broadcast (2 messages deep per doubling of the processes).
 * Errors: RG_ERR_ARG (n is negative, or nobody would be left; also where
 * RG_RESERVE says so); RG_ERR_INIT (open already). */
RG_API int rg_reserve_open(int n, rg_group *outside);

/* What a process of the reserve was drawn for. */
typedef struct {
  rg_group group;  /* by rg_group_grow: the group that it belongs to now, to be freed
                      by the process; else NULL */
  MPI_Comm world;  /* by spawning: the processes drawn together with it (the
                      library's, until the process parks again or rg_finalize); else
                      MPI_COMM_NULL */
  MPI_Comm parent; /* and the inter-communicator to those that drew them, to be freed or
                      disconnected on both sides; else MPI_COMM_NULL */
} rg_drawn;

/* Goes into the reserve (a process that rg_reserve_open has put aside is there
 * already) and sleeps until it is drawn or the reserve ends: then all three
 * parts of *drawn are null, and it is time for rg_finalize.
 *
 * Who calls: one process by itself. It has freed, or has no use for, the groups
 * that it was a member of: it answers nothing while it sleeps. RG_TIMEOUT does
 * not concern it.
 * Errors: RG_ERR_RESERVE (it has called rg_reserve_leave); RG_ERR_PROC_FAILED (all processes
 * outside the reserve have died: what they worked at is lost). */
RG_API int rg_reserve_park(rg_drawn *drawn);

/* What the last call that parked this process (rg_reserve_park, rg_inter_start)
 * gave; all null if there was none. Local. */
RG_API int rg_reserve_drawn(rg_drawn *drawn);

/* The caller will not draw any more. Local (between nodes two messages, and where deaths
 * are survived there one to each process); calling it again does nothing. rg_finalize
 * does it for you. Errors: RG_ERR_RESERVE (the
 * caller is in the reserve: it has not called rg_reserve_park since
 * rg_reserve_open). */
RG_API int rg_reserve_leave(void);

/* How many processes can be drawn now. Local (between nodes two messages). */
RG_API int rg_reserve_count(int *sleeping);

/* A group of the members of g in their order, and n processes out of the reserve
 * after them. The drawn ones come back from rg_reserve_park with the same group.
 * g stays valid and is the caller's; the new group has its tag. To replace members
 * that died: rg_group_replace (recovery.h).
 *
 * Who calls: every member of g, with the same n (rank 0's counts).
 * Cost: a message to each drawn process and a broadcast in g (g - 1 messages);
 * between nodes two messages to the process that keeps the books.
 * Errors, on every member: RG_ERR_RESERVE (fewer than n sleep: the text says how
 * many); RG_ERR_ARG (n < 1); as rg_group_create. Nobody is drawn then. After a death
 * during it some may have the group: its calls end with RG_ERR_REVOKED, and those that
 * were drawn park again. */
RG_API int rg_group_grow(rg_group g, int n, rg_group *grown);

#ifdef __cplusplus
}
#endif
#endif
