/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A schedule names ranks and when each dies: some seconds after the start, by a timer, or in a
 * merge. The times are also kept in a shared array, which outlives the processes, so that the rank
 * that prints a death knows when it happened. */
#include "death.h"

#include <regroup.h>
#include <regroup/array_math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/program/program.h"
#include "survivors.h"

/* --- the schedule ---------------------------------------------------------------------- */

static int add_kill(common_death_schedule *schedule, long rank, int ranks, int in_merge,
                    double seconds) {
  if (schedule->count == COMMON_DEATHS || rank < 0 || rank >= ranks ||
      !(seconds >= 0 && seconds < 1e6))
    return 0;
  for (int i = 0; i < schedule->count; i++)
    if (schedule->kill[i].rank == rank)
      return 0;
  schedule->kill[schedule->count].rank = (int)rank;
  schedule->kill[schedule->count].in_merge = in_merge;
  schedule->kill[schedule->count++].seconds = seconds;
  return 1;
}

static double next_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-53;
}

static int draw_kills(uint64_t seed, int ranks, double seconds, common_death_schedule *schedule) {
  int wanted = ranks > 3 ? 3 : ranks - 1;
  next_random(&seed);
  while (schedule->count < wanted) {
    long rank = (long)(next_random(&seed) * ranks);
    add_kill(schedule, rank, ranks, 0, next_random(&seed) * seconds);
  }
  return 1;
}

int common_death_schedule_read(const char *text, int ranks, double seconds,
                               common_death_schedule *schedule) {
  char *rest;
  *schedule = (common_death_schedule){0};
  if (strncmp(text, "seed:", 5) == 0) {
    uint64_t seed = strtoull(text + 5, &rest, 10);
    return rest != text + 5 && !*rest && draw_kills(seed, ranks, seconds, schedule);
  }
  for (const char *p = text;;) {
    long rank = strtol(p, &rest, 10);
    if (rest == p || *rest != ':')
      return 0;
    const char *when = rest + 1;
    int in_merge = strncmp(when, "merge", 5) == 0;
    double at = in_merge ? 0 : strtod(when, &rest);
    if (in_merge)
      rest += 6;
    if (rest == when || !add_kill(schedule, rank, ranks, in_merge, at))
      return 0;
    if (!*rest)
      return 1;
    if (*rest != ',')
      return 0;
    p = rest + 1;
  }
}

int common_death_schedule_take(const char *text, int rank, double seconds,
                               common_death_schedule *kills) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!text)
    return 1;
  int good = common_death_schedule_read(text, ranks, seconds, kills);
  if (rank == 0 && !good)
    fprintf(stderr,
            "%s: --kill: %s is no list of RANK:SECONDS or RANK:merge with each "
            "rank, of %d, once; nor seed:N\n",
            common_name, text, ranks);
  if (!good || common_survivors_expected())
    return good;
  if (rank == 0)
    fprintf(stderr, "%s: --kill: the job would not survive: start it with regroup-run\n",
            common_name);
  return 0;
}

/* --- deaths of this rank -------------------------------------------------------------- */

static void kill_self(int signal_) {
  (void)signal_;
  kill(getpid(), SIGKILL);
}

static void die_after(common_deaths *deaths, int rank, double seconds) {
  struct itimerval timer = {{0, 0}, {0, 0}};
  const int64_t lo[1] = {rank}, hi[1] = {rank + 1};
  seconds = seconds > 0 ? seconds : 0;
  double at = rgp_now() + seconds;
  if (deaths->when)
    rg_array_put(deaths->when, lo, hi, &at, NULL);
  signal(SIGALRM, kill_self);
  int64_t microseconds = 1 + (int64_t)(1e6 * seconds);
  timer.it_value.tv_sec = (time_t)(microseconds / 1000000);
  timer.it_value.tv_usec = (suseconds_t)(microseconds % 1000000);
  setitimer(ITIMER_REAL, &timer, NULL);
}

void common_deaths_disarm(void) {
  const struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &none, NULL);
}

int common_deaths_prepare(common_deaths *deaths, rg_group world) {
  int ranks;
  rg_group_size(world, &ranks);
  const int64_t shape[1] = {ranks};
  int error = rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, shape, &deaths->when);
  return error ? error : rg_array_zero(deaths->when);
}

void common_deaths_arm(common_deaths *deaths, const common_death_schedule *schedule, int rank,
                       double start) {
  deaths->start = start;
  deaths->kills = schedule;
  for (int i = 0; i < schedule->count; i++)
    if (schedule->kill[i].rank == rank && schedule->kill[i].in_merge)
      deaths->merge_kill = 1;
    else if (schedule->kill[i].rank == rank)
      die_after(deaths, rank, start + schedule->kill[i].seconds - rgp_now());
}

void common_deaths_in_merge(common_deaths *deaths, int rank) {
  if (deaths->merge_kill)
    die_after(deaths, rank, 0.0002);
  deaths->merge_kill = 0;
}

/* --- reporting -------------------------------------------------------------------------------- */

static int lowest_living(rg_group world) {
  int ranks, n = 0, lowest = 0, dead[COMMON_DEATHS];
  rg_group_size(world, &ranks);
  rg_group_failed(world, COMMON_DEATHS, dead, &n);
  for (int i = 0; i < n && i < COMMON_DEATHS; i++)
    if (dead[i] == lowest) {
      lowest++;
      i = -1;
    }
  return lowest;
}

/* When the rank was to die by its own clock, or 0. */
static double planned_time(const common_deaths *deaths, int rank) {
  const int64_t lo[1] = {rank}, hi[1] = {rank + 1};
  double at = 0;
  if (deaths->when)
    rg_array_get(deaths->when, lo, hi, &at, NULL);
  for (int i = 0; !deaths->when && deaths->kills && i < deaths->kills->count; i++)
    if (deaths->kills->kill[i].rank == rank && !deaths->kills->kill[i].in_merge)
      at = deaths->start + deaths->kills->kill[i].seconds;
  return at;
}

void common_deaths_note(common_deaths *deaths, rg_group world, int rank,
                        const rg_balance_death *death) {
  double at = planned_time(deaths, death->rank), took = death->back - death->noticed;
  if (at == 0 || at > death->noticed) /* not by the schedule */
    at = death->noticed;
  deaths->lost += took;
  if (deaths->count < COMMON_DEATHS)
    deaths->death[deaths->count] = (rg_timeline_death){.rank = death->rank, .when = at};
  deaths->count++;
  if (deaths->quiet || rank != lowest_living(world))
    return;
  printf("%7.3f s  rank %d died; noticed after %.1f ms, %d ranks went on after %.1f ms\n",
         at - deaths->start, death->rank, 1e3 * (death->noticed - at), death->left,
         1e3 * (death->back - at));
  fflush(stdout);
}
