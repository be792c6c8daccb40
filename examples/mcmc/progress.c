/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The line says which part of the samples is done and when the end is expected, from the loads that
 * the balancer knows (rg_balance_loads): no rank is asked. */
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Name and parent of a process, from Linux's /proc. */
static int read_process(int pid, char name[32], int *parent) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *f = fopen(path, "r");
  int good = f && fscanf(f, "%*d (%31[^)]) %*c %d", name, parent) == 2;
  if (f)
    fclose(f);
  return good;
}

int mcmc_progress_watched(void) {
  char name[32], path[64], target[64];
  if (isatty(2))
    return 1;
  for (int pid = getppid(), parent; pid > 1 && read_process(pid, name, &parent); pid = parent) {
    if (strncmp(name, "mpiexec", 7) != 0 && strncmp(name, "mpirun", 6) != 0)
      continue;
    snprintf(path, sizeof path, "/proc/%d/fd/2", pid);
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    return strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0;
  }
  return 0;
}

void mcmc_progress_start(mcmc_progress *progress, int ranks) {
  progress->room = ranks;
  progress->loads = malloc((size_t)ranks * sizeof *progress->loads);
  rgp_progress_start(&progress->line, "regroup-mcmc", 0);
  progress->line.active = progress->loads != NULL;
}

/* Two bounds of the seconds that are left: all work that is left on all ranks, and the last group's
 * end if no group joins it. */
static double seconds_left(const mcmc_progress *progress, int64_t count, int ranks) {
  double work = 0, longest = 0;
  for (int64_t i = 0; i < count && i < progress->room; i++) {
    const rg_load *l = &progress->loads[i];
    double unit = l->unit > 0 ? l->unit : rg_pace_at(&l->pace, l->ranks);
    double left = l->left > 0 && unit > 0 ? l->left * unit : 0;
    work += left * (double)l->ranks / ranks;
    longest = left > longest ? left : longest;
  }
  return work > 0 ? sqrt(work * longest) : longest;
}

void mcmc_progress_show(mcmc_progress *progress, rg_balancer balancer, int ranks) {
  int64_t count;
  char text[48];
  double now = rgp_now();
  if (!progress->line.active || now - progress->line.drawn < 0.1 ||
      rg_balance_loads(balancer, progress->room, progress->loads, &count))
    return;
  double passed = now - progress->line.start, left = seconds_left(progress, count, ranks);
  double part = passed + left > 0 ? passed / (passed + left) : 0;
  progress->most = part > progress->most ? part : progress->most;
  snprintf(text, sizeof text, "%lld group%s", (long long)count, count == 1 ? "" : "s");
  rgp_progress_show(&progress->line, progress->most, text);
}

void mcmc_progress_end(mcmc_progress *progress) {
  rgp_progress_end(&progress->line);
  free(progress->loads);
  progress->loads = NULL;
}
