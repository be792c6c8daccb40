/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: RG_TIMEOUT=60
 * The file of measured costs: what it may hold, what is refused, by all processes
 * alike, and what follows from it. */
#include <math.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "runtime/tuning.h"

#define HEAD RGI_TUNING_HEAD "\n"

static char path[RGT_PATH];

/* Rank 0 writes the file of this text, and all name it. */
static void put_n(const char *text, size_t n) {
  rgt_temporary(path);
  if (rgt_rank == 0) {
    close(mkstemp(path));
    FILE *f = fopen(path, "w");
    RGT_PTR_NOT_NULL(f);
    RGT_INT(fwrite(text, 1, n, f), n);
    RGT_INT(fclose(f), 0);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  setenv("RG_TUNING", path, 1);
}

static void put(const char *text) {
  put_n(text, strlen(text));
}

static void take_away(void) {
  unsetenv("RG_TUNING");
  if (rgt_rank == 0)
    unlink(path);
}

/* rg_init fails on every rank with the words of rank 0, these among them. */
static void expect_refusal(const char *words) {
  static const char from[] = "rg_init: rank 0 reported: ";
  char mine[400], first[400];
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_OPTION);
  snprintf(mine, sizeof mine, "%s", rg_error_detail());
  memcpy(first, mine, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  RGT_INT(strncmp(mine, from, strlen(from)) == 0, rgt_rank > 0);
  RGT_STR(mine + (rgt_rank > 0 ? strlen(from) : 0), first);
  if (!RGT_TRUE(strstr(mine, words) != NULL))
    printf("%s\n", mine);
  RGT_TRUE(strstr(mine, "RG_TUNING=") != NULL);
}

static void test_refused(void) {
  static const struct {
    const char *text, *words;
  } bad[] = {
      {"", "line 1: the file is empty"},
      {"\n" HEAD, "line 1: \"\": no tuning file"},
      {"# regroup tuning 2\n", "line 1"},
      {"{\"ranks\": 4}\n", "line 1: \"{\"ranks\": 4}\": no tuning file"},
      {"\x7f"
       "ELF\x01\n",
       "line 1: \"?ELF?\""},
      {RGI_TUNING_HEAD, "line 1"},
      {HEAD "inside.t_s = -1e-6\n", "line 2: \"inside.t_s = -1e-6\": expected seconds above 0"},
      {HEAD "inside.t_s = 0\n", "line 2"},
      {HEAD "inside.t_s = nan\n", "line 2"},
      {HEAD "inside.t_s = inf\n", "line 2"},
      {HEAD "inside.t_s = 1\n", "line 2"},
      {HEAD "inside.t_s = 1e-400\n", "line 2"},
      {HEAD "\n# x\ninside.t_s = 1e-6 s\n", "line 4: \"inside.t_s = 1e-6 s\": expected one number"},
      {HEAD "inside.t_s =\n", "line 2"},
      {HEAD "inside.t_s 1e-6\n", "line 2"},
      {HEAD "inside.t_s = soon\n", "line 2"},
      {HEAD "inside.t_x = 1e-6\n", "line 2: \"inside.t_x = 1e-6\": expected level.value"},
      {HEAD "inside = 1e-6\n", "line 2"},
      {HEAD "= 1e-6\n", "line 2"},
      {HEAD "inside.t_s = 1e-6\ninside.t_w = 1e-9\ninside.t_s = 1e-6\n", "line 4"},
      {HEAD "inside.t_s = 1e-6\ninside.t_w = 1e-1", "line 3: \"inside.t_w = 1e-1\": the line has"},
  };
  for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    put(bad[i].text);
    expect_refusal(bad[i].words);
    take_away();
  }
  put_n(HEAD "inside.t_s\0 = 1e-6\n", sizeof HEAD "inside.t_s\0 = 1e-6");
  expect_refusal("line 2");
  take_away();
  char line[1000];
  snprintf(line, sizeof line, HEAD "inside.t_s = %0*d\n", 700, 1);
  put(line);
  expect_refusal("line 2");
  take_away();
}

static void test_unreadable(void) {
  setenv("RG_TUNING", "/nonexistent/tuning", 1);
  expect_refusal("cannot be opened: No such file");
  setenv("RG_TUNING", "/tmp", 1);
  expect_refusal("no regular file");
  unsetenv("RG_TUNING");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL)); /* nothing is left of the failures */
  RGT_OK(rg_finalize());
}

static double predicted(rg_operation op, const char *name, int p, int nodes, MPI_Count bytes) {
  const char *other;
  double seconds = -1;
  int count;
  RGT_OK(rg_algorithm_count(op, &count));
  for (int i = 0; i < count; i++) {
    RGT_OK(rg_algorithm_get(op, i, &other, NULL, NULL));
    if (strcmp(other, name) == 0)
      RGT_OK(rg_algorithm_predict(op, i, p, nodes, bytes, &seconds));
  }
  return seconds;
}

static void test_all_values(void) {
  put(HEAD "\n# measured\nbetween.t_s = 2e-5\nbetween.t_w=1e-9\n  between.t_c\t=\t3e-10  \n"
           "inside.t_s = 1.5e-06\r\ninside.t_w = 0.0000000002\ninside.t_c = 4e-10\n"
           "shared.t_s = 1e-7\nshared.t_w = 5e-11\nshared.t_c = 6e-11\n");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_DBL(predicted(RG_OP_BCAST, "binomial", 8, 8, 1000), 3 * (2e-5 + 1000 * 1e-9), 1e-15);
  RGT_DBL(predicted(RG_OP_BCAST, "binomial", 8, 1, 1000), 3 * (1.5e-6 + 1000 * 2e-10), 1e-15);
  RGT_DBL(predicted(RG_OP_ALLREDUCE, "butterfly", 8, 1, 1000), 3 * (1.5e-6 + 1000 * 6e-10), 1e-15);
  RGT_DBL(predicted(RG_OP_BARRIER, "shared", 8, 1, 0), 3 * 1e-7, 1e-15);
  RGT_DBL(rgi_tuning_now()->between.tc, 3e-10, 0);
  RGT_DBL(rgi_tuning_now()->shared.tc, 6e-11, 0);
  RGT_OK(rg_finalize());
  take_away();
}

/* The values that a file leaves out, and all of them without a file. */
static void test_built_in(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  rgi_tuning_model without = *rgi_tuning_now();
  RGT_OK(rg_finalize());
  put(HEAD "inside.t_s = 0.25\n");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_DBL(rgi_tuning_now()->inside.ts, 0.25, 0);
  rgi_tuning_model with = *rgi_tuning_now();
  with.inside.ts = without.inside.ts;
  RGT_TRUE(memcmp(&with, &without, sizeof with) == 0);
  RGT_OK(rg_finalize());
  take_away();
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_TRUE(memcmp(rgi_tuning_now(), &without, sizeof without) == 0);
  RGT_OK(rg_finalize());
}

static const char *choice_for_scan(MPI_Count bytes) {
  const char *name = NULL;
  rg_group world;
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_group_algorithm(world, RG_OP_SCAN, bytes, &name));
  long long one = 1, sum = 0; /* and what was chosen works */
  RGT_OK(rg_scan(world, &one, &sum, 1, MPI_LONG_LONG, MPI_SUM));
  RGT_INT(sum, rgt_rank + 1);
  RGT_OK(rg_group_free(&world));
  return name;
}

/* For scan shared memory and messages are compared. */
static void test_choice(void) {
  put(HEAD "shared.t_s = 0.5\ninside.t_s = 1e-6\n");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  if (rgt_size > 1)
    RGT_TRUE(strcmp(choice_for_scan(8), "cells") != 0);
  RGT_OK(rg_finalize());
  take_away();
  put(HEAD "shared.t_s = 1e-6\ninside.t_s = 0.5\n");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  if (rgt_size > 1)
    RGT_STR(choice_for_scan(8), "cells");
  RGT_OK(rg_finalize());
  take_away();
}

/* The first process reads; what the others' environment says does not count. */
static void test_first_reads(void) {
  put(HEAD "inside.t_s = 0.125\n");
  if (rgt_rank > 0)
    setenv("RG_TUNING", "/nonexistent/tuning", 1);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_DBL(rgi_tuning_now()->inside.ts, 0.125, 0);
  RGT_OK(rg_finalize());
  take_away();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"refused", test_refused},
                                   {"unreadable", test_unreadable},
                                   {"all values", test_all_values},
                                   {"built in", test_built_in},
                                   {"choice", test_choice},
                                   {"first reads", test_first_reads},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "tuning", tests);
}
