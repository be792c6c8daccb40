/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A unit takes longer than RG_TIMEOUT: processes that wait for work wait on.
 *
 * tier: default
 * ranks: 2 3
 * env: RG_TIMEOUT=0.4 */
#include <unistd.h>

#include "check.h"
#include "world.h"

static int unit(rg_walker *walker, rg_group g, void *context) {
  (void)g;
  (void)context;
  *(int *)walker->state = 1;
  usleep(walker->id == 0 ? 1200000 : 1000);
  return RG_SUCCESS;
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return 1 - *(const int *)walker->state;
}

static void run_with(const char *name) {
  rg_walker_kind kind = {.size = sizeof kind, .bytes = sizeof(int), .unit = unit, .left = left};
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1};
  rg_balancer b;
  RGT_OK(rg_policy_parse(name, &policy));
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  for (int i = 0; i < rgt_size; i++)
    RGT_OK(rg_balance_add(
        b, &(rg_walker_new){.size = sizeof(rg_walker_new), .id = i, .left = 1, .most = 1}));
  RGT_OK(rg_balance_run(b));
  RGT_OK(rg_balance_free(&b));
}

static void test_long_unit(void) {
  run_with("share-out");
  run_with("sync:i=1");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"begin", test_begin}, {"long unit", test_long_unit}, {"end", test_end}, {NULL, NULL}};
  return rgt_main(argc, argv, "balance-timeout", tests);
}
