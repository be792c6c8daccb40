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

#include <hwloc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/spare.h"
#include "machine/machine.h"
#include "noded/client/overlay_client.h"
#include "progress/mpi_error.h"
#include "progress/slot.h"
#include "runtime/daemons.h"
#include "runtime/gather.h"
#include "runtime/module.h"
#include "runtime/node_memory.h"
#include "runtime/node_processors.h"
#include "runtime/pass_fd.h"
#include "shm/node.h"
#include "shm/pages.h"
#include "shm/process.h"

/* --- whether processes may read each other's memory: rgi_node.pids --------------------------- */

/* Each process reads a random number in the memory of the next one, the last in that of the first.
 * Containers, users and policies divide processes into classes, inside which they may read each
 * other: if there are two classes, one process at least cannot read the next one. In another PID
 * namespace the same number is another process, or none: then the random number differs. */

typedef struct {
  int64_t pid;
  uint64_t address, number;
} process_card;

static int can_read(const process_card *card) {
  uint64_t found = 0;
  return rgi_process_read_memory((pid_t)card->pid, card->address, &found, sizeof found) == 0 &&
         found == card->number;
}

static void forget_pids(void) {
  free(rgi_node.pids);
  rgi_node.pids = NULL;
}

/* Collective over the processes of the node. */
static int find_pids(MPI_Comm node) {
  uint64_t number = 0;
  process_card *all, mine = {getpid(), (uint64_t)(uintptr_t)&number, 0};
  int known = getrandom(&number, sizeof number, 0) == sizeof number, possible, everywhere;
  if (rgi_node.n == 1)
    return RG_SUCCESS;
  mine.number = number;
  RGI_TRY(rgi_gather(node, rgi_node.n, "identifiers", &mine, sizeof mine, &all));
  pid_t *pids = malloc((size_t)rgi_node.n * sizeof *pids);
  possible = rgi_options_choice(RGI_OPT_DIRECT) && known && pids &&
             can_read(&all[(rgi_node.me + 1) % rgi_node.n]);
  int error = rgi_mpi_error(MPI_Allreduce(&possible, &everywhere, 1, MPI_INT, MPI_MIN, node),
                            "MPI_Allreduce");
  for (int i = 0; pids && i < rgi_node.n; i++)
    pids[i] = (pid_t)all[i].pid;
  free(all);
  rgi_node.pids = pids;
  if (error || !everywhere)
    forget_pids();
  return error;
}

/* --- the socket and the L3 cache of each process: rgi_node.caches ----------------------------- */

/* A process is in a socket, or on a cache, if it is bound within it. All processes that are bound
 * within no L3 cache of a socket count as on one. */

/* hwloc's numbers; -1: none. */
static rgi_node_cache find_mine(void) {
  rgi_node_cache mine = {-1, -1};
  rgi_machine_place place;
  if (rgi_machine_my_place("rg_init", &place) != RG_SUCCESS)
    return mine;
  for (int i = 0; i < place.length; i++)
    if (place.chain[i].type == HWLOC_OBJ_PACKAGE)
      mine.socket = place.chain[i].index;
    else if (place.chain[i].type == HWLOC_OBJ_L3CACHE)
      mine.cache = place.chain[i].index;
  return mine;
}

/* The number that stands for a cache, or for a socket where there is no cache. */
static int number_of(const rgi_node_cache *cache, int sockets) {
  return cache->cache < 0 ? cache->socket + 1 : sockets + 1 + cache->cache;
}

/* Numbers from 0 on, with gaps. */
static void number_all(rgi_node_cache *all, int n) {
  int sockets = 0;
  for (int i = 0; i < n; i++)
    sockets = all[i].socket >= sockets ? all[i].socket + 1 : sockets;
  for (int i = 0; i < n; i++)
    all[i] = (rgi_node_cache){.socket = all[i].socket + 1, .cache = number_of(&all[i], sockets)};
}

/* Collective over the processes of the node. Finds nothing where processes share processors, and
 * among so few processes that the levels do not matter. */
static int find_caches(MPI_Comm node) {
  if (rgi_node.oversubscribed || rgi_node.n <= RGI_NODE_FLAT)
    return RG_SUCCESS;
  rgi_node_cache mine = find_mine();
  RGI_TRY(rgi_gather(node, rgi_node.n, "caches", &mine, sizeof mine, &rgi_node.caches));
  number_all(rgi_node.caches, rgi_node.n);
  return RG_SUCCESS;
}

static void forget_caches(void) {
  free(rgi_node.caches);
  rgi_node.caches = NULL;
}

/* --- opening --------------------------------------------------------------------------------- */

static size_t table_bytes; /* of the roots between the bells and the extra bytes */

/* The world's ranks on this node, and the node of every rank. */
static int look_at_ranks(MPI_Comm world, MPI_Comm node) {
  int rank, size;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  rgi_node.rank = rank;
  MPI_Comm_rank(node, &rgi_node.me);
  MPI_Comm_size(node, &rgi_node.n);
  rgi_node.ranks = rgi_spare_alloc((size_t)rgi_node.n * sizeof *rgi_node.ranks);
  rgi_node.of = rgi_spare_alloc((size_t)size * sizeof *rgi_node.of);
  if (!rgi_node.ranks || !rgi_node.of)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for the table of %d ranks", size);
  RGI_TRY_MPI(MPI_Allgather(&rank, 1, MPI_INT, rgi_node.ranks, 1, MPI_INT, node));
  RGI_TRY_MPI(MPI_Allgather(rgi_node.ranks, 1, MPI_INT, rgi_node.of, 1, MPI_INT, world));
  rgi_node.count = rgi_node_number(rgi_node.of, size, size);
  if (rgi_node.count < 0)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for the nodes of %d ranks", size);
  rgi_node.mine = rgi_node.of[rank];
  if (rgi_node.count == 1) {
    rgi_spare_free(rgi_node.of);
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
  error = rgi_mpi_error_share(world, "rg_init", error);
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
  RGI_TRY(find_caches(node));
  RGI_TRY(find_pids(node));
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
  error = rgi_mpi_error_share(world, "rg_init", error);
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
  forget_caches();
  forget_pids();
  rgi_spare_free(rgi_node.ranks);
  rgi_spare_free(rgi_node.of);
  memset(&rgi_node, 0, sizeof rgi_node);
}

void *rgi_cluster_extra(void) {
  return (char *)rgi_arena_roots() + members_bytes() + table_bytes;
}
