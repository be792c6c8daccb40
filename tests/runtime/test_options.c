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

/* Of one rank: an error on all, which names the option, its value and what is allowed. */
static void expect_refused(const char *option, const char *value, const char *allowed) {
  char *of_job = getenv(option), *before = of_job ? strdup(of_job) : NULL;
  int on = 1;
  if (rgt_rank == rgt_size - 1)
    setenv(option, value, 1);
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_OPTION);
  const char *text = rg_error_detail(), *word = strchr(value, '=');
  word = word ? word + 1 : value;
  if (!strstr(text, option) || !strstr(text, word) || !strstr(text, allowed))
    RGT_STR(text, allowed);
  RGT_OK(rg_initialized(&on));
  RGT_INT(on, 0);
  if (before)
    setenv(option, before, 1);
  else
    unsetenv(option);
  free(before);
}

/* Words, and texts that are understood where they are used. Afterwards the library starts. */
static void test_bad_texts(void) {
  static const char *const bad[][3] = {
      {"RG_WAIT", "slow", "auto|spin|yield|sleep"},
      {"RG_OVERSUBSCRIBED", "maybe", "auto|yes|no"},
      {"RG_POLITE", "2", "0|1"},
      {"RG_SURVIVE", "yes", "0|1"},
      {"RG_COLL", "nonsense", "operation=algorithm,... with operations of: barrier, bcast"},
      {"RG_COLL", "bcast=around", "linear, binomial"},
      {"RG_BIND", "sideways", "compact, scatter, none nor a list like"},
      {"RG_BIND", "0;99999", "of the threads 0 to "},
      {"RG_TOPOLOGY", "nonsense", "a description like \"pack:2 core:4 pu:1\""},
      {"RG_TOPOLOGY", "/no/such/file.xml", "expected a file of lstopo's"},
      {"RG_DOMAINS", "(r", "Unmatched"},
  };
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_refused(bad[i][0], bad[i][1], bad[i][2]);
  setenv("RG_COLL", "barrier=linear", 1);
  setenv("RG_TOPOLOGY", "pack:2 core:4 pu:1", 1);
  setenv("RG_BIND", "0;1,2-3", 1);
  rg_group world;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_barrier(world)); /* a program without collectives does not read RG_COLL */
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  unsetenv("RG_COLL");
  unsetenv("RG_TOPOLOGY");
  unsetenv("RG_BIND");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"table", test_table},
                                   {"order of sources", test_order},
                                   {"bad strings", test_bad_strings},
                                   {"bad environment", test_bad_environment},
                                   {"bad texts", test_bad_texts},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "options", tests);
}
