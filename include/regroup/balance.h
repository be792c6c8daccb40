/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Load balancing: walkers on groups that change while they run.
 *
 * A walker is a piece of work with its own state that advances in units on a group of
 * any size. The application defines how a group does one unit and how much work is
 * left. The library determines which processes form which group, lets groups without
 * work join others, hands the state to joining processes, assigns waiting walkers to
 * groups, and detects the end.
 *
 *  - Every member of a walker's group has a copy of its state, which is the same on all
 *    members between units.
 *  - The leader (rank 0) of a walker's group stays the same as long as the group works on
 *    the walker; processes that join get the highest ranks.
 *  - Callbacks return RG_SUCCESS or an error. The error of one member ends the walker on
 *    all members of its group, after the unit; the other walkers continue. Members on the
 *    same node that wait on the group for the failed member get RG_ERR_REVOKED there
 *    (unless the kind is `alike`), and return this or another error.
 *  - In a job that survives deaths (RG_SURVIVE, docs/recovery.md): when a process of the
 *    balancer dies, the others form new groups and continue with all walkers, each from its
 *    last finished unit. If all processes of a node die at once they may continue from an
 *    earlier unit, so units must depend on the state alone. Units from which not all members
 *    had returned are done again, and so is `finished`: their effects on anything but the
 *    walker's state may occur twice. A callback whose wait returns RG_ERR_PROC_FAILED or
 *    RG_ERR_REVOKED returns that error. In such a job pack is also called after each unit.
 *    With `alike` a unit must end with an operation that waits for all members.
 *  - Callbacks may use every call of the library on the group that they are given, and MPI
 *    on its communicator (rg_group_comm). The application may use that group until the next
 *    callback with another one; the library frees it.
 *
 *  - A balancer may run several times: after rg_balance_end walkers are added again, and
 *    rg_balance_begin or rg_balance_run starts the next run, with the processes that live. The
 *    outcomes of earlier runs stay until rg_balance_drop, and so do the measured paces and the
 *    numbers of the last meetings: a walker whose id an earlier run had begins with the pace of
 *    that walker, and if it is added with a state also with its last meeting, so that a run that is
 *    divided into several has the same meetings as one. Ids need not differ between runs.
 * Statistics, the numbers of groups, and the timeline continue.
 *
 * "Every process" means every member of the group of rg_balance_create. A process
 * uses a balancer in one thread at a time. All calls may return RG_ERR_ARG (a
 * pointer is NULL, or the handle is not a balancer), RG_ERR_NOMEM and RG_ERR_NOT_INIT. */
#ifndef REGROUP_BALANCE_H
#define REGROUP_BALANCE_H

#include <stddef.h>
#include <stdint.h>

#include <regroup/error.h>
#include <regroup/group.h>
#include <regroup/policy.h>
#include <regroup/timeline.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_balancer_s *rg_balancer;

/* A walker, as the callbacks on the members of its group get it. The library makes it, and
 * later versions may have more members at its end: callbacks do not copy the struct. */
typedef struct {
  int64_t id;    /* set by the application */
  void *state;   /* this member's copy; with unpack: set by the application, NULL at first */
  int64_t done;  /* units done */
  double waited; /* seconds that its present group has waited for other groups, in synchronous
                    balancing */
  int begins;    /* in changed: 1 if no member was in a group of this walker before, because it
                    begins, or continues after a meeting or a death; else 0 */
} rg_walker;

/* A meeting, as a walker asks for it. The library makes the struct, and later versions may have
 * more members at its end. */
typedef struct {
  const int64_t *with; /* the ids of the others, in any order; NULL: no meeting now. The memory is
                          the application's, and is read before the next callback */
  int64_t count;       /* of them, at least 1 */
  int64_t number;      /* >= 0, less than INT64_MAX. All that meet give the same; those of a walker
                          ascend */
} rg_meeting;

/* The application's callbacks. Only unit and left are required. */
typedef struct {
  size_t size;  /* sizeof(rg_walker_kind): error.h */
  size_t bytes; /* of the state, the same on all processes */
  /* Does one unit. Called on all members of the group. */
  int (*unit)(rg_walker *walker, rg_group group, void *context);
  /* Returns the units left, an estimate that is 0 only at the end; or RG_LOAD_UNKNOWN; or, after
   * rg_error_set, NaN: an error, whose code that call has got. The library uses the leader's value.
   * Local. */
  double (*left)(const rg_walker *walker, void *context);

  /* Initialises the state of a walker that begins and was added without one. Called on every
   * member of its first group, with the same result. Local. NULL: all bytes are zero. */
  int (*start)(rg_walker *walker, void *context);
  /* Returns whether processes may join or leave now: RG_LOAD_JOINABLE, RG_LOAD_LEAVABLE, or
   * their sum. The library uses the leader's value. Local. NULL: both. */
  int (*may)(const rg_walker *walker, void *context);
  /* The walker has this group from now on: at its start, and when processes have joined or
   * left. Called on all members; the state is available. */
  int (*changed)(rg_walker *walker, rg_group group, void *context);
  /* The members with ranks from `stay` on are about to leave the walker; its next group has the
   * first `stay` members. (Then changed is called; other processes may have joined that group.)
   * The callback moves data that are divided among all members, an array for instance. Called
   * on all members; the state is still available on all of them. */
  int (*leaving)(rg_walker *walker, rg_group group, int stay, void *context);
  /* The walker has ended (left is 0), or the run ends early (stop_when_due). Called on all
   * members. */
  int (*finished)(rg_walker *walker, rg_group group, void *context);
  /* This process discards its copy of the state: it has left the group, or the walker has ended
   * or failed. Local. */
  void (*drop)(rg_walker *walker, void *context);

  /* For a state that is not plain memory of a fixed size: all three or none. *bytes is the size
   * of the packed state; it may exceed 2^31. pack is called on the leader; unpack on a process
   * that joins, with walker->state NULL. Local. */
  int (*packed)(const rg_walker *walker, size_t *bytes, void *context);
  int (*pack)(const rg_walker *walker, void *memory, size_t bytes, void *context);
  int (*unpack)(rg_walker *walker, const void *memory, size_t bytes, void *context);

  /* 1: on all members of a group unit returns the same value (because it ends with an operation
   * that gives them the same result, for instance), and left becomes 0 at the same time. Then the
   * members need not agree after each unit; the leader tells them what is next, at most every
   * 10 ms. 0 is always correct. */
  int alike;

  void *context; /* passed to all callbacks */

  /* Walkers that meet: both or none. A walker that meets is set aside with its state, and its group
   * is free for others; when all that meet are there, one process calls meeting with them, and then
   * they wait for groups again. So any number of groups is enough. No two walkers may have the same
   * id.
   *
   * meets: sets *meeting if the walker is to meet others before its next unit (or before it ends:
   * left may be 0). The answer depends on the state and the units done only. Called on the leader
   * (with `alike` on all members) when the walker begins or continues, and after each unit; the
   * number of the last meeting is not met again, also not in a later run that continues the walker
   * (rg_walker_new.met). Local. */
  int (*meets)(const rg_walker *walker, rg_meeting *meeting, void *context);
  /* Called on one process, which need not have worked on any of them, with copies of all walkers
   * that meet, in the order of their ids; it may change their states. What it does must depend on
   * these alone. After a death it may be called again with the same states. Its error ends all of
   * them. Local. */
  int (*meeting)(int64_t count, rg_walker *const walkers[], int64_t number, void *context);
} rg_walker_kind;

/* A new walker. Zero is the default of every member except `size` and `left`. */
typedef struct {
  size_t size; /* sizeof(rg_walker_new): error.h */
  int64_t id;
  double left;   /* units, an estimate for its place in the queue; or RG_LOAD_UNKNOWN */
  double unit;   /* seconds that a unit takes on one process; 0: as measured for a walker of this
                    id in an earlier run, otherwise not known */
  int64_t least; /* the least number of processes; 0: no limit */
  int64_t most;  /* the largest number of processes that it can use; 0: no limit */
  const void *state; /* bytes of the kind's size, or the packed state; NULL: from start.
                        Copied */
  size_t bytes;      /* of state */
  int ended;   /* 1: there is no work; the state, of any size, is an outcome at once. In this way a
                  unit returns results that need not be part of the walker's state. They exist
                  exactly once if the unit is finished, also if processes die */
  int64_t met; /* of a walker that continues one: the number of its last meeting + 1, as the outcome
                  has it. 0: as this balancer knows it from the walker of this id in an earlier
                  run, if there is a state; otherwise it has met nobody */
} rg_walker_new;

/* A process of the balancer's group that has died, in a job that survives. The library makes
 * the struct, and later versions may have more members at its end. */
typedef struct {
  int rank;       /* in the group of rg_balance_create */
  double noticed; /* when this process detected it, on CLOCK_MONOTONIC */
  double back;    /* when the survivors had begun again */
  int left;       /* the number of survivors */
  int world_rank; /* in rg_group_world: as rg_group_failed of that group and the launcher count */
} rg_balance_death;

/* Zero is the default of every member except `size`. */
typedef struct {
  size_t size;                    /* sizeof(rg_balance_options): error.h */
  const rg_policy *policy;        /* NULL: the default policy. Copied */
  int group;                      /* processes in each group at first; 0: all processes divided
                                     among the walkers */
  double limit;                   /* seconds after which a walker that has not ended fails with
                                     RG_ERR_TIMEOUT, checked after each unit; 0: no limit */
  rg_timeline timeline;           /* NULL, or where to record what this process does; not to be
                                     freed before rg_balance_end */
  void (*waiting)(void *context); /* NULL, or called about every 50 ms while this process waits
                                     for work */
  void (*died)(const rg_balance_death *death, void *context); /* NULL, or called on all survivors
                                                                 when they have begun again */
  void *context;
  int stop_when_due; /* 1: when a checkpoint is due (checkpoint_due.h) on any process, the run ends
                        early: each walker after its unit, those that wait when a group has
                        started them. Their outcomes are as far as they have come: the state says
                        whether work is left, and is what a later walker continues from */
} rg_balance_options;

/* Makes a balancer for walkers of this kind on the processes of g. The caller keeps g.
 * Callers: every process, with consistent kinds and options: the same size, policy, interval,
 * group and limit (rg_balance_begin checks this). options: NULL, or zero members for the
 * defaults. No message.
 * Errors: RG_ERR_ARG (the size of kind, options or policy is not set; no unit or left; some
 * but not all of packed, pack, unpack; group or limit negative; a policy without a plan);
 * those of rg_group_dup. */
RG_API int rg_balance_create(rg_group g, const rg_walker_kind *kind,
                             const rg_balance_options *options, rg_balancer *b);

/* Frees the balancer and sets the handle to NULL. *b may be NULL. Local. Errors: RG_ERR_ARG
 * (the balancer runs: unlike other objects it cannot be freed while its operations are under
 * way, since they are its walkers' units; rg_balance_end ends it). It must not be freed while
 * another thread is inside a call on it. */
RG_API int rg_balance_free(rg_balancer *b);

/* Adds a walker.
 * Callers before rg_balance_begin, and between two runs: every process, with the same walkers in
 * the same order. Walker j starts on group j, unless that is the last group and has too few
 * processes; the others wait, the longest first. Caller afterwards: the leader (rank 0 of the
 * unit's group), in a unit; the walker waits for a group (with a synchronous policy from the next
 * round on). A walker with `ended` is added only in a unit. Local; messages are sent only later.
 * Errors: RG_ERR_ARG (left is infinite, NaN, or negative and not RG_LOAD_UNKNOWN; unit is infinite,
 * NaN or negative and not RG_LOAD_UNKNOWN; a state of another size than the kind's; least, most or
 * met negative; least larger than the group of the balancer, or than most; the kind has `meets`,
 * and a walker of this id was added to this run; the call is neither before a run nor in a unit by
 * its leader). */
RG_API int rg_balance_add(rg_balancer b, const rg_walker_new *walker);

/* Runs until all walkers have ended: begin, steps, end. It may be called again. Callers: every
 * process. Errors: those of rg_balance_begin and rg_balance_end. */
RG_API int rg_balance_run(rg_balancer b);

/* --- with the application's own main loop ------------------------------------------- */

/* The state of a process after a step. */
enum rg_balance_state {
  RG_BALANCE_WORKED = 1, /* it has done a unit */
  RG_BALANCE_MOVED,      /* it is in another group, or has got another walker */
  RG_BALANCE_IDLE,       /* it had no work */
  RG_BALANCE_DONE        /* all walkers have ended: call rg_balance_end */
};

/* Forms the first groups. Callers: every process. From the second run on the processes tell one
 * another the paces that they have measured: an allgather of 136 bytes for each walker that ended
 * since. In a job that survives, the processes that died since the last run are told of by `died`;
 * the paces and last meetings that they knew are lost: there rg_walker_new.met is given. Errors
 * (the same on all processes; the balancer is then as it was before): RG_ERR_MISMATCH (processes
 * disagree about the walkers, the size of the state, options, or calls of rg_balance_drop);
 * RG_ERR_ARG (it runs already, or a call of its last run has failed). */
RG_API int rg_balance_begin(rg_balancer b);

/* Does one step: a unit, if this process's group has a walker; otherwise it handles requests of
 * other groups. wait: 0, or 1 to wait (without using the processor) instead of returning
 * RG_BALANCE_IDLE. Callers: every process, repeatedly until *what is RG_BALANCE_DONE; other
 * processes may wait for a process that does not call. With a synchronous policy the end of a
 * round waits for all processes.
 * Cost of a unit: an allreduce of 40 bytes in the group, or (alike) now and then a broadcast.
 * If a policy fails, or returns a plan that cannot be carried out, the process does not call it
 * again and only starts waiting walkers; rg_balance_end returns the error.
 * RG_TIMEOUT does not limit the time for which a process waits for work, since a unit may take any
 * time; only its waits for processes that have accepted it, or work on the same walker.
 * Errors: RG_ERR_TIMEOUT, RG_ERR_NOMEM, RG_ERR_MPI, of the library's own work; after these the
 * balancer cannot continue and can only be freed. Errors of walkers are not returned here. */
RG_API int rg_balance_step(rg_balancer b, int wait, int *what);

/* Ends the run, after RG_BALANCE_DONE. Callers: every process. Returns the same on all processes:
 * the error and message of the failed walker of this run with the lowest id, where walkers that
 * failed since others did not come to a meeting come last; if no walker failed, those of a policy
 * that failed; otherwise RG_SUCCESS. In each case the balancer may run again. */
RG_API int rg_balance_end(rg_balancer b);

/* --- results ------------------------------------------------------------------------- */

/* The outcome of a walker. */
typedef struct {
  int64_t id;
  int error;         /* RG_SUCCESS, or the error with which it failed */
  int rank;          /* rank in g of the process that detected the error; else of the leader */
  const char *text;  /* the message of the error, or "" */
  int64_t done;      /* units */
  double seconds;    /* from its start to its end, without the time for which it was set aside */
  const void *state; /* at the end, packed if there is pack; NULL if it failed */
  size_t bytes;
  double unit; /* seconds of a unit on one process, by what was measured; 0: not known. Another
                  balancer may be given it, in rg_walker_new */
  int run;     /* in which it ended: 0 for the first run of the balancer */
  int missed;  /* 1: it failed since a walker that it was to meet did not come */
  int64_t met; /* the number of its last meeting + 1; 0: none. rg_walker_new takes it */
  int64_t reserved[2]; /* 0 */
} rg_balance_outcome;

/* The outcomes of the walkers that ended with this process as their leader; after a gather, on the
 * root of rg_balance_gather and on all processes that called rg_balance_gather_all, of all walkers.
 * They are in the order of their ids; of one id, in the order of runs. The memory belongs to the
 * balancer and is valid until the balancer is freed, gathered, begun again, or has dropped them.
 * Local. */
RG_API int rg_balance_outcomes(rg_balancer b, int64_t *count, const rg_balance_outcome **outcomes);

/* Gathers all outcomes at the root, a rank in g. Callers: every process, after
 * rg_balance_end. It may be called again, with another root. Cost: an allgather of 24 bytes, an
 * allreduce of 8 and a gather of the outcomes; in a job that survives an agreement, and between
 * nodes the outcomes that the root's node does not have. In such a job the others wait for a living
 * process that leaves the call out, until RG_PATIENCE ends the job.
 * Errors (the same on all processes, after which the call may be repeated, with another root where
 * that was the reason): RG_ERR_RANK (no such rank in g); RG_ERR_MISMATCH (processes name different
 * roots); RG_ERR_ARG (the run has not ended, or has failed); RG_ERR_PROC_FAILED (the root has died;
 * or outcomes were lost with several nodes);
 * RG_ERR_NOMEM (of the root, or of one process for its own outcomes); RG_ERR_TIMEOUT and RG_ERR_MPI
 * of the messages, which others may not get. A root that dies after the processes have agreed that
 * it lives gives no error: the next call does. */
RG_API int rg_balance_gather(rg_balancer b, int root);

/* The same, but all processes get all outcomes. Errors: those of rg_balance_gather except for those
 * of the root. */
RG_API int rg_balance_gather_all(rg_balancer b);

/* What a balancer keeps from one run to the next. */
enum rg_balance_kept {
  RG_BALANCE_OUTCOMES = 1, /* of earlier runs; also the memory of their states */
  RG_BALANCE_PACES = 2     /* measured seconds of units and numbers of last meetings, by the
                              walkers' ids */
};

/* Drops outcomes, paces or both (`what` is a sum) of all runs that have ended.
 * Callers: every process, before the first run or between runs, the same calls in the same order
 * (rg_balance_begin checks this). No message. Errors: RG_ERR_ARG (another number; the balancer runs
 * or has failed). */
RG_API int rg_balance_drop(rg_balancer b, int what);

/* Statistics of this process. */
typedef struct {
  size_t size;     /* sizeof(rg_balance_statistics): error.h */
  int64_t groups;  /* of which it was a member, including the first one */
  int64_t units;   /* in which it took part */
  int64_t refused; /* requests of its group that were refused */
  double forming;  /* seconds of forming groups and handing over states */
  double idle;     /* seconds without work */
  double ended;    /* when its last walker ended, on CLOCK_MONOTONIC */
} rg_balance_statistics;

/* Returns the statistics of this process; the caller has set their `size`. Local. */
RG_API int rg_balance_get_statistics(rg_balancer b, rg_balance_statistics *statistics);

/* The groups that this process knows: those with a member on its node (asynchronous
 * policies), or all groups as of the last round (synchronous ones). At most `room` rows are
 * written; *count is the number of rows that exist. Local; also in callbacks. */
RG_API int rg_balance_loads(rg_balancer b, int64_t room, rg_load loads[], int64_t *count);

#ifdef __cplusplus
}
#endif
#endif
