/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Folding a subgroup to a power of two, and reduce-scatter by recursive halving on it
 * (fold.h). Only the first 2 * extra ranks are in pairs; rank `keep`, the root of a reduction,
 * stays in its pair, of others the higher rank does. */
#include "collectives/schedule/fold.h"

rgi_fold rgi_fold_of(const rgi_subgroup *subgroup, int keep) {
  rgi_fold fold = {.size = 1, .keep = keep};
  while (fold.size <= subgroup->size / 2)
    fold.size *= 2;
  fold.extra = subgroup->size - fold.size;
  fold.me = rgi_fold_number(&fold, subgroup->me);
  if (rgi_fold_rank(&fold, fold.me) != subgroup->me)
    fold.me = -1;
  return fold;
}

int rgi_fold_rank(const rgi_fold *fold, int number) {
  if (number >= fold->extra)
    return number + fold->extra;
  return 2 * number == fold->keep ? 2 * number : 2 * number + 1;
}

int rgi_fold_number(const rgi_fold *fold, int rank) {
  return rank < 2 * fold->extra ? rank / 2 : rank - fold->extra;
}

rgi_fold_vector rgi_fold_vector_of(rgi_sched *sched, char *acc, size_t bytes) {
  size_t unit = sched->reduction.datatype.size;
  return (rgi_fold_vector){.acc = acc,
                           .room = rgi_sched_alloc(sched, bytes),
                           .bytes = bytes,
                           .units = unit ? bytes / unit : 0,
                           .unit = unit};
}

void rgi_fold_combine(rgi_sched *sched, int theirs_first, char *acc, char *theirs, size_t bytes) {
  if (theirs_first)
    rgi_sched_reduce_right(sched, theirs, acc, bytes);
  else
    rgi_sched_reduce_left(sched, acc, theirs, bytes);
}

void rgi_fold_in(rgi_sched *sched, const rgi_subgroup *subgroup, const rgi_fold *fold,
                 const rgi_fold_vector *vector) {
  int other = subgroup->me ^ 1;
  if (subgroup->me >= 2 * fold->extra)
    return;
  if (fold->me < 0) {
    rgi_sched_send(sched, subgroup, other, vector->acc, vector->bytes);
    rgi_sched_end_round(sched);
    return;
  }
  rgi_sched_receive(sched, subgroup, other, vector->room, vector->bytes);
  rgi_sched_end_round(sched);
  rgi_fold_combine(sched, other < subgroup->me, vector->acc, vector->room, vector->bytes);
}

void rgi_fold_out(rgi_sched *sched, const rgi_subgroup *subgroup, const rgi_fold *fold,
                  const rgi_fold_vector *vector) {
  if (subgroup->me >= 2 * fold->extra)
    return;
  if (fold->me < 0)
    rgi_sched_receive(sched, subgroup, subgroup->me ^ 1, vector->acc, vector->bytes);
  else
    rgi_sched_send(sched, subgroup, subgroup->me ^ 1, vector->acc, vector->bytes);
  rgi_sched_end_round(sched);
}

static size_t element_offset(const rgi_fold_vector *vector, size_t i) {
  return vector->at ? vector->at[i] : i * vector->unit;
}

void rgi_fold_reduce_scatter(rgi_sched *sched, const rgi_subgroup *subgroup, const rgi_fold *fold,
                             const rgi_fold_vector *vector, rgi_fold_range part[]) {
  rgi_fold_range now = {0, vector->units};
  int k = 0;
  for (int bit = 1; bit < fold->size; bit *= 2, k++) {
    size_t middle = now.low + (now.high - now.low) / 2;
    rgi_fold_range lower = {now.low, middle}, upper = {middle, now.high};
    rgi_fold_range mine = fold->me & bit ? upper : lower, theirs = fold->me & bit ? lower : upper;
    int other = rgi_fold_rank(fold, fold->me ^ bit);
    size_t from = element_offset(vector, mine.low),
           bytes = element_offset(vector, mine.high) - from;
    size_t to = element_offset(vector, theirs.low);
    part[k] = now;
    rgi_sched_send(sched, subgroup, other, vector->acc + to,
                   element_offset(vector, theirs.high) - to);
    rgi_sched_receive(sched, subgroup, other, vector->room + from, bytes);
    rgi_sched_end_round(sched);
    rgi_fold_combine(sched, other < subgroup->me, vector->acc + from, vector->room + from, bytes);
    now = mine;
  }
  part[k] = now;
}

rgi_fold_range rgi_fold_other_half(const rgi_fold_range part[], int k) {
  if (part[k + 1].low == part[k].low)
    return (rgi_fold_range){part[k + 1].high, part[k].high};
  return (rgi_fold_range){part[k].low, part[k + 1].low};
}
