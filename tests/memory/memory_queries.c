/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Calls of one process alone that ask, or change a value that is there, while it lacks memory:
 * test_memory.py. Most allocate nothing. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { SIDE = 4 };

static const int64_t shape[] = {SIDE}, none[] = {0}, one[] = {1};
static int number;
static int64_t whole, place;
static double real;
static const char *text, *words[5];

/* One call after the other; a lack of memory in one ends them. */
#define ASK(call)                                                                                  \
  do {                                                                                             \
    int code = (call);                                                                             \
    if (code)                                                                                      \
      return code;                                                                                 \
  } while (0)

static int ask_runtime(void) {
  ASK(rg_initialized(&number));
  ASK(rg_version(&number, NULL, NULL));
  ASK(rg_option_count(&number));
  ASK(rg_option_get(0, &words[0], &words[1], &words[2], &words[3], &words[4], &text));
  ASK(rg_log_set(NULL, NULL));
  ASK(rg_wait_hook_set(NULL, NULL));
  ASK(rg_polite_active(&number));
  ASK(rg_polite_counts(&whole, NULL, NULL));
  ASK(rg_polite_polling(1));
  ASK(rg_polite_polling(0));
  ASK(rg_progress());
  text = rg_error_string(RG_ERR_ARG);
  text = rg_error_name(RG_ERR_ARG);
  text = rg_error_detail();
  if (rg_error_set_text(RG_ERR_USER, "a text") != RG_ERR_USER)
    return RG_ERR_INTERNAL;
  return rg_error_set(RG_ERR_USER, "%s", "a text") == RG_ERR_USER ? RG_SUCCESS : RG_ERR_INTERNAL;
}

static int ask_random(void) {
  rg_random stream = {.seed = 1};
  uint64_t bits;
  ASK(rg_random_bits(&stream, 1, &bits));
  ASK(rg_random_integer(&stream, 6, 1, &bits));
  ASK(rg_random_uniform(&stream, 1, &real));
  ASK(rg_random_normal(&stream, 1, &real));
  return rg_random_jump(&stream, 5);
}

static int ask_group(void) {
  static int members[64];
  ASK(rg_group_rank(shortage_group, &number));
  ASK(rg_group_size(shortage_group, &number));
  ASK(rg_group_members(shortage_group, members));
  ASK(rg_group_leader(shortage_group, &number));
  ASK(rg_group_tag(shortage_group, &number));
  ASK(rg_group_name(shortage_group, &text));
  ASK(rg_group_node(shortage_group, 0, &number));
  ASK(rg_comm_count(&number));
  text = rg_comm_method_name(RG_METHOD_NATIVE);
  return RG_SUCCESS;
}

static int ask_operation(void) {
  text = rg_operation_name(RG_OP_BCAST);
  ASK(rg_algorithm_count(RG_OP_BCAST, &number));
  ASK(rg_algorithm_get(RG_OP_BCAST, 0, &words[0], &words[1], &words[2]));
  return rg_algorithm_predict(RG_OP_BCAST, 0, 4, 1, 8, &real);
}

/* --- inter-communicators: there is none ----------------------------------------------------- */

static int ask_inter_all(void) {
  rg_inter_view view = {.size = sizeof view};
  rg_inter_kind kind;
  MPI_Comm comm;
  text = rg_inter_help();
  text = rg_inter_kind_name(RG_INTER_SPLIT);
  ASK(rg_inter_get_view(&view));
  ASK(rg_inter_get_kind(&kind));
  ASK(rg_inter_world(&comm));
  ASK(rg_inter_benchmark(&comm));
  ASK(rg_inter_local(&comm));
  ASK(rg_inter_global(&comm));
  return rg_inter_check("MPI_Bcast");
}

static int ask_inter_ranks(void) {
  ASK(rg_inter_is_inter(&number));
  ASK(rg_inter_is_initiator(&number));
  ASK(rg_inter_is_responder(&number));
  ASK(rg_inter_io(&number));
  ASK(rg_inter_rank(&number));
  ASK(rg_inter_global_rank(&number));
  ASK(rg_inter_has_initiator_rank(0, &number));
  ASK(rg_inter_has_responder_rank(0, &number));
  ASK(rg_inter_root(0, &number));
  ASK(rg_inter_lookup_rank(0, &number));
  ASK(rg_inter_lookup_global_rank(0, &number));
  ASK(rg_inter_lookup_is_initiator(0, &number));
  return rg_inter_lookup_is_responder(0, &number);
}

static int ask_inter_sizes(void) {
  ASK(rg_inter_initiator_size(&number));
  ASK(rg_inter_responder_size(&number));
  ASK(rg_inter_local_size(&number));
  ASK(rg_inter_remote_size(&number));
  ASK(rg_inter_lookup_local_size(0, &number));
  ASK(rg_inter_lookup_remote_size(0, &number));
  ASK(rg_inter_larger_size(&number));
  ASK(rg_inter_global_size(&number));
  ASK(rg_inter_combined_size(&whole));
  return rg_inter_maximum_size(&whole);
}

/* --- requests ----------------------------------------------------------------------------- */

static rg_request requests[3];
static int sent[3] = {1, 2, 3}, got[3];

/* Of messages to itself. */
static int start_requests(void) {
  for (int i = 0; i < 3; i++) {
    got[i] = 0;
    ASK(rg_irecv(shortage_group, &got[i], 1, MPI_INT, rgt_rank, 1, &requests[i]));
    ASK(rg_send(shortage_group, &sent[i], 1, MPI_INT, rgt_rank, 1));
  }
  return RG_SUCCESS;
}

static int test_requests(void) {
  int64_t at, n, indices[3];
  MPI_Count count;
  rg_status status;
  int done = 0;
  while (!done)
    ASK(rg_test(&requests[0], &done, &status));
  ASK(rg_status_count(&status, MPI_INT, &count));
  for (done = 0; !done;)
    ASK(rg_test_any(3, requests, &at, &done, NULL));
  for (n = 0; n != RG_UNDEFINED;)
    ASK(rg_test_some(3, requests, &n, indices, NULL));
  return RG_SUCCESS;
}

static int are_complete(void) {
  return got[0] == 1 && got[1] == 2 && got[2] == 3;
}

/* --- arrays --------------------------------------------------------------------------------- */

static rg_array array;
static rg_mutexes mutexes;
static rg_tasks tasks;

static int make_array(void) {
  int error = rg_array_create_simple(shortage_group, RG_TYPE_INT64, 1, shape, &array);
  error = error ? error : rg_array_zero(array);
  return error ? error : rg_mutexes_create(shortage_group, 1, &mutexes);
}

static int free_array(void) {
  int error = rg_mutexes_free(&mutexes);
  return error ? error : rg_array_free(&array);
}

static int ask_array(void) {
  rg_group g;
  rg_array_piece piece;
  int64_t lo[1], hi[1];
  ASK(rg_array_group(array, &g));
  ASK(rg_array_is_valid(array, &number));
  ASK(rg_array_owner(array, none, &number));
  ASK(rg_array_block_count(array, 0, &whole));
  ASK(rg_array_block(array, 0, 0, lo, hi));
  ASK(rg_array_distribution(array, 0, lo, hi));
  return rg_array_locate(array, none, shape, 0, &piece);
}

SHORTAGE_TWICE(read_inc, rg_array_read_inc(array, one, 1, &whole))
SHORTAGE_TWICE(swap, rg_array_compare_and_swap(array, none, 0, 0, &whole))

static int64_t lo[1], hi[1];
static int own_block(void) {
  int error = make_array();
  return error ? error : rg_array_distribution(array, rgt_rank, lo, hi);
}

static int access_block(void) {
  int64_t *elements;
  if (lo[0] == hi[0])
    return RG_SUCCESS;
  ASK(rg_array_access(array, lo, hi, RG_ACCESS_READ, &elements, NULL));
  return rg_array_release(array, lo, hi);
}

static int access_with_ghosts(void) {
  int64_t *elements;
  if (lo[0] == hi[0])
    return RG_SUCCESS;
  ASK(rg_array_access_ghosts(array, RG_ACCESS_READ, &elements, NULL));
  return rg_array_release_ghosts(array);
}

static int try_mutex(void) {
  ASK(rg_mutexes_try(mutexes, 0, &number));
  return number ? rg_mutexes_unlock(mutexes, 0) : RG_SUCCESS;
}

static int make_tasks(void) {
  return rg_tasks_create(shortage_group, 10, 1, &tasks);
}

static int take_tasks(void) {
  do
    ASK(rg_tasks_next(tasks, &place, &whole));
  while (whole > 0);
  return RG_SUCCESS;
}

static int free_tasks(void) {
  return rg_tasks_free(&tasks);
}

static int test_no_checkpoint(void) {
  rg_checkpoint checkpoint = NULL;
  ASK(rg_checkpoint_on_signal(0, 0) == RG_ERR_ARG ? RG_SUCCESS : RG_ERR_INTERNAL);
  return rg_checkpoint_test(&checkpoint, &number);
}

/* --- balancing ------------------------------------------------------------------------------ */

static rg_plan plan;
static rg_policy policy;
static rg_timeline timeline;
static char path[RGT_PATH];

static const rg_load rows[] = {
    {.ranks = 1, .state = RG_LOAD_JOINABLE},
    {.ranks = 1, .state = RG_LOAD_ACTIVE | RG_LOAD_JOINABLE, .left = 100}};
static const rg_load_table table = {.size = sizeof table, .load = rows, .count = 2, .self = 0};

static int parse_policy(void) {
  policy = (rg_policy){.size = sizeof policy};
  return rg_policy_parse("join-right", &policy);
}

SHORTAGE_TWICE(make_plan, rg_policy_plan(&policy, &table, &plan))

static int is_planned(void) {
  return plan.count == 1 && plan.move[0].to == 1;
}

static int add_moves(void) {
  static const rg_move move = {.from = 0, .to = 1, .ranks = 1};
  for (int i = 0; i < 50; i++)
    ASK(rg_plan_add(&plan, &move));
  return RG_SUCCESS;
}

static int check_plan(void) {
  return rg_plan_check(&plan, &table);
}

static int parse_and_plan(void) {
  ASK(parse_policy());
  return make_plan();
}

static int free_plan(void) {
  return rg_plan_free(&plan);
}

static int ask_policy(void) {
  rg_pace pace = {0};
  rg_pace_note(&pace, 2, 1.);
  real = rg_pace_at(&pace, 4);
  ASK(rg_policy_count(&number));
  return rg_policy_describe(0, &words[0], &words[1], &words[2]);
}

static int make_timeline(void) {
  snprintf(path, sizeof path, "%s/timeline.%d", getenv("SHORTAGE_FOLDER"), rgt_rank);
  return rg_timeline_create(&timeline);
}

static int mark_spans(void) {
  for (int i = 0; i < 100; i++)
    ASK(rg_timeline_mark(timeline, &(rg_span){.kind = RG_SPAN_WORK, .key = i, .size = 1}));
  return RG_SUCCESS;
}

static int make_spans(void) {
  rg_group self = NULL;
  int error = make_timeline();
  error = error ? error : mark_spans();
  error = error ? error : rg_group_create(shortage_group, 1, &rgt_rank, 0, &self);
  error = error ? error : rg_timeline_gather(timeline, self, RG_TIMELINE_CLOCK, 0);
  return error ? error : rg_group_free(&self);
}

static int ask_spans(void) {
  const rg_span *spans;
  const int64_t *counts;
  return rg_timeline_spans(timeline, &whole, &spans, &counts);
}

SHORTAGE_TWICE(write_svg, rg_timeline_write(timeline, path, RG_TIMELINE_SVG, NULL))
SHORTAGE_TWICE(write_json, rg_timeline_write(timeline, path, RG_TIMELINE_JSON, NULL))

static int free_timeline(void) {
  remove(path);
  return rg_timeline_free(&timeline);
}

#define ONE SHORTAGE_ONE

static const shortage_call calls[] = {
    {"runtime", ONE, NULL, ask_runtime, NULL, NULL},
    {"random numbers", ONE, NULL, ask_random, NULL, NULL},
    {"groups", ONE, NULL, ask_group, NULL, NULL},
    {"operations", ONE, NULL, ask_operation, NULL, NULL},
    {"inter-communicators", ONE, NULL, ask_inter_all, NULL, NULL},
    {"inter-communicators: ranks", ONE, NULL, ask_inter_ranks, NULL, NULL},
    {"inter-communicators: sizes", ONE, NULL, ask_inter_sizes, NULL, NULL},
    {"requests", ONE, start_requests, test_requests, are_complete, NULL},
    {"arrays", ONE, make_array, ask_array, NULL, free_array},
    {"rg_array_read_inc", ONE, make_array, read_inc, NULL, free_array},
    {"rg_array_compare_and_swap", ONE, make_array, swap, NULL, free_array},
    {"rg_array_access", ONE, own_block, access_block, NULL, free_array},
    {"rg_array_release_ghosts", ONE, own_block, access_with_ghosts, NULL, free_array},
    {"rg_mutexes_try", ONE, make_array, try_mutex, NULL, free_array},
    {"rg_tasks_next", ONE, make_tasks, take_tasks, NULL, free_tasks},
    {"rg_checkpoint_test", ONE, NULL, test_no_checkpoint, NULL, NULL},
    {"rg_policy_plan", ONE, parse_policy, make_plan, is_planned, free_plan},
    {"rg_plan_add", ONE, NULL, add_moves, NULL, free_plan},
    {"rg_plan_check", ONE, parse_and_plan, check_plan, NULL, free_plan},
    {"policies", ONE, NULL, ask_policy, NULL, NULL},
    {"rg_timeline_mark", ONE, make_timeline, mark_spans, NULL, free_timeline},
    {"rg_timeline_spans", ONE, make_spans, ask_spans, NULL, free_timeline},
    {"rg_timeline_write, SVG", ONE, make_spans, write_svg, NULL, free_timeline},
    {"rg_timeline_write, JSON", ONE, make_spans, write_json, NULL, free_timeline},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_queries", calls);
}
