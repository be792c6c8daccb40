/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_long_blocks.py starts, with RG_SURVIVE=1: long_blocks ROUNDS DEATHS SEED. Broadcasts,
 * gathers and reduce-scatters of blocks that members read from one another's memory, while some
 * ranks are killed at any moment. The survivors check every result. */
#include "ranks.h"

enum { BYTES = 300001, BLOCK = 320 << 10, DOUBLES = 6000, ROW = 5 };

static char value_of(int rank) {
  return (char)(3 * rank + round_now);
}

static int is_all(const char *block, size_t n, char value) {
  return block[0] == value && !memcmp(block, block + 1, n - 1);
}

/* What a member has given is its own again when it has left the operation. */
static int exchange(rg_group g, char *data, char *all) {
  int n = size_of(g), me = rank_in(g), root = round_now % n;
  memset(data, me == root ? value_of(root) : -1, BYTES);
  TRY(rg_bcast(g, data, BYTES, MPI_BYTE, root));
  must(is_all(data, BYTES, value_of(root)), "a broadcast's result");
  memset(data, value_of(me), BLOCK);
  TRY(rg_gather(g, data, BLOCK, MPI_BYTE, all, BLOCK, MPI_BYTE, root));
  memset(data, -1, BLOCK);
  for (int i = 0; i < n && me == root; i++)
    must(is_all(all + (size_t)i * BLOCK, BLOCK, value_of(i)), "a gather's result");
  double *in = (double *)(void *)all, *sum = (double *)(void *)data;
  for (int i = 0; i < n * DOUBLES; i++)
    in[i] = me + i;
  TRY(rg_reduce_scatter_block(g, in, sum, DOUBLES, MPI_DOUBLE, MPI_SUM));
  memset(all, -1, (size_t)n * BLOCK);
  for (int i = 0; i < DOUBLES; i++)
    must(sum[i] == n * (n - 1) / 2 + (double)n * (me * DOUBLES + i), "a reduce-scatter's result");
  return RG_SUCCESS;
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv);
  int rounds = argc > 3 ? atoi(argv[1]) : 1, deaths = argc > 3 ? atoi(argv[2]) : 0;
  char *data = malloc(BLOCK), *all = malloc((size_t)world_size * BLOCK);
  must(data && all, "memory");
  kill_some(deaths, world_size, argc > 3 ? strtoull(argv[3], NULL, 10) : 1, 200000);
  while (round_now < rounds || size_of(g) > world_size - deaths) {
    int error = RG_SUCCESS;
    for (int i = 0; i < ROW && !error; i++)
      error = exchange(g, data, all);
    round_now += is_done(&g, error);
  }
  tell_last(&g, print_result);
  free(data);
  free(all);
  leave_world(&g);
  return 0;
}
