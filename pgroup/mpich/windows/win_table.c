/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The handles of the windows that are served. A handle is an index in a table of windows. The table
 * stays where it is, so that a thread may look a window up while another one makes or frees
 * windows; the kernel gives it pages as they are used. */
#include <pthread.h>
#include <stdlib.h>

#include "base/grow.h"
#include "mpich/windows/win.h"

_Atomic(rgi_win *) rgi_win_at[RGI_MPICH_WINDOW_HANDLES];

/* A stack of free indices. */
static struct {
  pthread_mutex_t lock;
  uint32_t used; /* indices that were ever given out */
  uint32_t free;
  int64_t room;
  uint32_t *freed;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Room for the index for the time when it is free again. */
static int grow_room(uint32_t i) {
  return rgi_grow(&table.freed, i, &table.room, sizeof *table.freed,
                  "no memory for %lld windows") == RG_SUCCESS;
}

int rgi_win_table_add(rgi_win *window) {
  int good = 1;
  uint32_t i = 0;
  pthread_mutex_lock(&table.lock);
  if (table.free)
    i = table.freed[--table.free];
  else if (table.used < RGI_MPICH_WINDOW_HANDLES && grow_room(table.used))
    i = table.used++;
  else
    good = 0;
  if (good) {
    window->handle = (MPI_Win)(RGI_MPICH_WINDOW_HANDLE + i);
    atomic_store(&rgi_win_at[i], window);
  }
  pthread_mutex_unlock(&table.lock);
  return good;
}

void rgi_win_table_remove(rgi_win *window) {
  uint32_t i = (uint32_t)window->handle - RGI_MPICH_WINDOW_HANDLE;
  pthread_mutex_lock(&table.lock);
  atomic_store(&rgi_win_at[i], NULL);
  table.freed[table.free++] = i;
  pthread_mutex_unlock(&table.lock);
}
