/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Going down the levels: what all calls that make communicators come to. */
#ifndef RGI_DESCENT_H
#define RGI_DESCENT_H

#include <mpi.h>

typedef struct {
  const char *call;
  MPI_Comm comm;
  int filter;
  int key;    /* orders the first level */
  int most;   /* levels */
  int rooted; /* roots are wanted */
  int error;  /* that the caller has found in its own arguments, told to all */
} rgi_descent;

/* Collective over d->comm. Fills comms and, if rooted, roots: *levels of them. */
int rgi_descent_run(const rgi_descent *d, MPI_Comm comms[], MPI_Comm roots[], int *levels);

#endif
