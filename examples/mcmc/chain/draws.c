/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The members' records are gathered as bytes; rank 0 puts each into its place in a table in which
 * NaN marks draws that have not come, so that a missing or double one is found. */
#include "draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *post_draws_add(post_draws *d, int64_t numbers) {
  if (d->used + numbers > d->room) {
    int64_t room = 2 * d->room + numbers + 4096;
    double *record = realloc(d->record, (size_t)room * sizeof *record);
    if (!record)
      return NULL;
    d->record = record;
    d->room = room;
  }
  d->used += numbers;
  return d->record + d->used - numbers;
}

void post_draws_free(post_draws *d) {
  free(d->record);
  memset(d, 0, sizeof *d);
}

/* NaN marks a draw that has not come. */
static int place_draw(post_draws_table *t, const double *record, int per_walker) {
  int64_t walker = (int64_t)record[0], draw = (int64_t)record[1];
  if (walker < 0 || walker >= t->chains / per_walker || draw < 0 || draw >= t->samples)
    return RG_ERR_MISMATCH;
  for (int c = 0; c < per_walker; c++)
    for (int q = 0; q < t->quantities; q++) {
      int64_t at = (q * t->chains + walker * per_walker + c) * t->samples + draw;
      if (!isnan(t->value[at]))
        return RG_ERR_MISMATCH;
      t->value[at] = record[2 + c * t->quantities + q];
    }
  return RG_SUCCESS;
}

static int fill_table(post_draws_table *t, const double *records, int64_t numbers, int per_walker) {
  int64_t cells = t->quantities * t->chains * t->samples, length = 2 + per_walker * t->quantities;
  int error = numbers == cells / (length - 2) * length ? RG_SUCCESS : RG_ERR_MISMATCH;
  t->value = malloc(cells ? (size_t)cells * sizeof *t->value : 1);
  if (!t->value)
    return RG_ERR_NOMEM;
  for (int64_t i = 0; i < cells; i++)
    t->value[i] = NAN;
  for (int64_t i = 0; i + length <= numbers && !error; i += length)
    error = place_draw(t, records + i, per_walker);
  if (error) {
    free(t->value);
    t->value = NULL;
  }
  return error;
}

int post_draws_gather(rg_group g, const post_draws *d, int per_walker, post_draws_table *t) {
  int size, rank, error;
  MPI_Count own = (MPI_Count)d->used, total = 0;
  if ((error = rg_group_size(g, &size)) || (error = rg_group_rank(g, &rank)))
    return error;
  MPI_Count *counts = calloc((size_t)size, sizeof *counts);
  MPI_Aint *places = calloc((size_t)size, sizeof *places);
  double *records = NULL;
  error =
      counts && places ? rg_gather(g, &own, 1, MPI_COUNT, counts, 1, MPI_COUNT, 0) : RG_ERR_NOMEM;
  for (int r = 0; r < size && rank == 0 && !error; r++) {
    places[r] = (MPI_Aint)total;
    total += counts[r];
  }
  records = malloc(total ? (size_t)total * sizeof *records : 1);
  if (!records)
    error = RG_ERR_NOMEM;
  if (!error)
    error = rg_gatherv(g, d->record, own, MPI_DOUBLE, records, counts, places, MPI_DOUBLE, 0);
  if (!error && rank == 0)
    error = fill_table(t, records, total, per_walker);
  free(records);
  free(places);
  free(counts);
  return error;
}

uint64_t post_draws_table_checksum(const post_draws_table *t) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int64_t i = 0; i < t->quantities * t->chains * t->samples; i++) {
    uint64_t bits;
    memcpy(&bits, &t->value[i], sizeof bits);
    for (int byte = 0; byte < 64; byte += 8)
      hash = (hash ^ (bits >> byte & 0xff)) * UINT64_C(0x100000001b3);
  }
  return hash;
}

int post_draws_table_csv(const post_draws_table *t, const char *const labels[], FILE *f) {
  fprintf(f, "chain,draw");
  for (int q = 0; q < t->quantities; q++)
    fprintf(f, ",%s", labels[q]);
  fprintf(f, "\n");
  for (int64_t c = 0; c < t->chains; c++)
    for (int64_t i = 0; i < t->samples; i++) {
      fprintf(f, "%lld,%lld", (long long)c, (long long)i);
      for (int q = 0; q < t->quantities; q++)
        fprintf(f, ",%.17g", post_draws_table_chain(t, q, c)[i]);
      fprintf(f, "\n");
    }
  return !ferror(f);
}

int post_draws_table_binary(const post_draws_table *t, FILE *f) {
  for (int64_t c = 0; c < t->chains; c++)
    for (int64_t i = 0; i < t->samples; i++)
      for (int q = 0; q < t->quantities; q++)
        if (fwrite(&post_draws_table_chain(t, q, c)[i], sizeof(double), 1, f) != 1)
          return 0;
  return 1;
}
