/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of policies, and what they share. Adding a policy is a file with its
 * function and a row in the table. */
#ifndef RGI_POLICIES_TABLE_H
#define RGI_POLICIES_TABLE_H

#include <regroup/policy.h>

typedef int rgi_policy_plan(const rg_policy *policy, const rg_load_table *table, rg_plan *plan);

rgi_policy_plan rgi_policy_none, rgi_policy_join_right, rgi_policy_most_work, rgi_policy_share_out,
    rgi_policy_release;

/* An option of a policy: a number in a range. Its value is policy.option[its place]. */
typedef struct {
  const char *name;
  double value, least, most; /* value: if it is not given */
} rgi_policy_option;

typedef struct {
  const char *name, *summary, *options;
  int interval, asks;
  rgi_policy_plan *plan;
  rgi_policy_option option[RG_POLICY_OPTIONS]; /* closed by a name NULL, unless full */
} rgi_policy_row;

extern const rgi_policy_row rgi_policies[];
extern const int rgi_policies_count;

/* Places of the options of share-out and release. */
enum { RGI_SHARE_COST, RGI_SHARE_PARTS, RGI_RELEASE_GAIN };

/* Whether a row gives its processes away in this call: it is idle, and it asks or
 * the call is for all. */
int rgi_load_gives(const rg_load_table *table, int row);

/* Whether a row can take processes, with work to do. */
int rgi_load_takes(const rg_load *load);

/* Units left of it, estimated if need be. */
double rgi_load_left(const rg_load *load);

/* Seconds until the row's work ends with so many processes. */
double rgi_load_seconds(const rg_load *load, int64_t ranks);

/* Idle rows that give start the waiting walkers, the longest first, one each; a
 * walker that needs more processes than any of them is passed over. used: NULL, or
 * one byte for each row, set where a row has got a walker. */
int rgi_start_waiting(const rg_load_table *table, rg_plan *plan, char used[]);

#endif
