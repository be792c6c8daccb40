/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An array that doubles. A meeting's walkers are found by a search through all of it. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/meeting.h"
#include "walkers/meeting_list.h"
#include "walkers/queue.h"

int rgi_meeting_list_add(rgi_meeting_list *l, const rgi_queue_entry *e, const rgi_meeting *m,
                         int rank) {
  if (l->count == l->room) {
    int room = 2 * l->room + 8;
    rgi_meeting_aside *more = realloc(l->at, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d walkers", room);
    l->at = more;
    l->room = room;
  }
  size_t bytes = (size_t)m->count * sizeof *m->ids;
  rgi_meeting_aside a = {*e, *m, rank};
  a.meeting.room = m->count;
  a.meeting.ids = malloc(bytes);
  if (!a.meeting.ids)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)m->count);
  memcpy(a.meeting.ids, m->ids, bytes);
  l->at[l->count++] = a;
  return RG_SUCCESS;
}

/* The place of the walker with this id in the same meeting, or -1. */
static int find_partner(const rgi_meeting_list *l, const rgi_meeting *m, int64_t id) {
  int i = l->count - 1;
  while (i >= 0 && (l->at[i].entry.id != id || !rgi_meeting_is(&l->at[i].meeting, m)))
    i--;
  return i;
}

/* The index of the first id that is missing; or m->count. */
static int64_t find_missing(const rgi_meeting_list *l, const rgi_meeting *m) {
  int64_t i = 0;
  while (i < m->count && find_partner(l, m, m->ids[i]) >= 0)
    i++;
  return i;
}

static void take_out(rgi_meeting_list *l, int i) {
  rgi_meeting_free(&l->at[i].meeting);
  l->count--;
  memmove(l->at + i, l->at + i + 1, (size_t)(l->count - i) * sizeof *l->at);
}

int rgi_meeting_list_take(rgi_meeting_list *l, int64_t *count, rgi_queue_entry **entries,
                          int64_t *number, int *rank) {
  int at = 0;
  *count = 0;
  *entries = NULL;
  while (at < l->count && find_missing(l, &l->at[at].meeting) < l->at[at].meeting.count)
    at++;
  if (at == l->count)
    return RG_SUCCESS;
  rgi_meeting m = l->at[at].meeting;
  size_t bytes = (size_t)m.count * sizeof *m.ids;
  rgi_queue_entry *all = calloc((size_t)m.count, sizeof *all);
  m.ids = malloc(bytes);
  if (!all || !m.ids) {
    free(all);
    free(m.ids);
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)m.count);
  }
  memcpy(m.ids, l->at[at].meeting.ids, bytes);
  *rank = l->at[find_partner(l, &m, m.ids[0])].rank;
  for (int64_t i = 0; i < m.count; i++) {
    int one = find_partner(l, &m, m.ids[i]);
    all[i] = l->at[one].entry;
    take_out(l, one);
  }
  *count = m.count;
  *entries = all;
  *number = m.number;
  rgi_meeting_free(&m);
  return RG_SUCCESS;
}

int64_t rgi_meeting_list_awaits(const rgi_meeting_list *l, int64_t id) {
  int64_t n = 0;
  for (int i = 0; i < l->count; i++)
    for (int64_t k = 0; k < l->at[i].meeting.count; k++)
      n += l->at[i].entry.id != id && l->at[i].meeting.ids[k] == id;
  return n;
}

void rgi_meeting_list_say(const rgi_meeting_list *l, int i, char *text, size_t bytes) {
  const rgi_meeting *m = &l->at[i].meeting, *other = NULL;
  int64_t at = find_missing(l, m), missing = at < m->count ? m->ids[at] : -1;
  for (int k = 0; k < l->count && !other; k++)
    if (l->at[k].entry.id == missing)
      other = &l->at[k].meeting;
  rgi_meeting_say(text, bytes, l->at[i].entry.id, m->number, missing,
                  other ? other->number : RGI_MEETING_NONE);
}

void rgi_meeting_list_free(rgi_meeting_list *l) {
  for (int i = 0; i < l->count; i++) {
    free(l->at[i].entry.memory);
    rgi_meeting_free(&l->at[i].meeting);
  }
  free(l->at);
  *l = (rgi_meeting_list){0};
}
