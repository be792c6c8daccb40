/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Helpers of the plain programs of this folder. They use MPI alone: test_preload.py runs them
 * with and without libregroup-mpi.so and compares what they print. Results and counts are
 * brought together by messages, not by what is tested. */
#ifndef PLAIN_H
#define PLAIN_H

#include <mpi.h>

/* Prints, on rank 0 of MPI_COMM_WORLD, a hash of each rank's bytes. */
void plain_print(const char *name, const void *data, int bytes);

/* Prints, on rank 0 of MPI_COMM_WORLD, a number of each rank. */
void plain_number(const char *name, long long value);

/* The median of n numbers, which are sorted then. */
double plain_median(double values[], int n);

/* Counts this process's call of an operation: on a communicator whose group is one
 * (inter = 0) or two; plain_counts prints "calls NAME INTRA INTER" for all processes. */
void plain_called(const char *operation, int inter);
void plain_counts(void);

#endif
