/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_checkpoint_due.py starts: a program that saves and ends when a checkpoint is due.
 *
 *     halting PATH STEPS PLAN [plain]
 *
 * Each step adds its number to all elements of an array; every tenth one starts a checkpoint. When
 * one is due all save, rank 0 prints "HALTED steps restored", and the program ends with
 * RG_EXIT_REQUEUE; it continues when it is started again. At the end rank 0 prints "DONE steps
 * restored ranks" if the sums are right. PLAN: "rank:MILLISECONDS,..."; after so long the rank gets
 * SIGUSR1, or SIGTERM where the number is even; "rank:sSTEP": SIGTERM between start and end of the
 * checkpoint of this step; "rank:kSTEP": SIGTERM, and SIGKILL, in that step. plain: no signal is
 * caught. Survivors of a death go on from the newest checkpoint. */
#include <sys/time.h>

#include "ranks.h"

enum { ELEMENTS = 1000, EVERY = 10, STEP_MICROSECONDS = 3000 };

static rg_group team;
static rg_array a;
static int64_t done, restored; /* steps */
static const char *path, *plan;
static int sign;

static void send_signal(int alarm_) {
  (void)alarm_;
  kill(getpid(), sign);
}

/* The number after "rank:KIND" for this rank, or -1. */
static int planned(const char *kind) {
  for (const char *p = plan; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    const char *colon = strchr(p, ':');
    size_t n = strlen(kind);
    if (colon && atoi(p) == my_rank && !strncmp(colon + 1, kind, n) && colon[1 + n] >= '0' &&
        colon[1 + n] <= '9')
      return atoi(colon + 1 + n);
  }
  return -1;
}

static void set_timer(void) {
  int after = planned("");
  if (after < 0)
    return;
  struct itimerval t = {.it_value = {after / 1000, 1 + after % 1000 * 1000}};
  sign = after % 2 ? SIGUSR1 : SIGTERM;
  signal(SIGALRM, send_signal);
  setitimer(ITIMER_REAL, &t, NULL);
}

static int resume(void) {
  const int64_t shape[1] = {ELEMENTS};
  int found = 0, error = rg_array_create_simple(team, RG_TYPE_INT64, 1, shape, &a);
  if (!error)
    error = rg_array_zero(a);
  if (!error)
    error = rg_checkpoint_load(team, path, 1, &a, sizeof done, &done, &found);
  if (!error && !found)
    done = 0;
  restored = done;
  return survivable(error, "resume");
}

static int start_saving(rg_checkpoint *checkpoint) {
  return survivable(rg_checkpoint_start(team, path, 1, &a, &done, sizeof done, checkpoint),
                    "rg_checkpoint_start");
}

static int wait_saving(rg_checkpoint *checkpoint) {
  return survivable(rg_checkpoint_wait(checkpoint), "rg_checkpoint_wait");
}

static int step(rg_checkpoint *checkpoint) {
  const int64_t add = done + 1;
  int error = survivable(rg_array_add_scalar(a, NULL, NULL, &add), "rg_array_add_scalar");
  if (!error && done % EVERY == 0)
    error = wait_saving(checkpoint);
  if (error)
    return error;
  usleep(STEP_MICROSECONDS);
  if (planned("k") == ++done) {
    raise(SIGTERM);
    raise(SIGKILL);
  }
  if (done % EVERY == 0)
    error = start_saving(checkpoint);
  if (planned("s") == done)
    raise(SIGTERM);
  return error;
}

/* *halted: a checkpoint was due, and has been saved. */
static int go(int64_t steps, rg_checkpoint *checkpoint, int *halted) {
  int error = RG_SUCCESS;
  while (done < steps && !error && !*halted) {
    error = step(checkpoint);
    if (!error)
      error = survivable(rg_checkpoint_due(team, halted), "rg_checkpoint_due");
  }
  if (!error)
    error = wait_saving(checkpoint);
  if (!error && *halted)
    error = start_saving(checkpoint);
  return error ? error : wait_saving(checkpoint);
}

static int check_sums(void) {
  const int64_t lo[1] = {0}, hi[1] = {ELEMENTS};
  int64_t all[ELEMENTS];
  int error = survivable(rg_array_get(a, lo, hi, all, NULL), "rg_array_get");
  for (int i = 0; i < ELEMENTS && !error; i++)
    must(all[i] == done * (done + 1) / 2, "a wrong sum");
  return error;
}

/* Until all survivors agree that all is well. */
static int work(int64_t steps) {
  rg_checkpoint c = NULL;
  for (int error = resume();;) {
    int halted = 0, failed;
    if (!error)
      error = go(steps, &c, &halted);
    if (!error)
      error = check_sums();
    must(!error || getenv("RG_SURVIVE"), "a death");
    if (!getenv("RG_SURVIVE"))
      return halted;
    unsigned well = !error;
    must(!rg_group_agree(team, &well, &failed), "rg_group_agree");
    if (well == 1 && !failed)
      return halted;
    rg_checkpoint_wait(&c);
    rg_array_free(&a);
    drop_dead(&team);
    error = resume();
  }
}

int main(int argc, char **argv) {
  team = enter_world(&argc, &argv);
  path = argv[1];
  plan = argv[3];
  for (int i = 0; argc < 5 && i < 2; i++)
    must(!rg_checkpoint_on_signal(i ? SIGTERM : SIGUSR1, 1), "rg_checkpoint_on_signal");
  set_timer();
  int halted = work(atoll(argv[2]));
  if (rank_in(team) == 0)
    printf("%s %lld %lld %d\n", halted ? "HALTED" : "DONE", (long long)done, (long long)restored,
           size_of(team));
  fflush(stdout);
  rg_array_free(&a);
  leave_world(&team);
  return halted ? RG_EXIT_REQUEUE : 0;
}
