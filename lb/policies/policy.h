/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of policies, and what they share. A new policy is a file with its function, and a row
 * in the table. */
#ifndef RGI_POLICIES_POLICY_H
#define RGI_POLICIES_POLICY_H

#include <regroup/policy.h>

typedef int rgi_policy_plan(const rg_policy *policy, const rg_load_table *table, rg_plan *plan);

rgi_policy_plan rgi_policy_none, rgi_policy_join_right, rgi_policy_most_work, rgi_policy_share_out,
    rgi_policy_release;

/* An option of a policy: a number in a range. Its value is policy.option[its place]. */
typedef struct {
  const char *name;
  double value, least, most; /* value: the default */
} rgi_policy_option;

typedef struct {
  const char *name, *summary, *options;
  int interval, asks;
  rgi_policy_plan *plan;
  rgi_policy_option option[RG_POLICY_OPTIONS]; /* a name NULL ends them, unless all are used */
} rgi_policy_row;

extern const rgi_policy_row rgi_policy_table[];
extern const int rgi_policy_table_count;

/* The library's copy of a policy that the caller has given (base/sized.h). Its `size` is the
 * caller's, so that a copy that the policy's function makes has the right one. */
int rgi_policy_take(const char *what, const rg_policy *given, rg_policy *own);

/* Places of options of share-out and release. */
enum { RGI_POLICY_COST, RGI_POLICY_GAIN };

#endif
