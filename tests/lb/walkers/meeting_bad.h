/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Meetings that cannot take place, and callbacks that fail in one: one error on all processes. */
#ifndef TESTS_MEETING_BAD_H
#define TESTS_MEETING_BAD_H

#include "meeting_run.h"

enum { OWN_ERROR = RG_ERR_USER + 5, BAD_WALKERS = 5 };

/* What the walkers 0, 1 and 2 ask for after each unit: whom they meet, how many, the number. */
typedef struct {
  int64_t with[3][2], count, number[3];
  int meets_fails, meeting_fails, unit_fails;
  int code;
  const char *text; /* of the error */
  const char *far;  /* or this one, if the walkers are set aside on several nodes; NULL: the same */
} bad_case;

#define FAR                                                                                        \
  "walker 0 waits in meeting 3 for walker 1, which does not come: it has ended, there is none, "   \
  "or "                                                                                            \
  "it waits in a meeting on another node"

static const bad_case bad_cases[] = {
    {.code = RG_ERR_ARG, .text = "walker 0: meeting 7 is with nobody", .number = {7, 7, 7}},
    {.with = {{0}, {1}, {2}},
     .count = 1,
     .number = {7, 7, 7},
     .code = RG_ERR_ARG,
     .text = "walker 0: meeting 7 has walker 0 twice"},
    {.with = {{1, 1}, {0, 2}, {0, 1}},
     .count = 2,
     .number = {7, 7, 7},
     .code = RG_ERR_ARG,
     .text = "walker 0: meeting 7 has walker 1 twice"},
    {.with = {{1}, {0}, {0}},
     .count = 1,
     .number = {-1, -1, -1},
     .code = RG_ERR_ARG,
     .text = "walker 0: a meeting has the number -1"},
    {.with = {{1}, {0}, {0}},
     .count = 1,
     .number = {INT64_MAX, INT64_MAX, INT64_MAX},
     .code = RG_ERR_ARG,
     .text = "walker 0: a meeting has the number 9223372036854775807"},
    /* A cycle: each waits for the next one. */
    {.with = {{1}, {2}, {0}},
     .count = 1,
     .number = {3, 4, 5},
     .code = RG_ERR_ARG,
     .text = "walker 0 waits in meeting 3 for walker 1, which waits in meeting 4: they wait for",
     .far = FAR},
    /* Two that do not mean the same meeting. */
    {.with = {{1}, {0}, {77}},
     .count = 1,
     .number = {3, 4, 5},
     .code = RG_ERR_ARG,
     .text = "walker 0 waits in meeting 3 for walker 1, which waits in meeting 4: they wait for",
     .far = FAR},
    /* One that ends, and one that there never was. */
    {.with = {{4}, {4}, {4}},
     .count = 1,
     .number = {3, 4, 5},
     .code = RG_ERR_ARG,
     .text = "walker 0 waits in meeting 3 for walker 4, which does not come: it has ended"},
    {.with = {{77}, {88}, {99}},
     .count = 1,
     .number = {3, 4, 5},
     .code = RG_ERR_ARG,
     .text = "walker 0 waits in meeting 3 for walker 77, which does not come: it has ended"},
    {.with = {{1, 2}, {0, 2}, {0, 1}},
     .count = 2,
     .number = {3, 3, 3},
     .meeting_fails = 1,
     .code = OWN_ERROR,
     .text = "walkers 0 to 2 repel each other"},
    {.with = {{1, 2}, {0, 2}, {0, 1}},
     .count = 2,
     .number = {3, 3, 3},
     .meets_fails = 1,
     .code = OWN_ERROR,
     .text = "walker 0 is shy"},
    /* The cause is not hidden by those that wait for walker 2, whose ids are lower. */
    {.with = {{1, 2}, {0, 2}, {0, 1}},
     .count = 2,
     .number = {3, 3, 3},
     .unit_fails = 1,
     .code = OWN_ERROR,
     .text = "walker 2 diverges"}};

static const bad_case *now;
static int spans_nodes;

static inline int bad_unit(rg_walker *walker, rg_group g, void *context) {
  (void)context;
  (*(int64_t *)walker->state)++;
  if (now->unit_fails && walker->id == 2)
    return rg_error_set(OWN_ERROR, "walker 2 diverges");
  return rg_barrier(g);
}

static inline double bad_left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(2 - *(const int64_t *)walker->state);
}

static inline int bad_meets(const rg_walker *walker, rg_meeting *meeting, void *context) {
  (void)context;
  if (walker->id >= 3 || *(const int64_t *)walker->state == 0)
    return RG_SUCCESS;
  if (now->meets_fails && walker->id == 0)
    return rg_error_set(OWN_ERROR, "walker 0 is shy");
  *meeting = (rg_meeting){now->with[walker->id], now->count, now->number[walker->id]};
  return RG_SUCCESS;
}

static inline int bad_meeting(int64_t count, rg_walker *const walkers[], int64_t number,
                              void *context) {
  (void)number;
  (void)context;
  if (!now->meeting_fails)
    return RG_SUCCESS;
  return rg_error_set(OWN_ERROR, "walkers %lld to %lld repel each other", (long long)walkers[0]->id,
                      (long long)walkers[count - 1]->id);
}

/* The error on all; the walkers that meet nobody end well. */
static inline void run_bad(const char *policy, int group) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(int64_t),
                         .unit = bad_unit,
                         .left = bad_left,
                         .meets = bad_meets,
                         .meeting = bad_meeting};
  static meeting_plan p;
  const rg_balance_outcome *o;
  int64_t count;
  p = (meeting_plan){.walkers = BAD_WALKERS, .rounds = 1};
  rg_balancer b = made(policy, &kind, &p, group);
  RGT_INT(rg_balance_run(b), now->code);
  if (!RGT_TRUE(strstr(rg_error_detail(), now->text) ||
                (now->far && spans_nodes && strstr(rg_error_detail(), now->far))))
    printf("%s: %s, not %s\n", policy, rg_error_detail(), now->text);
  RGT_OK(rg_balance_gather(b, 0));
  RGT_OK(rg_balance_outcomes(b, &count, &o));
  if (rgt_rank == 0)
    RGT_INT(count, BAD_WALKERS);
  for (int i = 0; i < count && rgt_rank == 0; i++) {
    RGT_INT(o[i].id, i);
    int missed = o[i].error == RG_ERR_ARG && strstr(o[i].text, " for walker ") != NULL;
    RGT_INT(o[i].missed, missed);
    if (i >= 3)
      RGT_INT(o[i].error, RG_SUCCESS);
    else if (now->unit_fails)
      RGT_INT(o[i].error, i == 2 ? OWN_ERROR : RG_ERR_ARG);
    else if (i == 0)
      RGT_INT(o[i].error, now->code);
  }
  RGT_OK(rg_balance_free(&b));
}

static inline void run_all_bad(const char *policy) {
  for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++) {
    now = &bad_cases[i];
    run_bad(policy, (int)i % 3);
  }
}

#endif
