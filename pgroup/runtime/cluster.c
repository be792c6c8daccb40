/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Opening what the processes of a node share, in this order: the tables of rgi_node, whether there
 * are to be daemons (their directory needs room in the arena), the arena, the caller's entry in the
 * table of processes, the guard's knowledge of both, and, when all processes of the node have come
 * so far, the daemons. The arena begins with its roots: the processes' bells and inboxes, the table
 * of processes, the daemons' directory, and what the caller asks for (the table of slots). The heap
 * holds the modules' parts and, behind them, some words for each process. */
#include "runtime/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "noded/client/overlay_client.h"
#include "progress/comm_error.h"
#include "progress/mpi_error.h"
#include "progress/slot.h"
#include "runtime/daemons.h"
#include "runtime/module.h"
#include "runtime/node_caches.h"
#include "runtime/node_memory.h"
#include "runtime/node_pids.h"
#include "runtime/node_processors.h"
#include "runtime/pass_fd.h"
#include "shm/node.h"
#include "shm/pages.h"
#include "shm/process.h"

static size_t table_bytes; /* of the roots between the bells and the extra bytes */

/* The world's ranks on this node, and the node of every rank. */
static int look_at_ranks(MPI_Comm world, MPI_Comm node) {
  int rank, size;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  rgi_node.rank = rank;
  MPI_Comm_rank(node, &rgi_node.me);
  MPI_Comm_size(node, &rgi_node.n);
  rgi_node.ranks = malloc((size_t)rgi_node.n * sizeof *rgi_node.ranks);
  rgi_node.of = malloc((size_t)size * sizeof *rgi_node.of);
  if (!rgi_node.ranks || !rgi_node.of)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for the table of %d ranks", size);
  RGI_TRY_MPI(MPI_Allgather(&rank, 1, MPI_INT, rgi_node.ranks, 1, MPI_INT, node));
  RGI_TRY_MPI(MPI_Allgather(rgi_node.ranks, 1, MPI_INT, rgi_node.of, 1, MPI_INT, world));
  rgi_node.count = rgi_node_number(rgi_node.of, size, size);
  if (rgi_node.count < 0)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for the nodes of %d ranks", size);
  rgi_node.mine = rgi_node.of[rank];
  if (rgi_node.count == 1) {
    free(rgi_node.of);
    rgi_node.of = NULL;
  }
  return RG_SUCCESS;
}

static size_t members_bytes(void) {
  return (size_t)rgi_node.n * sizeof(rgi_node_process);
}

/* Of the table of processes and the daemons' directory. */
static size_t tables_bytes(MPI_Comm world, int *size) {
  MPI_Comm_size(world, size);
  return rgi_process_table_bytes(rgi_node.n, *size) + rgi_daemons_bytes(*size);
}

static int open_overlay(MPI_Comm world, MPI_Comm node) {
  int size;
  MPI_Comm_size(world, &size);
  return rgi_daemons_open(world, node,
                          (char *)rgi_arena_roots() + members_bytes() +
                              rgi_process_table_bytes(rgi_node.n, size));
}

/* The first process of each node makes the segment, the others map it, which is passed to them. The
 * same error on all processes. */
static int share_arena(MPI_Comm world, MPI_Comm node, const rgi_arena_sizes *sizes) {
  rgi_arena_address address = {0};
  int first = rgi_node.me == 0, error = RG_SUCCESS;
  if (first)
    address.error = error = rgi_arena_make(sizes, &address);
  RGI_TRY_MPI(MPI_Bcast(&address, (int)sizeof address, MPI_BYTE, 0, node));
  int fd = first ? rgi_arena_fd() : -1;
  if (!address.error)
    error = rgi_pass_fd_share(node, &fd);
  if (!address.error && !error && !first)
    error = rgi_arena_join(&address, fd);
  error = rgi_comm_error_share(world, "rg_init", error);
  if (error)
    rgi_arena_close();
  return error;
}

/* Every process of the world has the same modules, or opens none that have heap. */
uint64_t rgi_cluster_words(int n) {
  return (uint64_t)n * rgi_modules_heap();
}

/* Whole pages. */
static size_t words_bytes(void) {
  return ((size_t)rgi_node.n * RGI_CLUSTER_WORDS_BYTES + RGI_PAGE - 1) / RGI_PAGE * RGI_PAGE;
}

/* Below that level the thread that calls rg_init also calls rg_finalize, and does not end before.
 */
static int any_thread_may_call(void) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level >= MPI_THREAD_SERIALIZED;
}

static int open_node(MPI_Comm world, MPI_Comm node, size_t extra) {
  RGI_TRY(look_at_ranks(world, node));
  RGI_TRY(rgi_node_processors_find(node));
  RGI_TRY(rgi_node_memory_find(node));
  RGI_TRY(rgi_node_caches_find(node));
  RGI_TRY(rgi_node_pids_find(node));
  RGI_TRY(rgi_daemons_choose(world, node));
  int size;
  table_bytes = tables_bytes(world, &size);
  rgi_arena_sizes sizes = {.bytes = (size_t)rgi_options_value(RGI_OPT_ARENA_SIZE) << 20,
                           .processes = rgi_node.n,
                           .roots = members_bytes() + table_bytes + extra,
                           .heap = rgi_cluster_words(rgi_node.n) + words_bytes(),
                           .placed = rgi_node_memory_inboxes()};
  if (sizes.bytes == 0)
    sizes.bytes = rgi_memory_half("");
  rgi_slot_set_aside(rgi_node.n, size, sizes.aside);
  RGI_TRY(share_arena(world, node, &sizes));
  if (rgi_node.me == 0)
    RGI_TRY(rgi_arena_heap_commit("rg_init", rgi_cluster_words(rgi_node.n), words_bytes()));
  rgi_node.processes = rgi_arena_roots();
  RGI_TRY(
      rgi_process_open((char *)rgi_arena_roots() + members_bytes(), size, any_thread_may_call()));
  rgi_daemons_tell_guard();
  return RG_SUCCESS;
}

int rgi_cluster_open(MPI_Comm world, size_t extra) {
  MPI_Comm node;
  int rank;
  MPI_Comm_rank(world, &rank);
  RGI_TRY_MPI(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  int error = open_node(world, node, extra);
  /* No process may look at the state of another one before that has opened the table. */
  error = rgi_comm_error_share(world, "rg_init", error);
  if (!error)
    error = open_overlay(world, node);
  MPI_Comm_free(&node);
  if (error)
    rgi_cluster_close();
  return error;
}

void rgi_cluster_close(void) {
  rgi_overlay_close();
  rgi_process_close();
  rgi_arena_close();
  rgi_node_memory_forget();
  rgi_node_caches_forget();
  rgi_node_pids_forget();
  free(rgi_node.ranks);
  free(rgi_node.of);
  memset(&rgi_node, 0, sizeof rgi_node);
}

void *rgi_cluster_extra(void) {
  return (char *)rgi_arena_roots() + members_bytes() + table_bytes;
}
