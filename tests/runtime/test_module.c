/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * Modules: the order of opening and closing, start after start, and one that cannot be opened. */
#include <mpi.h>
#include <regroup.h>
#include <string.h>

#include "base/error.h"
#include "progress/progress.h"
#include "runtime/module.h"
#include "tests/check/check.h"

static char story[64]; /* one character for each call */
static int failing;

static void tell(char what) {
  size_t n = strlen(story);
  story[n] = what;
  story[n + 1] = 0;
}

static int open_first(void) {
  tell('a');
  return rgi_progress_ready() ? RG_SUCCESS : rgi_error(RG_ERR_INTERNAL, "no messages yet");
}

static int open_second(void) {
  tell('b');
  return failing ? rgi_error(RG_ERR_SYSTEM, "the second module fails") : RG_SUCCESS;
}

static void close_first(int mpi) {
  tell(mpi ? 'A' : '-');
}

static void close_second(int mpi) {
  tell(mpi ? 'B' : '-');
}

static void close_third(int mpi) {
  tell(mpi ? 'C' : '-');
}

/* Registered against the order of their stages. */
__attribute__((constructor)) static void register_modules(void) {
  static rgi_module first = {.name = "first",
                             .stage = RGI_MODULE_TRANSPORT,
                             .open = open_first,
                             .close = close_first},
                    second = {.name = "second",
                              .stage = RGI_MODULE_OBJECTS,
                              .open = open_second,
                              .close = close_second},
                    third = {.name = "third", .stage = RGI_MODULE_OBJECTS, .close = close_third};
  rgi_module_register(&second);
  rgi_module_register(&third);
  rgi_module_register(&first);
}

static void test_order(void) {
  for (int turn = 0; turn < 3; turn++) {
    story[0] = 0;
    RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
    RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
    RGT_OK(rg_finalize());
    RGT_STR(story, "ab"); /* the first rg_init opens, and the last rg_finalize closes */
    RGT_OK(rg_finalize());
    RGT_STR(story, "abCBA");
    RGT_TRUE(!rgi_progress_ready());
  }
}

/* Those that were opened are closed, and the next start finds all as at first. */
static void test_failure(void) {
  int flag = -1;
  story[0] = 0;
  failing = 1;
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_SYSTEM);
  RGT_STR(story, "abA");
  RGT_TRUE(!rgi_progress_ready());
  RGT_OK(rg_initialized(&flag));
  RGT_INT(flag, 0);
  RGT_FAILS(rg_finalize(), RG_ERR_NOT_INIT);
  failing = 0;
  test_order();
}

/* Where a process has other modules, only the basic ones are opened. */
static void test_difference(void) {
  rgi_modules_use(0);
  RGT_TRUE(rgi_modules_heap() == 0);
  story[0] = 0;
  rgi_modules_close(1);
  RGT_STR(story, "");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"order", test_order},
                                   {"failure", test_failure},
                                   {"difference", test_difference},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "module", tests);
}
