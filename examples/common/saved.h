/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * --checkpoint: the walkers of a run that has ended early, because a checkpoint was due, in a file
 * from which the next run continues. */
#ifndef COMMON_SAVED_H
#define COMMON_SAVED_H

#include <regroup.h>

typedef struct {
  const char *path;   /* NULL: nothing is saved */
  uint64_t mark;      /* of the options on which the walkers depend */
  size_t bytes;       /* of all walkers' states */
  char *states;       /* so many, in the order of the walkers */
  int64_t room, used; /* numbers in an array that is saved as well; how many of them count */
  int found;          /* the states were loaded */
} common_saved;

/* Makes room, and lets the signals SIGUSR1 and SIGTERM make a checkpoint due. Local. Returns an
 * error. */
int common_saved_open(common_saved *saved);
void common_saved_close(common_saved *saved);

/* Loads the states, and on the first member the array's numbers into numbers[0 .. used-1], to be
 * freed by the caller, if `numbers` is not NULL there. Collective over g. Returns an error; another
 * run's file ends the job. */
int common_saved_load(common_saved *saved, rg_group g, double **numbers);

/* Saves the first member's states and numbers. Collective over g. Returns an error. */
int common_saved_save(common_saved *saved, rg_group g, const double *numbers);

#endif
