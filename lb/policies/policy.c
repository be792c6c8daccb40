/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Policies by name: NAME or NAME:OPTION=VALUE,..., looked up in the table of policies; and the call
 * of a policy's function, with checks of the table before and of the plan after. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/sized.h"
#include "policies/load.h"
#include "policies/policy.h"

#define DEFAULT_POLICY "share-out"
enum { MOST_INTERVAL = 1000000000 };

/* --- by name -------------------------------------------------------------------- */

static const rgi_policy_row *find_row(const char *name, size_t length) {
  for (int i = 0; i < rgi_policy_table_count; i++)
    if (strlen(rgi_policy_table[i].name) == length &&
        !memcmp(rgi_policy_table[i].name, name, length))
      return &rgi_policy_table[i];
  return NULL;
}

static int find_option(const rgi_policy_row *row, const char *name, size_t length) {
  for (int i = 0; i < RG_POLICY_OPTIONS && row->option[i].name; i++)
    if (strlen(row->option[i].name) == length && !memcmp(row->option[i].name, name, length))
      return i;
  return -1;
}

static int bad_value(const rgi_policy_row *row, const char *text, size_t length, double least,
                     double most) {
  return rgi_error(RG_ERR_ARG, "rg_policy_parse: %s:%.*s: expected a number from %g to %g",
                   row->name, (int)length, text, least, most);
}

/* text: NAME=VALUE, length characters of it. */
static int read_option(const rgi_policy_row *row, const char *text, size_t length,
                       rg_policy *policy) {
  const char *equals = memchr(text, '=', length);
  size_t name = equals ? (size_t)(equals - text) : length;
  int interval = name == 1 && *text == 'i', at = find_option(row, text, name);
  double least = 0, most = MOST_INTERVAL;
  char *end = NULL;
  if (!interval && at < 0)
    return rgi_error(RG_ERR_ARG, "rg_policy_parse: %s has no option %.*s; it has: i%s%s", row->name,
                     (int)name, text, *row->options ? ", " : "", row->options);
  if (!interval) {
    least = row->option[at].least;
    most = row->option[at].most;
  }
  double value = equals && name + 1 < length ? rgi_c_locale_number(equals + 1, &end) : 0;
  if (end != text + length || !(value >= least && value <= most) ||
      (interval && value != (double)(int64_t)value))
    return bad_value(row, text, length, least, most);
  if (interval)
    policy->interval = (int64_t)value;
  else
    policy->option[at] = value;
  return RG_SUCCESS;
}

static int read_options(const rgi_policy_row *row, const char *text, rg_policy *policy) {
  for (;;) {
    size_t length = strcspn(text, ",");
    RGI_TRY(read_option(row, text, length, policy));
    if (text[length] == '\0')
      return RG_SUCCESS;
    text += length + 1;
  }
}

static int unknown_policy(const char *name, size_t length) {
  char known[256] = "";
  for (int i = 0; i < rgi_policy_table_count; i++) {
    strcat(known, i ? ", " : "");
    strcat(known, rgi_policy_table[i].name);
  }
  return rgi_error(RG_ERR_ARG, "rg_policy_parse: there is no policy %.*s; there are: %s",
                   (int)length, name, known);
}

int rg_policy_parse(const char *text, rg_policy *policy) {
  RGI_TRY(rgi_sized_check(policy, "rg_policy_parse: policy"));
  if (!text || !*text)
    text = DEFAULT_POLICY;
  size_t length = strcspn(text, ":");
  int standard = length == strlen("default") && !memcmp(text, "default", length);
  const rgi_policy_row *row =
      standard ? find_row(DEFAULT_POLICY, strlen(DEFAULT_POLICY)) : find_row(text, length);
  if (!row)
    return unknown_policy(text, length);
  rg_policy own = {
      .name = row->name, .interval = row->interval, .asks = row->asks, .plan = row->plan};
  for (int i = 0; i < RG_POLICY_OPTIONS && row->option[i].name; i++)
    own.option[i] = row->option[i].value;
  if (text[length] == ':')
    RGI_TRY(read_options(row, text + length + 1, &own));
  return rgi_sized_give(policy, &own, sizeof own, "rg_policy_parse: policy");
}

int rg_policy_count(int *count) {
  RGI_REQUIRE(count);
  *count = rgi_policy_table_count;
  return RG_SUCCESS;
}

int rg_policy_describe(int number, const char **name, const char **summary, const char **options) {
  if (number < 0 || number >= rgi_policy_table_count)
    return rgi_error(RG_ERR_ARG, "rg_policy_describe: number %d: there are %d policies", number,
                     rgi_policy_table_count);
  if (name)
    *name = rgi_policy_table[number].name;
  if (summary)
    *summary = rgi_policy_table[number].summary;
  if (options)
    *options = rgi_policy_table[number].options;
  return RG_SUCCESS;
}

/* --- asking a policy ------------------------------------------------------------ */

/* Each row has a process: of too many rows none need be read. */
static int check_rows(const rg_load_table *table) {
  int64_t left = table->count > INT_MAX ? -1 : INT_MAX; /* of the processes that a job may have */
  for (int64_t row = 0; row < table->count && left >= 0; row++) {
    const rg_load *load = &table->load[row];
    if (load->ranks < 1 || load->coming < 0)
      return rgi_error(RG_ERR_ARG, "rg_policy_plan: row %lld has %lld processes, and %lld coming",
                       (long long)row, (long long)load->ranks, (long long)load->coming);
    if (!rgi_load_is_pace(&load->pace))
      return rgi_error(RG_ERR_ARG,
                       "rg_policy_plan: the pace of row %lld has %d sizes that do not ascend from "
                       "1, or seconds that are not above 0 and finite",
                       (long long)row, load->pace.count);
    left = load->ranks <= left && load->coming <= left - load->ranks
               ? left - load->ranks - load->coming
               : -1;
  }
  return left >= 0 ? RG_SUCCESS
                   : rgi_error(RG_ERR_LIMIT, "rg_policy_plan: a table of more than %d processes",
                               INT_MAX);
}

static int is_amount(double x) {
  return x >= 0 && isfinite(x);
}

/* What a row or a waiting walker can use, and its work. */
static int check_work(const char *what, int64_t number, int64_t least, int64_t most, double left,
                      double unit) {
  if (least < 0 || most < 0 || (most && least > most))
    return rgi_error(RG_ERR_ARG, "rg_policy_plan: %s %lld has least %lld and most %lld", what,
                     (long long)number, (long long)least, (long long)most);
  if (!rgi_load_is_left(left) || !rgi_load_is_left(unit))
    return rgi_error(RG_ERR_ARG, "rg_policy_plan: %s %lld has %g units left, of %g s", what,
                     (long long)number, left, unit);
  return RG_SUCCESS;
}

static int check_numbers(const rg_load_table *table) {
  for (int64_t row = 0; row < table->count; row++) {
    const rg_load *load = &table->load[row];
    RGI_TRY(check_work("row", row, load->least, load->most, load->left, load->unit));
    if (!is_amount(load->done) || !is_amount(load->busy))
      return rgi_error(RG_ERR_ARG, "rg_policy_plan: row %lld has done %g units and is busy %g",
                       (long long)row, load->done, load->busy);
  }
  for (int64_t w = 0; w < table->waiting_count; w++) {
    const rg_waiting_walker *waiting = &table->waiting[w];
    RGI_TRY(check_work("waiting walker", w, waiting->least, waiting->most, waiting->left,
                       waiting->unit));
  }
  if (!is_amount(table->merge) || !is_amount(table->processors) || !is_amount(table->cross))
    return rgi_error(RG_ERR_ARG, "rg_policy_plan: merge %g, processors %g, cross %g", table->merge,
                     table->processors, table->cross);
  return RG_SUCCESS;
}

static int check_table(const rg_policy *policy, const rg_load_table *table) {
  const char *name = policy->name ? policy->name : "a policy";
  if (!policy->plan)
    return rgi_error(RG_ERR_ARG, "rg_policy_plan: %s has no function", name);
  RGI_TRY(rgi_load_check_table("rg_policy_plan", table));
  if (table->self != RG_LOAD_ALL_ROWS && (table->self < 0 || table->self >= table->count))
    return rgi_error(RG_ERR_ARG, "rg_policy_plan: the asking row is %lld, of %lld",
                     (long long)table->self, (long long)table->count);
  RGI_TRY(check_rows(table));
  return check_numbers(table);
}

int rgi_policy_take(const char *what, const rg_policy *given, rg_policy *own) {
  RGI_TRY(rgi_sized_take(own, sizeof *own, given, what));
  own->size = given->size < sizeof *own ? given->size : sizeof *own;
  return RG_SUCCESS;
}

static int make_plan(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  RGI_TRY(check_table(policy, table));
  char name[128];
  snprintf(name, sizeof name, "rg_policy_plan: the policy %s", policy->name ? policy->name : "");
  unsigned mark = rgi_error_mark();
  RGI_TRY(rgi_error_of_callback(name, policy->plan(policy, table, plan), mark));
  if (plan->count > plan->room)
    return rgi_error(RG_ERR_ARG,
                     "rg_policy_plan: %lld moves where there is room for %lld: "
                     "rg_plan_add adds one",
                     (long long)plan->count, (long long)plan->room);
  return rg_plan_check(plan, table);
}

int rg_policy_plan(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  /* A policy of a newer program may copy more members than the library knows: they are zero. */
  union {
    rg_policy policy;
    char room[RGI_SIZED_MOST];
  } own = {.room = {0}};
  union {
    rg_load_table table;
    char room[RGI_SIZED_MOST];
  } shown = {.room = {0}};
  RGI_REQUIRE(plan);
  plan->count = 0;
  RGI_TRY(rgi_policy_take("rg_policy_plan: policy", policy, &own.policy));
  RGI_TRY(rgi_sized_take(&shown.table, sizeof shown.table, table, "rg_policy_plan: table"));
  int error = make_plan(&own.policy, &shown.table, plan);
  if (error)
    plan->count = 0;
  return error;
}
