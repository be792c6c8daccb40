/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages for tests/arrays/test_engine_traffic.py to count. Rank 0 does an operation of the engine
 * between nodes on the last rank's heap part, so many times:
 *
 *     engine_traffic put|get|acc ROWS BYTES TIMES          a patch of rows of so many bytes
 *     engine_traffic put-rows|get-rows ROWS BYTES TIMES    each row by itself
 *
 * Rows lie twice their length apart there. Rank 0 or the last rank checks the data. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/heap.h"
#include "tests/arrays/engine_calls.h"

static int rank, size;

static void must(int error) {
  if (error) {
    fprintf(stderr, "engine_traffic: %s\n", rg_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void run_operation(const char *what, int target, uint64_t at, char *buffer, int64_t rows,
                          int64_t bytes) {
  rgi_strided p = rgi_strided_flat(bytes);
  int one_by_one = strstr(what, "-rows") != NULL;
  int64_t n = one_by_one ? rows : 1;
  if (!one_by_one)
    rgi_strided_add(&p, rows, bytes, 2 * bytes);
  for (int64_t i = 0; i < n; i++) {
    uint64_t to = at + 2 * (uint64_t)(i * bytes);
    if (what[0] == 'p')
      must(engine_put(target, to, buffer + i * bytes, &p));
    else if (what[0] == 'g')
      must(engine_get(target, to, buffer + i * bytes, &p));
    else
      must(engine_acc(target, to, buffer, &p, RG_TYPE_DOUBLE, NULL));
  }
}

static int is_right(const char *buffer, const char *share, int64_t rows, int64_t bytes) {
  for (int64_t i = 0; i < rows; i++)
    if (memcmp(buffer + i * bytes, share + 2 * i * bytes, (size_t)bytes) != 0)
      return 0;
  return 1;
}

static int run_traffic(const char *what, int rows, int bytes, int times) {
  size_t all = (size_t)rows * (size_t)bytes;
  int right = 1, last = size - 1;
  uint64_t at = 0;
  must(rg_init(MPI_COMM_WORLD, NULL));
  if (!rgi_heap_is_open())
    MPI_Abort(MPI_COMM_WORLD, 2);
  char *buffer = malloc(all), *share = malloc(2 * all);
  must(rgi_heap_take("engine_traffic", 2 * all, &at)); /* the first block: at 0 everywhere */
  for (size_t i = 0; i < all; i++)
    buffer[i] = (char)(i * 7 % 127);
  for (size_t i = 0; i < 2 * all; i++)
    ((char *)rgi_heap_at(rank, at))[i] = (char)(i % 113);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < times; i++)
    run_operation(what, last, at, buffer, rows, bytes);
  must(rgi_engine_fence(-1));
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; i < 2 * all; i++) /* the pattern, for what rank 0 has got */
    share[i] = (char)(i % 113);
  if (rank == last)
    memcpy(share, rgi_heap_at(rank, at), 2 * all);
  if ((rank == 0 && what[0] == 'g') || (rank == last && what[0] == 'p'))
    right = is_right(buffer, share, rows, bytes);
  free(buffer);
  free(share);
  must(rg_finalize());
  return right;
}

int main(int argc, char **argv) {
  int provided;
  if (argc != 5)
    return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = run_traffic(argv[1], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
  MPI_Finalize();
  return right ? 0 : 1;
}
