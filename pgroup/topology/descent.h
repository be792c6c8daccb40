/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making communicators of hardware levels, level by level downwards. */
#ifndef RGI_DESCENT_H
#define RGI_DESCENT_H

#include <mpi.h>

typedef struct {
  const char *call;
  MPI_Comm comm;
  int filter;
  int key;    /* orders the first level */
  int most;   /* how many levels */
  int rooted; /* whether to make communicators of the roots, too */
  int error;  /* in the caller's own arguments: all processes get an error then */
} rgi_descent;

/* Collective over d->comm. Fills comms and, if rooted, roots: *levels of them. */
int rgi_descent_run(const rgi_descent *d, MPI_Comm comms[], MPI_Comm roots[], int *levels);

#endif
