/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: default
 * ranks: 1 2 3 4
 * sources: tests/fuzz/draw.c tests/fuzz/fuzz.c tests/fuzz/types.c tests/fuzz/groups.c
 * sources: tests/fuzz/collectives.c tests/fuzz/messages.c tests/fuzz/arrays.c tests/fuzz/onesided.c
 * sources: tests/fuzz/mathematics.c tests/fuzz/balance.c tests/fuzz/files.c
 * sources: tests/fuzz/options.c
 * sources: tests/fuzz/queries.c tests/fuzz/numbers.c
 *
 * Public calls with arguments, options and files that are drawn at random: only clear errors come
 * back, and afterwards the library works as before. A few seconds in the suite; longer by hand:
 *
 *     mpiexec.mpich -n 4 build/tests/test_fuzz SECONDS [SEED [BATCH [PART]]]
 *
 * The same seed and batch draw the same again; PART has a word of the cases' names.
 * FUZZ_TRACE=1 in the environment writes each call to standard error before it is made. */
#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "draw.h"
#include "fuzz.h"
#include "run.h"
#include "tests/check/check.h"

static double seconds = 3;
static unsigned long long seed;
static long first_batch;
static const char *part = "";

/* As large as a foreign program may make them; memory beyond is an error of the call. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1:max_allocation_size_mb=4096";
}

static void test_fuzz(void) {
  fuzz_run((fuzz_plan){.seconds = seconds, .seed = seed, .first = first_batch, .part = part});
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"calls", test_fuzz}, {NULL, NULL}};
  seed = rgt_seed();
  if (argc > 1)
    seconds = atof(argv[1]);
  if (argc > 2)
    seed = strtoull(argv[2], NULL, 0);
  if (argc > 3)
    first_batch = atol(argv[3]);
  if (argc > 4)
    part = argv[4];
  return rgt_main(argc, argv, "fuzz", tests);
}
