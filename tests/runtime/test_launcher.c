/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How many ranks a node has, as hydra, Open MPI and Slurm say it.
 *
 * ranks: 1 */
#include "base/launcher.h"

#include <stdlib.h>

#include "tests/check/check.h"

static void forget(void) {
  unsetenv("MPI_LOCALNRANKS");
  unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  unsetenv("SLURM_STEP_TASKS_PER_NODE");
  unsetenv("SLURM_NODEID");
}

static int slurm(const char *tasks, const char *node) {
  setenv("SLURM_STEP_TASKS_PER_NODE", tasks, 1);
  setenv("SLURM_NODEID", node, 1);
  return rgi_launcher_local_ranks();
}

static void test_slurm(void) {
  static const struct {
    const char *tasks, *node;
    int ranks;
  } cases[] = {{"7", "0", 7},           {"4(x2),3", "0", 4},    {"4(x2),3", "1", 4},
               {"4(x2),3", "2", 3},     {"1,2(x10),5", "0", 1}, {"1,2(x10),5", "10", 2},
               {"1,2(x10),5", "11", 5}, {"4(x2),3", "3", 0},    {"", "0", 0},
               {"x", "0", 0},           {"4(x2),3", "-1", 0},   {"4(x", "1", 0}};
  forget();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    RGT_INT(slurm(cases[i].tasks, cases[i].node), cases[i].ranks);
}

static void test_others(void) {
  forget();
  RGT_INT(rgi_launcher_local_ranks(), 0);
  slurm("3", "0");
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "5", 1);
  RGT_INT(rgi_launcher_local_ranks(), 5);
  setenv("MPI_LOCALNRANKS", "6", 1);
  RGT_INT(rgi_launcher_local_ranks(), 6);
  forget();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"Slurm", test_slurm}, {"other launchers", test_others}, {NULL, NULL}};
  return rgt_main(argc, argv, "launcher", tests);
}
