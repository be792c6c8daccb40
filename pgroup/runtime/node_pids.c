/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each process reads a random number in the memory of the next one, the last in that of the first.
 * Containers, users and policies divide processes into classes, inside which they may read each
 * other: if there are two classes, one process at least cannot read the next one. In another PID
 * namespace the same number is another process, or none: then the random number differs. */
#include "runtime/node_pids.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"
#include "progress/mpi_error.h"
#include "runtime/gather.h"
#include "shm/node.h"
#include "shm/peer_memory.h"

typedef struct {
  int64_t pid;
  uint64_t address, number;
} process_card;

static int can_read(const process_card *card) {
  uint64_t found = 0;
  return rgi_peer_memory_read((pid_t)card->pid, card->address, &found, sizeof found) == 0 &&
         found == card->number;
}

int rgi_node_pids_find(MPI_Comm node) {
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
    rgi_node_pids_forget();
  return error;
}

void rgi_node_pids_forget(void) {
  free(rgi_node.pids);
  rgi_node.pids = NULL;
}
