/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_early_ends.py and test_slurm_run.py start: a program of which one rank ends early.
 *
 *     early RANKS MOMENT [END]
 *
 * The ranks ("4,5") end at the moment: before (MPI_Init), between (MPI_Init and rg_init), first
 * (thing after rg_init, to which the others come later), inside (between rg_init and rg_finalize),
 * after (rg_finalize), last (after MPI_Finalize); "all": every one. END: a status for exit; one for
 * _exit after a "_"; "abort"; else it kills itself. With the moment "slow" none ends, and all sleep
 * between MPI_Init and rg_init, longer than guards look twice.
 */
#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOW_SECONDS 4
#define LATE_MICROSECONDS 200000

static unsigned late_microseconds;

/* rg_init's last call of MPI. */
int MPI_Errhandler_free(MPI_Errhandler *handler) {
  usleep(late_microseconds);
  return PMPI_Errhandler_free(handler);
}

static int is_meant(const char *ranks) {
  const char *rank = getenv("PMI_RANK");
  for (; rank && ranks && *ranks; ranks = strchr(ranks, ',') ? strchr(ranks, ',') + 1 : NULL)
    if (!strcmp(ranks, "all") || atoi(ranks) == atoi(rank))
      return 1;
  return 0;
}

static void die_at(char **argv, const char *moment) {
  const char *end = argv[3];
  if (!is_meant(argv[1]) || strcmp(moment, argv[2]))
    return;
  if (!end)
    raise(SIGKILL);
  else if (!strcmp(end, "abort"))
    abort();
  else if (*end == '_')
    _exit(atoi(end + 1));
  else
    exit(atoi(end));
}

int main(int argc, char **argv) {
  rg_group world;
  if (argc < 3)
    return 2;
  die_at(argv, "before");
  MPI_Init(&argc, &argv);
  die_at(argv, "between");
  if (!strcmp(argv[2], "slow"))
    sleep(SLOW_SECONDS);
  if (!strcmp(argv[2], "first") && !is_meant(argv[1]))
    late_microseconds = LATE_MICROSECONDS;
  int error = rg_init(MPI_COMM_WORLD, NULL);
  die_at(argv, "first");
  if (!error) {
    rg_group_world(&world);
    rg_barrier(world);
    die_at(argv, "inside");
    rg_barrier(world);
    rg_group_free(&world);
    rg_finalize();
  }
  die_at(argv, "after");
  MPI_Finalize();
  die_at(argv, "last");
  return error != 0;
}
