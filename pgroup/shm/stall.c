/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Notes of stalls in the table of processes. A note is written under its version, which is odd
 * meanwhile; a reader copies the note and looks at the version again. */
#include "shm/stall.h"

#include <stdio.h>
#include <string.h>

#include "shm/node.h"
#include "shm/process.h"

static int is_member(const rgi_failure_scope *scope, int world_rank) {
  return scope->find(scope->members, world_rank) >= 0;
}

/* The members in ascending order, runs of them as ranges, as far as there is room. */
static void list_members(const rgi_failure_scope *scope, char text[RGI_PROCESS_STALL_LIST]) {
  enum { PART = 32 };
  int world = rgi_process_view.world;
  size_t at = 0;
  text[0] = 0;
  for (int first = 0, last; first < world; first = last + 1) {
    last = first;
    if (!is_member(scope, first))
      continue;
    if (at + PART > RGI_PROCESS_STALL_LIST) {
      snprintf(text + at, RGI_PROCESS_STALL_LIST - at, ", ...");
      return;
    }
    while (last + 1 < world && is_member(scope, last + 1))
      last++;
    at += (size_t)snprintf(text + at, PART, at ? ", %d" : "%d", first);
    if (last > first)
      at += (size_t)snprintf(text + at, PART, last > first + 1 ? "-%d" : ", %d", last);
  }
}

/* The note's version; 0: another thread writes. */
static uint32_t write_note(rgi_process_stall *note, const rgi_failure_scope *scope,
                           const char *call, int unmet) {
  uint32_t version = atomic_load(&note->version);
  if (version % 2 || !atomic_compare_exchange_strong(&note->version, &version, version + 1))
    return 0;
  note->context = scope->context;
  note->unmet = unmet != 0;
  memset(note->here, 0, sizeof note->here);
  for (int i = 0; i < rgi_node.n && i < RGI_PROCESS_STALL_PLACES; i++)
    if (is_member(scope, rgi_node.ranks[i]))
      note->here[i / 64] |= (uint64_t)1 << i % 64;
  snprintf(note->call, sizeof note->call, "%s", call);
  list_members(scope, note->list);
  atomic_store(&note->version, version + 2);
  return version + 2;
}

static int can_note(const rgi_failure_scope *scope) {
  return rgi_process_view.journal && scope->members && scope->context &&
         rgi_node.me < RGI_PROCESS_STALL_PLACES;
}

void rgi_stall_note(const rgi_failure_scope *scope, const char *call, int unmet, double until,
                    uint32_t *noted) {
  if (!can_note(scope))
    return;
  rgi_process_stall *note = &rgi_process_view.entry[rgi_node.me].stall;
  if (!*noted || *noted != atomic_load(&note->version)) /* another thread has written since */
    *noted = write_note(note, scope, call, unmet);
  if (*noted)
    atomic_store_explicit(&note->until, until, memory_order_release);
}

/* Returns 0 where there is no note that counts. */
static int read_note(int place, double now, rgi_process_stall *copy) {
  rgi_process_stall *note = &rgi_process_view.entry[place].stall;
  uint32_t version = atomic_load(&note->version);
  if (!version || version % 2 || atomic_load(&note->until) < now)
    return 0;
  memcpy(copy, note, sizeof *copy);
  atomic_thread_fence(memory_order_acquire); /* the copy is before the second look */
  return atomic_load(&note->version) == version;
}

static void describe_both(const rgi_failure_scope *scope, int rank, const rgi_process_stall *note,
                          char text[RGI_STALL_TEXT]) {
  char mine[RGI_PROCESS_STALL_LIST];
  list_members(scope, mine);
  if (strcmp(mine, note->list) == 0)
    snprintf(
        text, RGI_STALL_TEXT,
        "rank %d of the world waits in %s on another group of the same ranks, %s: with another "
        "tag, or formed another number of times",
        rank, note->call, mine);
  else
    snprintf(text, RGI_STALL_TEXT,
             "rank %d of the world waits in %s on a group of the ranks %s, this process on one of "
             "%s",
             rank, note->call, note->list, mine);
}

int rgi_stall_find(const rgi_failure_scope *scope, const char *call, double now, int *begins,
                   char text[RGI_STALL_TEXT]) {
  int found = 0, me = rgi_node.me;
  *begins = 0;
  for (int i = 0; can_note(scope) && i < rgi_node.n && !*begins; i++) {
    rgi_process_stall note;
    if (i == me || !is_member(scope, rgi_node.ranks[i]) || !read_note(i, now, &note) ||
        note.context == scope->context || !(note.here[me / 64] >> me % 64 & 1))
      continue;
    *begins = note.unmet && strncmp(note.call, call, sizeof note.call - 1) == 0;
    if (!found || *begins)
      describe_both(scope, rgi_node.ranks[i], &note, text);
    found = 1;
  }
  return found;
}
