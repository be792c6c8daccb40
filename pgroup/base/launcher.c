/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/launcher.h"

#include <stdio.h>
#include <stdlib.h>

static int number_of(const char *name) {
  const char *text = getenv(name);
  return text ? atoi(text) : 0;
}

/* Slurm's list has the tasks of one node after the other: "4(x2),3" for 4, 4 and 3. */
static int slurm_tasks(void) {
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

int rgi_launcher_local_ranks(void) {
  int n = number_of("MPI_LOCALNRANKS");
  if (n <= 0)
    n = number_of("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (n <= 0)
    n = slurm_tasks();
  return n > 0 ? n : 0;
}
