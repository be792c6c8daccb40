/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Recovery without a death while a process lacks memory: test_memory.py. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/recovery.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

static rg_group survivors;
static unsigned word;
static int failed, dead;

static int clear_dead(void) {
  dead = -1;
  return RG_SUCCESS;
}

SHORTAGE_TWICE(find_failed, rg_group_failed(shortage_group, 0, NULL, &dead))

static int none_is_dead(void) {
  return dead == 0;
}

static int shrink(void) {
  return rg_group_shrink(shortage_group, &survivors);
}

static int all_survive(void) {
  int me = rgt_rank, sum = -1;
  return survivors && rg_allreduce(survivors, &me, &sum, 1, MPI_INT, MPI_SUM) == RG_SUCCESS &&
         sum == rgt_size * (rgt_size - 1) / 2;
}

static int free_survivors(void) {
  return rg_group_free(&survivors);
}

static int all_but_mine(void) {
  word = ~(1u << rgt_rank);
  failed = -1;
  return RG_SUCCESS;
}

static int agree(void) {
  return rg_group_agree(shortage_group, &word, &failed);
}

static int has_agreed(void) {
  return word == ~((1u << rgt_size) - 1) && failed == 0;
}

static int revoke(void) {
  int code = rg_group_revoke(shortage_group);
  shortage_over();
  return code == RG_ERR_NOMEM && rg_group_revoke(shortage_group) ? RG_ERR_INTERNAL : code;
}

static int is_revoked(void) {
  return rgt_size == 1 || rg_barrier(shortage_group) == RG_ERR_REVOKED;
}

static int restarts(void) {
  int64_t n;
  return rg_restart_count(&n);
}

static const shortage_call calls[] = {
    {"rg_group_failed", SHORTAGE_ONE, clear_dead, find_failed, none_is_dead, NULL},
    {"rg_group_shrink", SHORTAGE_ALL, NULL, shrink, all_survive, free_survivors},
    {"rg_group_agree", SHORTAGE_ALL, all_but_mine, agree, has_agreed, NULL},
    {"rg_group_revoke", SHORTAGE_ONE, NULL, revoke, is_revoked, NULL},
    {"rg_restart_count", SHORTAGE_ONE, NULL, restarts, NULL, NULL},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_recovery", calls);
}
