/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A list of blocks, the last one first. The last walker that comes to a meeting marks all of its
 * blocks as complete. */
#include "walkers/team/meeting_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "shm/arena.h"
#include "walkers/team/meeting.h"
#include "walkers/team/queue.h"

/* A walker that has come to a meeting. */
typedef struct {
  uint64_t next, bytes; /* the block after this one; bytes of this one */
  int64_t number, count;
  rgi_queue_entry entry; /* its state in a block of its own */
  int rank;
  enum { WAITS, COMPLETE, TWICE, STUCK } state; /* TWICE: another one has its id */
  int64_t ids[];                                /* of all that meet */
} arrival;

/* A place in the arena, or an address. */
static void *memory_at(rgi_meeting_list list, uint64_t place) {
  return list.shared ? rgi_arena_at(place) : (void *)(uintptr_t)place;
}

static arrival *arrival_at(rgi_meeting_list list, uint64_t place) {
  return memory_at(list, place);
}

static int make_block(rgi_meeting_list list, const char *what, size_t bytes, uint64_t *place) {
  if (list.shared)
    return rgi_arena_alloc(what, bytes ? bytes : 1, place);
  *place = (uint64_t)(uintptr_t)rgi_spare_alloc(bytes ? bytes : 1);
  return *place ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for %s", what);
}

static void free_block(rgi_meeting_list list, uint64_t place, size_t bytes) {
  if (!list.shared)
    rgi_spare_free(memory_at(list, place));
  else if (place)
    rgi_arena_free(place, bytes ? bytes : 1);
}

/* Whether b is in the meeting of a. */
static int is_with(const arrival *a, const arrival *b) {
  return b->state != TWICE && a->number == b->number && a->count == b->count &&
         memcmp(a->ids, b->ids, (size_t)a->count * sizeof *a->ids) == 0;
}

static int has_id(const arrival *comer, int64_t id) {
  int64_t i = 0;
  while (i < comer->count && comer->ids[i] != id)
    i++;
  return i < comer->count;
}

/* --- coming ----------------------------------------------------------------------------------- */

static int make_arrival(rgi_meeting_list list, const rgi_queue_entry *entry,
                        const rgi_meeting *meeting, uint64_t *place) {
  size_t bytes = sizeof(arrival) + (size_t)meeting->count * sizeof *meeting->ids;
  uint64_t state = 0;
  if (entry->memory) {
    RGI_TRY(make_block(list, "the state of a walker", entry->bytes, &state));
    memcpy(memory_at(list, state), entry->memory, entry->bytes);
  }
  int error = make_block(list, "a walker that meets others", bytes, place);
  if (error) {
    free_block(list, state, entry->bytes);
    return error;
  }
  arrival *comer = arrival_at(list, *place);
  *comer = (arrival){
      .bytes = bytes, .number = meeting->number, .count = meeting->count, .entry = *entry};
  comer->entry.state = state;
  comer->entry.memory = NULL;
  memcpy(comer->ids, meeting->ids, (size_t)meeting->count * sizeof *meeting->ids);
  return RG_SUCCESS;
}

static void free_arrival(rgi_meeting_list list, uint64_t *link) {
  uint64_t place = *link;
  const arrival *comer = arrival_at(list, place);
  *link = comer->next;
  free_block(list, comer->entry.state, comer->entry.bytes);
  free_block(list, place, comer->bytes);
}

/* The first block has come to its meeting. Whether the meeting can take place now. */
static int join_others(rgi_meeting_list list) {
  arrival *comer = arrival_at(list, *list.first);
  int64_t here = 1;
  for (uint64_t at = comer->next; at; at = arrival_at(list, at)->next)
    if (is_with(comer, arrival_at(list, at))) {
      here++;
      if (arrival_at(list, at)->entry.id == comer->entry.id)
        comer->state = TWICE;
    }
  if (comer->state == TWICE || here < comer->count)
    return 0;
  for (uint64_t at = *list.first; at; at = arrival_at(list, at)->next)
    if (is_with(comer, arrival_at(list, at)))
      arrival_at(list, at)->state = COMPLETE;
  return 1;
}

int rgi_meeting_list_add(rgi_meeting_list list, const rgi_queue_entry *entry,
                         const rgi_meeting *meeting, int rank, int *comes) {
  uint64_t place;
  RGI_TRY(make_arrival(list, entry, meeting, &place));
  arrival *comer = arrival_at(list, place);
  comer->rank = rank;
  comer->next = *list.first;
  *list.first = place;
  *comes = join_others(list);
  return RG_SUCCESS;
}

/* --- going ------------------------------------------------------------------------------------ */

/* The entry's memory belongs to the caller. */
static int copy_entry(rgi_meeting_list list, const arrival *comer, rgi_queue_entry *entry) {
  *entry = comer->entry;
  entry->state = 0;
  if (!comer->entry.state)
    return RG_SUCCESS;
  entry->memory = rgi_spare_alloc(entry->bytes ? entry->bytes : 1);
  if (!entry->memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", entry->bytes);
  memcpy(entry->memory, memory_at(list, comer->entry.state), entry->bytes);
  return RG_SUCCESS;
}

/* The first block in this state, or NULL. */
static arrival *find_state(rgi_meeting_list list, int state) {
  uint64_t at = *list.first;
  while (at && (int)arrival_at(list, at)->state != state)
    at = arrival_at(list, at)->next;
  return at ? arrival_at(list, at) : NULL;
}

/* Takes the blocks of a meeting; the array has its walkers in the order of ids. */
static int take_all(rgi_meeting_list list, const arrival *meeting, rgi_queue_entry entries[],
                    int *rank) {
  for (uint64_t *link = list.first; *link;) {
    arrival *comer = arrival_at(list, *link);
    if (!is_with(meeting, comer)) {
      link = &comer->next;
      continue;
    }
    int64_t i = 0;
    while (meeting->ids[i] != comer->entry.id)
      i++;
    if (i == 0)
      *rank = comer->rank;
    RGI_TRY(copy_entry(list, comer, &entries[i]));
    free_arrival(list, link);
  }
  return RG_SUCCESS;
}

int rgi_meeting_list_take(rgi_meeting_list list, int64_t *count, rgi_queue_entry **entries,
                          int64_t *number, int *rank) {
  const arrival *first = find_state(list, COMPLETE);
  *count = 0;
  *entries = NULL;
  if (!first)
    return RG_SUCCESS;
  size_t n = (size_t)first->count;
  arrival *meeting = rgi_spare_alloc(first->bytes);
  *entries = rgi_spare_alloc_zeroed(n, sizeof **entries);
  if (!meeting || !*entries) {
    rgi_spare_free(meeting);
    rgi_spare_free(*entries);
    *entries = NULL;
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %zu walkers", n);
  }
  memcpy(meeting, first, first->bytes);
  *count = (int64_t)n;
  *number = meeting->number;
  int error = take_all(list, meeting, *entries, rank);
  rgi_spare_free(meeting);
  return error;
}

/* --- walkers that nobody meets ------------------------------------------------------------- */

/* Whether the walker with this id has come to the meeting of a. */
static int has_come(rgi_meeting_list list, const arrival *comer, int64_t id) {
  uint64_t at = *list.first;
  while (at && (arrival_at(list, at)->entry.id != id || !is_with(comer, arrival_at(list, at))))
    at = arrival_at(list, at)->next;
  return at != 0;
}

/* The first one that is missing, and what is known of it. */
static void say_missing(rgi_meeting_list list, const arrival *comer, int64_t none, char *text,
                        size_t bytes) {
  int64_t i = 0;
  while (i < comer->count && has_come(list, comer, comer->ids[i]))
    i++;
  int64_t missing = i < comer->count ? comer->ids[i] : -1;
  const arrival *other = NULL;
  for (uint64_t at = *list.first; at && !other; at = arrival_at(list, at)->next)
    if (arrival_at(list, at)->entry.id == missing)
      other = arrival_at(list, at);
  rgi_meeting_say(text, bytes, comer->entry.id, comer->number, missing,
                  other ? other->number : none);
}

int rgi_meeting_list_stuck(rgi_meeting_list list, int64_t none, int *there, rgi_queue_entry *entry,
                           char *text, size_t bytes) {
  arrival *comer = find_state(list, TWICE);
  *there = comer || (comer = find_state(list, WAITS));
  if (!*there)
    return RG_SUCCESS;
  if (comer->state == TWICE)
    snprintf(text, bytes, "walker %lld: another one of this id is in meeting %lld",
             (long long)comer->entry.id, (long long)comer->number);
  else
    say_missing(list, comer, none, text, bytes);
  comer->state = STUCK;
  return copy_entry(list, comer, entry);
}

int64_t rgi_meeting_list_awaits(rgi_meeting_list list, int64_t id) {
  int64_t n = 0;
  for (uint64_t at = *list.first; at; at = arrival_at(list, at)->next) {
    const arrival *comer = arrival_at(list, at);
    n += comer->state == WAITS && comer->entry.id != id && has_id(comer, id);
  }
  return n;
}

void rgi_meeting_list_free(rgi_meeting_list list) {
  while (*list.first)
    free_arrival(list, list.first);
}
