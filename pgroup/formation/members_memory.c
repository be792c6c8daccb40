/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/members_memory.h"

#include <stdlib.h>

#include "shm/node.h"

int16_t *rgi_members_memory_nodes(const rgi_members *members) {
  int n = 0;
  int16_t *nodes =
      rgi_node.memory ? malloc((size_t)rgi_members_count(members) * sizeof *nodes) : NULL;
  for (int i = 0; nodes && i < rgi_members_count(members); i++) {
    int place = rgi_node_find(rgi_members_at(members, i));
    if (place >= 0)
      nodes[n++] = rgi_node.memory[place];
  }
  return nodes;
}
