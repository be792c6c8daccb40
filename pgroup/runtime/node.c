/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/node.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/extension.h"
#include "runtime/liveness.h"
#include "runtime/memory.h"
#include "runtime/mesh.h"
#include "runtime/options.h"
#include "runtime/processors.h"

rgi_node_info rgi_node;

/* Processors that the node's processes may use between them; the same answer
 * for all of them, also where the user decides. */
static int look_at_processors(MPI_Comm node) {
  cpu_set_t mine, all;
  int choice = rgi_option_choice(RGI_OPT_OVERSUBSCRIBED), said;
  rgi_processors_mine(&mine);
  RGI_TRY_MPI(MPI_Allreduce(&mine, &all, (int)sizeof all, MPI_BYTE, MPI_BOR, node));
  RGI_TRY_MPI(MPI_Allreduce(&choice, &said, 1, MPI_INT, MPI_MAX, node));
  rgi_node.processors = CPU_COUNT(&all) > 0 ? CPU_COUNT(&all) : 1;
  rgi_node.oversubscribed = said ? said == 1 : rgi_node.n > rgi_node.processors;
  return RG_SUCCESS;
}

/* The world's ranks on this node, and the node of every rank. */
static int look_at_ranks(MPI_Comm world, MPI_Comm node) {
  int rank, size, one_node;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Comm_rank(node, &rgi_node.me);
  MPI_Comm_size(node, &rgi_node.n);
  rgi_node.ranks = malloc((size_t)rgi_node.n * sizeof *rgi_node.ranks);
  rgi_node.of = malloc((size_t)size * sizeof *rgi_node.of);
  if (!rgi_node.ranks || !rgi_node.of)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for the table of %d ranks", size);
  RGI_TRY_MPI(MPI_Allgather(&rank, 1, MPI_INT, rgi_node.ranks, 1, MPI_INT, node));
  rgi_node.mine = rgi_node.ranks[0];
  RGI_TRY_MPI(MPI_Allgather(&rgi_node.mine, 1, MPI_INT, rgi_node.of, 1, MPI_INT, world));
  rgi_node.count = 0;
  for (int i = 0; i < size; i++)
    rgi_node.count += rgi_node.of[i] == i;
  one_node = rgi_node.count == 1;
  if (one_node) {
    free(rgi_node.of);
    rgi_node.of = NULL;
  }
  return RG_SUCCESS;
}

static size_t processes_bytes(void) {
  return (size_t)rgi_node.n * sizeof(rgi_process);
}

/* Their pulses, and who of the world is dead. */
static size_t lives_bytes(MPI_Comm world, int *size) {
  MPI_Comm_size(world, size);
  return rgi_liveness_bytes(rgi_node.n, *size) + rgi_mesh_bytes(rgi_node.n, *size);
}

static int open_mesh(MPI_Comm world, MPI_Comm node) {
  int size;
  MPI_Comm_size(world, &size);
  return rgi_mesh_open(world, node,
                       (char *)rgi_arena_roots() + processes_bytes() +
                           rgi_liveness_bytes(rgi_node.n, size));
}

static int open_node(MPI_Comm world, MPI_Comm node, size_t extra) {
  RGI_TRY(look_at_ranks(world, node));
  RGI_TRY(look_at_processors(node));
  RGI_TRY(rgi_mesh_choose(world));
  int size;
  size_t bytes = (size_t)rgi_option(RGI_OPT_ARENA_SIZE) << 20;
  rgi_node.lives = lives_bytes(world, &size);
  if (bytes == 0)
    bytes = rgi_memory_half();
  size_t annex = (size_t)rgi_node.n * rgi_extensions_annex();
  RGI_TRY(rgi_arena_open(node, bytes, processes_bytes() + rgi_node.lives + extra, annex));
  rgi_node.processes = rgi_arena_roots();
  return rgi_liveness_open((char *)rgi_arena_roots() + processes_bytes(), size);
}

int rgi_node_open(MPI_Comm world, size_t extra) {
  MPI_Comm node;
  int rank;
  MPI_Comm_rank(world, &rank);
  RGI_TRY_MPI(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  int error = open_node(world, node, extra), all = error;
  /* Nobody looks for the pulse of one that has not begun. */
  RGI_TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, node));
  if (all && !error)
    error = rgi_error(all, "rg_init: another process of the node failed");
  if (!error)
    error = open_mesh(world, node);
  MPI_Comm_free(&node);
  if (error)
    rgi_node_close();
  return error;
}

void rgi_node_close(void) {
  rgi_mesh_close();
  rgi_liveness_close();
  rgi_arena_close();
  free(rgi_node.ranks);
  free(rgi_node.of);
  memset(&rgi_node, 0, sizeof rgi_node);
}

void *rgi_node_extra(void) {
  return (char *)rgi_arena_roots() + processes_bytes() + rgi_node.lives;
}

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
