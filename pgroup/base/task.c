/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * States and threads, as /proc shows them. */
#include "base/task.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_SECONDS 1e-4
/* A thread that was just created may be about to run. */
#define LOOKS 3

char rgi_task_state(const char *folder) {
  char path[64], text[512], *end;
  snprintf(path, sizeof path, "%s/stat", folder);
  FILE *f = fopen(path, "r");
  if (!f)
    return 0;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  end = strrchr(text, ')'); /* ends the program's name */
  return end && end[1] == ' ' ? end[2] : 0;
}

int rgi_task_count(void) {
  int count = 0;
  DIR *all = opendir("/proc/self/task");
  for (const struct dirent *e; all && (e = readdir(all));)
    count += e->d_name[0] != '.';
  if (all)
    closedir(all);
  return count;
}

static int is_busy(const char *thread) {
  char folder[48];
  snprintf(folder, sizeof folder, "/proc/self/task/%.20s", thread);
  char state = rgi_task_state(folder);
  return state == 'R' || state == 'D';
}

static int others_are_busy(void) {
  int busy = 0;
  long mine = syscall(SYS_gettid);
  DIR *all = opendir("/proc/self/task");
  if (!all)
    return 0;
  for (const struct dirent *e; !busy && (e = readdir(all));)
    busy = e->d_name[0] != '.' && atol(e->d_name) != mine && is_busy(e->d_name);
  closedir(all);
  return busy;
}

void rgi_task_settle(double seconds) {
  int quiet = 0;
  for (double end = rgi_clock_now() + seconds; quiet < LOOKS && rgi_clock_now() < end;) {
    quiet = others_are_busy() ? 0 : quiet + 1;
    if (quiet < LOOKS)
      rgi_clock_sleep(LOOK_SECONDS);
  }
}
