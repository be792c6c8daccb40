/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/queue.h"

int rgi_queue_add(rgi_queue *e, const rgi_queue_entry *entry) {
  if (e->count == e->room) {
    int room = e->room ? 2 * e->room : 16;
    rgi_queue_entry *more = realloc(e->at, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d walkers", room);
    e->at = more;
    e->room = room;
  }
  e->at[e->count++] = *entry;
  return RG_SUCCESS;
}

int rgi_queue_insert(rgi_queue *e, const rgi_queue_entry *entry) {
  RGI_TRY(rgi_queue_add(e, entry));
  int at = e->count - 1;
  for (; at > 0 && e->at[at - 1].left < entry->left; at--)
    e->at[at] = e->at[at - 1];
  e->at[at] = *entry;
  return RG_SUCCESS;
}

rgi_queue_entry rgi_queue_take(rgi_queue *e, int at) {
  rgi_queue_entry taken = e->at[at];
  e->count--;
  memmove(e->at + at, e->at + at + 1, (size_t)(e->count - at) * sizeof *e->at);
  return taken;
}

void rgi_queue_free(rgi_queue *e) {
  for (int i = 0; i < e->count; i++)
    free(e->at[i].memory);
  free(e->at);
  *e = (rgi_queue){0};
}

void rgi_queue_show(const rgi_queue_entry *at, int count, rg_waiting_walker waiting[]) {
  for (int i = 0; i < count; i++)
    waiting[i] = (rg_waiting_walker){.id = at[i].id,
                                     .least = at[i].least,
                                     .most = at[i].most,
                                     .left = at[i].left,
                                     .unit = at[i].unit > 0 ? at[i].unit : RG_LOAD_UNKNOWN};
}
