/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Policies of load balancing: pure functions from a load table to a plan.
 *
 * A table has one row for each group that the caller knows of, from left to right
 * (by the groups' lowest ranks), and the walkers that wait for a group. A plan is
 * a list of moves: so many processes of this row join that row, or start that
 * walker. A policy only thinks: it sends nothing, remembers nothing, and gives the
 * same plan for the same table. So the same policy serves a running program and a
 * simulation of one.
 *
 * A policy is called in two ways.
 *
 *  - Asynchronously (table.self is a row): a group asks for itself, when it has no
 *    work left, and, if the policy has RG_POLICY_ASKS_ACTIVE, each time when it has
 *    done its first unit at a new size (row.unit is what that took). The plan moves
 *    processes of that row only; the other rows may be old news and need not be all
 *    groups there are. The moves are in order of preference. If one cannot be done
 *    (the target refuses: it has finished, or has begun to merge), correct the row,
 *    count the processes that have found a place as gone, and ask again: so the
 *    first answer is the most preferred target, the next one the second.
 *    An empty plan: wait, and ask again when the table has changed.
 *  - Synchronously (table.self is RG_ALL_ROWS): the plan is for all groups at once.
 *
 * A policy has an interval: 0, it wants to be called asynchronously; i, it wants to
 * be called synchronously after every i units. Both ways work with every policy.
 *
 * All functions here are local, work in any thread, before rg_init and without MPI.
 * Those that return int may return RG_ERR_ARG (a pointer is NULL) besides the
 * errors that they name. */
#ifndef REGROUP_POLICY_H
#define REGROUP_POLICY_H

#include <stdint.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- what a policy is told ------------------------------------------------------ */

#define RG_UNKNOWN (-1.0) /* units or seconds that nobody knows */
#define RG_ALL_ROWS (-1)  /* table.self of a synchronous call */
#define RG_NO_ROW (-1)    /* move.to: no row, a group of their own */
#define RG_NO_WALKER (-1) /* move.walker: none, it is idle */

/* Seconds that a unit took at the group sizes that were measured: the model of
 * parallel efficiency. All bytes zero: nothing measured. */
#define RG_PACE_SIZES 6
typedef struct {
  int count;                    /* sizes measured, at most RG_PACE_SIZES */
  int64_t ranks[RG_PACE_SIZES]; /* ascending */
  double seconds[RG_PACE_SIZES];
} rg_pace;

/* Takes up that a unit took so many seconds on a group of that size. Of units at a
 * size that was measured before the mean is kept, the newest with half the weight. A
 * size within a factor of 1.5 of one that was measured before is ignored, so that
 * chance is not taken for an effect of the size. When there is no room, the size goes
 * that its neighbours predict best. Ignored unless ranks >= 1, seconds > 0 and finite. */
RG_API void rg_pace_note(rg_pace *pace, int64_t ranks, double seconds);

/* Seconds that a unit would take on a group of that size, or RG_UNKNOWN if nothing
 * is measured or ranks < 1. Between measured sizes: a power of the size. Below the
 * smallest: in proportion. Above the largest: with one size measured, in
 * proportion (so that a first try is made); with more, by Amdahl's law through the
 * last two, and never less time than at the largest if that was no faster than the
 * one before. */
RG_API double rg_pace_at(const rg_pace *pace, int64_t ranks);

/* What a group is; added up. */
enum {
  RG_LOAD_ACTIVE = 1,   /* it works on a walker; otherwise it is idle */
  RG_LOAD_JOINABLE = 2, /* others may join it now; also said of an idle group */
  RG_LOAD_LEAVABLE = 4  /* processes may leave it now although it is active */
};

/* One group. Zero is a good value for all that does not matter. */
typedef struct {
  int64_t id;     /* the caller's: world rank of its leader, say; policies ignore it */
  int64_t ranks;  /* processes in it, >= 1 */
  int64_t coming; /* processes that have been promised to it and have not joined yet */
  int64_t least;  /* it cannot work with fewer processes; 0: no limit */
  int64_t most;   /* it has no use for more processes; 0: no limit */
  int state;      /* RG_LOAD_..., added up */
  int walkers;    /* how many walkers it holds, for the caller; policies ignore it */
  double left;    /* units left of its work, >= 0; or RG_UNKNOWN */
  double done;    /* units it has done: taken for `left` where that is unknown */
  double unit;    /* seconds that a unit takes with its processes now; or RG_UNKNOWN:
                     then by the pace, and without that one second on one process */
  rg_pace pace;   /* what a unit took at other sizes, or zeros */
} rg_load;

/* A walker that no group works on yet. */
typedef struct {
  int64_t id;    /* the caller's */
  int64_t least; /* processes it needs; 0: no limit */
  int64_t most;  /* processes it has use for; 0: no limit */
  double left;   /* units, or RG_UNKNOWN */
  double unit;   /* seconds that a unit takes on one process, or RG_UNKNOWN */
} rg_waiting;

typedef struct {
  const rg_load *load; /* rows, from left to right */
  int count;
  int self;                  /* the row that asks, or RG_ALL_ROWS */
  const rg_waiting *waiting; /* the longest first */
  int waiting_count;
  double merge; /* seconds that it takes to become one group with another: the measured
                   mean, say; 0 if it is not known */
} rg_load_table;

/* --- what it answers -------------------------------------------------------------- */

/* `ranks` processes of row `from` join row `to`; or, if that is RG_NO_ROW, become a
 * group of their own that starts the waiting walker with index `walker`, or none.
 * Several moves from one row take its processes in the order of their ranks; those
 * of an idle row that no move takes stay together. An active row gives its last
 * processes, and those that stay go on with its work. */
typedef struct {
  int from, to;
  int64_t ranks;
  int walker;
} rg_move;

/* A list of moves. All bytes zero: an empty one. It keeps its memory from call to
 * call, until rg_plan_free. */
typedef struct {
  rg_move *move;
  int count, room;
} rg_plan;

/* Adds a move at the end. Errors: RG_ERR_NOMEM. */
RG_API int rg_plan_add(rg_plan *plan, rg_move move);

/* Gives the memory back and makes the plan an empty one. NULL is fine. */
RG_API void rg_plan_free(rg_plan *plan);

/* Whether a plan can be done with this table: every row exists, no row gives more
 * than it has or both gives and gets, an idle row of an asynchronous plan is the
 * asking one, active rows that give are leavable, keep `least` processes and at
 * least one, targets are joinable, a walker is started once and by enough
 * processes, ranks >= 1. RG_ERR_ARG says in rg_error_detail which move is wrong.
 * O(moves + rows of the table). Errors: RG_ERR_NOMEM. */
RG_API int rg_plan_check(const rg_plan *plan, const rg_load_table *table);

/* --- policies ---------------------------------------------------------------------- */

/* rg_policy.asks */
enum { RG_POLICY_ASKS_ACTIVE = 1 /* active groups ask too: it may take from them */ };

#define RG_POLICY_OPTIONS 8

/* A policy is a value, copied freely: one of the library's, read by
 * rg_policy_parse, or the application's own: fill in a name and plan, zero or
 * anything for the others. */
typedef struct rg_policy rg_policy;
struct rg_policy {
  const char *name;
  int interval; /* 0: asynchronous; i: synchronous, after every i units */
  int asks;     /* 0 or RG_POLICY_ASKS_ACTIVE */
  /* Adds the moves to the plan, which is empty. Returns RG_SUCCESS or an error. */
  int (*plan)(const rg_policy *policy, const rg_load_table *table, rg_plan *plan);
  const void *context;              /* the application's own */
  double option[RG_POLICY_OPTIONS]; /* values of the options, in the order of their
                                       description, for the library's policies */
};

/* Reads "NAME", or "NAME:OPTION=VALUE,OPTION=VALUE". NULL, "" and "default": the
 * default policy, which is share-out. Every policy has the option i (its interval).
 *
 *   none                     nobody joins anybody
 *   join-right               an idle group joins the one to its right, if that may be
 *                            joined; as published, asynchronous
 *   sync        i=16         every i units each idle group joins the next active one
 *                            to its right, a chain of them at once; as published
 *   most-work                an idle group joins the one with the longest time to go
 *   share-out   cost         idle processes are divided among the active groups so
 *                            that these end together, as far as joining gains more
 *                            than it costs (cost: seconds, instead of table.merge)
 *   release     cost, gain   the same, and a group gives processes back when its unit
 *                            takes no longer without them, but for a part `gain`
 *                            (0.02), by what was measured at the smaller size
 *
 * With all of them an idle group starts the longest waiting walker first.
 * Errors: RG_ERR_ARG (unknown name, option, or a value out of range). */
RG_API int rg_policy_parse(const char *text, rg_policy *policy);

/* The plan for a table: makes `plan` empty, calls the policy, and looks whether the
 * plan can be done (rg_plan_check), so that a mistake in a policy of the
 * application's own is an error and no hang. The table must be sound: RG_ERR_ARG if
 * self is no row or a row has no ranks. After an error the plan is empty.
 * Cost: O(rows + moved processes log rows).
 * Errors: RG_ERR_NOMEM; those of the policy. */
RG_API int rg_policy_plan(const rg_policy *policy, const rg_load_table *table, rg_plan *plan);

/* The library's policies, numbered from 0, for help texts. summary: one line;
 * options: "cost=SECONDS (0.002 ...)", "" if only i. The texts belong to the
 * library. Pointers may be NULL. Errors: RG_ERR_ARG (no such number). */
RG_API int rg_policy_count(int *count);
RG_API int rg_policy_describe(int number, const char **name, const char **summary,
                              const char **options);

#ifdef __cplusplus
}
#endif
#endif
