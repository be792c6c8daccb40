/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The handles of the windows that are served. A handle is an index in a table of windows; the table
 * grows by chunks, which stay where they are, so that a thread may look a window up while another
 * one makes or frees windows. */
#include <pthread.h>
#include <stdlib.h>

#include "mpi/win.h"

_Atomic(rgi_win_chunk *) rgi_win_chunks[RGI_WIN_CHUNKS];
atomic_int rgi_win_stand_ins;

/* A stack of free indices. */
static struct {
  pthread_mutex_t lock;
  uint32_t used; /* indices that were ever given out */
  uint32_t free, room;
  uint32_t *freed;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic(rgi_win *) *cell_of(uint32_t i) {
  return &atomic_load(&rgi_win_chunks[i / RGI_WIN_CHUNK])->at[i % RGI_WIN_CHUNK];
}

/* Room for the index, also for the time when it is free again. */
static int grow_table(uint32_t i) {
  _Atomic(rgi_win_chunk *) *chunk = &rgi_win_chunks[i / RGI_WIN_CHUNK];
  if (i == table.room) {
    uint32_t *more = realloc(table.freed, (table.room + RGI_WIN_CHUNK) * sizeof *more);
    if (!more)
      return 0;
    table.freed = more;
    table.room += RGI_WIN_CHUNK;
  }
  if (!atomic_load(chunk))
    atomic_store(chunk, calloc(1, sizeof(rgi_win_chunk)));
  return atomic_load(chunk) != NULL;
}

int rgi_win_table_add(rgi_win *w) {
  int good = 1;
  uint32_t i = 0;
  pthread_mutex_lock(&table.lock);
  if (table.free)
    i = table.freed[--table.free];
  else if (table.used < RGI_WIN_CHUNK * RGI_WIN_CHUNKS && grow_table(table.used))
    i = table.used++;
  else
    good = 0;
  if (good) {
    w->handle = (MPI_Win)(RGI_WIN_HANDLE + i);
    atomic_store(cell_of(i), w);
  }
  pthread_mutex_unlock(&table.lock);
  return good;
}

void rgi_win_table_remove(rgi_win *w) {
  uint32_t i = (uint32_t)w->handle - RGI_WIN_HANDLE;
  pthread_mutex_lock(&table.lock);
  atomic_store(cell_of(i), NULL);
  table.freed[table.free++] = i;
  pthread_mutex_unlock(&table.lock);
}

rgi_win *rgi_win_of_stand_in(MPI_Win handle) {
  rgi_win *found = NULL;
  pthread_mutex_lock(&table.lock);
  for (uint32_t i = 0; i < table.used && !found && handle != MPI_WIN_NULL; i++) {
    rgi_win *w = atomic_load(cell_of(i));
    if (w && w->stand_in == handle)
      found = w;
  }
  pthread_mutex_unlock(&table.lock);
  return found;
}
