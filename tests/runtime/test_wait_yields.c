/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * env: RG_OVERSUBSCRIBED=yes
 * wrap: sched_yield
 * After a long wait for a bell the thread's next waits sleep at once, until four in a row have been
 * short. */
#include <mpi.h>
#include <regroup.h>
#include <sched.h>

#include "base/clock.h"
#include "progress/wait.h"
#include "tests/check/check.h"

int __real_sched_yield(void);
int __wrap_sched_yield(void);

static _Thread_local int yields;

int __wrap_sched_yield(void) {
  yields++;
  return __real_sched_yield();
}

/* Whether the first pause of a wait is a yield; no process rings. */
static int yields_first(void) {
  rgi_bell bell = {0};
  rgi_wait w;
  int before = yields;
  rgi_wait_start(&w, "test", -1);
  RGT_OK(rgi_wait_bell(&w, &bell, 0, 0));
  return yields > before;
}

/* No process rings for 1 ms and until the wait has slept. */
static void wait_long(void) {
  rgi_bell bell = {0};
  rgi_wait w;
  double start = rgi_clock_now();
  int before;
  rgi_wait_start(&w, "test", -1);
  do {
    before = yields;
    RGT_OK(rgi_wait_bell(&w, &bell, 0, 0));
  } while (yields > before || rgi_clock_now() - start < 1e-3);
}

/* The bell has rung. */
static void wait_shortly(int times) {
  for (int i = 0; i < times; i++) {
    rgi_bell bell = {0};
    rgi_wait w;
    rgi_wait_start(&w, "test", -1);
    RGT_OK(rgi_wait_bell(&w, &bell, 1, 1));
  }
}

/* On a busy machine some of the short waits may be long. */
static void test_long_waits(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  for (int i = 0; i < 8; i++) {
    int tries = 0;
    wait_long();
    RGT_TRUE(!yields_first());
    wait_shortly(3);
    RGT_TRUE(!yields_first());
    do
      wait_shortly(4);
    while (!yields_first() && tries++ < 1000);
    RGT_TRUE(tries < 1000);
  }
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"long waits", test_long_waits}, {NULL, NULL}};
  return rgt_main(argc, argv, "wait_yields", tests);
}
