/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One process has no memory for what libregroup-mpi.so allocates at the first collective on a
 * communicator: malloc and calloc of this program fail for that library, from the first, second,
 * ... allocation on. Results are as MPI's. */
#include "plain.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A group takes fewer allocations than this. */
#define TIMES 12
#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);

static int spared = -1; /* allocations of the library that still succeed; -1: all */

static int must_fail(const void *caller) {
  Dl_info at;
  if (spared < 0 || !dladdr(caller, &at) || !at.dli_fname ||
      !strstr(at.dli_fname, "libregroup-mpi"))
    return 0;
  if (spared == 0)
    return 1;
  spared--;
  return 0;
}

EXPORT void *malloc(size_t bytes) {
  return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t n, size_t bytes) {
  return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(n, bytes);
}

/* The sum over all members, known to all of them, of what each has. */
static long long collect(MPI_Comm comm, int operation, int mine) {
  long long sum = 0;
  int rank, size, all[64] = {0};
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (operation == 0) {
    MPI_Allreduce(&mine, all, 1, MPI_INT, MPI_SUM, comm);
    return all[0];
  }
  if (operation == 1) {
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, size - 1, comm);
    MPI_Bcast(all, size, MPI_INT, size - 1, comm);
  } else {
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    MPI_Barrier(comm);
  }
  for (int i = 0; i < size; i++)
    sum += all[i];
  return sum;
}

/* On new communicators of the same members, each time without memory on another one of them and
 * after another number of allocations. */
static void use_each(const char *name, MPI_Comm from, int color) {
  long long sum = 0;
  for (int i = 0; i < TIMES; i++) {
    MPI_Comm comm;
    int rank, size;
    MPI_Comm_split(from, color, -i, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    spared = i % size == rank ? i : -1;
    sum = 3 * sum + collect(comm, i % 3, rank + 1);
    spared = -1;
    sum = 3 * sum + collect(comm, (i + 1) % 3, rank + 2);
    MPI_Comm_free(&comm);
  }
  plain_number(name, sum);
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  use_each("all", MPI_COMM_WORLD, 0);
  use_each("halves", MPI_COMM_WORLD, rank % 2);
  use_each("alone", MPI_COMM_WORLD, rank);
  MPI_Finalize();
  return 0;
}
