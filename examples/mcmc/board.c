/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "board.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Name and parent of a process, from Linux's /proc. */
static int process(int pid, char name[32], int *parent) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *f = fopen(path, "r");
  int good = f && fscanf(f, "%*d (%31[^)]) %*c %d", name, parent) == 2;
  if (f)
    fclose(f);
  return good;
}

int mcmc_watched(void) {
  char name[32], path[64], target[64];
  if (isatty(2))
    return 1;
  for (int pid = getppid(), parent; pid > 1 && process(pid, name, &parent); pid = parent) {
    if (strncmp(name, "mpiexec", 7) != 0 && strncmp(name, "mpirun", 6) != 0)
      continue;
    snprintf(path, sizeof path, "/proc/%d/fd/2", pid);
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    return strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0;
  }
  return 0;
}

void mcmc_board_start(mcmc_board *b, const mcmc_plan *plan, double speed, int shared) {
  b->plan = plan;
  b->speed = speed;
  b->shared = shared;
  b->groups = calloc((size_t)plan->ranks, sizeof *b->groups);
  rgp_progress_start(&b->line, "regroup-mcmc", 0);
  b->line.active = b->groups != NULL;
  for (int j = 0; b->groups && j < plan->groups; j++) {
    mcmc_notice n = {mcmc_plan_first(plan, j), mcmc_plan_size(plan, j),
                     mcmc_plan_group_samples(plan, j)};
    mcmc_board_note(b, &n);
  }
}

void mcmc_board_note(mcmc_board *b, const mcmc_notice *notice) {
  for (int64_t r = notice->first; b->groups && r < notice->first + notice->size; r++)
    b->groups[r].now.size = 0;
  if (b->groups)
    b->groups[notice->first] = (mcmc_board_group){*notice, rgp_now()};
}

/* Seconds left: until the last group ends, or until all end together. */
static double seconds_left(const mcmc_board *b, double now, int *alive) {
  double longest = 0, work = 0;
  *alive = 0;
  for (int r = 0; r < b->plan->ranks; r++) {
    const mcmc_board_group *g = &b->groups[r];
    if (g->now.size == 0)
      continue;
    double speed = b->speed * (double)g->now.size;
    double left = (double)g->now.samples / speed - (now - g->since);
    ++*alive;
    if (left <= 0)
      continue;
    work += left * speed;
    longest = left > longest ? left : longest;
  }
  return b->shared ? work / (b->speed * b->plan->ranks) : longest;
}

void mcmc_board_show(mcmc_board *b) {
  double now = rgp_now();
  if (!b->line.active || now - b->line.drawn < 0.1)
    return;
  int alive;
  char text[48];
  double passed = now - b->line.start, left = seconds_left(b, now, &alive);
  snprintf(text, sizeof text, "%d group%s", alive, alive == 1 ? "" : "s");
  rgp_progress_show(&b->line, passed + left > 0 ? passed / (passed + left) : 0, text);
}

void mcmc_board_end(mcmc_board *b) {
  rgp_progress_end(&b->line);
  free(b->groups);
  b->groups = NULL;
}
