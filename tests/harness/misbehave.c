/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The misdeeds that tests/harness/test_harness.py expects the runner to catch; the variable
 * MISBEHAVE names one. Not a test of its own.
 * ranks: 4
 * time: 3 */
#include <regroup/error.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int wants(const char *what) {
  const char *misdeed = getenv("MISBEHAVE");
  return misdeed && strcmp(misdeed, what) == 0;
}

static void test_good(void) {
  RGT_TRUE(1);
}

static void test_rank2(void) {
  int size = 3 + (wants("rank2") && rgt_rank == 2);
  RGT_INT(size, 3);
}

static void test_all(void) {
  int off = wants("all");
  RGT_DBL(0.5 + off, 0.5, 0.25);
  RGT_STR(off ? "two\nlines" : "one", "one");
  RGT_OK(off ? RG_ERR_TAG : RG_SUCCESS);
  RGT_PTR_NULL(off && rgt_rank != 1 ? &rgt_rank : NULL);
  RGT_TRUE(!off);
}

static void test_hang(void) {
  if (wants("hang") && rgt_rank == 1) {
    signal(SIGTERM, SIG_IGN);
    for (;;)
      pause();
  }
}

static void *volatile lost;

static void test_crash(void) {
  if (wants("crash") && rgt_rank == rgt_size - 1)
    raise(SIGSEGV);
  if (wants("exit") && rgt_rank == 0)
    _exit(0);
  if (wants("leak"))
    lost = malloc(77);
  lost = NULL;
  if (wants("orphan") && rgt_rank == 0 && fork() == 0) {
    setsid();
    sleep(60);
    _exit(0);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"good", test_good},   {"rank2", test_rank2}, {"all", test_all},
                                   {"crash", test_crash}, {"hang", test_hang},   {NULL, NULL}};
  return rgt_main(argc, argv, "misbehave", tests);
}
