/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Dynamic distribution of work among the members of a group: a shared counter, and a
 * list of tasks that uses it. They are freed by the rule of runtime.h. */
#ifndef REGROUP_TASK_H
#define REGROUP_TASK_H

#include <stdint.h>

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_counter_s *rg_counter;

/* Makes a counter that starts at 0. Callers: every member of g, in the same order as its
 * array creations. The call returns when all members have called. rg_counter_free frees the
 * counter and sets the handle to NULL; callers: every member. */
RG_API int rg_counter_create(rg_group g, rg_counter *counter);
RG_API int rg_counter_free(rg_counter *counter);

/* Takes the next n numbers: *first is the first of them. Caller: any member; the call is
 * atomic. Cost inside a node: one atomic instruction. Errors: RG_ERR_ARG (n < 1); RG_ERR_LIMIT
 * (the numbers end at 2^63 - 1; none is taken). */
RG_API int rg_counter_next(rg_counter counter, int64_t n, int64_t *first);

/* Sets the counter to 0. Callers: every member. Cost: two barriers. */
RG_API int rg_counter_reset(rg_counter counter);

/* Makes a list of `tasks` tasks, numbered from 0. Members take runs of consecutive tasks,
 * long ones at first and shorter ones towards the end (guided self-scheduling;
 * Polychronopoulos and Kuck, 1987). No run except the last is shorter than least.
 * Callers of create and free: every member of g. Errors, on every member: RG_ERR_ARG
 * (tasks < 0, least < 1); RG_ERR_MISMATCH. */
typedef struct rg_tasks_s *rg_tasks;
RG_API int rg_tasks_create(rg_group g, int64_t tasks, int64_t least, rg_tasks *list);
RG_API int rg_tasks_free(rg_tasks *list);

/* Takes the next run: *n tasks from *first on; *n is 0 when none is left. Caller: any
 * member. */
RG_API int rg_tasks_next(rg_tasks list, int64_t *first, int64_t *n);

#ifdef __cplusplus
}
#endif
#endif
