/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The memory of the table: the journal, the list of the dead, a byte for each rank of the world,
 * the states of the node's processes; each from a new cache line on. */
#include "shm/process_table.h"

#include <errno.h>

#include "base/clock.h"

#define FRESH_SECONDS 5.0

static size_t whole_lines(size_t bytes) {
  return (bytes + RGI_LINE - 1) / RGI_LINE * RGI_LINE;
}

size_t rgi_process_table_bytes(int n, int world) {
  return whole_lines(sizeof(rgi_process_table_journal)) +
         whole_lines((size_t)world * sizeof(int32_t)) + whole_lines((size_t)world) +
         (size_t)n * sizeof(rgi_process_state);
}

void rgi_process_table_attach(rgi_process_table *t, void *memory, int world) {
  char *at = memory;
  t->world = world;
  t->journal = (rgi_process_table_journal *)memory;
  at += whole_lines(sizeof(rgi_process_table_journal));
  t->dead = (void *)at;
  at += whole_lines((size_t)world * sizeof *t->dead);
  t->is_dead = (void *)at;
  t->state = (void *)(at + whole_lines((size_t)world));
}

void rgi_process_table_ring(const rgi_process_table *t) {
  for (int i = 0; i < t->n; i++)
    rgi_bell_ring(&t->members[i].bell);
}

/* The next entry of the list is filled, then counted, then its rank is marked. When a process is
 * killed between these steps, the next process that appends completes them first: it finds the
 * entry filled and goes on with that one. 1: the entry is this death's. */
static int append_death(rgi_process_table *t, uint32_t at, int world_rank) {
  int32_t entry = 0;
  if (atomic_compare_exchange_strong(&t->dead[at], &entry, world_rank + 1))
    entry = world_rank + 1;
  uint32_t count = at;
  atomic_compare_exchange_strong(&t->journal->deaths, &count, at + 1);
  atomic_store(&t->is_dead[entry - 1], 1);
  return entry == world_rank + 1;
}

void rgi_process_table_note_death(rgi_process_table *t, int world_rank) {
  uint32_t at = 0;
  while (!rgi_process_table_is_dead(t, world_rank) && !append_death(t, at, world_rank))
    at++;
  rgi_process_table_ring(t);
}

/* Unlocking the mutex of a dead process without making it consistent leaves it unusable for good:
 * ENOTRECOVERABLE tells all others of the death. A mutex that is free belongs to a process that has
 * left the library well. */
static int has_died(rgi_process_state *s) {
  int got = pthread_mutex_trylock(&s->held);
  if (got == 0 || got == EOWNERDEAD)
    pthread_mutex_unlock(&s->held);
  return got == EOWNERDEAD || got == ENOTRECOVERABLE;
}

void rgi_process_table_check(rgi_process_table *t) {
  for (int i = 0; i < t->n; i++)
    if (i != t->me && !rgi_process_table_is_dead(t, t->ranks[i]) && has_died(&t->state[i]))
      rgi_process_table_note_death(t, t->ranks[i]);
}

int rgi_process_table_all_left(const rgi_process_table *t) {
  for (int i = 0; i < t->n; i++)
    if (!atomic_load(&t->state[i].left) && !rgi_process_table_is_dead(t, t->ranks[i]))
      return 0;
  return 1;
}

void rgi_process_table_ended(rgi_process_table *t, int pid) {
  for (int i = 0; i < t->n; i++)
    if (t->state[i].pid == pid)
      atomic_store(&t->state[i].ended, 1);
}

/* A process that computes, is stopped or waits for a disk has noted no wait for a while. */
static int is_waiting(const rgi_process_state *s, double seconds, double now) {
  double seen = atomic_load(&s->seen);
  return now - seen < FRESH_SECONDS && seen - atomic_load(&s->since) >= seconds;
}

/* Where all processes have ended, news of how may still be on its way: so they must have ended
 * that long ago, too. */
int rgi_process_table_all_waiting(rgi_process_table *t, double seconds) {
  double now = rgi_clock_now();
  int here = 0;
  for (int i = 0; i < t->n; i++) {
    if (atomic_load(&t->state[i].ended))
      continue;
    here = 1;
    if (!is_waiting(&t->state[i], seconds, now))
      return 0;
  }
  if (here || t->empty == 0)
    t->empty = here ? 0 : now;
  return here || now - t->empty >= seconds;
}
