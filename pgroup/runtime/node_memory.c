/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A process that is bound within one memory node is of that. Pages are bound by hwloc, which is
 * asked for a preference: where a memory node is full, the system takes another one. On a pretended
 * machine nothing is bound. */
#include "runtime/node_memory.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "machine/machine.h"
#include "runtime/gather.h"
#include "shm/huge.h"
#include "shm/node.h"

static rgi_placement inboxes;

static int16_t find_mine(void) {
  rgi_machine_place place;
  int node = RGI_PLACEMENT_ANY;
  if (!rgi_machine_has_memory_nodes() || rgi_machine_my_place("rg_init", &place) != RG_SUCCESS)
    return RGI_PLACEMENT_ANY;
  for (int i = 0; i < place.length; i++)
    if (place.chain[i].type == HWLOC_OBJ_NUMANODE)
      node = place.chain[i].index;
  return (int16_t)(node > INT16_MAX ? RGI_PLACEMENT_ANY : node);
}

static int all_same(const int16_t nodes[], int n) {
  for (int i = 1; i < n; i++)
    if (nodes[i] != nodes[0])
      return 0;
  return 1;
}

/* What all processes have on one memory node lies there without being bound, if one of them
 * touches it first. */
int rgi_node_memory_find(MPI_Comm node) {
  int16_t mine = find_mine(), *all;
  RGI_TRY(rgi_gather(node, rgi_node.n, "memory nodes", &mine, sizeof mine, &all));
  if (all_same(all, rgi_node.n)) {
    free(all);
    return RG_SUCCESS;
  }
  rgi_node.memory = all;
  inboxes = (rgi_placement){.parts = rgi_node.n, .each = sizeof(rgi_node_process), .node = all};
  rgi_placement_set_binder(rgi_machine_bind_memory);
  return RG_SUCCESS;
}

void rgi_node_memory_forget(void) {
  rgi_placement_set_binder(NULL);
  free(rgi_node.memory);
  rgi_node.memory = NULL;
}

static int count_nodes(void) {
  int count = 0;
  for (int i = 0; i < rgi_node.n; i++) {
    int new = rgi_node.memory[i] >= 0;
    for (int j = 0; j < i && new; j++)
      new = rgi_node.memory[j] != rgi_node.memory[i];
    count += new;
  }
  return count;
}

void rgi_node_memory_describe(char text[RGI_NODE_MEMORY_TEXT]) {
  static const char *const huge[] = {"no huge pages", "huge pages, asked for", "huge pages"};
  const char *use = huge[rgi_huge_find(NULL)];
  if (rgi_node.memory)
    snprintf(text, RGI_NODE_MEMORY_TEXT, "each process's part on its own of %d memory nodes%s; %s",
             count_nodes(), rgi_machine_is_pretended() ? " (pretended: nothing is bound)" : "",
             use);
  else
    snprintf(text, RGI_NODE_MEMORY_TEXT,
             "where the system puts it: all processes have the same memory nodes; %s", use);
}

const rgi_placement *rgi_node_memory_inboxes(void) {
  return rgi_node.memory ? &inboxes : NULL;
}
