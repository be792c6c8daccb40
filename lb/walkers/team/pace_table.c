/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table is one array: first the entries that all processes have, then this process's own. */
#include "walkers/team/pace_table.h"

#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "collectives/calls/group_error.h"

static int make_room(rgi_pace_table *paces, int64_t count) {
  if (count <= paces->room)
    return RG_SUCCESS;
  int64_t room = count + count / 2 + 16;
  rgi_pace_table_entry *more = realloc(paces->at, (size_t)room * sizeof *more);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for the paces of %lld walkers", (long long)room);
  paces->at = more;
  paces->room = room;
  return RG_SUCCESS;
}

int rgi_pace_table_note(rgi_pace_table *paces, int64_t id, const rg_pace *pace, int64_t met) {
  RGI_TRY(make_room(paces, paces->count + 1));
  paces->at[paces->count++] = (rgi_pace_table_entry){.id = id, .met = met, .pace = *pace};
  return RG_SUCCESS;
}

void rgi_pace_table_free(rgi_pace_table *paces) {
  rgi_spare_free(paces->at);
  *paces = (rgi_pace_table){0};
}

/* --- one table of all ----------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
  const rgi_pace_table_entry *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id)
                        : (x->order > y->order) - (x->order < y->order);
}

/* Sorts, and leaves the last entry of each id, with the last pace that is known. */
static void merge_entries(rgi_pace_table *paces) {
  int64_t n = 0;
  for (int64_t i = 0; i < paces->count; i++)
    paces->at[i].order = i;
  if (paces->count > 0)
    qsort(paces->at, (size_t)paces->count, sizeof *paces->at, by_id);
  for (int64_t i = 0; i < paces->count; i++) {
    rgi_pace_table_entry entry = paces->at[i];
    if (n > 0 && paces->at[n - 1].id == entry.id && entry.pace.count == 0)
      entry.pace = paces->at[n - 1].pace;
    n -= n > 0 && paces->at[n - 1].id == entry.id;
    paces->at[n++] = entry;
  }
  paces->count = paces->shared = n;
}

/* Where the entries of each process go, behind the shared ones. */
static int64_t place_entries(const rgi_pace_table *paces, int n, const MPI_Count bytes[],
                             MPI_Aint places[]) {
  MPI_Aint at = 0;
  for (int r = 0; r < n; r++) {
    places[r] = at;
    at += (MPI_Aint)bytes[r];
  }
  return (int64_t)at / (int64_t)sizeof *paces->at;
}

int rgi_pace_table_share(rgi_pace_table *paces, const rgi_membership *members) {
  rgi_pace_table all = {0};
  MPI_Count mine = (MPI_Count)(paces->count - paces->shared) * (MPI_Count)sizeof *paces->at;
  MPI_Count *bytes = calloc((size_t)members->size, sizeof *bytes + sizeof(MPI_Aint));
  MPI_Aint *places = (MPI_Aint *)(void *)(bytes ? bytes + members->size : NULL);
  int error =
      bytes ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for %d processes", members->size);
  error = rgi_group_error_share(members->group, members->call, error);
  if (!error)
    error = rg_allgather(members->group, &mine, 1, MPI_COUNT, bytes, 1, MPI_COUNT);
  if (!error) {
    all.shared = paces->shared;
    all.count = paces->shared + place_entries(paces, members->size, bytes, places);
    error = rgi_group_error_share(members->group, members->call, make_room(&all, all.count + 1));
  }
  if (!error) {
    if (paces->shared)
      memcpy(all.at, paces->at, (size_t)paces->shared * sizeof *paces->at);
    error = rg_allgatherv(members->group, paces->at ? paces->at + paces->shared : NULL, mine,
                          MPI_BYTE, all.at + paces->shared, bytes, places, MPI_BYTE);
  }
  rgi_spare_free(bytes);
  if (error) {
    rgi_pace_table_free(&all);
    return error;
  }
  merge_entries(&all);
  rgi_pace_table_free(paces);
  *paces = all;
  return RG_SUCCESS;
}

/* --- what is known --------------------------------------------------------------------------- */

static const rgi_pace_table_entry *find_entry(const rgi_pace_table *paces, int64_t id) {
  int64_t low = 0, high = paces->shared;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (paces->at[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < paces->shared && paces->at[low].id == id ? &paces->at[low] : NULL;
}

const rg_pace *rgi_pace_table_find(const rgi_pace_table *paces, int64_t id) {
  const rgi_pace_table_entry *entry = find_entry(paces, id);
  return entry && entry->pace.count ? &entry->pace : NULL;
}

int64_t rgi_pace_table_met(const rgi_pace_table *paces, int64_t id) {
  const rgi_pace_table_entry *entry = find_entry(paces, id);
  return entry ? entry->met : 0;
}

double rgi_pace_table_unit(const rgi_pace_table *paces, int64_t id) {
  double unit = rg_pace_at(rgi_pace_table_find(paces, id), 1);
  return unit > 0 ? unit : 0;
}
