/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Communicators that are made, used for a collective, and freed: by how many bytes the heap grows
 * for each, after the first ones; at most. Argument: how many. */
#include <malloc.h>
#include <stdlib.h>

#include "plain.h"

static size_t in_use(void) {
  struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

int main(int argc, char **argv) {
  int times = atoi(argv[1]);
  size_t begin = 0;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < times; i++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    if (i == times / 4)
      begin = in_use();
  }
  double grown = (double)in_use() - (double)begin;
  /* MPI's own pools grow now and then, by some ten thousand bytes. */
  plain_number("bytes", grown > 8.0 * times ? (long long)(grown / times) : 0);
  MPI_Finalize();
  return 0;
}
