/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Splitting a group by color: member 0 gathers a table of all members' colors and keys, and passes
 * it on; each member computes its part. */
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/group_consent.h"
#include "shm/failure.h"

enum { COLOR, KEY, WIDTH };

#define SPLIT 0x73706c69u /* sets this call apart from others on the group */

static int by_key(const void *a, const void *b, void *table) {
  int x = *(const int *)a, y = *(const int *)b;
  int key_x = ((const int *)table)[x * WIDTH + KEY], key_y = ((const int *)table)[y * WIDTH + KEY];
  if (key_x != key_y)
    return key_x < key_y ? -1 : 1;
  return (x > y) - (x < y);
}

/* The group of one color, computed from the table. */
static int make_part(rg_group g, int table[], int color, uint64_t id, rgi_group_room *room,
                     rg_group *part) {
  int size = rgi_members_count(g->members), n = 0, *ranks = rgi_members_room_ranks(room->members);
  for (int i = 0; i < size; i++)
    if (table[i * WIDTH + COLOR] == color)
      ranks[n++] = i;
  qsort_r(ranks, (size_t)n, sizeof *ranks, by_key, table);
  for (int i = 0; i < n; i++)
    ranks[i] = rgi_members_at(g->members, ranks[i]);
  return rgi_group_creation_fill((uint64_t[RGI_CREATION_IDS]){id}, (uint32_t)color, g->diverged,
                                 room, n, g->tag, part);
}

static int check_arguments(const char *call, int color, const rg_group *part) {
  if (!part)
    return rgi_error(RG_ERR_ARG, "%s: part is NULL", call);
  if (color < 0 && color != RG_UNDEFINED)
    return rgi_error(RG_ERR_ARG, "%s: color %d; colors are 0 or more, or RG_UNDEFINED", call,
                     color);
  return RG_SUCCESS;
}

int rg_group_split(rg_group g, int color, int key, rg_group *part) {
  RGI_TRY(rgi_group_check_member(__func__, g));
  int size = rgi_members_count(g->members), count = size * WIDTH, mine[WIDTH] = {color, key};
  rgi_group_room room = {0};
  int own = check_arguments(__func__, color, part);
  if (!own)
    own = rgi_group_room_alloc(__func__, size, &room);
  rgi_group_consent consent = rgi_group_consent_begin(g, __func__, SPLIT, own, count);
  int *table = g->me == 0 ? rgi_spare_alloc((size_t)count * sizeof *table) : NULL;
  if (g->me == 0 && !table)
    rgi_group_consent_fail(
        &consent, rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", __func__, size), 0);
  rgi_group_consent_gather(&consent, WIDTH, mine, table);
  int error = rgi_group_consent_tell(&consent, &count, &table);
  if (!error && color == RG_UNDEFINED)
    *part = NULL;
  else if (!error)
    error = make_part(g, table, color, consent.id, &room, part);
  rgi_group_room_free(&room);
  rgi_spare_free(table);
  /* All have been told of a lack of memory. */
  return error == RG_ERR_NOMEM ? error : rgi_group_creation_result(consent.id, error);
}
