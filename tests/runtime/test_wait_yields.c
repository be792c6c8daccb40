/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * env: RG_OVERSUBSCRIBED=yes
 * wrap: sched_yield
 * A wait for a bell whose yield comes back late, since another process has computed meanwhile,
 * makes the thread's next waits sleep at once. */
#include <mpi.h>
#include <regroup.h>
#include <sched.h>
#include <time.h>

#include "progress/wait.h"
#include "tests/check/check.h"

int __real_sched_yield(void);
int __wrap_sched_yield(void);

static _Thread_local int yields, late;

int __wrap_sched_yield(void) {
  const struct timespec slice = {0, 2000000};
  yields++;
  if (late)
    nanosleep(&slice, NULL);
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

/* Waits that end at once. */
static void wait_shortly(int times) {
  for (int i = 0; i < times; i++) {
    rgi_bell bell = {0};
    rgi_wait w;
    rgi_wait_start(&w, "test", -1);
    RGT_OK(rgi_wait_bell(&w, &bell, 1, 1));
  }
}

/* After a long wait four short ones in a row make the thread yield again; after late yields more
 * do: up to 256. On a busy machine some of them may be long. */
static void test_late_yields(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  for (int i = 0; i < 8; i++) {
    do {
      wait_shortly(2000);
      late = 1;
    } while (!yields_first());
    late = 0;
    RGT_TRUE(!yields_first());
    wait_shortly(4);
    RGT_TRUE(!yields_first());
  }
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"late yields", test_late_yields}, {NULL, NULL}};
  return rgt_main(argc, argv, "wait_yields", tests);
}
