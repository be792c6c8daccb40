/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A lock in each process, which a creation takes on its members in ascending order of their ranks:
 * the member below sends a message when it has the lock. Locks that are always taken in one order
 * cannot deadlock. */
#include "formation/creation_order.h"

#include <limits.h>
#include <stdatomic.h>

#include "base/error.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"

static atomic_flag locked = ATOMIC_FLAG_INIT;

/* Before rg_init the members' levels of thread support are the same. */
static int threads_may_create(void) {
  return rgi_runtime.threads_of_any || rgi_runtime_may_threads_call();
}

/* The members next below and above, or -1. */
static void find_neighbours(int n, const int ranks[], int mine, int *below, int *above) {
  *below = -1;
  *above = INT_MAX;
  for (int i = 0; i < n; i++) {
    if (ranks[i] < mine && ranks[i] > *below)
      *below = ranks[i];
    if (ranks[i] > mine && ranks[i] < *above)
      *above = ranks[i];
  }
  if (*above == INT_MAX)
    *above = -1;
}

static int take_lock(const char *call, int mine) {
  rgi_wait wait;
  rgi_wait_start(&wait, call, mine);
  while (atomic_flag_test_and_set(&locked))
    RGI_TRY(rgi_wait_more(&wait));
  return RG_SUCCESS;
}

int rgi_creation_order_begin(const rgi_comm_creation *creation) {
  int below, above, mine = creation->ranks[creation->me];
  MPI_Request request;
  if (!threads_may_create())
    return RG_SUCCESS;
  find_neighbours(creation->n, creation->ranks, mine, &below, &above);
  if (below >= 0) {
    RGI_TRY_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, below, creation->tag, creation->comm, &request));
    RGI_TRY(rgi_wait_request(&request, creation->call, below));
  }
  RGI_TRY(take_lock(creation->call, mine));
  if (above >= 0)
    RGI_TRY_MPI(MPI_Send(NULL, 0, MPI_BYTE, above, creation->tag, creation->comm));
  return RG_SUCCESS;
}

void rgi_creation_order_end(void) {
  if (threads_may_create())
    atomic_flag_clear(&locked);
}
