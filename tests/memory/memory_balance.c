/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Balanced runs and timelines while a process lacks memory: test_memory.py. Walker w has w + 1
 * units, of which each adds 1 to its state. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/balance.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { WALKERS = 5 };

static rg_balancer balancer;
static rg_timeline timeline;
static rg_policy policy;

static int unit(rg_walker *walker, rg_group group, void *context) {
  int64_t one = 1, most = 0;
  (void)context;
  int error = rg_allreduce(group, &one, &most, 1, MPI_INT64_T, MPI_MAX);
  *(int64_t *)walker->state += most;
  return error;
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(walker->id + 1 - *(const int64_t *)walker->state);
}

static const rg_walker_kind kind = {
    .size = sizeof kind, .bytes = sizeof(int64_t), .unit = unit, .left = left};

static int create(void) {
  rg_balance_options options = {.size = sizeof options, .policy = &policy, .group = 1};
  return rg_balance_create(shortage_group, &kind, &options, &balancer);
}

static int parse(const char *text) {
  policy = (rg_policy){.size = sizeof policy};
  return rg_policy_parse(text, &policy);
}

static int parse_join_right(void) {
  return parse("join-right");
}

static int add_walkers(void) {
  int error = RG_SUCCESS;
  for (int i = 0; i < WALKERS && !error; i++) {
    rg_walker_new new = {.size = sizeof new, .id = i, .left = i + 1};
    error = rg_balance_add(balancer, &new);
  }
  return error;
}

static int prepare(const char *text) {
  int error = parse(text);
  if (!error)
    error = create();
  return error ? error : add_walkers();
}

static int join_right(void) {
  return prepare("join-right");
}

static int synchronous(void) {
  return prepare("sync:i=2");
}

static int share_out(void) {
  return prepare("share-out");
}

static int share_out_in_rounds(void) {
  return prepare("share-out:i=2");
}

static int created(void) {
  int error = parse("join-right");
  return error ? error : create();
}

static const rg_walker_new fresh = {.size = sizeof fresh, .id = 9, .left = 1};
SHORTAGE_TWICE(add, rg_balance_add(balancer, &fresh))
static int clear_policy(void) {
  policy = (rg_policy){.size = sizeof policy};
  return RG_SUCCESS;
}

SHORTAGE_TWICE(parse_policy, rg_policy_parse("share-out:i=2", &policy))
SHORTAGE_TWICE(make_timeline, rg_timeline_create(&timeline))

static int run(void) {
  return rg_balance_run(balancer);
}

static int has_run(void) {
  int64_t count = 0;
  const rg_balance_outcome *outcome;
  if (rg_balance_gather_all(balancer) || rg_balance_outcomes(balancer, &count, &outcome))
    return 0;
  for (int i = 0; i < count; i++)
    if (outcome[i].id != i || outcome[i].done != i + 1 ||
        *(const int64_t *)outcome[i].state != i + 1)
      return 0;
  return count == WALKERS;
}

static int has_run_run(void) {
  int error = join_right();
  return error ? error : run();
}

static int run_by_steps(void) {
  int what = 0, error = rg_balance_begin(balancer), ended;
  while (!error && what != RG_BALANCE_DONE)
    error = rg_balance_step(balancer, 1, &what);
  ended = what == RG_BALANCE_DONE ? rg_balance_end(balancer) : RG_SUCCESS;
  return error ? error : ended;
}

static int ask(void) {
  rg_balance_statistics statistics = {.size = sizeof statistics};
  int64_t count;
  int error = rg_balance_get_statistics(balancer, &statistics);
  return error ? error : rg_balance_loads(balancer, 0, NULL, &count);
}

static int drop(void) {
  return rg_balance_drop(balancer, RG_BALANCE_OUTCOMES + RG_BALANCE_PACES);
}

static int gather(void) {
  return rg_balance_gather(balancer, rgt_size - 1);
}

static int gather_all(void) {
  return rg_balance_gather_all(balancer);
}

static int free_balancer(void) {
  return rg_balance_free(&balancer);
}

static int mark(void) {
  int error = rg_timeline_create(&timeline);
  for (int i = 0; i < 100 && !error; i++)
    error = rg_timeline_mark_at(timeline, &(rg_span){.kind = RG_SPAN_WORK, .key = i, .size = 1}, i);
  return error ? error : rg_timeline_end(timeline, 100);
}

static int gather_timeline(void) {
  return rg_timeline_gather(timeline, shortage_group, RG_TIMELINE_CLOCK, 0);
}

static int free_timeline(void) {
  return rg_timeline_free(&timeline);
}

static const shortage_call calls[] = {
    {"rg_policy_parse", SHORTAGE_ONE, clear_policy, parse_policy, NULL, NULL},
    {"rg_balance_create", SHORTAGE_EACH, parse_join_right, create, NULL, free_balancer},
    {"rg_balance_add", SHORTAGE_ONE, created, add, NULL, free_balancer},
    {"rg_balance_run, join-right", SHORTAGE_SOME, join_right, run, has_run, free_balancer},
    {"rg_balance_run, sync", SHORTAGE_SOME, synchronous, run, has_run, free_balancer},
    {"rg_balance_run, share-out", SHORTAGE_SOME, share_out, run, has_run, free_balancer},
    {"rg_balance_run, share-out in rounds", SHORTAGE_SOME, share_out_in_rounds, run, has_run,
     free_balancer},
    {"rg_balance_begin, rg_balance_step", SHORTAGE_SOME, join_right, run_by_steps, has_run,
     free_balancer},
    {"rg_balance_get_statistics", SHORTAGE_ONE, has_run_run, ask, NULL, free_balancer},
    {"rg_balance_drop", SHORTAGE_ONE, has_run_run, drop, NULL, free_balancer},
    {"rg_balance_gather", SHORTAGE_EACH, has_run_run, gather, NULL, free_balancer},
    {"rg_balance_gather_all", SHORTAGE_EACH, has_run_run, gather_all, has_run, free_balancer},
    {"rg_timeline_create", SHORTAGE_ONE, NULL, make_timeline, NULL, free_timeline},
    {"rg_timeline_gather", SHORTAGE_SOME, mark, gather_timeline, NULL, free_timeline},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_balance", calls);
}
