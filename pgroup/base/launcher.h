/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the launcher's environment says of this process, before and without MPI. Inline: polite.c is
 * also built alone. */
#ifndef RGI_BASE_LAUNCHER_H
#define RGI_BASE_LAUNCHER_H

#include <stdio.h>
#include <stdlib.h>

static inline int rgi_launcher_number(const char *name) {
  const char *text = getenv(name);
  return text ? atoi(text) : 0;
}

/* Slurm's list has the tasks of one node after the other: "4(x2),3" for 4, 4 and 3. */
static inline int rgi_launcher_slurm_tasks(void) {
  const char *text = getenv("SLURM_STEP_TASKS_PER_NODE"), *node = getenv("SLURM_NODEID");
  int tasks = 0, times, length, at = node ? atoi(node) : -1;
  while (text && at >= 0 && sscanf(text, "%d%n", &tasks, &length) == 1) {
    text += length;
    times = 1;
    length = 0;
    if (sscanf(text, "(x%d)%n", &times, &length) == 1)
      text += length;
    if (at < times)
      return tasks;
    at -= times;
    text += *text == ',';
  }
  return 0;
}

/* How many ranks this process's node has; 0 if no launcher says so. */
static inline int rgi_launcher_local_ranks(void) {
  int n = rgi_launcher_number("MPI_LOCALNRANKS");
  if (n <= 0)
    n = rgi_launcher_number("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (n <= 0)
    n = rgi_launcher_slurm_tasks();
  return n > 0 ? n : 0;
}

#endif
