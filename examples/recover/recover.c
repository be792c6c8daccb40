/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A program that goes on when its ranks are killed: heat spreads on a square plate, by
 * Jacobi's iteration, in phases. After each phase the ranks split into two halves that merge
 * again, as balancing programs do. Then the plate is saved to a second array in memory,
 * and all agree that the phase is done. After a death the survivors recover the saved plate,
 * the dead ranks' parts too, and do the phase again.
 *
 *   regroup-run -n 16 example-recover --kill 3:0.5,8:merge,5:1.2
 *
 * --kill RANK:SECONDS kills a rank so long after the start, RANK:merge in the merge of the
 * middle phase. --seed N draws three ranks and times instead. --checkpoint FILE: on SIGUSR1 or
 * SIGTERM, and before the job's time ends, the plate is saved in FILE.0 or FILE.1, and the program
 * ends with status 99; started again it continues. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/array.h>
#include <regroup/array_math.h>
#include <regroup/array_regroup.h>
#include <regroup/checkpoint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../common/check.h"

#define DEATHS 16
#define IN_MERGE (-1.0)

static struct {
  int points, phases, steps, deaths;
  int rank[DEATHS];
  double when[DEATHS]; /* seconds after the start, or IN_MERGE */
} plan = {120, 20, 40, 0, {0}, {0}};

static int world_rank, world_size;
static double start;     /* the same on all ranks: one clock serves a node */
static rg_array died_at; /* for each rank of the world, when it was or is to be killed */
static double time_lost;

/* The team and its plate. */
static rg_group team;
static rg_array u[2], saved[2];
static int done; /* phases; the last one is in saved[done % 2] */

static const char *checkpoint; /* where to save when that is due, or NULL */
static int halted;             /* the plate has been saved: the program ends early */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "rank %d: %s: %s\n", world_rank, what, rg_error_detail());
  common_abort(1);
}

/* Returns errors that a death can cause; any other error ends the program. */
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

/* --- dying ------------------------------------------------------------------------------ */

static void die(int signal_) {
  (void)signal_;
  kill(getpid(), SIGKILL);
}

static void die_after(double seconds) {
  struct itimerval timer = {{0, 0}, {0, 0}};
  const int64_t lo[1] = {world_rank}, hi[1] = {world_rank + 1};
  double at = now() + seconds;
  rg_array_put(died_at, lo, hi, &at, NULL);
  signal(SIGALRM, die);
  timer.it_value.tv_sec = (time_t)seconds;
  timer.it_value.tv_usec = 1 + (suseconds_t)(1e6 * (seconds - (double)timer.it_value.tv_sec));
  setitimer(ITIMER_REAL, &timer, NULL);
}

static int team_rank_of(int rank) {
  int n, found = -1;
  rg_group_size(team, &n);
  int *members = (int *)malloc((size_t)n * sizeof *members);
  rg_group_members(team, members);
  for (int i = 0; i < n; i++)
    if (members[i] == rank)
      found = i;
  free(members);
  return found;
}

/* The victim sets its timer; the other half sleeps, so that the victim dies in the merge. */
static void die_in_merge(int half, int first_of_high) {
  for (int i = 0; i < plan.deaths && done == plan.phases / 2; i++) {
    int rank = plan.when[i] == IN_MERGE ? team_rank_of(plan.rank[i]) : -1;
    if (plan.rank[i] == world_rank && rank >= 0)
      die_after(0.005);
    else if (rank >= 0 && (rank >= first_of_high) != half)
      usleep(20000);
  }
}

/* --- a phase ------------------------------------------------------------------------------ */

static int step(rg_array from, rg_array to) {
  double *f, *t;
  int64_t lo[2], hi[2], ld;
  int rank;
  TRY(rg_array_update_ghosts(from));
  rg_group_rank(team, &rank);
  rg_array_distribution(from, rank, lo, hi);
  if (lo[0] >= hi[0] || lo[1] >= hi[1])
    return RG_SUCCESS;
  TRY(rg_array_access_ghosts(from, RG_ACCESS_READ, &f, &ld));
  TRY(rg_array_access_ghosts(to, RG_ACCESS_READ_WRITE, &t, &ld));
  for (int64_t i = 1; i <= hi[0] - lo[0]; i++)
    for (int64_t j = 1; j <= hi[1] - lo[1]; j++) {
      int64_t at = i * ld + j;
      t[at] = f[at] + (f[at - ld] + f[at + ld] + f[at - 1] + f[at + 1] - 4 * f[at]) / 5;
    }
  TRY(rg_array_release_ghosts(from));
  return survivable(rg_array_release_ghosts(to), "rg_array_release_ghosts");
}

/* Splits the team into two halves and merges them; the sum shows that no rank is missing. */
static int split_and_merge(rg_group *part, rg_group *both) {
  int n, rank, sum = 1;
  rg_group_size(team, &n);
  rg_group_rank(team, &rank);
  int first_of_high = (n + 1) / 2, half = rank >= first_of_high;
  if (n < 2)
    return RG_SUCCESS;
  TRY(rg_group_split(team, half, rank, part));
  die_in_merge(half, first_of_high);
  TRY(rg_group_merge(*part, team, half ? 0 : first_of_high, half, 1, both));
  TRY(rg_allreduce(*both, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM));
  if (sum != n)
    fail("a rank is missing");
  return RG_SUCCESS;
}

static int phase(void) {
  rg_group part = NULL, both = NULL;
  for (int i = 0; i < plan.steps; i++)
    TRY(step(u[i % 2], u[(i + 1) % 2]));
  int error = split_and_merge(&part, &both);
  rg_group_free(&both);
  rg_group_free(&part);
  if (error)
    return error;
  if (plan.steps % 2)
    TRY(rg_array_copy(u[1], u[0]));
  return survivable(rg_array_copy(u[0], saved[(done + 1) % 2]), "rg_array_copy");
}

/* --- recovering ----------------------------------------------------------------------------- */

static int make(rg_array *a) {
  rg_array_spec spec = {};
  const int64_t shape[2] = {plan.points, plan.points};
  spec.size = sizeof spec;
  rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape);
  spec.ghosts[0] = spec.ghosts[1] = 1;
  TRY(rg_array_create(team, &spec, a));
  return survivable(rg_array_zero(*a), "rg_array_zero");
}

/* All arrays but the saved one, which is the plate. */
static int prepare(void) {
  TRY(make(&u[0]));
  TRY(make(&u[1]));
  TRY(make(&saved[(done + 1) % 2]));
  TRY(rg_array_copy(saved[done % 2], u[0]));
  return survivable(rg_array_sync(u[0]), "rg_array_sync");
}

static void report_recovery(rg_group before, double noticed, double back) {
  int n, rank, left;
  int ranks[DEATHS], world[DEATHS];
  rg_group all;
  rg_group_rank(team, &rank);
  rg_group_size(team, &left);
  if (rank != 0 || rg_group_failed(before, DEATHS, ranks, &n) || rg_group_world(&all))
    return;
  rg_group_translate(before, n, ranks, all, world);
  for (int i = 0; i < n; i++) {
    const int64_t lo[1] = {world[i]}, hi[1] = {world[i] + 1};
    double at = 0;
    rg_array_get(died_at, lo, hi, &at, NULL);
    if (at == 0) /* its death was not planned */
      printf("           rank %d died in phase %d, %d ranks went on\n", world[i], done + 1, left);
    else
      printf(
          "%7.3f s  rank %d died in phase %d; noticed by rank %d after %.1f ms, %d ranks went on "
          "after %.1f ms\n",
          at - start, world[i], done + 1, world_rank, 1e3 * (noticed - at), left,
          1e3 * (back - at));
  }
  fflush(stdout);
  rg_group_free(&all);
}

/* The survivors' team, with the plate as it was saved last. */
static void recover(double noticed) {
  rg_group before = team, next;
  int error;
  do {
    if (rg_group_shrink(team, &next))
      fail("rg_group_shrink");
    if (team != before)
      rg_group_free(&team);
    team = next;
    error = survivable(rg_array_recover(team, &saved[done % 2]), "rg_array_recover");
  } while (error);
  rg_array_free(&saved[(done + 1) % 2]);
  rg_array_free(&u[0]);
  rg_array_free(&u[1]);
  report_recovery(before, noticed, now());
  rg_group_free(&before);
}

/* Whether no rank has an error and none has died: the same answer on all ranks. */
static int all_well(int error) {
  unsigned well = error == RG_SUCCESS;
  int failed;
  if (error)
    rg_group_revoke(team); /* so that no rank waits for this one */
  if (rg_group_agree(team, &well, &failed))
    fail("rg_group_agree");
  return well == 1 && !failed;
}

static int save_if_due(void) {
  rg_checkpoint c = NULL;
  if (!checkpoint)
    return RG_SUCCESS;
  TRY(rg_checkpoint_due(team, &halted));
  if (!halted)
    return RG_SUCCESS;
  TRY(rg_checkpoint_start(team, checkpoint, 1, &saved[done % 2], &done, sizeof done, &c));
  return survivable(rg_checkpoint_wait(&c), "rg_checkpoint_wait");
}

/* Phase after phase, each done by all or done again. */
static void work(int error) {
  while (done < plan.phases && !halted) {
    double began = now();
    if (!error)
      error = save_if_due();
    if (!error && !halted)
      error = phase();
    double noticed = now();
    if (all_well(error)) {
      done += !halted;
      continue;
    }
    halted = 0; /* it is still due */
    recover(noticed);
    error = prepare();
    time_lost += now() - began;
  }
}

/* --- start and end ---------------------------------------------------------------------------- */

/* The plate as it was saved, if it was. */
static int load(void) {
  int found = 0;
  if (checkpoint)
    TRY(rg_checkpoint_load(team, checkpoint, 1, &saved[0], sizeof done, &done, &found));
  if (done % 2) {
    saved[1] = saved[0];
    saved[0] = NULL;
  }
  return RG_SUCCESS;
}

static int set_up(void) {
  const int64_t ranks = world_size;
  const int64_t lo[2] = {plan.points / 4, plan.points / 4};
  const int64_t hi[2] = {plan.points / 4 + 2, plan.points / 2 + 1};
  const double hot = 1000;
  TRY(rg_array_create_simple(team, RG_TYPE_DOUBLE, 1, &ranks, &died_at));
  TRY(rg_array_zero(died_at));
  TRY(make(&saved[0]));
  TRY(rg_array_fill(saved[0], lo, hi, &hot));
  TRY(rg_array_sync(saved[0]));
  TRY(load());
  start = now();
  return survivable(rg_bcast(team, &start, 1, MPI_DOUBLE, 0), "rg_bcast");
}

/* After a death here there is nothing to recover yet: the survivors begin again. From the line on
 * that this prints, any rank may be killed. */
static void begin(void) {
  rg_group next;
  int rank, n;
  while (!all_well(set_up())) {
    if (rg_group_shrink(team, &next))
      fail("rg_group_shrink");
    rg_array_free(&died_at);
    rg_array_free(&saved[0]);
    rg_array_free(&saved[1]);
    done = 0;
    rg_group_free(&team);
    team = next;
  }
  rg_group_rank(team, &rank);
  rg_group_size(team, &n);
  if (rank == 0)
    printf("%d ranks begin\n", n);
  fflush(stdout);
}

static void end_early(void) {
  int rank;
  rg_group_rank(team, &rank);
  if (rank == 0)
    printf("phase %d of %d is saved in %s\n", done, plan.phases, checkpoint);
  fflush(stdout);
}

static void end(void) {
  uint64_t checksum;
  int rank, n;
  /* A rank may die after the last phase, even the one that prints. */
  for (int printed = 0; !printed;) {
    int error = survivable(rg_array_checksum(saved[done % 2], &checksum), "rg_array_checksum");
    rg_group_rank(team, &rank);
    rg_group_size(team, &n);
    if (rank == 0 && !error)
      printf("checksum %016llx: %d x %d points, %d phases, %d of %d ranks, %.3f s (%.3f s lost)\n",
             (unsigned long long)checksum, plan.points, plan.points, done, n, world_size,
             now() - start, time_lost);
    fflush(stdout);
    printed = all_well(error);
    if (!printed)
      recover(now());
  }
}

static int read_kills(const char *text) {
  for (const char *p = text; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    char *rest;
    long rank = strtol(p, &rest, 10);
    if (rest == p || *rest != ':' || plan.deaths == DEATHS || rank < 0)
      return 0;
    plan.rank[plan.deaths] = (int)rank;
    plan.when[plan.deaths++] = strncmp(rest, ":merge", 6) == 0 ? IN_MERGE : atof(rest + 1);
  }
  return 1;
}

/* Up to three ranks, at random times in the first second. */
static void draw_kills(unsigned seed) {
  for (plan.deaths = 0; plan.deaths < 3 && plan.deaths + 1 < world_size; plan.deaths++) {
    seed = seed * 1664525u + 1013904223u;
    plan.rank[plan.deaths] = (int)((seed >> 8) % (unsigned)world_size);
    seed = seed * 1664525u + 1013904223u;
    plan.when[plan.deaths] = 0.05 + 0.95 * (double)(seed >> 8) / (1 << 24);
  }
}

static int read_options(int argc, char **argv) {
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    int *number = strcmp(argv[i], "--points") == 0   ? &plan.points
                  : strcmp(argv[i], "--phases") == 0 ? &plan.phases
                  : strcmp(argv[i], "--steps") == 0  ? &plan.steps
                                                     : NULL;
    if (value && number && atoi(value) >= 4)
      *number = atoi(value);
    else if (value && strcmp(argv[i], "--seed") == 0)
      draw_kills((unsigned)atoi(value));
    else if (value && strcmp(argv[i], "--checkpoint") == 0)
      checkpoint = value;
    else if (!value || strcmp(argv[i], "--kill") != 0 || !read_kills(value))
      return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (!read_options(argc, argv)) {
    if (world_rank == 0)
      fprintf(stderr,
              "usage: %s [--points N] [--phases N] [--steps N] "
              "[--kill RANK:SECONDS,RANK:merge,... | --seed N] [--checkpoint FILE]\n",
              argv[0]);
    MPI_Finalize();
    return 2;
  }
  if (rg_init(MPI_COMM_WORLD, NULL) || rg_group_world(&team))
    fail("rg_init");
  if (checkpoint && (rg_checkpoint_on_signal(SIGUSR1, 1) || rg_checkpoint_on_signal(SIGTERM, 1)))
    fail("rg_checkpoint_on_signal");
  begin();
  for (int i = 0; i < plan.deaths; i++)
    if (plan.rank[i] == world_rank && plan.when[i] != IN_MERGE)
      die_after(plan.when[i]);
  work(prepare());
  if (halted)
    end_early();
  else
    end();
  for (int i = 0; i < 2; i++) {
    rg_array_free(&u[i]);
    rg_array_free(&saved[i]);
  }
  rg_array_free(&died_at);
  rg_group_free(&team);
  if (rg_finalize())
    fail("rg_finalize");
  MPI_Finalize();
  return halted ? RG_EXIT_REQUEUE : 0;
}
