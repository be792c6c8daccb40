/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Something to count for test_engine_traffic.py: rank 0 does an operation of the
 * engine between nodes on the last rank's share, so many times:
 *
 *     far-traffic put|get|acc ROWS BYTES TIMES       one patch of rows of so many bytes
 *     far-traffic put-rows|get-rows ROWS BYTES TIMES    each row by itself
 *
 * Rows lie twice their length apart there. The data are checked. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/heap.h"

static void must(int error) {
  if (error) {
    fprintf(stderr, "far-traffic: %s\n", rg_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void once(const char *what, int target, uint64_t at, char *buffer, int64_t rows,
                 int64_t bytes) {
  rgi_strided p = {.dims = 2, .extent = {rows, bytes}, .origin_stride = {bytes}};
  p.target_stride[0] = 2 * bytes;
  int one_by_one = strstr(what, "-rows") != NULL;
  int64_t n = one_by_one ? rows : 1;
  if (one_by_one)
    p.extent[0] = 1;
  for (int64_t i = 0; i < n; i++) {
    uint64_t to = at + 2 * (uint64_t)(i * bytes);
    if (what[0] == 'p')
      must(rgi_engine_put(target, to, buffer + i * bytes, &p));
    else if (what[0] == 'g')
      must(rgi_engine_get(target, to, buffer + i * bytes, &p));
    else
      must(rgi_engine_acc(target, to, buffer, &p, RG_DOUBLE, NULL));
  }
}

static int is_right(const char *what, const char *buffer, const char *share, int64_t rows,
                    int64_t bytes) {
  for (int64_t i = 0; i < rows; i++)
    if (what[0] != 'a' && memcmp(buffer + i * bytes, share + 2 * i * bytes, (size_t)bytes) != 0)
      return 0;
  return 1;
}

int main(int argc, char **argv) {
  int provided, rank, size, right = 1;
  uint64_t at = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  must(rg_init(MPI_COMM_WORLD, NULL));
  if (argc != 5 || !rgi_heap_is_open())
    MPI_Abort(MPI_COMM_WORLD, 2);
  int64_t rows = atol(argv[2]), bytes = atol(argv[3]);
  size_t all = (size_t)(rows * bytes);
  char *buffer = malloc(all), *share = malloc(2 * all);
  must(rgi_heap_take("far-traffic", 2 * all, &at)); /* the first block: at 0 everywhere */
  for (size_t i = 0; i < all; i++)
    buffer[i] = (char)(i * 7 % 127);
  for (size_t i = 0; i < 2 * all; i++)
    ((char *)rgi_heap_at(rank, at))[i] = (char)(i % 113);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < atoi(argv[4]); i++)
    once(argv[1], size - 1, at, buffer, rows, bytes);
  must(rgi_engine_fence(-1));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1)
    memcpy(share, rgi_heap_at(rank, at), 2 * all);
  if (rank == 0) { /* expected here: what put has sent, or the pattern for get */
    for (size_t i = 0; argv[1][0] == 'g' && i < 2 * all; i++)
      share[i] = (char)(i % 113);
    right = argv[1][0] != 'g' || is_right(argv[1], buffer, share, rows, bytes);
  } else if (rank == size - 1 && argv[1][0] == 'p')
    right = is_right(argv[1], buffer, share, rows, bytes);
  free(buffer);
  free(share);
  must(rg_finalize());
  MPI_Finalize();
  return !right;
}
