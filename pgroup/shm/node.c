/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "shm/node.h"

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

int rgi_node_index(int world_rank) {
  int low = 0, high = rgi_node.count - 1, node = rgi_node_of(world_rank);
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (rgi_node.firsts[middle] < node)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
