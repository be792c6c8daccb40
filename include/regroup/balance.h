/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Load balancing: walkers on groups that change while they run.
 *
 * A walker is a piece of work with a state of its own that advances in units on a
 * group of any size. The application says how to do one unit on a group and how
 * much is left; the library does the rest: which processes form which group,
 * groups without work that join others, the state for those that join, walkers
 * that wait for a group, the end.
 *
 *  - Every member of a walker's group has a copy of its state, the same on all of
 *    them between units.
 *  - A walker's group keeps its leader (rank 0) as long as it works on the walker;
 *    those that join stand at the end.
 *  - Callbacks return RG_SUCCESS or an error. The error of one member ends that
 *    walker on all of its group, after the unit; the other walkers go on. Members on
 *    its node that wait on the group for the one that has failed get RG_ERR_REVOKED there
 *    (unless the kind is `alike`), and return that or another error.
 *  - In a job that survives deaths (RG_SURVIVE, docs/recovery.md): when a process of the
 *    balancer dies, the others form new groups and go on with all walkers, each from its
 *    last finished unit (from an earlier one if all processes of a node die at once: so
 *    units depend on the state alone). What a unit did to anything but the walker's state
 *    may be done twice: the units of which not all members had returned are done again,
 *    and so is `finished`. A callback whose wait ends with RG_ERR_PROC_FAILED or
 *    RG_ERR_REVOKED returns that. pack is then called after each unit too. With `alike` a
 *    unit ends with an operation that waits for all members.
 *  - Callbacks may use every call of the library on the group that they are given,
 *    and MPI on its view (rg_group_comm); that group is the application's until the
 *    next callback with another one, and is freed by the library.
 *
 * "Every process" means every member of the group of rg_balance_create. A process
 * uses a balancer in one thread at a time. All calls may return RG_ERR_ARG (a
 * pointer is NULL, or the balancer is none), RG_ERR_NOMEM and RG_ERR_NOT_INIT. */
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

/* A walker as its group's members see it. */
typedef struct {
  int64_t id;    /* the application's number for it */
  void *state;   /* this member's copy; with unpack: whatever the application puts here, NULL at
                    first */
  int64_t done;  /* units done */
  double waited; /* seconds that its present group has waited for other groups, in synchronous
                    balancing */
  int begins;    /* in changed: 1 if no member was in a group of this walker before: it begins, or
                    goes on after a death; else 0 */
} rg_walker;

/* What the application does. Only unit and left are needed. */
typedef struct {
  size_t bytes; /* of the state, the same on all processes */
  /* Does one unit; all members of the group call. */
  int (*unit)(rg_walker *walker, rg_group group, void *context);
  /* Units left, an estimate that is 0 only at the end; or RG_UNKNOWN. The leader's answer
   * counts. Local. */
  double (*left)(const rg_walker *walker, void *context);

  /* Fills the state of a walker that begins and was added without one: on every member of
   * its first group, with the same result. Local. NULL: all bytes are zero. */
  int (*start)(rg_walker *walker, void *context);
  /* Whether others may join now, or some leave: RG_LOAD_JOINABLE, RG_LOAD_LEAVABLE, added
   * up. The leader's answer counts. Local. NULL: both. */
  int (*may)(const rg_walker *walker, void *context);
  /* The walker has this group from now on: at its start, and when processes have come or
   * gone. All members call; the state is there. */
  int (*changed)(rg_walker *walker, rg_group group, void *context);
  /* The members from rank `stay` of this group on are about to leave the walker, which has a
   * group of the first `stay` next (then changed is called, there others may have joined): the
   * moment to hand over what is divided among all of them, an array for instance. All members
   * call; the state is still there on all. */
  int (*leaving)(rg_walker *walker, rg_group group, int stay, void *context);
  /* The walker has ended (left is 0). All members call. */
  int (*finished)(rg_walker *walker, rg_group group, void *context);
  /* This process gives up its copy of the state: it has left the group, or the walker has
   * ended or failed. Local. */
  void (*drop)(rg_walker *walker, void *context);

  /* A state that is no plain memory of a fixed size. All three or none. *bytes: of the
   * packed state, at most 2^31 - 1. pack: by the leader; unpack: by who joins, where
   * walker->state is NULL. Local. */
  int (*packed)(const rg_walker *walker, size_t *bytes, void *context);
  int (*pack)(const rg_walker *walker, void *memory, size_t bytes, void *context);
  int (*unpack)(rg_walker *walker, const void *memory, size_t bytes, void *context);

  /* 1: all members of a group find the same: unit returns the same on all of them (because it
   * ends with an operation that tells, say) and left is 0 on all at the same time. Then the
   * members need not agree after each unit, but only hear from the leader, at most every
   * 10 ms, what is next. 0 is always right. */
  int alike;

  void *context; /* given to all callbacks */
} rg_walker_kind;

/* A new walker. Zero is a good value for all that does not matter but `left`. */
typedef struct {
  int64_t id;
  double left;       /* units, an estimate for its place in the queue; or RG_UNKNOWN */
  double unit;       /* seconds that a unit takes on one process; 0: not known */
  int64_t least;     /* it needs so many processes; 0: no limit */
  int64_t most;      /* it has no use for more; 0: no limit */
  const void *state; /* as many bytes as the kind has, or the packed state; NULL: from start.
                        Copied */
  size_t bytes;      /* of state */
  int ended; /* 1: nothing is to be done: the state, of any size, is an outcome at once. So a
                unit hands over what it has made, which is there once, when the unit counts,
                also where processes die, and need not be part of the walker's state */
} rg_walker_new;

/* A process of the balancer's group that has died, in a job that survives that. */
typedef struct {
  int rank;       /* in the group of rg_balance_create */
  double noticed; /* when this process noticed it, on CLOCK_MONOTONIC */
  double back;    /* when the survivors had begun again */
  int left;       /* how many they are */
} rg_balance_death;

typedef struct {
  const rg_policy *policy;        /* NULL: the default one. Copied */
  int group;                      /* processes in each group at first; 0: all divided among the
                                     walkers */
  double limit;                   /* seconds after which a walker that has not ended fails with
                                     RG_ERR_TIMEOUT, looked at after each unit; 0: none */
  rg_timeline timeline;           /* NULL, or where to record what this process does */
  void (*waiting)(void *context); /* NULL, or called now and then (about every 50 ms) while
                                     this process waits for work */
  void (*died)(const rg_balance_death *death, void *context); /* NULL, or called on all survivors
                                                                 when they have begun again */
  void *context;
} rg_balance_options;

/* A balancer for these walkers on the processes of g, which is not kept.
 * Who calls: every process, with kinds and options that fit together: the same size,
 * policy, interval, group and limit (checked by rg_balance_begin). options: NULL, or
 * zeros for what does not matter. No message.
 * Errors: RG_ERR_ARG (no unit or left; some but not all of packed, pack, unpack; group or
 * limit negative; a policy without a plan); those of rg_group_dup. */
RG_API int rg_balance_create(rg_group g, const rg_walker_kind *kind,
                             const rg_balance_options *options, rg_balancer *b);

/* Frees it; NULL is fine. Local. While it runs: RG_ERR_ARG. */
RG_API int rg_balance_free(rg_balancer *b);

/* Adds a walker.
 * Before rg_balance_begin: every process adds the same walkers in the same order. Walker
 * j starts on group j; the others wait, the longest first. Afterwards, from a unit: by
 * the leader (rank 0 of the unit's group); it waits for a group (with a synchronous policy from the
 * next round on). Local; a message only later. Errors: RG_ERR_ARG (left < 0 and not RG_UNKNOWN; a
 * state of another size than the kind's; least larger than the group of the balancer, or than most;
 * neither before the run, unless it has ended, nor in a unit by its leader). */
RG_API int rg_balance_add(rg_balancer b, const rg_walker_new *walker);

/* Runs until all walkers have ended: begin, steps, end. Every process.
 * Errors: those of rg_balance_begin and rg_balance_end. */
RG_API int rg_balance_run(rg_balancer b);

/* --- with a main loop of the application's own ------------------------------------- */

/* Where a process stands after a step. */
enum {
  RG_BALANCE_WORKED = 1, /* it has done a unit */
  RG_BALANCE_MOVED,      /* it is in another group, or has got another walker */
  RG_BALANCE_IDLE,       /* there was nothing to do now */
  RG_BALANCE_DONE        /* all walkers have ended: call rg_balance_end */
};

/* Forms the first groups. Every process.
 * Errors (the same on all processes): RG_ERR_MISMATCH (processes disagree about the
 * walkers, the size of the state, or options); RG_ERR_ARG (it runs already). */
RG_API int rg_balance_begin(rg_balancer b);

/* One step: a unit, if this process's group has a walker, else a look at what others
 * want. wait: 0, or 1 to wait (without using the processor) instead of returning
 * RG_BALANCE_IDLE. Every process calls it again and again until *what is
 * RG_BALANCE_DONE; others may wait for a process that does not. With a synchronous
 * policy the end of a round waits for all.
 * Cost of a unit: an allreduce of 40 bytes in the group, or (alike) now and then a broadcast.
 * A policy that fails, or whose plan cannot be done, is asked no more by that process, which then
 * only starts walkers that wait; rg_balance_end tells.
 * Errors: RG_ERR_TIMEOUT, RG_ERR_NOMEM, RG_ERR_MPI: of the library's own work, after which the
 * balancer cannot go on, only be freed; not those of walkers. */
RG_API int rg_balance_step(rg_balancer b, int wait, int *what);

/* After RG_BALANCE_DONE. Every process. Returns, on all processes alike, the error of the
 * walker that failed and has the lowest id, and its text; if all ended well that of a policy that
 * failed; or RG_SUCCESS. */
RG_API int rg_balance_end(rg_balancer b);

/* --- results ------------------------------------------------------------------------- */

/* How a walker ended. */
typedef struct {
  int64_t id;
  int error;         /* RG_SUCCESS, or why it failed */
  int rank;          /* where: rank in g of the process that found the error; else of the leader */
  const char *text;  /* what was wrong, "" if nothing */
  int64_t done;      /* units */
  double seconds;    /* from its start to its end */
  const void *state; /* at the end, packed if there is pack; NULL if it failed */
  size_t bytes;
} rg_outcome;

/* The walkers that ended with this process as their leader; on the root of
 * rg_balance_gather, all. In the order of their ids. The memory belongs to the balancer and lasts
 * until it is freed or gathered. Local. */
RG_API int rg_balance_outcomes(rg_balancer b, int *count, const rg_outcome **outcomes);

/* Gathers all outcomes at one process (rank in g). Every process, after rg_balance_end.
 * Cost: three gathers. Errors: RG_ERR_RANK; RG_ERR_ARG (it has not ended). */
RG_API int rg_balance_gather(rg_balancer b, int root);

/* What this process did. */
typedef struct {
  int64_t groups;  /* that it was in, the first one included */
  int64_t units;   /* that it took part in */
  int64_t refused; /* requests of its group that were refused */
  double forming;  /* seconds in which groups were formed and states handed over */
  double idle;     /* seconds without work */
  double ended;    /* when its last walker ended, on CLOCK_MONOTONIC */
} rg_balance_counts;
RG_API int rg_balance_count(rg_balancer b, rg_balance_counts *counts);

/* The groups that this process knows of: those with a member on its node (asynchronous),
 * or all of them after the last round. At most `room` rows; *count: how many there are.
 * Local; also from callbacks. */
RG_API int rg_balance_loads(rg_balancer b, int room, rg_load loads[], int *count);

#ifdef __cplusplus
}
#endif
#endif
