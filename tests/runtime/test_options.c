/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 3
 * The option table: sources, their order, bad values. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "tests/check/check.h"

static int number_of(const char *name) {
  const char *text;
  int count = 0;
  RGT_OK(rg_option_count(&count));
  for (int i = 0; i < count; i++) {
    RGT_OK(rg_option_get(i, &text, NULL, NULL, NULL, NULL, NULL));
    if (strcmp(text, name) == 0)
      return i;
  }
  return -1;
}

static void expect(const char *name, const char *value, const char *origin) {
  const char *v = "", *o = "";
  RGT_OK(rg_option_get(number_of(name), NULL, &v, NULL, NULL, NULL, &o));
  RGT_STR(v, value);
  RGT_STR(o, origin);
}

/* Every option says what it is, and its built-in value is a good one. */
static void test_table(void) {
  int count = 0;
  RGT_OK(rg_option_count(&count));
  RGT_INT(count, RGI_OPT_COUNT);
  for (int i = 0; i < count; i++) {
    const char *name, *value, *builtin, *values, *meaning, *origin;
    RGT_OK(rg_option_get(i, &name, &value, &builtin, &values, &meaning, &origin));
    RGT_TRUE(strncmp(name, "RG_", 3) == 0);
    RGT_TRUE(strlen(meaning) > 10 && meaning[strlen(meaning) - 1] == '.');
    RGT_TRUE(strlen(values) > 0);
    RGT_TRUE(strcmp(origin, "default") != 0 || strcmp(value, builtin) == 0);
    RGT_OK(rg_option_get(i, NULL, NULL, NULL, NULL, NULL, NULL));
  }
  RGT_FAILS(rg_option_get(-1, NULL, NULL, NULL, NULL, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_option_get(count, NULL, NULL, NULL, NULL, NULL, NULL), RG_ERR_ARG);
}

/* Built-in, then rg_init's string, then the environment. */
static void test_order(void) {
  unsetenv("RG_TIMEOUT");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  expect("RG_TIMEOUT", "0", "default");
  RGT_OK(rg_finalize());
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=2.5,wait=yield"));
  expect("RG_TIMEOUT", "2.5", "rg_init");
  RGT_DBL(rgi_options_value(RGI_OPT_TIMEOUT), 2.5, 0);
  expect("RG_WAIT", "yield", "rg_init");
  RGT_INT(rgi_options_choice(RGI_OPT_WAIT), 2);
  RGT_OK(rg_finalize());
  setenv("RG_TIMEOUT", "7", 1);
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=2.5"));
  expect("RG_TIMEOUT", "7", "environment");
  RGT_OK(rg_finalize());
  unsetenv("RG_TIMEOUT");
}

static void test_bad_strings(void) {
  static const char *const bad[] = {
      "timeout=-1",   "timeout=abc", "timeout=",        "timeout",   "timeout=nan", "timeout=1e300",
      "wait=slow",    "wait=",       "oversubscribed=", "nothing=1", "=1",          "timeout=1,x=2",
      "RG_TIMEOUT=1", "timeout= 1"};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    RGT_FAILS(rg_init(MPI_COMM_WORLD, bad[i]), RG_ERR_OPTION);
  RGT_OK(rg_init(MPI_COMM_WORLD, ""));
  expect("RG_TIMEOUT", "0", "default"); /* nothing was kept */
  RGT_OK(rg_finalize());
}

/* A bad environment of one rank is an error on all ranks. */
static void test_bad_environment(void) {
  if (rgt_rank == rgt_size - 1)
    setenv("RG_LOG", "loud", 1);
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_OPTION);
  unsetenv("RG_LOG");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"table", test_table},
                                   {"order of sources", test_order},
                                   {"bad strings", test_bad_strings},
                                   {"bad environment", test_bad_environment},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "options", tests);
}
