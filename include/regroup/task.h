/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Work that the members of a group fetch for themselves: a shared counter, and a
 * list of tasks on top of it. */
#ifndef REGROUP_TASK_H
#define REGROUP_TASK_H

#include <stdint.h>

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_counter_s *rg_counter;

/* A counter that starts at 0. Every member of g, in order as for arrays; all are there
 * when it returns. */
RG_API int rg_counter_create(rg_group g, rg_counter *counter);
RG_API int rg_counter_free(rg_counter *counter);

/* Takes the next n numbers: *first is the first of them. Any member; atomic. Cost:
 * one processor atomic inside a node. Errors: RG_ERR_ARG (n < 1). */
RG_API int rg_counter_next(rg_counter counter, int64_t n, int64_t *first);

/* Back to 0. Every member; two barriers. */
RG_API int rg_counter_reset(rg_counter counter);

/* A list of `tasks` tasks, numbered from 0. Members take runs of them, long at first
 * and shorter towards the end (guided self-scheduling; Polychronopoulos and Kuck,
 * 1987), never shorter than least (the last one may be).
 * Who calls create: every member of g. Errors, on every member: RG_ERR_ARG (tasks < 0,
 * least < 1); RG_ERR_MISMATCH. */
typedef struct rg_tasks_s *rg_tasks;
RG_API int rg_tasks_create(rg_group g, int64_t tasks, int64_t least, rg_tasks *list);
RG_API int rg_tasks_free(rg_tasks *list);

/* The next run: *first, *n; n = 0 when none is left. Any member. */
RG_API int rg_tasks_next(rg_tasks list, int64_t *first, int64_t *n);

#ifdef __cplusplus
}
#endif
#endif
