/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * A member that calls later than RG_TIMEOUT: the error names it, and the call that the program has
 * made. */
#include <regroup.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "check.h"

static rg_group world;

static void be_patient(int patient) {
  RGT_OK(rgi_options_load(patient ? "timeout=60" : "timeout=0.3"));
}

/* Rank 0 calls, and the others do not. */
static void check_late(int (*call)(void *of), void *of, const char *name) {
  be_patient(rgt_rank != 0);
  if (rgt_rank == 0) {
    int awaited = 0;
    RGT_FAILS(call(of), RG_ERR_TIMEOUT);
    const char *text = rg_error_detail(), *rank = strstr(text, ": rank ");
    RGT_TRUE(strncmp(text, name, strlen(name)) == 0);
    RGT_TRUE(strstr(text, "rg_barrier") == NULL && strstr(text, "rg_allreduce") == NULL);
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

static int unit(rg_walker *w, rg_group g, void *context) {
  (void)w;
  (void)context;
  return rg_barrier(g);
}

static double left(const rg_walker *w, void *context) {
  (void)context;
  return (double)(1 - w->done);
}

static void test_sync(void) {
  const int64_t shape[1] = {40};
  rg_array a;
  RGT_OK(rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, shape, &a));
  RGT_OK(rg_array_sync(a));
  check_late(sync_array, a, "rg_array_sync");
  RGT_OK(rg_array_free(&a));
}

static void test_balance(int (*call)(void *of), const char *name) {
  rg_balancer b;
  rg_group g;
  rg_walker_kind kind = {.size = sizeof kind, .unit = unit, .left = left};
  RGT_OK(rg_group_dup(world, &g));
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

static void start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start},  {"sync", test_sync}, {"begin", test_begin},
                                   {"run", test_run}, {"stop", stop},      {NULL, NULL}};
  return rgt_main(argc, argv, "array_awaited", tests);
}
