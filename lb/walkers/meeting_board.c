/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "walkers/meeting_board.h"

#include "base/error.h"
#include "walkers/load_board.h"
#include "walkers/meeting_list.h"

int rgi_meeting_board_add(rgi_load_board *b, const rgi_queue_entry *entry, const rgi_meeting *m) {
  int comes;
  RGI_TRY(rgi_meeting_list_add(rgi_meeting_board_list(b), entry, m, 0, &comes));
  b->shared->open--;
  if (!comes)
    return RG_SUCCESS;
  b->shared->open += m->count;
  atomic_fetch_add(&b->shared->complete, 1);
  rgi_load_board_changed(b);
  return RG_SUCCESS;
}

int rgi_meeting_board_take(rgi_load_board *b, int64_t *count, rgi_queue_entry **entries,
                           int64_t *number) {
  int rank;
  RGI_TRY(rgi_meeting_list_take(rgi_meeting_board_list(b), count, entries, number, &rank));
  atomic_fetch_sub(&b->shared->complete, *count > 0);
  return RG_SUCCESS;
}
