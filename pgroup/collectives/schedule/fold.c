/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Folding a subgroup to a power of two, and reduce-scatter by recursive halving on it
 * (fold.h). Only the first 2 * extra ranks are in pairs; rank `keep`, the root of a reduction,
 * stays in its pair, of others the higher rank does. */
#include "collectives/schedule/fold.h"

rgi_fold rgi_fold_of(const rgi_subgroup *t, int keep) {
  rgi_fold f = {.size = 1, .keep = keep};
  while (f.size <= t->size / 2)
    f.size *= 2;
  f.extra = t->size - f.size;
  f.me = rgi_fold_number(&f, t->me);
  if (rgi_fold_rank(&f, f.me) != t->me)
    f.me = -1;
  return f;
}

int rgi_fold_rank(const rgi_fold *f, int number) {
  if (number >= f->extra)
    return number + f->extra;
  return 2 * number == f->keep ? 2 * number : 2 * number + 1;
}

int rgi_fold_number(const rgi_fold *f, int rank) {
  return rank < 2 * f->extra ? rank / 2 : rank - f->extra;
}

rgi_fold_vector rgi_fold_vector_of(rgi_sched *s, char *acc, size_t bytes) {
  size_t unit = s->reduction.datatype.size;
  return (rgi_fold_vector){.acc = acc,
                           .room = rgi_sched_alloc(s, bytes),
                           .bytes = bytes,
                           .units = unit ? bytes / unit : 0,
                           .unit = unit};
}

void rgi_fold_combine(rgi_sched *s, int theirs_first, char *acc, char *theirs, size_t bytes) {
  if (theirs_first)
    rgi_sched_reduce_right(s, theirs, acc, bytes);
  else
    rgi_sched_reduce_left(s, acc, theirs, bytes);
}

void rgi_fold_in(rgi_sched *s, const rgi_subgroup *t, const rgi_fold *f, const rgi_fold_vector *v) {
  int other = t->me ^ 1;
  if (t->me >= 2 * f->extra)
    return;
  if (f->me < 0) {
    rgi_sched_send(s, t, other, v->acc, v->bytes);
    rgi_sched_end_round(s);
    return;
  }
  rgi_sched_receive(s, t, other, v->room, v->bytes);
  rgi_sched_end_round(s);
  rgi_fold_combine(s, other < t->me, v->acc, v->room, v->bytes);
}

void rgi_fold_out(rgi_sched *s, const rgi_subgroup *t, const rgi_fold *f,
                  const rgi_fold_vector *v) {
  if (t->me >= 2 * f->extra)
    return;
  if (f->me < 0)
    rgi_sched_receive(s, t, t->me ^ 1, v->acc, v->bytes);
  else
    rgi_sched_send(s, t, t->me ^ 1, v->acc, v->bytes);
  rgi_sched_end_round(s);
}

static size_t element_offset(const rgi_fold_vector *v, size_t i) {
  return v->at ? v->at[i] : i * v->unit;
}

void rgi_fold_reduce_scatter(rgi_sched *s, const rgi_subgroup *t, const rgi_fold *f,
                             const rgi_fold_vector *v, rgi_fold_range part[]) {
  rgi_fold_range now = {0, v->units};
  int k = 0;
  for (int bit = 1; bit < f->size; bit *= 2, k++) {
    size_t middle = now.low + (now.high - now.low) / 2;
    rgi_fold_range lower = {now.low, middle}, upper = {middle, now.high};
    rgi_fold_range mine = f->me & bit ? upper : lower, theirs = f->me & bit ? lower : upper;
    int other = rgi_fold_rank(f, f->me ^ bit);
    size_t from = element_offset(v, mine.low), bytes = element_offset(v, mine.high) - from;
    size_t to = element_offset(v, theirs.low);
    part[k] = now;
    rgi_sched_send(s, t, other, v->acc + to, element_offset(v, theirs.high) - to);
    rgi_sched_receive(s, t, other, v->room + from, bytes);
    rgi_sched_end_round(s);
    rgi_fold_combine(s, other < t->me, v->acc + from, v->room + from, bytes);
    now = mine;
  }
  part[k] = now;
}

rgi_fold_range rgi_fold_other_half(const rgi_fold_range part[], int k) {
  if (part[k + 1].low == part[k].low)
    return (rgi_fold_range){part[k + 1].high, part[k].high};
  return (rgi_fold_range){part[k].low, part[k + 1].low};
}
