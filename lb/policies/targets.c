/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "policies/targets.h"

#include <stdlib.h>

#include "base/error.h"

static int later(const rgi_targets *s, int a, int b) {
  const rgi_target *x = &s->t[s->heap[a]], *y = &s->t[s->heap[b]];
  return x->seconds > y->seconds || (x->seconds == y->seconds && x->row < y->row);
}

static void swap(rgi_targets *s, int a, int b) {
  int kept = s->heap[a];
  s->heap[a] = s->heap[b];
  s->heap[b] = kept;
}

static void sift_down(rgi_targets *s, int at) {
  for (int child; (child = 2 * at + 1) < s->size; at = child) {
    if (child + 1 < s->size && later(s, child + 1, child))
      child++;
    if (!later(s, child, at))
      return;
    swap(s, at, child);
  }
}

void rgi_targets_heap(rgi_targets *s) {
  for (s->size = 0; s->size < s->count; s->size++)
    s->heap[s->size] = s->size;
  for (int i = s->size / 2 - 1; i >= 0; i--)
    sift_down(s, i);
}

int rgi_targets_find(rgi_targets *s, const rg_load_table *table, const int64_t give[]) {
  size_t room = (size_t)table->count + 1;
  *s = (rgi_targets){
      .table = table, .t = malloc(room * sizeof *s->t), .heap = malloc(room * sizeof *s->heap)};
  if (!s->t || !s->heap) {
    rgi_targets_free(s);
    return rgi_error(RG_ERR_NOMEM, "a policy: no memory for %d rows", table->count);
  }
  for (int row = 0; row < table->count; row++) {
    const rg_load *l = &table->load[row];
    if (!rgi_load_takes(l) || (give && give[row] != 0))
      continue;
    int64_t ranks = l->ranks + l->coming;
    double seconds = rgi_load_seconds(l, ranks);
    s->t[s->count++] = (rgi_target){row, ranks, 0, seconds, seconds};
  }
  rgi_targets_heap(s);
  return RG_SUCCESS;
}

void rgi_targets_free(rgi_targets *s) {
  free(s->t);
  free(s->heap);
  s->t = NULL;
  s->heap = NULL;
}

rgi_target *rgi_targets_top(const rgi_targets *s) {
  return s->size > 0 ? &s->t[s->heap[0]] : NULL;
}

int rgi_target_gains(const rgi_targets *s, const rgi_target *t, int64_t more, double cost) {
  const rg_load *l = &s->table->load[t->row];
  int64_t ranks = t->ranks + t->more + more;
  return (!l->most || ranks <= l->most) && rgi_load_seconds(l, ranks) + cost < t->seconds;
}

void rgi_targets_give(rgi_targets *s, int64_t more) {
  rgi_target *t = rgi_targets_top(s);
  t->more += more;
  t->seconds = rgi_load_seconds(&s->table->load[t->row], t->ranks + t->more);
  sift_down(s, 0);
}

void rgi_targets_drop(rgi_targets *s) {
  swap(s, 0, --s->size);
  sift_down(s, 0);
}

void rgi_targets_put_back(rgi_targets *s, int count) {
  for (; count > 0; count--)
    for (int at = s->size++; at > 0 && later(s, at, (at - 1) / 2); at = (at - 1) / 2)
      swap(s, at, (at - 1) / 2);
}
