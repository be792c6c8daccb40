/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * sources: tests/arrays/file_cases.c tests/arrays/draw_spec.c
 * A member that calls later than RG_TIMEOUT: the error names it, and the call that the program has
 * made. */
#include <regroup.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "check.h"
#include "file_cases.h"

static void be_patient(int patient) {
  RGT_OK(rgi_options_load(patient ? "timeout=60" : "timeout=0.3"));
}

/* Rank 0 calls, and the others do not. */
static void check_late(int (*call)(void *of), void *of, const char *name) {
  static const char *const inner[] = {"rg_barrier", "rg_allreduce", "rg_igather", "rg_wait"};
  be_patient(rgt_rank != 0);
  if (rgt_rank == 0) {
    int awaited = 0;
    RGT_FAILS(call(of), RG_ERR_TIMEOUT);
    const char *text = rg_error_detail(), *rank = strstr(text, ": rank ");
    RGT_TRUE(strncmp(text, name, strlen(name)) == 0);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
      RGT_TRUE(strstr(text, inner[i]) == NULL);
    if (RGT_PTR_NOT_NULL(rank) && sscanf(rank, ": rank %d", &awaited) == 1)
      RGT_TRUE(awaited > 0 && awaited < rgt_size);
  }
  be_patient(1);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int sync_array(void *of) {
  return rg_array_sync(of);
}

static int begin_balancer(void *of) {
  return rg_balance_begin(of);
}

static int run_balancer(void *of) {
  return rg_balance_run(of);
}

static int unit(rg_walker *walker, rg_group g, void *context) {
  (void)walker;
  (void)context;
  return rg_barrier(g);
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(1 - walker->done);
}

static void test_sync(void) {
  const int64_t shape[1] = {40};
  rg_array a;
  RGT_OK(rg_array_create_simple(rgt_world, RG_TYPE_DOUBLE, 1, shape, &a));
  RGT_OK(rg_array_sync(a));
  check_late(sync_array, a, "rg_array_sync");
  RGT_OK(rg_array_free(&a));
}

static void test_balance(int (*call)(void *of), const char *name) {
  rg_balancer b;
  rg_group g;
  rg_walker_kind kind = {.size = sizeof kind, .unit = unit, .left = left};
  RGT_OK(rg_group_dup(rgt_world, &g));
  RGT_OK(rg_balance_create(g, &kind, NULL, &b));
  check_late(call, b, name);
  RGT_OK(rg_balance_free(&b));
  RGT_OK(rg_group_free(&g));
}

static void test_begin(void) {
  test_balance(begin_balancer, "rg_balance_begin");
}

static void test_run(void) {
  test_balance(run_balancer, "rg_balance_run");
}

static rg_checkpoint checkpoint;

static int start_checkpoint(void *of) {
  return rg_checkpoint_start(of, rgt_path("awaited"), 0, NULL, NULL, 0, &checkpoint);
}

static int end_checkpoint(void *of) {
  return rg_checkpoint_wait(of);
}

/* The others have not started it; have started it, and do not call again. */
static void test_checkpoint(void) {
  rg_group g;
  RGT_OK(rg_group_dup(rgt_world, &g));
  check_late(start_checkpoint, g, "rg_checkpoint_start");
  RGT_OK(rg_group_free(&g));
  RGT_OK(start_checkpoint(rgt_world));
  check_late(end_checkpoint, &checkpoint, "rg_checkpoint_wait");
  RGT_OK(rg_checkpoint_wait(&checkpoint));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", rgt_files_start},
                                   {"sync", test_sync},
                                   {"begin", test_begin},
                                   {"run", test_run},
                                   {"checkpoint", test_checkpoint},
                                   {"stop", rgt_files_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "array_awaited", tests);
}
