/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Splitting a group by color: member 0 gathers a table of all members' colors and keys, and passes
 * it on; each member computes its part. */
#include <stdlib.h>

#include "base/error.h"
#include "formation/group_consent.h"
#include "shm/failure.h"

enum { COLOR, KEY, WIDTH };

#define SPLIT 0x73706c69u /* sets this call apart from others on the group */

typedef struct {
  int key, rank;
} split_rank;

static int by_key(const void *a, const void *b) {
  const split_rank *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The group of one color, computed from the table. */
static int make_part(rg_group g, const int table[], int color, uint64_t id, rg_group *part) {
  int size = rgi_members_count(g->members), n = 0;
  rgi_members *members;
  split_rank *sorted = malloc((size_t)size * sizeof *sorted);
  int *ranks = malloc((size_t)size * sizeof *ranks);
  int error = sorted && ranks ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "rg_group_split: no memory");
  for (int i = 0; i < size && !error; i++)
    if (table[i * WIDTH + COLOR] == color)
      sorted[n++] = (split_rank){table[i * WIDTH + KEY], i};
  if (!error) {
    qsort(sorted, (size_t)n, sizeof *sorted, by_key);
    for (int i = 0; i < n; i++)
      ranks[i] = sorted[i].rank;
    error = rgi_members_pick("rg_group_split", g->members, n, ranks, &members);
  }
  free(sorted);
  free(ranks);
  return error ? error
               : rgi_group_creation_end((uint64_t[RGI_CREATION_IDS]){id}, (uint32_t)color,
                                        g->diverged, members, g->tag, part);
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
  rgi_group_consent consent =
      rgi_group_consent_begin(g, __func__, SPLIT, check_arguments(__func__, color, part));
  int *table = g->me == 0 ? malloc((size_t)count * sizeof *table) : NULL;
  if (g->me == 0 && !table)
    rgi_group_consent_fail(
        &consent, rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", __func__, size), 0);
  rgi_group_consent_gather(&consent, WIDTH, mine, table);
  int error = rgi_group_consent_tell(&consent, &count, &table);
  if (!error && color == RG_UNDEFINED)
    *part = NULL;
  else if (!error)
    error = make_part(g, table, color, consent.id, part);
  free(table);
  return rgi_group_creation_result(consent.id, error);
}
