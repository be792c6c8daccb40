/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table is one array: first the entries that all processes have, then this process's own. */
#include "walkers/team/pace_table.h"

#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"

static int make_room(rgi_pace_table *t, int64_t count) {
  if (count <= t->room)
    return RG_SUCCESS;
  int64_t room = count + count / 2 + 16;
  rgi_pace_table_entry *more = realloc(t->at, (size_t)room * sizeof *more);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for the paces of %lld walkers", (long long)room);
  t->at = more;
  t->room = room;
  return RG_SUCCESS;
}

int rgi_pace_table_note(rgi_pace_table *t, int64_t id, const rg_pace *pace, int64_t met) {
  RGI_TRY(make_room(t, t->count + 1));
  t->at[t->count++] = (rgi_pace_table_entry){.id = id, .met = met, .pace = *pace};
  return RG_SUCCESS;
}

void rgi_pace_table_free(rgi_pace_table *t) {
  free(t->at);
  *t = (rgi_pace_table){0};
}

/* --- one table of all ----------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
  const rgi_pace_table_entry *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id)
                        : (x->order > y->order) - (x->order < y->order);
}

/* Sorts, and leaves the last entry of each id, with the last pace that is known. */
static void merge_entries(rgi_pace_table *t) {
  int64_t n = 0;
  for (int64_t i = 0; i < t->count; i++)
    t->at[i].order = i;
  if (t->count > 0)
    qsort(t->at, (size_t)t->count, sizeof *t->at, by_id);
  for (int64_t i = 0; i < t->count; i++) {
    rgi_pace_table_entry e = t->at[i];
    if (n > 0 && t->at[n - 1].id == e.id && e.pace.count == 0)
      e.pace = t->at[n - 1].pace;
    n -= n > 0 && t->at[n - 1].id == e.id;
    t->at[n++] = e;
  }
  t->count = t->shared = n;
}

/* Where the entries of each process go, behind the shared ones. */
static int64_t place_entries(const rgi_pace_table *t, int n, const MPI_Count bytes[],
                             MPI_Aint places[]) {
  MPI_Aint at = 0;
  for (int r = 0; r < n; r++) {
    places[r] = at;
    at += (MPI_Aint)bytes[r];
  }
  return (int64_t)at / (int64_t)sizeof *t->at;
}

int rgi_pace_table_share(rgi_pace_table *t, const rgi_membership *m) {
  rgi_pace_table all = {0};
  MPI_Count mine = (MPI_Count)(t->count - t->shared) * (MPI_Count)sizeof *t->at;
  MPI_Count *bytes = calloc((size_t)m->size, sizeof *bytes + sizeof(MPI_Aint));
  MPI_Aint *places = (MPI_Aint *)(void *)(bytes ? bytes + m->size : NULL);
  int error = bytes ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for %d processes", m->size);
  error = rgi_group_error_share(m->group, m->call, error);
  if (!error)
    error = rg_allgather(m->group, &mine, 1, MPI_COUNT, bytes, 1, MPI_COUNT);
  if (!error) {
    all.shared = t->shared;
    all.count = t->shared + place_entries(t, m->size, bytes, places);
    error = rgi_group_error_share(m->group, m->call, make_room(&all, all.count + 1));
  }
  if (!error) {
    if (t->shared)
      memcpy(all.at, t->at, (size_t)t->shared * sizeof *t->at);
    error = rg_allgatherv(m->group, t->at ? t->at + t->shared : NULL, mine, MPI_BYTE,
                          all.at + t->shared, bytes, places, MPI_BYTE);
  }
  free(bytes);
  if (error) {
    rgi_pace_table_free(&all);
    return error;
  }
  merge_entries(&all);
  rgi_pace_table_free(t);
  *t = all;
  return RG_SUCCESS;
}

/* --- what is known --------------------------------------------------------------------------- */

static const rgi_pace_table_entry *find_entry(const rgi_pace_table *t, int64_t id) {
  int64_t low = 0, high = t->shared;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (t->at[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < t->shared && t->at[low].id == id ? &t->at[low] : NULL;
}

const rg_pace *rgi_pace_table_find(const rgi_pace_table *t, int64_t id) {
  const rgi_pace_table_entry *e = find_entry(t, id);
  return e && e->pace.count ? &e->pace : NULL;
}

int64_t rgi_pace_table_met(const rgi_pace_table *t, int64_t id) {
  const rgi_pace_table_entry *e = find_entry(t, id);
  return e ? e->met : 0;
}

double rgi_pace_table_unit(const rgi_pace_table *t, int64_t id) {
  double unit = rg_pace_at(rgi_pace_table_find(t, id), 1);
  return unit > 0 ? unit : 0;
}
