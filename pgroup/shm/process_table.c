/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The memory of the table: the journal, the list of the dead, the states of the ranks of the world,
 * a byte each, the entries of the node's processes; each from a new cache line on. */
#include "shm/process_table.h"

#include <errno.h>

#include "base/clock.h"

#define FRESH_SECONDS 5.0
#define OTHER_CLOCK 1000000 /* microseconds */

size_t rgi_process_table_bytes(int n, int world) {
  return rgi_lines_whole(sizeof(rgi_process_table_journal)) +
         rgi_lines_whole((size_t)world * sizeof(int32_t)) + rgi_lines_whole((size_t)world) +
         (size_t)n * sizeof(rgi_process_entry);
}

void rgi_process_table_attach(rgi_process_table *table, void *memory, int world) {
  char *at = memory;
  table->world = world;
  table->journal = (rgi_process_table_journal *)memory;
  at += rgi_lines_whole(sizeof(rgi_process_table_journal));
  table->dead = (void *)at;
  at += rgi_lines_whole((size_t)world * sizeof *table->dead);
  table->state = (void *)at;
  table->entry = (void *)(at + rgi_lines_whole((size_t)world));
}

void rgi_process_table_ring(const rgi_process_table *table) {
  for (int i = 0; i < table->n; i++)
    rgi_bell_ring(&table->members[i].bell);
}

void rgi_process_table_raise(rgi_process_table *table, int world_rank, rgi_process_state to) {
  unsigned char now = atomic_load(&table->state[world_rank]);
  while (now < to && now < RGI_PROCESS_DEAD &&
         !atomic_compare_exchange_weak(
             &table->state[world_rank], &now,
             to == RGI_PROCESS_DEAD && now == RGI_PROCESS_STARTED ? RGI_PROCESS_DEAD_STARTING : to))
    ;
}

/* The next entry of the list is filled, then counted, then its rank is marked. When a process is
 * killed between these steps, the next process that appends completes them first: it finds the
 * entry filled and goes on with that one. 1: the entry is this death's. */
static int append_death(rgi_process_table *table, uint32_t at, int world_rank) {
  int32_t entry = 0;
  if (atomic_compare_exchange_strong(&table->dead[at], &entry, world_rank + 1))
    entry = world_rank + 1;
  uint32_t count = at;
  atomic_compare_exchange_strong(&table->journal->deaths, &count, at + 1);
  rgi_process_table_raise(table, entry - 1, RGI_PROCESS_DEAD);
  return entry == world_rank + 1;
}

void rgi_process_table_note_death(rgi_process_table *table, int world_rank) {
  uint32_t at = 0;
  while (!rgi_process_table_is_dead(table, world_rank) && !append_death(table, at, world_rank))
    at++;
  rgi_process_table_ring(table);
}

/* Unlocking the mutex of a dead process without making it consistent leaves it unusable for good:
 * ENOTRECOVERABLE tells all others of the death. A mutex that is free belongs to a process that has
 * left the library well. */
static int has_died(rgi_process_entry *entry) {
  int got = pthread_mutex_trylock(&entry->held);
  if (got == 0 || got == EOWNERDEAD)
    pthread_mutex_unlock(&entry->held);
  return got == EOWNERDEAD || got == ENOTRECOVERABLE;
}

static rgi_process_state entry_state(const rgi_process_table *table,
                                     const rgi_process_entry *entry) {
  return atomic_load(&entry->pid) ? rgi_process_table_state(table, entry->rank) : RGI_PROCESS_NONE;
}

static void check_entry(rgi_process_table *table, rgi_process_entry *entry) {
  if (!rgi_process_table_is_dead(table, entry->rank) && has_died(entry))
    rgi_process_table_note_death(table, entry->rank);
}

void rgi_process_table_check(rgi_process_table *table) {
  for (int i = 0; i < table->n; i++)
    if (i != table->me)
      check_entry(table, &table->entry[i]);
}

/* The claim comes first: a process that is stopped between it and the look delays the look of the
 * others by `seconds`, no more. A caller may have read its clock before the last look. A time that
 * lies far ahead is of another clock (a process may have a time namespace of its own): it delays
 * none. */
int rgi_process_table_check_each(rgi_process_table *table, double now, double seconds) {
  _Atomic int64_t *looked = &table->journal->looked;
  int64_t time = (int64_t)(now * 1e6), last = atomic_load_explicit(looked, memory_order_relaxed);
  if ((time - last < (int64_t)(seconds * 1e6) && last - time < OTHER_CLOCK) ||
      !atomic_compare_exchange_strong(looked, &last, time))
    return 0;
  rgi_process_table_check(table);
  return 1;
}

int rgi_process_table_all_ready(const rgi_process_table *table) {
  for (int i = 0; i < table->n; i++) {
    rgi_process_state s = entry_state(table, &table->entry[i]);
    if (s < RGI_PROCESS_READY || s == RGI_PROCESS_DEAD_STARTING)
      return 0;
  }
  return 1;
}

static int all_have_reached(const rgi_process_table *table, rgi_process_state state) {
  for (int i = 0; i < table->n; i++)
    if (entry_state(table, &table->entry[i]) < state)
      return 0;
  return 1;
}

int rgi_process_table_all_left(const rgi_process_table *table) {
  return all_have_reached(table, RGI_PROCESS_LEFT);
}

int rgi_process_table_all_ended(const rgi_process_table *table) {
  return all_have_reached(table, RGI_PROCESS_ENDED);
}

/* The end of a process that has not left is a death, which other processes may not have seen yet.
 */
int rgi_process_table_ended(rgi_process_table *table, int pid) {
  int died = 0;
  for (int i = 0; i < table->n; i++)
    if (table->entry[i].pid == pid) {
      check_entry(table, &table->entry[i]);
      rgi_process_table_raise(table, table->entry[i].rank, RGI_PROCESS_ENDED);
      died |= rgi_process_table_is_dead(table, table->entry[i].rank);
    }
  return died;
}

/* A process that computes, is stopped or waits for a disk has noted no wait for a while. */
static int is_waiting(const rgi_process_entry *entry, double seconds, double now) {
  double seen = atomic_load(&entry->seen);
  return now - seen < FRESH_SECONDS && seen - atomic_load(&entry->since) >= seconds;
}

/* Where all processes have ended, news of how may still be on its way: so they must have ended
 * that long ago, too. */
int rgi_process_table_all_waiting(rgi_process_table *table, double seconds) {
  double now = rgi_clock_now();
  int here = 0;
  for (int i = 0; i < table->n; i++) {
    if (entry_state(table, &table->entry[i]) >= RGI_PROCESS_ENDED)
      continue;
    here = 1;
    if (!is_waiting(&table->entry[i], seconds, now))
      return 0;
  }
  if (here || table->empty == 0)
    table->empty = here ? 0 : now;
  return here || now - table->empty >= seconds;
}

double rgi_process_table_longest_wait(const rgi_process_table *table) {
  double now = rgi_clock_now(), longest = 0;
  for (int i = 0; i < table->n; i++) {
    const rgi_process_entry *entry = &table->entry[i];
    double waited = atomic_load(&entry->seen) - atomic_load(&entry->since);
    if (entry_state(table, entry) < RGI_PROCESS_LEFT && !atomic_load(&entry->patient) &&
        waited > longest && is_waiting(entry, waited, now))
      longest = waited;
  }
  return longest;
}
