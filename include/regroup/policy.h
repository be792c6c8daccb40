/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Policies of load balancing: pure functions from a load table to a plan.
 *
 * A table has one row for each group that the caller knows, from left to right (by
 * the groups' lowest ranks), and the walkers that wait for a group. A plan is a list
 * of moves: a number of processes of one row join another row, or start a waiting
 * walker. A policy is a pure function: it sends nothing, stores nothing, and returns
 * the same plan for the same table. So the same policy serves a running program and a
 * simulation of one.
 *
 * A policy is called in two ways.
 *
 *  - Asynchronously (table.self is a row): a group requests a plan for itself when it
 *    has no work left. If the policy has RG_POLICY_ASKS_ACTIVE, a group also does so each
 *    time it has done its first unit at a new size (or as many units as take 2 ms), and
 *    after a unit while walkers wait, if the table has changed. From an active row a plan
 *    only takes processes: these become an idle group, which requests a plan of its own.
 *    The plan moves processes of that row only. The other rows may be out of date and
 *    need not include all groups. The moves are in order of preference. If a move cannot
 *    be carried out (the target refuses because it has finished, or has begun to merge),
 *    the caller corrects the row, subtracts the processes that have already joined a
 *    group, and requests a plan again: so the first plan has the most preferred target,
 *    the next one the second. After an empty plan the group waits, and requests a plan
 *    again when the table has changed. While a walker waits that needs more processes than
 *    an idle group has, idle groups without a plan become one group, until there is a plan.
 *  - Synchronously (table.self is RG_LOAD_ALL_ROWS): the plan is for all groups at once.
 *
 * A policy has an interval. 0: it is designed for asynchronous calls. i: it is designed
 * for a synchronous call after every i units. Both ways work with every policy.
 *
 * All functions here are local, work in any thread, before rg_init and without MPI.
 * Those that return int may return RG_ERR_ARG (a pointer is NULL) in addition to the
 * errors that they name. */
#ifndef REGROUP_POLICY_H
#define REGROUP_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the input of a policy ------------------------------------------------------ */

#define RG_LOAD_UNKNOWN (-1.0) /* an unknown number of units or seconds */
#define RG_LOAD_ALL_ROWS (-1)  /* table.self of a synchronous call */
#define RG_MOVE_NO_ROW (-1)    /* move.to: no row; the processes form a new group */
#define RG_MOVE_NO_WALKER (-1) /* move.walker: no walker; the new group is idle */

/* Measured seconds of a unit at several group sizes: the model of parallel
 * efficiency. All bytes zero: nothing measured. */
#define RG_PACE_SIZES 6
typedef struct {
  int count;                     /* sizes measured, at most RG_PACE_SIZES */
  int64_t ranks[RG_PACE_SIZES];  /* ascending */
  double seconds[RG_PACE_SIZES]; /* above 0 and finite */
} rg_pace;

/* Records the seconds of a unit on a group of `ranks` processes. For a size that was
 * measured before, the mean is stored, in which the newest unit has half the weight. A
 * different size within a factor of 1.5 of a measured one is ignored, so that random
 * variation is not taken for an effect of the size. If there is no room, the size that
 * its neighbours predict best is removed. The call is ignored unless ranks >= 1, and
 * seconds > 0 and finite, and if *pace is none (as described above). */
RG_API void rg_pace_note(rg_pace *pace, int64_t ranks, double seconds);

/* The predicted seconds of a unit on a group of `ranks` processes, or RG_LOAD_UNKNOWN if
 * nothing is measured, *pace is none or ranks < 1. Between measured sizes: a power of the size.
 * Below the smallest: in proportion. Above the largest: with one measured size, in proportion (so
 * that a larger size is tried); with more, by Amdahl's law through the last two, but not less time
 * than at the largest size if that was not faster than the one before. */
RG_API double rg_pace_at(const rg_pace *pace, int64_t ranks);

/* The state of a group, a sum of these. */
enum rg_load_state {
  RG_LOAD_ACTIVE = 1,   /* it works on a walker; otherwise it is idle */
  RG_LOAD_JOINABLE = 2, /* others may join it now; in a synchronous call idle groups have it, too */
  RG_LOAD_LEAVABLE = 4  /* processes may leave it now although it is active */
};

/* One group. Zero is the default of every member except ranks. */
typedef struct {
  int64_t id;          /* set by the caller, e.g. its leader's world rank; policies ignore it */
  int64_t ranks;       /* processes in it, >= 1 */
  int64_t coming;      /* processes that are going to join it and have not joined yet */
  int64_t least;       /* the least number of processes with which it can work; 0: no limit */
  int64_t most;        /* the largest number of processes that it can use; 0: no limit */
  int state;           /* a sum of RG_LOAD_ACTIVE, RG_LOAD_JOINABLE and RG_LOAD_LEAVABLE */
  int node;            /* of all of its processes, numbered from 1; 0: not known, or several */
  int64_t walkers;     /* the number of its walkers, for the caller; policies ignore it */
  double left;         /* units left of its work, >= 0; or RG_LOAD_UNKNOWN */
  double done;         /* units it has done: used for `left` if that is unknown */
  double unit;         /* seconds of a unit with its present processes; 0 or RG_LOAD_UNKNOWN: then
                          the pace is used, and without a pace one second on one process */
  rg_pace pace;        /* seconds of a unit at other sizes, or zeros */
  double busy;         /* processors that each of its processes would use, in the mean, if it never
                          waited for one: 1 if it always computes, less if it sleeps or waits for
                          other processes; 0: not known */
  int64_t awaited;     /* walkers that are set aside until this row's walker meets them, as far as
                          the caller knows */
  int64_t reserved[2]; /* 0 */
} rg_load;

/* A walker without a group. */
typedef struct {
  int64_t id;       /* set by the caller */
  int64_t least;    /* the least number of processes; 0: no limit */
  int64_t most;     /* the largest number of processes that it can use; 0: no limit */
  double left;      /* units, or RG_LOAD_UNKNOWN */
  double unit;      /* seconds of a unit on one process; 0 or RG_LOAD_UNKNOWN: not known */
  int64_t awaited;  /* walkers that are set aside until this one meets them */
  int64_t reserved; /* 0 */
} rg_waiting_walker;

/* The table. In a policy of the application it is the library's, which may have more members
 * than the program knows: a policy that passes a changed copy to another one sets the copy's
 * `size` anew. Members that the library does not know are zero. */
typedef struct {
  size_t size;         /* sizeof(rg_load_table): error.h */
  const rg_load *load; /* rows, from left to right */
  int64_t count;
  int64_t self;                     /* the row that requests a plan, or RG_LOAD_ALL_ROWS */
  const rg_waiting_walker *waiting; /* the longest first */
  int64_t waiting_count;
  double merge;      /* seconds of a merge of two groups, for instance the measured mean; 0 if
                        unknown */
  double processors; /* that the processes of all rows may use together; 0: not known, or
                        enough. Processes that join a group do not make it faster if the rows
                        use all of them */
  double cross;      /* seconds by which a merge takes longer, and each unit of the group, if the
                        group is on several nodes; 0 if unknown */
} rg_load_table;

/* --- the plan ---------------------------------------------------------------------- */

/* `ranks` processes of row `from` join row `to`. If `to` is RG_MOVE_NO_ROW they form a new
 * group that starts the waiting walker with index `walker`, or no walker. Several moves
 * from one row take its processes in the order of their ranks. Processes of an idle row
 * that no move takes stay together. From an active row the last processes leave; the
 * others continue its work. */
typedef struct {
  int64_t from, to;
  int64_t ranks;
  int64_t walker;
  int64_t reserved[2]; /* 0 */
} rg_move;

/* A list of moves, which the library manages: callers read it, and change it by the calls
 * below. All bytes zero: an empty plan. The plan keeps its memory from call to call, until
 * rg_plan_free. */
typedef struct {
  rg_move *move;
  int64_t count, room;
} rg_plan;

/* Adds a copy of the move at the end. Errors: RG_ERR_NOMEM. */
RG_API int rg_plan_add(rg_plan *plan, const rg_move *move);

/* Frees the memory and makes the plan empty. An empty plan may be freed again. */
RG_API int rg_plan_free(rg_plan *plan);

/* Checks whether a plan can be carried out with this table: every row exists; no row
 * loses more processes than it has, or both loses and gets processes; all moves of an
 * asynchronous plan are from the requesting row; active rows that lose processes are
 * leavable and keep `least` processes and at least one; targets are joinable, and active
 * ones get no more processes than `most`; a walker is started once, by at least `least` and
 * at most `most` processes; ranks >= 1. If not, the call returns
 * RG_ERR_ARG, and rg_error_detail names the wrong move. Cost: O(moves + rows of the
 * table). Errors: RG_ERR_ARG also if the table's size is not set; RG_ERR_NOMEM. */
RG_API int rg_plan_check(const rg_plan *plan, const rg_load_table *table);

/* --- policies ---------------------------------------------------------------------- */

/* rg_policy.asks */
enum rg_policy_asks {
  RG_POLICY_ASKS_ACTIVE = 1 /* active groups request plans, too, and may lose processes */
};

#define RG_POLICY_OPTIONS 8

/* A policy is a value that may be copied. rg_policy_parse returns the library's
 * policies. For a policy of the application the caller sets size, name and plan; the other
 * members may be zero. */
typedef struct rg_policy rg_policy;
struct rg_policy {
  size_t size; /* sizeof(rg_policy): error.h */
  const char *name;
  int64_t interval; /* 0: asynchronous; i: synchronous, after every i units */
  int asks;         /* 0 or RG_POLICY_ASKS_ACTIVE */
  /* Adds moves to the plan, which is empty. Returns RG_SUCCESS or an error. `policy` is a copy of
   * the policy; members that the library does not know are zero. Programs do not call the function,
   * but rg_policy_plan. */
  int (*plan)(const rg_policy *policy, const rg_load_table *table, rg_plan *plan);
  const void *context;              /* for the application's use */
  double option[RG_POLICY_OPTIONS]; /* values of the options of the library's policies, in
                                       the order of their description */
};

/* Parses "NAME" or "NAME:OPTION=VALUE,OPTION=VALUE" and fills in *policy, whose `size` the
 * caller has set. NULL, "" and "default" stand for the default policy, which is share-out.
 * Every policy has the option i (its interval).
 *
 *   none                     no group joins another
 *   join-right               an idle group joins the group to its right, if that is
 *                            joinable; as published, asynchronous
 *   sync        i=16         every i units each idle group joins the next active group
 *                            to its right, several in a row at once; as published
 *   most-work                an idle group joins the group with the longest time left
 *   share-out   cost         idle processes are divided among the active groups such
 *                            that these end together, as far as joining gains more
 *                            than it costs (cost: seconds, instead of table.merge). An
 *                            idle group divides among the walkers that wait, and an
 *                            active one spares processes for them, as long as its own
 *                            work ends with the rest. A group releases processes if its
 *                            unit was shorter without them. Where the active groups
 *                            use all processors no process joins them, and they release
 *                            those that have joined
 *   release     cost, gain   as share-out; in addition a group releases processes if its
 *                            unit takes no longer without them, except for a part `gain`
 *                            (0.02), according to the times measured at the smaller size
 *
 * With share-out, release and most-work processes join groups of their own node first where that is
 * as good: asynchronously a group of another node counts as if its work ended sooner, by what the
 * units that it has left would take longer (table.cross); synchronously as many processes as
 * possible stay on their nodes (not with most-work).
 * With all policies an idle group first starts the longest waiting walker, and with the
 * processes that this walker cannot use the next ones.
 * Errors: RG_ERR_ARG (unknown name, option, or a value out of range; size is not set). */
RG_API int rg_policy_parse(const char *text, rg_policy *policy);

/* Computes the plan for a table: makes `plan` empty, calls the policy, and checks whether
 * the plan can be carried out (rg_plan_check), so that a fault in a policy of the
 * application gives an error instead of a hang. After an error the plan is empty.
 * Cost: O(rows + moved processes log rows); of most-work also O(rows log rows) for each size of
 * idle groups that helps no group. Errors: RG_ERR_ARG (the size of the policy or the table is not
 * set; self is not a row, or a row has no ranks, or a pace that is none; a number of the table is
 * infinite, NaN, or negative and not RG_LOAD_UNKNOWN where that may stand; least larger than most,
 * unless that is 0; the plan cannot be carried out); RG_ERR_LIMIT (more than 2^31 - 1 processes,
 * coming ones included); RG_ERR_NOMEM; those of the policy. */
RG_API int rg_policy_plan(const rg_policy *policy, const rg_load_table *table, rg_plan *plan);

/* The number of the library's policies, and a description of each, numbered from 0, for
 * help texts. summary is one line; options is "cost=SECONDS (0.002 ...)", or "" if i is
 * the only option. The strings belong to the library. Pointers may be NULL. Errors:
 * RG_ERR_ARG (no such number). */
RG_API int rg_policy_count(int *count);
RG_API int rg_policy_describe(int number, const char **name, const char **summary,
                              const char **options);

#ifdef __cplusplus
}
#endif
#endif
