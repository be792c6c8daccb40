/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 2 3 4
 * One-sided calls are of no group: their waits, and their requests, which may outlive it, do not
 * keep the group of the call before. */
#include <regroup.h>

#include "check.h"
#include "engine/engine.h"
#include "progress/request.h"

static const rgi_transport *real;
static int waits, scoped;

static int see_wait(rgi_transport_op *op, rgi_wait *wait) {
  waits++;
  scoped += wait->scope.members != NULL;
  return real->wait(op, wait);
}

/* Gets the element of rank 1, which is on another node. */
static void get_elements(rg_group world, rg_array a, double *number) {
  rg_group g;
  rg_request request = NULL;
  const int64_t at = 1, end = 2;
  RGT_OK(rg_group_dup(world, &g));
  RGT_OK(rg_barrier(g));
  RGT_OK(rg_array_get(a, &at, &end, number, NULL));
  RGT_OK(rg_array_iget(a, &at, &end, number, NULL, &request));
  if (request)
    RGT_PTR_NULL(request->scope.members);
  RGT_TRUE(request || rgt_rank);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_wait(&request, NULL));
}

static void test_scope(void) {
  rg_group world;
  rg_array a;
  const int64_t extent = rgt_size;
  double number = 0;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, &extent, &a));
  RGT_OK(rg_array_fill(a, NULL, NULL, &(double){7}));
  rgi_transport spy = *rgi_engine_transport;
  real = rgi_engine_transport;
  spy.wait = see_wait;
  rgi_engine_transport = &spy;
  get_elements(world, a, &number);
  rgi_engine_transport = real;
  RGT_DBL(number, 7, 0);
  RGT_TRUE(waits > 0 || rgt_rank);
  RGT_INT(scoped, 0);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"a group's scope", test_scope}, {NULL, NULL}};
  return rgt_main(argc, argv, "array_scope_nodes", tests);
}
