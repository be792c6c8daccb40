/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers that are set aside are a list of blocks in the arena, the last one first. The last
 * walker that comes to a meeting marks all of its blocks as complete. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "shm/arena.h"
#include "walkers/load_board.h"
#include "walkers/meeting.h"
#include "walkers/meeting_board.h"
#include "walkers/queue.h"

/* A walker that has come to a meeting, in the arena. */
typedef struct {
  uint64_t next, bytes; /* the block after this one; bytes of this one */
  int64_t number, count;
  rgi_queue_entry entry; /* its state in a block of its own */
  enum { WAITS, COMPLETE, STUCK } state;
  int64_t ids[]; /* of all that meet */
} arrival;

static arrival *arrival_at(uint64_t offset) {
  return rgi_arena_at(offset);
}

static int same_meeting(const arrival *a, const arrival *b) {
  return a->number == b->number && a->count == b->count &&
         memcmp(a->ids, b->ids, (size_t)a->count * sizeof *a->ids) == 0;
}

static int has_id(const arrival *a, int64_t id) {
  int64_t i = 0;
  while (i < a->count && a->ids[i] != id)
    i++;
  return i < a->count;
}

/* The walker with this id in the meeting of a, or NULL. */
static const arrival *find_partner(const rgi_load_board *b, const arrival *a, int64_t id) {
  for (uint64_t at = b->shared->aside; at; at = arrival_at(at)->next)
    if (arrival_at(at)->entry.id == id && same_meeting(a, arrival_at(at)))
      return arrival_at(at);
  return NULL;
}

/* --- coming ----------------------------------------------------------------------------------- */

static int make_arrival(const rgi_queue_entry *entry, const rgi_meeting *m, uint64_t *offset) {
  size_t bytes = sizeof(arrival) + (size_t)m->count * sizeof *m->ids;
  uint64_t state = 0;
  if (entry->memory) {
    RGI_TRY(rgi_arena_alloc("the state of a walker", entry->bytes ? entry->bytes : 1, &state));
    memcpy(rgi_arena_at(state), entry->memory, entry->bytes);
  }
  int error = rgi_arena_alloc("a walker that meets others", bytes, offset);
  if (error) {
    if (state)
      rgi_arena_free(state, entry->bytes ? entry->bytes : 1);
    return error;
  }
  arrival *a = arrival_at(*offset);
  *a = (arrival){.bytes = bytes, .number = m->number, .count = m->count, .entry = *entry};
  a->entry.state = state;
  a->entry.memory = NULL;
  memcpy(a->ids, m->ids, (size_t)m->count * sizeof *m->ids);
  return RG_SUCCESS;
}

int rgi_meeting_board_add(rgi_load_board *b, const rgi_queue_entry *entry, const rgi_meeting *m) {
  rgi_load_board_shared *board = b->shared;
  uint64_t offset;
  int64_t here = 0;
  RGI_TRY(make_arrival(entry, m, &offset));
  arrival *a = arrival_at(offset);
  a->next = board->aside;
  board->aside = offset;
  board->open--;
  for (int64_t i = 0; i < a->count; i++)
    here += find_partner(b, a, a->ids[i]) != NULL;
  if (here < a->count)
    return RG_SUCCESS;
  for (uint64_t at = board->aside; at; at = arrival_at(at)->next)
    if (same_meeting(a, arrival_at(at)))
      arrival_at(at)->state = COMPLETE;
  board->open += a->count;
  atomic_fetch_add(&board->complete, 1);
  rgi_load_board_changed(b);
  return RG_SUCCESS;
}

/* --- going ------------------------------------------------------------------------------------ */

/* The entry's memory belongs to the caller. */
static int copy_entry(const arrival *a, rgi_queue_entry *entry) {
  *entry = a->entry;
  entry->state = 0;
  if (!a->entry.state)
    return RG_SUCCESS;
  entry->memory = malloc(entry->bytes ? entry->bytes : 1);
  if (!entry->memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", entry->bytes);
  memcpy(entry->memory, rgi_arena_at(a->entry.state), entry->bytes);
  return RG_SUCCESS;
}

static void free_arrival(uint64_t *link) {
  uint64_t offset = *link;
  const arrival *a = arrival_at(offset);
  *link = a->next;
  if (a->entry.state)
    rgi_arena_free(a->entry.state, a->entry.bytes ? a->entry.bytes : 1);
  rgi_arena_free(offset, a->bytes);
}

/* The first block in this state, or NULL. */
static arrival *find_state(const rgi_load_board *b, int state) {
  uint64_t at = b->shared->aside;
  while (at && (int)arrival_at(at)->state != state)
    at = arrival_at(at)->next;
  return at ? arrival_at(at) : NULL;
}

/* Takes the blocks of a meeting; the array has its walkers in the order of ids. */
static int take_all(rgi_load_board *b, const arrival *meeting, rgi_queue_entry entries[]) {
  for (uint64_t *link = &b->shared->aside; *link;) {
    const arrival *a = arrival_at(*link);
    if (!same_meeting(meeting, a)) {
      link = &arrival_at(*link)->next;
      continue;
    }
    int64_t i = 0;
    while (meeting->ids[i] != a->entry.id)
      i++;
    RGI_TRY(copy_entry(a, &entries[i]));
    free_arrival(link);
  }
  return RG_SUCCESS;
}

int rgi_meeting_board_take(rgi_load_board *b, int64_t *count, rgi_queue_entry **entries,
                           int64_t *number) {
  const arrival *first = find_state(b, COMPLETE);
  *count = 0;
  if (!first)
    return RG_SUCCESS;
  size_t n = (size_t)first->count;
  arrival *meeting = malloc(first->bytes);
  *entries = calloc(n, sizeof **entries);
  if (!meeting || !*entries) {
    free(meeting);
    free(*entries);
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %zu walkers", n);
  }
  memcpy(meeting, first, first->bytes);
  *count = (int64_t)n;
  *number = meeting->number;
  atomic_fetch_sub(&b->shared->complete, 1);
  int error = take_all(b, meeting, *entries);
  free(meeting);
  return error;
}

/* --- walkers that nobody meets ------------------------------------------------------------------
 */

/* The first one that is missing, and what is known of it. */
static void say_missing(const rgi_load_board *b, const arrival *a, char *text, size_t bytes) {
  int64_t i = 0;
  while (i < a->count && find_partner(b, a, a->ids[i]))
    i++;
  int64_t missing = i < a->count ? a->ids[i] : -1;
  const arrival *other = NULL;
  for (uint64_t at = b->shared->aside; at && !other; at = arrival_at(at)->next)
    if (arrival_at(at)->entry.id == missing)
      other = arrival_at(at);
  int64_t none = rgi_membership_spans_nodes(b->members) ? RGI_MEETING_UNKNOWN : RGI_MEETING_NONE;
  rgi_meeting_say(text, bytes, a->entry.id, a->number, missing, other ? other->number : none);
}

int rgi_meeting_board_stuck(rgi_load_board *b, int *there, rgi_queue_entry *entry, char *text,
                            size_t bytes) {
  arrival *a = find_state(b, WAITS);
  *there = a != NULL;
  if (!a)
    return RG_SUCCESS;
  a->state = STUCK;
  say_missing(b, a, text, bytes);
  return copy_entry(a, entry);
}

int64_t rgi_meeting_board_awaits(const rgi_load_board *b, int64_t id) {
  int64_t n = 0;
  for (uint64_t at = b->shared->aside; at; at = arrival_at(at)->next) {
    const arrival *a = arrival_at(at);
    n += a->state == WAITS && a->entry.id != id && has_id(a, id);
  }
  return n;
}

void rgi_meeting_board_free(rgi_load_board *b) {
  while (b->shared->aside)
    free_arrival(&b->shared->aside);
}
