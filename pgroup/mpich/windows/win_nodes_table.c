/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's handles of the windows that span nodes: a hash table with linear probing. A handle stays in
 * the table when its window is freed, since MPI uses it again; the number of different handles is
 * that of MPI's windows at one time, 2,046 at most. A thread may look a window up while another one
 * adds or removes windows. */
#include <pthread.h>

#include "mpich/windows/win_nodes.h"

#define ENTRIES 4096u

atomic_int rgi_win_nodes_count;

static struct {
  _Atomic(MPI_Win) handle; /* 0: free */
  _Atomic(rgi_win_nodes *) window;
} table[ENTRIES];

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

/* The entry of a handle, or the free one where it would be; ENTRIES: none. */
static unsigned entry_of(MPI_Win handle) {
  unsigned bits = (unsigned)handle, first = bits ^ bits >> 12;
  for (unsigned i = 0; i < ENTRIES; i++) {
    unsigned at = (first + i) % ENTRIES;
    MPI_Win there = atomic_load_explicit(&table[at].handle, memory_order_acquire);
    if (there == handle || there == (MPI_Win)0)
      return at;
  }
  return ENTRIES;
}

rgi_win_nodes *rgi_win_nodes_find(MPI_Win handle) {
  unsigned at = entry_of(handle);
  if (at == ENTRIES || atomic_load_explicit(&table[at].handle, memory_order_acquire) != handle)
    return NULL;
  return atomic_load_explicit(&table[at].window, memory_order_acquire);
}

int rgi_win_nodes_add(rgi_win_nodes *nodes) {
  pthread_mutex_lock(&changing);
  unsigned at = entry_of(nodes->window->handle);
  if (at < ENTRIES) {
    atomic_store(&table[at].window, nodes);
    atomic_store(&table[at].handle, nodes->window->handle);
    atomic_fetch_add(&rgi_win_nodes_count, 1);
  }
  pthread_mutex_unlock(&changing);
  return at < ENTRIES;
}

void rgi_win_nodes_remove(rgi_win_nodes *nodes) {
  pthread_mutex_lock(&changing);
  atomic_store(&table[entry_of(nodes->window->handle)].window, NULL);
  atomic_fetch_sub(&rgi_win_nodes_count, 1);
  pthread_mutex_unlock(&changing);
}
