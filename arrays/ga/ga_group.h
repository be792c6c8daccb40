/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Groups of processes by numbers: -1 is the group of all processes, others count from 1. A process
 * may know the number of a group that it is not in. */
#ifndef RGI_GA_GROUP_H
#define RGI_GA_GROUP_H

#include <regroup/group.h>

enum { RGI_GA_WORLD = -1 };

/* The number of the default group, and its group. */
extern int rgi_ga_group_default;
extern rg_group rgi_ga_group_current;

/* The group with this number; ends the job if the caller is not in it. */
rg_group rgi_ga_group_of(const char *call, int number);

/* All accesses of all members are complete afterwards. g: the array that an error names, or 0. */
void rgi_ga_group_synchronise(const char *call, int g, rg_group group);

/* Combines n elements of a type of macommon.h among the members (ga_message.c). */
void rgi_ga_group_reduce(const char *call, int number, int type, void *x, int n, const char *op);

/* From now on these are all processes. */
int rgi_ga_group_replace(rg_group survivors);

/* At GA_Initialize and GA_Terminate. */
int rgi_ga_group_start(void);
void rgi_ga_group_stop(void);

#endif
