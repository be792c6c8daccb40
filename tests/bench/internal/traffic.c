/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-internal traffic: messages for test_engine_traffic.py to count. Rank 0 does an operation
 * of the engine between nodes on the last rank's heap part, so many times:
 *
 *     bench-internal traffic put|get|acc ROWS BYTES TIMES       a patch of rows of so many bytes
 *     bench-internal traffic put-rows|get-rows ROWS BYTES TIMES    each row by itself
 *
 * Rows lie twice their length apart there. Rank 0 or the last rank checks the data. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "tests/arrays/engine_calls.h"

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
      internal_must(engine_put(target, to, buffer + i * bytes, &p));
    else if (what[0] == 'g')
      internal_must(engine_get(target, to, buffer + i * bytes, &p));
    else
      internal_must(engine_acc(target, to, buffer, &p, RG_TYPE_DOUBLE, NULL));
  }
}

static int is_right(const char *what, const char *buffer, const char *share, int64_t rows,
                    int64_t bytes) {
  for (int64_t i = 0; i < rows; i++)
    if (what[0] != 'a' && memcmp(buffer + i * bytes, share + 2 * i * bytes, (size_t)bytes) != 0)
      return 0;
  return 1;
}

static int rows, bytes, times;

static int run_traffic(char *const words[]) {
  const char *what = words[0];
  size_t all = (size_t)rows * (size_t)bytes;
  int right = 1, last = internal_size - 1;
  uint64_t at = 0;
  internal_must(rg_init(MPI_COMM_WORLD, NULL));
  if (!rgi_heap_is_open())
    MPI_Abort(MPI_COMM_WORLD, RGP_USAGE);
  char *buffer = malloc(all), *share = malloc(2 * all);
  internal_must(
      rgi_heap_take("bench-internal", 2 * all, &at)); /* the first block: at 0 everywhere */
  for (size_t i = 0; i < all; i++)
    buffer[i] = (char)(i * 7 % 127);
  for (size_t i = 0; i < 2 * all; i++)
    ((char *)rgi_heap_at(internal_rank, at))[i] = (char)(i % 113);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; internal_rank == 0 && i < times; i++)
    run_operation(what, last, at, buffer, rows, bytes);
  internal_must(rgi_engine_fence(-1));
  MPI_Barrier(MPI_COMM_WORLD);
  if (internal_rank == last)
    memcpy(share, rgi_heap_at(internal_rank, at), 2 * all);
  if (internal_rank == 0) { /* expected here: what put has sent, or the pattern for get */
    for (size_t i = 0; what[0] == 'g' && i < 2 * all; i++)
      share[i] = (char)(i % 113);
    right = what[0] != 'g' || is_right(what, buffer, share, rows, bytes);
  } else if (internal_rank == last && what[0] == 'p')
    right = is_right(what, buffer, share, rows, bytes);
  free(buffer);
  free(share);
  internal_must(rg_finalize());
  return right ? RGP_OK : RGP_FAILED;
}

static int check_words(const char *const words[], char text[RGP_TEXT]) {
  static const char *const operations[] = {"put", "get", "acc", "put-rows", "get-rows", NULL};
  int i = 0;
  while (operations[i] && strcmp(words[0], operations[i]) != 0)
    i++;
  if (!operations[i])
    return snprintf(text, RGP_TEXT, "%.100s: put, get, acc, put-rows or get-rows", words[0]);
  return internal_read_number(words[1], "number of rows", 1 << 20, &rows, text) ||
         internal_read_number(words[2], "length of a row", 1 << 28, &bytes, text) ||
         internal_read_number(words[3], "repetitions", 1000000, &times, text);
}

static const struct poptOption options[] = {POPT_TABLEEND};

const internal_command internal_traffic = {
    .program = {.name = "bench-internal traffic",
                .summary = "Sends operations to the last rank, for a test that counts messages.",
                .arguments = "put|get|acc|put-rows|get-rows ROWS BYTES TIMES",
                .options = options,
                .min_arguments = 4,
                .max_arguments = 4,
                .check = check_words},
    .threads = MPI_THREAD_MULTIPLE,
    .run = run_traffic};
