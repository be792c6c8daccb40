/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * ranks: 1 3
 * Where memory runs out the kernel's first choice is a rank: its score is raised above its
 * guard's, which may be the node daemon. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <unistd.h>

#include "noded/client/guard_client.h"
#include "tests/check/check.h"

static int score_of(pid_t pid) {
  char path[64];
  int score = -9999;
  snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
  FILE *f = fopen(path, "r");
  if (!RGT_TRUE(f != NULL))
    return score;
  RGT_INT(fscanf(f, "%d", &score), 1);
  fclose(f);
  return score;
}

static void test_score(void) {
  int guard = score_of(getppid()), rank = score_of(getpid());
  if (guard == -1000)
    RGT_INT(rank, guard);
  else
    RGT_INT(rank, guard + 500 < 1000 ? guard + 500 : 1000);
}

static void test_skipped(void) {
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"score", test_score}, {NULL, NULL}},
                        none[] = {{"skipped", test_skipped}, {NULL, NULL}};
  return rgt_main(argc, argv, "oom_score", rgi_guard_exists() ? tests : none);
}
