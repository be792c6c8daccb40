/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "shm/node.h"

#include <stddef.h>

#include "base/spare.h"

rgi_node_info rgi_node;

int rgi_node_find(int world_rank) {
  int low = 0, high = rgi_node.n - 1;
  if (world_rank >= rgi_node.ranks[0] && world_rank - rgi_node.ranks[0] <= high &&
      rgi_node.ranks[world_rank - rgi_node.ranks[0]] == world_rank)
    return world_rank - rgi_node.ranks[0];
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (rgi_node.ranks[middle] == world_rank)
      return middle;
    if (rgi_node.ranks[middle] < world_rank)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}

int rgi_node_number(int *of, int n, int most) {
  int *number = rgi_spare_alloc((size_t)most * sizeof *number), count = 0;
  if (!number)
    return -1;
  for (int i = 0; i < most; i++)
    number[i] = -1;
  for (int i = 0; i < n; i++) {
    if (number[of[i]] < 0)
      number[of[i]] = count++;
    of[i] = number[of[i]];
  }
  rgi_spare_free(number);
  return count;
}
