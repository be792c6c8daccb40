/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What depends on the inside of MPICH, of its launcher, and of UCX and libfabric below it. The
 * other rooms know MPI's standard alone, and this header. It needs no mpi.h: guards and daemons,
 * which use no MPI, include it too. A build without the room (scons MPICH=no) has absent.c instead,
 * and the library does without all that is here. */
#ifndef RGI_MPICH_H
#define RGI_MPICH_H

/* --- what this MPI gives (mpich.c) ---------------------------------------------------------- */

/* All 0 with another MPI than MPICH. */
typedef struct {
  int handles;       /* a number of RGI_MPICH_WINDOW_HANDLES is no handle of MPI's own */
  int opens_epochs;  /* at once: MPI_Win_lock returns when the lock is granted, MPI_Win_start when
                        the targets have posted, MPI_Win_fence when all members have called it */
  int can_interrupt; /* its blocking calls may be ended from inside */
  int takes_mark;    /* and its receives take MPICH's own mark of a failed process */
} rgi_mpich_table;

/* Found with the first call, by MPI's version: the same on all processes of a job. */
const rgi_mpich_table *rgi_mpich_gives(void);

/* A handle of MPICH tells its kind: these are of windows that MPICH has built in, of which there
 * are none. MPICH calls such a handle invalid. */
#define RGI_MPICH_WINDOW_HANDLE 0x60000000u
#define RGI_MPICH_WINDOW_HANDLES (1 << 20)

/* Whether MPI_Init has been called. */
int rgi_mpich_has_begun(void);

/* --- waits inside MPI that yield and sleep (polite.c; regroup/polite.h) -------------------- */

#pragma GCC visibility push(hidden)

/* A preloaded library has the linker's fastest kind of thread-local memory: a poll in vain is a
 * matter of nanoseconds. One that a running program opens is to take as little of it as it can. */
#ifdef RG_PRELOADED
#define RGI_MPICH_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define RGI_MPICH_THREAD _Thread_local
#endif

/* If not NULL, called in MPI's own waits when a thread has polled in vain for some time: with the
 * time of the first of these polls, and now. */
extern void (*rgi_mpich_waits)(double since, double now);

/* If not NULL, called after each poll in vain of this thread. */
extern RGI_MPICH_THREAD void (*rgi_mpich_polled)(void);

/* Since when this thread has been waiting in a call of the library: set while that polls MPI; else
 * 0. A preloaded library's waits are reported by the library that the program is linked with. */
extern RGI_MPICH_THREAD double rgi_mpich_own_wait;

/* How many polls of this thread have moved something; over libfabric always 1. Always 0 where
 * polls are not seen: MPI is not MPICH over one of the two. */
unsigned long rgi_mpich_moves(void);

/* Polls of this thread do nothing, so that a call of MPI's tells what has come already. No effect
 * over other transports than UCX. */
extern RGI_MPICH_THREAD int rgi_mpich_still;

/* What this thread has waited for is there: its next poll in vain begins a new wait. */
void rgi_mpich_end_row(void);

/* Calls that this thread has got done without a poll that moved something: served accesses to
 * windows, flushes, collectives. The thread's looks in vain between them are no wait. The code that
 * serves a call adds to it. */
extern RGI_MPICH_THREAD unsigned rgi_mpich_served;

/* MPI starts, and has started: in between a timer makes this thread yield where processes share
 * processors. */
void rgi_mpich_start_begin(void);
void rgi_mpich_start_end(void);

/* Whether MPI's waits are polite in this way: they yield, and do not sleep. */
int rgi_mpich_yields_only(void);

#ifdef MPI_VERSION
/* MPI's functions that look and wait, as polite_calls.c has them; libregroup-mpi.so has others in
 * front of them. */
extern __typeof__(MPI_Test) rgi_mpich_test;
extern __typeof__(MPI_Testall) rgi_mpich_testall;
extern __typeof__(MPI_Testany) rgi_mpich_testany;
extern __typeof__(MPI_Testsome) rgi_mpich_testsome;
extern __typeof__(MPI_Wait) rgi_mpich_wait;
extern __typeof__(MPI_Waitall) rgi_mpich_waitall;
extern __typeof__(MPI_Waitany) rgi_mpich_waitany;
extern __typeof__(MPI_Waitsome) rgi_mpich_waitsome;
extern __typeof__(MPI_Request_get_status) rgi_mpich_request_get_status;
extern __typeof__(MPI_Iprobe) rgi_mpich_iprobe;
extern __typeof__(MPI_Improbe) rgi_mpich_improbe;
#endif

#pragma GCC visibility pop

/* --- ending a blocking call of MPI (interrupt.c, finalize.c) ---------------------------------
 *
 * Such a call (MPI_Comm_create_group, for one) never returns when a process that it needs has died.
 * In a job that survives it is ended when a death or a revocation concerns the group whose call
 * this thread is in: it returns through MPI's own error path. Where MPI's calls cannot be
 * interrupted, such a call waits until RG_PATIENCE ends the job. */

/* What the thread calls until rgi_mpich_interrupt_end: MPI_Comm_create_group, or any call. */
typedef enum { RGI_MPICH_INTERRUPT_CREATION, RGI_MPICH_INTERRUPT_ANY } rgi_mpich_interrupt_kind;

/* Before MPI_Init, in such a job: sets what the user has not set of UCX's variables. */
void rgi_mpich_calm_transport(void);

/* survives: whether this job is one that survives. */
void rgi_mpich_interrupt_open(int survives);

/* Whether calls can be interrupted in this job. */
int rgi_mpich_interrupt_possible(void);

/* Until rgi_mpich_interrupt_end this thread must only call MPI. */
void rgi_mpich_interrupt_begin(rgi_mpich_interrupt_kind kind);

/* From now on a send that UCX refuses counts as done, as the first one to a dead process does. */
void rgi_mpich_interrupt_tolerate(void);

#ifdef MPI_VERSION
/* A communicator that is not used any more, nor freed: what is under way of MPI's non-blocking
 * collectives on it writes to no buffer from now on, and never ends. */
void rgi_mpich_freeze_collectives(MPI_Comm comm);
#endif

/* error: of the calls in between. Returns it, or RG_ERR_PROC_FAILED or RG_ERR_REVOKED if the calls
 * were interrupted. Other members may have completed the same calls, and messages of theirs may
 * still arrive. So the communicator that the calls were on must not be freed, or MPI gives its
 * number to a new one. (After MPI_Comm_create_group it is enough not to use the tag again.) */
int rgi_mpich_interrupt_end(int error, const char *call);

/* From now on MPI_Finalize waits for no other process: it only tells the launcher that this process
 * has finalized. */
void rgi_mpich_finalize_alone(void);

/* By MPI_Finalize: whether that is so, and is done. */
int rgi_mpich_finalize_told(void);

/* Whether it has been done. */
int rgi_mpich_has_finalized(void);

/* --- the launcher, by PMI (pmi.c) --------------------------------------------------------------
 *
 * Ranks use it, and guards for a rank that was killed: both have the launcher's socket. */

/* Whether the launcher speaks PMI with this process. */
int rgi_mpich_pmi_speaks(void);

/* The number of this process, or "?". */
const char *rgi_mpich_pmi_rank(void);

/* Tells the launcher that this process ends well: without this it takes the end for a failure.
 * Waits for the answer, 5 s at most. */
void rgi_mpich_pmi_finalize(void);

/* Whether the launcher is Slurm's, which may be told (srun --kill-on-bad-exit=0) to let a job go on
 * when a process that it has started ends by a signal. MPICH's launcher always ends the job. */
int rgi_mpich_pmi_is_slurm(void);

/* Whether the launcher has taken the end of this process: it closes its end then. */
int rgi_mpich_pmi_has_finalized(void);

/* Tells the launcher to end the whole job with this status, as MPI_Abort does. has_begun: the rank
 * is known to have begun the protocol, in MPI_Init. */
void rgi_mpich_pmi_abort(int has_begun, int status);

/* Leaves a mark for this process in the space of MPICH's launcher, before MPI_Init, which makes all
 * marks visible to all. 0: no other launcher takes any. */
int rgi_mpich_pmi_mark(void);

/* After that, and after MPI_Init: whether the process has left a mark. */
int rgi_mpich_pmi_has_marked(int rank);

/* --- the launcher, by its processes (siblings.c) -----------------------------------------------
 *
 * The other processes that the launcher of this guard has started on this node, as /proc shows
 * them: until rg_init nothing else is known of them. */

/* Whether another of these processes lives: a guard does as long as its rank does. */
int rgi_mpich_siblings_live(void);

/* Whether the job has no processes on other nodes, as far as the launcher tells. */
int rgi_mpich_siblings_are_all(void);

enum { RGI_MPICH_NO_SIBLING = -1, RGI_MPICH_SOME_SIBLING = -2 };

/* A rank of this node that has ended without having had a guard; SOME: it is not known which; NO:
 * there is none, or the launcher does not tell (Slurm). To be called again after a while: a process
 * that vanishes between two calls had a guard if one of them saw it. */
int rgi_mpich_siblings_unstarted(void);

/* A node all of whose processes have ended, as the launcher numbers its nodes from 0; -1: there is
 * none, or it is not known: that is seen on the node where MPICH's mpiexec runs. */
int rgi_mpich_siblings_ended_node(void);

/* --- algorithms of non-blocking collectives (algorithm.c) ------------------------------------
 *
 * MPICH's own choice suits processes on processors of their own: trees in which members send on
 * what they have received. Where ranks share processors such a member may not run when it is
 * needed, and MPICH's "tsp" algorithms, some of which have no such members, take down to a
 * twentieth of the time. They are chosen by MPICH's control variables through MPI's tool interface,
 * for one call: the next may be on a communicator whose members do not all have this library. */

typedef enum {
  RGI_MPICH_IBCAST,
  RGI_MPICH_ISCATTERV,
  RGI_MPICH_IREDUCE,
  RGI_MPICH_ALGORITHMS
} rgi_mpich_algorithm;

/* A bit for each algorithm whose variables are there and are as MPICH has set them: the processes'
 * environments may differ. */
int rgi_mpich_algorithms_find(void);

/* Those of these bits may be used: all processes have found them. */
void rgi_mpich_algorithms_use(int found);

/* The next call of this collective uses the algorithm, until end undoes it. All members of the
 * call's communicator do so, or none. 0: what the program has set itself meanwhile is kept, and end
 * is not called. */
int rgi_mpich_algorithm_begin(rgi_mpich_algorithm algorithm);
void rgi_mpich_algorithm_end(rgi_mpich_algorithm algorithm);

#endif
