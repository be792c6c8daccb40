/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A program for clusters: it keeps its size when a machine is lost, as long as there are spare
 * ones, and continues with fewer processes after that. Each point of a grid follows a map of its
 * own, step after step, so that the result does not depend on the number of processes.
 *
 *   RG_RESERVE=4 regroup-run -n 16 example-spare [STEPS [MILLISECONDS [PATH]]]
 *
 * The last RG_RESERVE processes are in reserve. The grid is mirrored: each node has a copy of
 * another one's points. When processes die, those from the reserve take their ranks and points.
 * A step takes MILLISECONDS longer than it must. With a PATH the program saves checkpoints there,
 * also when SIGUSR1 or the end of the job's time makes one due; then it ends with RG_EXIT_REQUEUE.
 * It begins with the last checkpoint, on any number of processes. And where a file PATH.leave has
 * the name of a host that is to be switched off, the processes there leave before, and nothing is
 * done twice. When they have left the file is gone. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/array.h>
#include <regroup/array_math.h>
#include <regroup/array_regroup.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/check.h"

enum { POINTS = 200, SAVE = 20 }; /* a checkpoint, and a line, every SAVE steps */

static long steps = 40, pause_ms;
static const char *path; /* NULL: no checkpoints */
static char leave_file[4096], host[64];

/* What each member has; a process from the reserve gets it from the others. */
static rg_group team;
static rg_array grid;     /* the points after `done` steps */
static int64_t done = -1; /* -1: this process does not know yet */
static rg_checkpoint writing;
static int leaves; /* this process is to leave, or has left */
static int due;    /* all are to save and to end */

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, rg_error_detail());
  common_abort(1);
}

/* Returns an error that a death explains; any other one ends the program. */
static int survivable(int error, const char *what) {
  if (error && error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED)
    fail(what);
  return error;
}

#define TRY(call)                                                                                  \
  do {                                                                                             \
    int error_ = survivable(call, #call);                                                          \
    if (error_)                                                                                    \
      return error_;                                                                               \
  } while (0)

/* Whether no member has an error and none has died: the same answer on all. */
static int all_well(int error, int *well) {
  unsigned word = error == RG_SUCCESS;
  int failed = 0;
  if (error && rg_group_revoke(team)) /* no member is to wait for this one */
    fail("rg_group_revoke");
  TRY(rg_group_agree(team, &word, &failed));
  *well = word && !failed;
  return RG_SUCCESS;
}

static void say(const char *what, int64_t number) {
  int rank, size;
  rg_group_rank(team, &rank);
  rg_group_size(team, &size);
  if (rank == 0)
    printf("%s %lld of %ld, %d processes\n", what, (long long)number, steps, size);
  fflush(stdout);
}

static void clear(void) {
  rg_array_free(&grid);
  rg_group_free(&team);
}

/* --- a step --------------------------------------------------------------------------------- */

static int make(rg_array *a) {
  const int64_t shape[2] = {POINTS, POINTS};
  rg_array_spec spec = {};
  spec.size = sizeof spec;
  rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape);
  spec.flags = RG_ARRAY_MIRRORED;
  return survivable(rg_array_create(team, &spec, a), "rg_array_create");
}

/* The points of `from`, each one step further, in `to`. */
static int advance(rg_array from, rg_array to) {
  int64_t lo[2], hi[2], in, out;
  double *f, *t;
  int rank;
  rg_group_rank(team, &rank);
  TRY(rg_array_distribution(to, rank, lo, hi));
  if (lo[0] < hi[0] && lo[1] < hi[1]) {
    TRY(rg_array_access(from, lo, hi, RG_ACCESS_READ, (void **)&f, &in));
    TRY(rg_array_access(to, lo, hi, RG_ACCESS_WRITE, (void **)&t, &out));
    for (int64_t i = 0; i < hi[0] - lo[0]; i++)
      for (int64_t j = 0; j < hi[1] - lo[1]; j++)
        t[i * out + j] = 3.75 * f[i * in + j] * (1 - f[i * in + j]);
    TRY(rg_array_release(from, lo, hi));
    TRY(rg_array_release(to, lo, hi));
  }
  usleep((useconds_t)(1000 * pause_ms));
  return survivable(rg_array_sync(to), "rg_array_sync"); /* and the other nodes have copies */
}

static int save(void) {
  TRY(rg_checkpoint_wait(&writing)); /* the one before */
  return survivable(rg_checkpoint_start(team, path, 1, &grid, &done, sizeof done, &writing),
                    "rg_checkpoint_start");
}

/* After a step: a line and a checkpoint now and then, and one more when the time is over. */
static int report(void) {
  int written;
  if (done % SAVE == 0)
    say("step", done);
  if (!path)
    return RG_SUCCESS;
  TRY(rg_checkpoint_test(&writing, &written)); /* complete as soon as it is on the disk */
  TRY(rg_checkpoint_due(team, &due));
  due = due && done < steps;
  return due || done % SAVE == 0 ? save() : RG_SUCCESS;
}

static int step(rg_array *next) {
  TRY(make(next));
  return advance(grid, *next);
}

/* --- the beginning --------------------------------------------------------------------------- */

static int begin(void) {
  const double first = 0.2, slope = 0.5 / POINTS;
  int found = 0, rank;
  int64_t lo[2], hi[2], ld;
  double *p;
  TRY(make(&grid));
  if (path)
    TRY(rg_checkpoint_load(team, path, 1, &grid, sizeof done, &done, &found));
  if (!found) {
    done = 0;
    rg_group_rank(team, &rank);
    TRY(rg_array_distribution(grid, rank, lo, hi));
    if (lo[0] < hi[0] && lo[1] < hi[1]) {
      TRY(rg_array_access(grid, lo, hi, RG_ACCESS_WRITE, (void **)&p, &ld));
      for (int64_t i = lo[0]; i < hi[0]; i++)
        for (int64_t j = lo[1]; j < hi[1]; j++)
          p[(i - lo[0]) * ld + j - lo[1]] = first + slope * (double)i + slope * slope * (double)j;
      TRY(rg_array_release(grid, lo, hi));
    }
  }
  return survivable(rg_array_sync(grid), "rg_array_sync");
}

/* --- deaths -------------------------------------------------------------------------------- */

/* What the survivors know goes to the new members. */
static int take_over(void) {
  int64_t known[2] = {done, due};
  TRY(rg_allreduce(team, MPI_IN_PLACE, known, 2, MPI_INT64_T, MPI_MAX));
  done = known[0];
  due = (int)known[1];
  return survivable(rg_array_recover(team, &grid), "rg_array_recover");
}

/* The team with processes from the reserve in place of the dead, or else of the survivors. The
 * present team is kept until all have the next one. Returns RG_ERR_REVOKED in a process that was
 * acquired in vain. */
static int recover(void) {
  for (int well = 0; !well;) {
    rg_group before = team, next;
    rg_checkpoint_wait(&writing); /* complete or not: another one follows */
    int error = rg_group_replace(before, &next);
    if (error == RG_ERR_RESERVE || error == RG_ERR_UNSUPPORTED)
      error = rg_group_shrink(before, &next);
    if (error == RG_ERR_REVOKED)
      return error;
    if (error)
      fail("rg_group_replace");
    team = next;
    error = all_well(take_over(), &well);
    rg_group_free(error ? &team : &before);
    if (error)
      team = before;
  }
  say("processes were lost after step", done);
  return RG_SUCCESS;
}

/* --- a node that is to be switched off ------------------------------------------------------- */

/* Moves the points to the members that stay: into *moved, on *rest. */
static int move_points(rg_array *moved, rg_group *rest) {
  int rank;
  TRY(rg_checkpoint_wait(&writing));
  TRY(make(moved));
  TRY(rg_array_copy(grid, *moved));
  rg_group_rank(team, &rank);
  TRY(rg_group_split(team, leaves, rank, rest));
  TRY(rg_array_regroup(team, leaves ? NULL : *rest, NULL, moved));
  return leaves ? RG_SUCCESS : survivable(rg_array_sync(*moved), "rg_array_sync");
}

/* Whether the caller is on the host that is to be switched off, as rank 0 has read it. *any: how
 * many of the members are; 0 if no member would stay. */
static int ask_to_leave(int *any) {
  char name[64] = "";
  int rank, sums[2] = {0, 1};
  rg_group_rank(team, &rank);
  FILE *f = rank == 0 ? fopen(leave_file, "r") : NULL;
  if (f) {
    if (fscanf(f, "%63s", name) != 1)
      name[0] = 0;
    fclose(f);
  }
  *any = 0;
  TRY(rg_bcast(team, name, sizeof name, MPI_BYTE, 0));
  if (!name[0])
    return RG_SUCCESS;
  leaves = sums[0] = strcmp(name, host) == 0;
  TRY(rg_allreduce(team, MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM));
  *any = sums[0] < sums[1] ? sums[0] : 0;
  return RG_SUCCESS;
}

/* All on the host have left, or none has. */
static int let_go(void) {
  int well, any, rank;
  rg_array moved = NULL;
  rg_group rest = NULL;
  int error = ask_to_leave(&any);
  if (!error && any)
    error = all_well(move_points(&moved, &rest), &well) || !well;
  if (error || !any) {
    leaves = 0;
    rg_array_free(&moved);
    rg_group_free(&rest);
    return error ? RG_ERR_PROC_FAILED : RG_SUCCESS;
  }
  clear();
  grid = moved;
  team = rest;
  if (leaves)
    return RG_SUCCESS;
  say("processes have left after step", done);
  rg_group_rank(team, &rank);
  if (rank == 0)
    remove(leave_file);
  return RG_SUCCESS;
}

/* --- all steps ----------------------------------------------------------------------------- */

/* Until the end; else the process has left, or was acquired in vain. */
static int work(void) {
  while (done < steps && !due) {
    rg_array next = NULL;
    int well = 0, error = step(&next);
    if (all_well(error, &well) || !well) {
      rg_array_free(&next);
    } else {
      rg_array_free(&grid);
      grid = next;
      done++;
      well = report() == RG_SUCCESS && (!path || let_go() == RG_SUCCESS);
    }
    if ((!well && recover()) || leaves)
      return 0;
  }
  return 1;
}

/* A process may die after the last step, too. */
static void finish(void) {
  uint64_t checksum;
  int well = 0, rank;
  for (;;) {
    int error = survivable(rg_array_checksum(grid, &checksum), "rg_array_checksum");
    if (!error)
      error = survivable(rg_checkpoint_wait(&writing), "rg_checkpoint_wait");
    if (all_well(error, &well) == RG_SUCCESS && well)
      break;
    if (recover())
      return;
  }
  if (due)
    say("saved after step", done);
  rg_group_rank(team, &rank);
  if (rank == 0 && !due)
    printf("checksum %016llx after %lld steps\n", (unsigned long long)checksum, (long long)done);
}

/* In reserve: sleeps until it has to take the rank of a dead process. */
static void stand_by(void) {
  rg_acquisition drawn = {};
  drawn.size = sizeof drawn;
  for (;;) {
    if (rg_reserve_park(&drawn))
      fail("rg_reserve_park"); /* all others are dead */
    if (!drawn.group)
      return;
    int well = 0;
    team = drawn.group;
    done = -1;
    int member = !all_well(take_over(), &well) && (well || !recover()), ended = member && work();
    if (ended)
      finish();
    clear();
    if (ended || leaves)
      return;
  }
}

int main(int argc, char **argv) {
  int well = 0;
  steps = argc > 1 ? atol(argv[1]) : steps;
  pause_ms = argc > 2 ? atol(argv[2]) : 0;
  path = argc > 3 ? argv[3] : NULL;
  gethostname(host, sizeof host - 1);
  snprintf(leave_file, sizeof leave_file, "%s.leave", path ? path : "");
  MPI_Init(&argc, &argv);
  if ((path && rg_checkpoint_on_signal(SIGUSR1, 1)) || rg_init(MPI_COMM_WORLD, NULL) ||
      rg_reserve_open(RG_RESERVE_OPTION, &team))
    fail("rg_init");
  if (!team) {
    stand_by();
  } else {
    if (all_well(begin(), &well) || !well)
      fail("a process has died at the beginning");
    say("begin with step", done);
    if (work())
      finish();
    clear();
  }
  rg_finalize();
  MPI_Finalize();
  return due ? RG_EXIT_REQUEUE : 0;
}
