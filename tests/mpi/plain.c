/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 4711
#define MOST 40

static struct {
  const char *name;
  long long calls[2];
} counted[MOST];

static unsigned long long hash(const unsigned char *data, int bytes) {
  unsigned long long h = 14695981039346656037u;
  for (int i = 0; i < bytes; i++)
    h = (h ^ data[i]) * 1099511628211u;
  return h;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double plain_median(double values[], int n) {
  qsort(values, (size_t)n, sizeof *values, compare);
  return values[n / 2];
}

/* All ranks' values to rank 0, which has them in the order of ranks. */
static void show(const char *name, long long value, const char *format) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank != 0) {
    MPI_Send(&value, 1, MPI_LONG_LONG, 0, TAG, MPI_COMM_WORLD);
    return;
  }
  printf("%s", name);
  for (int i = 0; i < size; i++) {
    if (i > 0)
      MPI_Recv(&value, 1, MPI_LONG_LONG, i, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf(format, value);
  }
  printf("\n");
}

void plain_print(const char *name, const void *data, int bytes) {
  show(name, (long long)hash(data, bytes), " %llx");
}

void plain_number(const char *name, long long value) {
  show(name, value, " %lld");
}

void plain_called(const char *operation, int inter) {
  int i = 0;
  while (i < MOST - 1 && counted[i].name && strcmp(counted[i].name, operation) != 0)
    i++;
  counted[i].name = operation;
  counted[i].calls[inter]++;
}

/* Every process has called the same operations for the first time in the same order. */
void plain_counts(void) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < MOST && counted[i].name; i++) {
    if (rank != 0) {
      MPI_Send(counted[i].calls, 2, MPI_LONG_LONG, 0, TAG, MPI_COMM_WORLD);
      continue;
    }
    long long all[2] = {counted[i].calls[0], counted[i].calls[1]};
    for (int k = 1; k < size; k++) {
      long long one[2];
      MPI_Recv(one, 2, MPI_LONG_LONG, k, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      all[0] += one[0];
      all[1] += one[1];
    }
    printf("calls %s %lld %lld\n", counted[i].name, all[0], all[1]);
  }
}
