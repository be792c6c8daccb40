/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Starting the daemons. The first process of each node opens a socket that listens and a pipe. All
 * exchange their addresses; the first process writes them into the directory in the arena
 * (noded/wire/overlay.h) and passes socket and pipe to its guard, which becomes the daemon and
 * connects with the others. The node's processes tell the daemon facts through the pipe, whose
 * writing end the first process passes to them. */
#include "runtime/daemons.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "noded/client/guard_client.h"
#include "noded/client/overlay_client.h"
#include "noded/wire/tcp.h"
#include "progress/mpi_error.h"
#include "runtime/addresses.h"
#include "runtime/gather.h"
#include "runtime/pass_fd.h"
#include "shm/node.h"
#include "shm/process.h"

/* By rgi_daemons_choose: whether there are daemons; whether all nodes are on one machine. */
static int chosen, one_machine;

/* What all processes exchange when the library starts; only a node's first process fills it in. */
typedef struct {
  uint16_t port, n; /* port and addresses in network order */
  uint32_t address[RGI_OVERLAY_ADDRESSES];
  char name[RGI_OVERLAY_NAME_BYTES];
  unsigned char key[RGI_OVERLAY_KEY_BYTES]; /* only the first process's: of all daemons */
  uint64_t job;                             /* only the first process's: the number of the job */
  double limit;                             /* RG_NODE_TIMEOUT: that of the first process counts */
} node_card;

/* Whether the node's processes have guards and are in different PID namespaces. A robust mutex
 * names its thread by the number that this has in its own namespace: so the end of one thread would
 * look like that of another one with the same number. And a guard knows processes by their numbers.
 */
static int find_strangers(MPI_Comm node, int64_t *differ) {
  struct stat space;
  int64_t number = stat("/proc/self/ns/pid", &space) == 0 ? (int64_t)space.st_ino : 0;
  int64_t mine[3] = {rgi_guard_exists(), number, -number}, all[3];
  RGI_TRY_MPI(MPI_Allreduce(mine, all, 3, MPI_INT64_T, MPI_MIN, node));
  *differ = all[0] && all[1] != -all[2];
  return RG_SUCCESS;
}

static int reject_strangers(void) {
  return rgi_error(RG_ERR_SYSTEM,
                   "rg_init: RG_SURVIVE=1, and the processes of a node are in different PID "
                   "namespaces: deaths could not be told apart; start all processes of a node in "
                   "one container, or in containers that share the machine's process ids");
}

int rgi_daemons_choose(MPI_Comm world, MPI_Comm node) {
  int64_t differ = 0;
  chosen = one_machine = 0;
  RGI_TRY(find_strangers(node, &differ));
  if (rgi_node.count == 1)
    return differ ? reject_strangers() : RG_SUCCESS;
  int64_t machine = rgi_addresses_machine();
  int64_t mine[5] = {rgi_guard_exists(), -rgi_guard_blind(), machine, -machine, -differ}, all[5];
  RGI_TRY_MPI(MPI_Allreduce(mine, all, 5, MPI_INT64_T, MPI_MIN, world));
  if (all[4] != 0)
    return reject_strangers();
  if (all[0] && all[1] != 0)
    return rgi_error(RG_ERR_SYSTEM,
                     "rg_init: pidfd_open: %s: deaths would not be noticed; a job that survives on "
                     "several nodes needs Linux 5.3 and a container that allows this call",
                     strerror((int)-all[1]));
  chosen = (int)all[0];
  one_machine = all[2] > 0 && all[2] == -all[3];
  return RG_SUCCESS;
}

size_t rgi_daemons_bytes(int world) {
  size_t bytes = sizeof(rgi_overlay) + (size_t)rgi_node.count * sizeof(rgi_overlay_node) +
                 sizeof(int32_t) * (size_t)world;
  return chosen ? rgi_lines_whole(bytes) : 0;
}

/* listener, reading: as for rgi_guard_tell. */
static void tell_guard(const rgi_overlay *overlay, int listener, int reading) {
  const rgi_guard_addresses a = {.process_table = rgi_arena_offset(rgi_process_view.journal),
                                 .members = rgi_arena_offset(rgi_node.processes),
                                 .overlay = rgi_arena_offset(overlay),
                                 .processes = rgi_node.n,
                                 .world = rgi_process_view.world,
                                 .patience = rgi_options_value(RGI_OPT_PATIENCE),
                                 .stopped = rgi_options_value(RGI_OPT_STOPPED)};
  rgi_guard_tell(&a, rgi_arena_fd(), listener, reading);
}

void rgi_daemons_tell_guard(void) {
  tell_guard(NULL, -1, -1);
}

/* --- opening ------------------------------------------------------------------------- */

/* The key and the number of the job. Between daemons the key is never sent
 * (noded/wire/greeting.h). It stays 0 where the system has no random numbers. */
static void draw_key(node_card *card) {
  if (getrandom(card->key, sizeof card->key, 0) != (ssize_t)sizeof card->key ||
      getrandom(&card->job, sizeof card->job, 0) != (ssize_t)sizeof card->job)
    memset(card->key, 0, sizeof card->key);
}

static int has_key(const node_card *card) {
  int any = 0;
  for (size_t i = 0; i < sizeof card->key; i++)
    any |= card->key[i];
  return any != 0;
}

/* At the only address that this node offers; where it has several the daemon looks at which of them
 * a connection has come (noded/network/connection.c). */
static int open_listener(node_card *card) {
  struct ifaddrs *devices = NULL;
  if (getifaddrs(&devices) == 0) {
    card->n = (uint16_t)rgi_addresses_offer(devices, getenv("UCX_NET_DEVICES"), one_machine,
                                            card->address);
    freeifaddrs(devices);
  }
  return rgi_tcp_listen(card->n == 1 ? card->address[0] : 0, &card->port);
}

/* Slurm may know a node by another name than that of its host. */
static void find_name(node_card *card) {
  const char *name = getenv("SLURMD_NODENAME");
  if (name)
    snprintf(card->name, sizeof card->name, "%s", name);
  else
    gethostname(card->name, sizeof card->name - 1);
}

static void write_directory(rgi_overlay *overlay, const node_card *cards, int world) {
  struct ifaddrs *own = NULL;
  if (getifaddrs(&own) != 0)
    own = NULL;
  overlay->nodes = rgi_node.count;
  overlay->world = world;
  overlay->limit = cards[0].limit;
  overlay->patience = rgi_options_value(RGI_OPT_PATIENCE);
  memcpy(overlay->key, cards[0].key, sizeof overlay->key);
  overlay->job = cards[0].job;
  snprintf(overlay->witness, sizeof overlay->witness, "%s", rgi_option_text(RGI_OPT_WITNESS));
  overlay->mine = rgi_node.mine;
  memcpy(rgi_overlay_rank_nodes(overlay), rgi_node.of, (size_t)world * sizeof(int32_t));
  for (int i = 0, next = 0; i < world; i++) {
    if (rgi_node.of[i] != next)
      continue;
    rgi_overlay_node *record = &rgi_overlay_nodes(overlay)[next++];
    record->first = i;
    record->port = cards[i].port;
    memcpy(record->address, cards[i].address, sizeof record->address);
    memcpy(record->name, cards[i].name, sizeof record->name);
    record->n = (uint16_t)rgi_addresses_keep(own, record->address, cards[i].n);
  }
  freeifaddrs(own);
}

/* All of the node write to the pipe by a descriptor that the first process opens for reading too,
 * so that writing never raises SIGPIPE. */
static int share_pipe(MPI_Comm node, int mine, int *pipe) {
  char path[64];
  int error = RG_SUCCESS;
  if (rgi_node.me == 0) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", mine);
    *pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (*pipe < 0)
      error = rgi_error(RG_ERR_SYSTEM, "rg_init: the pipe to the node daemon: %s", strerror(errno));
  }
  int passed = rgi_pass_fd_share(node, pipe);
  return error ? error : passed;
}

static int wait_joined(rgi_overlay *overlay) {
  for (double begin = rgi_clock_now();
       !atomic_load(&overlay->joined) && rgi_clock_now() - begin < 60;)
    rgi_clock_sleep(1e-3);
  return atomic_load(&overlay->joined) > 0
             ? RG_SUCCESS
             : rgi_error(RG_ERR_SYSTEM,
                         "rg_init: the node daemons cannot connect with one another "
                         "(%s): without that no death on another node would be noticed",
                         overlay->why);
}

/* A node that cannot write to the file goes on without the vote. */
static void check_witness(void) {
  const char *path = rgi_option_text(RGI_OPT_WITNESS);
  int fd = *path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (*path && fd < 0)
    rgi_log(RGI_LOG_WARN, "RG_WITNESS=%s: %s: this node cannot get its vote", path,
            strerror(errno));
  if (fd >= 0)
    close(fd);
}

/* By a node's first process. */
static int start_daemon(rgi_overlay *overlay, const node_card *cards, int world, int listener,
                        int reading) {
  check_witness();
  write_directory(overlay, cards, world);
  if (!has_key(&cards[0]))
    return rgi_error(RG_ERR_SYSTEM, "rg_init: the system of rank 0 has no random numbers for the "
                                    "key of the job");
  if (listener < 0)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: a socket to listen at: %s", strerror(errno));
  tell_guard(overlay, listener, reading);
  return wait_joined(overlay);
}

static int exchange_cards(MPI_Comm world, node_card *mine, node_card **all) {
  int size;
  MPI_Comm_size(world, &size);
  return rgi_gather(world, size, "addresses", mine, sizeof *mine, all);
}

static int open_all(MPI_Comm world, MPI_Comm node, rgi_overlay *overlay, int *pipe) {
  node_card mine = {0}, *all = NULL;
  int size, ends[2] = {-1, -1}, listener = -1, first = rgi_node.me == 0, failed = 0;
  MPI_Comm_size(world, &size);
  if (first) {
    mine.limit = rgi_options_value(RGI_OPT_NODE_TIMEOUT);
    draw_key(&mine);
    find_name(&mine);
    listener = open_listener(&mine);
    failed = pipe2(ends, O_CLOEXEC);
  }
  int error = exchange_cards(world, &mine, &all), shared = share_pipe(node, ends[1], pipe);
  if (!error && first && !failed)
    error = start_daemon(overlay, all, size, listener, ends[0]);
  MPI_Barrier(node); /* all have opened the pipe, and the directory has been written */
  if (!error && !first)
    tell_guard(overlay, -1, -1);
  free(all);
  for (int i = 0; i < 2; i++)
    if (ends[i] >= 0)
      close(ends[i]);
  if (listener >= 0)
    close(listener);
  return error ? error : shared;
}

int rgi_daemons_open(MPI_Comm world, MPI_Comm node, void *memory) {
  int pipe = -1;
  if (!chosen)
    return RG_SUCCESS;
  int error = open_all(world, node, memory, &pipe);
  rgi_overlay_use(NULL, pipe);
  RGI_TRY(rgi_mpi_error_share(world, "rg_init", error));
  rgi_overlay_use(memory, pipe);
  return RG_SUCCESS;
}
