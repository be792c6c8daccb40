/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Agreeing, shrinking and revoking without a death: the cases that survivors.c does not cover.
 *
 * ranks: 1 2 3 4 7 16 */
#include <regroup.h>
#include <unistd.h>

#include "check.h"
#include "shm/revocation.h"

#ifndef SUITE
#define SUITE "recovery"
#define ON_ONE_NODE 1
#endif

static rg_group world;

static void start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void test_nobody_failed(void) {
  int n = -1, ranks[4];
  RGT_OK(rg_group_failed(world, 0, NULL, &n));
  RGT_INT(n, 0);
  RGT_OK(rg_group_failed(world, 4, ranks, &n));
  RGT_INT(n, 0);
  RGT_FAILS(rg_group_failed(world, 1, NULL, &n), RG_ERR_ARG);
  RGT_FAILS(rg_group_failed(world, -1, ranks, &n), RG_ERR_ARG);
  RGT_FAILS(rg_group_failed(NULL, 0, NULL, &n), RG_ERR_GROUP);
}

/* Each clears one bit: all of them are missing in the answer. */
static void test_agree(void) {
  for (int round = 0; round < 20; round++) {
    unsigned word = ~(1u << (rgt_rank + round) % 32), expected = ~0u;
    int failed = -1;
    for (int i = 0; i < rgt_size; i++)
      expected &= ~(1u << (i + round) % 32);
    RGT_OK(rg_group_agree(world, &word, &failed));
    RGT_INT(word, expected);
    RGT_INT(failed, 0);
  }
  RGT_FAILS(rg_group_agree(world, NULL, NULL), RG_ERR_ARG);
}

/* All handles of the world share one sequence of agreements. */
static void test_handles(void) {
  rg_group other;
  for (int i = 0; i < 6; i++) {
    unsigned word = ~0u << i;
    if (i % 2 == 0)
      RGT_OK(rg_group_world(&other));
    RGT_OK(rg_group_agree(i % 3 ? other : world, &word, NULL));
    RGT_INT(word, ~0u << i);
    if (i % 2)
      RGT_OK(rg_group_free(&other));
  }
}

/* The same members, in a group of its own. */
static void test_shrink(void) {
  for (int round = 0; round < 5; round++) {
    rg_group g;
    int how, sum = rgt_rank;
    RGT_OK(rg_group_shrink(world, &g));
    RGT_OK(rg_group_compare(world, g, &how));
    RGT_INT(how, RG_CONGRUENT);
    RGT_OK(rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM));
    RGT_INT(sum, rgt_size * (rgt_size - 1) / 2);
    RGT_OK(rg_group_free(&g));
  }
}

/* One member revokes while the others wait for it in different calls. Other groups of
 * the same members are not concerned; the revoked one can be shrunk. */
static void test_revoke(void) {
  rg_group g, next;
  int x = 0;
  rg_request request = NULL;
  RGT_OK(rg_group_dup(world, &g));
  if (rgt_rank == 0) {
    usleep(50000);
    RGT_OK(rg_group_revoke(g));
    RGT_OK(rg_group_revoke(g));
  } else if (rgt_rank % 3 == 0) {
    RGT_FAILS(rg_barrier(g), RG_ERR_REVOKED);
  } else if (rgt_rank % 3 == 1) {
    RGT_FAILS(rg_recv(g, &x, 1, MPI_INT, 0, 1, NULL), RG_ERR_REVOKED);
  } else {
    RGT_OK(rg_irecv(g, &x, 1, MPI_INT, 0, 1, &request));
    RGT_FAILS(rg_wait(&request, NULL), RG_ERR_REVOKED);
    RGT_PTR_NULL(request);
  }
  RGT_OK(rg_barrier(world));
  if (rgt_size > 1)
    RGT_FAILS(rg_recv(g, &x, 1, MPI_INT, (rgt_rank + 1) % rgt_size, 2, NULL), RG_ERR_REVOKED);
  if (rgt_size > 1 && ON_ONE_NODE) /* between nodes a call may end without a wait */
    RGT_FAILS(rg_barrier(g), RG_ERR_REVOKED);
  unsigned word = 6;
  RGT_OK(rg_group_agree(g, &word, NULL));
  RGT_INT(word, 6);
  RGT_OK(rg_group_shrink(g, &next));
  RGT_OK(rg_barrier(next));
  RGT_OK(rg_group_free(&next));
  RGT_OK(rg_group_free(&g));
}

/* A revocation goes with its group: any number of groups may be revoked one after another. */
static void test_many_revoked(void) {
  enum { GROUPS = 4200 };
  rg_group g;
  int failed = 0;
  for (int i = 0; i < GROUPS; i++) {
    failed += rg_group_dup(world, &g) != RG_SUCCESS;
    failed += rg_group_revoke(g) != RG_SUCCESS;
    failed += rg_group_free(&g) != RG_SUCCESS;
  }
  RGT_INT(failed, 0);
  RGT_OK(rg_barrier(world));
}

/* What is free of the table is no revocation of the operations that have no group. */
static void test_freed_place(void) {
  rg_group first, second;
  RGT_OK(rg_group_dup(world, &first));
  RGT_OK(rg_group_dup(world, &second));
  RGT_OK(rg_group_revoke(first));
  RGT_OK(rg_barrier(world));
  RGT_OK(rg_group_revoke(second));
  RGT_OK(rg_barrier(world));
  RGT_OK(rg_group_free(&first));
  RGT_OK(rg_barrier(world));
  RGT_INT(rgi_revocation_has(0), 0);
  RGT_OK(rg_group_free(&second));
  RGT_OK(rg_barrier(world));
}

static void end(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start},
                                   {"nobody failed", test_nobody_failed},
                                   {"agree", test_agree},
                                   {"handles", test_handles},
                                   {"shrink", test_shrink},
                                   {"revoke", test_revoke},
                                   {"many revoked", test_many_revoked},
                                   {"freed place", test_freed_place},
                                   {"end", end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, SUITE, tests);
}
