/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_checkpoints.py starts: a program with checkpoints.
 *
 *     saver PATH STEPS [RANK:STEP | status:STEP | sleep:STEP | pause:STEP | daemon:STEP]
 *
 * Each step changes an array and starts a checkpoint after the one before has been ended;
 * a program that was started again continues from the newest one. At the given step a rank
 * kills itself while it writes; or every rank ends with status 3; or rank 0 prints "AT STEP"
 * and sleeps; or the same, and all go on after 2 s; or rank 0's guard, the daemon of its node, is
 * killed. Survivors take the newest checkpoint and continue. At the end rank 0 prints "SAVED steps
 * checksum ranks restarts". */
#include "ranks.h"

enum { ROWS = 400, COLUMNS = 300 };

static rg_group team;
static rg_array a;
static int64_t done; /* steps */
static const char *path;
static uint64_t checksum;

static int deadly(int error, const char *what) {
  if (error != RG_ERR_PROC_FAILED)
    must(!error, what);
  return error;
}

/* The newest checkpoint, or the beginning. */
static int resume(void) {
  const int64_t shape[2] = {ROWS, COLUMNS};
  int found = 0, error = rg_array_create_simple(team, RG_TYPE_DOUBLE, 2, shape, &a);
  if (!error)
    error = rg_array_zero(a);
  if (!error)
    error = rg_checkpoint_load(team, path, 1, &a, sizeof done, &done, &found);
  if (!error && !found)
    done = 0;
  return deadly(error, "resume");
}

static int step(void) {
  const double add = (double)(done + 1), factor = 1.25;
  int error = rg_array_scale(a, NULL, NULL, &factor);
  if (!error)
    error = rg_array_add_scalar(a, NULL, NULL, &add);
  return deadly(error, "step");
}

static void act(const char *plan) {
  const char *colon = plan ? strchr(plan, ':') : NULL;
  int64_t restarts = 0;
  must(!rg_restart_count(&restarts), "rg_restart_count");
  if (!colon || atoll(colon + 1) != done || restarts)
    return;
  if (!strncmp(plan, "status", 6))
    exit(3);
  int pauses = !strncmp(plan, "pause", 5);
  if (pauses || !strncmp(plan, "sleep", 5)) {
    if (rank_in(team) == 0)
      printf("AT STEP %lld\n", (long long)done);
    fflush(stdout);
    sleep(pauses ? 2 : 30);
  } else if (!strncmp(plan, "daemon", 6)) {
    must(my_rank != 0 || !kill(getppid(), SIGKILL), "kill");
    sleep(30);
  } else if (atoi(plan) == my_rank) {
    usleep(1000); /* into the writing */
    raise(SIGKILL);
  }
}

static void survive(rg_checkpoint *checkpoint) {
  rg_checkpoint_wait(checkpoint); /* it may or may not come to something */
  rg_array_free(&a);
  drop_dead(&team);
}

static int go(int64_t steps, const char *plan, rg_checkpoint *checkpoint) {
  while (done < steps) {
    int error = step();
    if (!error)
      error = deadly(rg_checkpoint_wait(checkpoint), "rg_checkpoint_wait");
    if (error)
      return error;
    done++;
    error = deadly(rg_checkpoint_start(team, path, 1, &a, &done, sizeof done, checkpoint),
                   "rg_checkpoint_start");
    if (error)
      return error;
    act(plan);
  }
  return deadly(rg_checkpoint_wait(checkpoint), "the last rg_checkpoint_wait");
}

/* Until all survivors agree that all is well. */
static void work(int64_t steps, const char *plan) {
  rg_checkpoint c = NULL;
  for (int error = resume();;) {
    if (!error)
      error = go(steps, plan, &c);
    if (!error)
      error = deadly(rg_array_checksum(a, &checksum), "rg_array_checksum");
    unsigned well = !error;
    int failed;
    must(!rg_group_agree(team, &well, &failed), "rg_group_agree");
    if (well == 1 && !failed)
      return;
    survive(&c);
    error = resume();
  }
}

static void print(rg_group g, char *text) {
  int64_t restarts;
  must(!rg_restart_count(&restarts), "rg_restart_count");
  snprintf(text, LINE, "SAVED %lld %016llx %d %lld\n", (long long)done,
           (unsigned long long)checksum, size_of(g), (long long)restarts);
}

int main(int argc, char **argv) {
  team = enter_world(&argc, &argv);
  path = argv[1];
  work(atoll(argv[2]), argc > 3 ? argv[3] : NULL);
  tell_last(&team, print);
  rg_array_free(&a);
  leave_world(&team);
  return 0;
}
