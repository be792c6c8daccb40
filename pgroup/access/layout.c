/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements with gaps. A walk over two memories takes pieces that are runs of the same length on
 * both sides; what lies dense on one side is cut into runs as long as those of the other one. So a
 * part of a matrix is one piece, moved by patch_copy.c. */
#include "access/layout.h"

#include <stdlib.h>

static rgi_layout_run *new_run(rgi_layout *l) {
  if (l->runs == l->room) {
    size_t room = l->room ? 2 * l->room : 4;
    rgi_layout_run *more = realloc(l->run, room * sizeof *more);
    if (!more)
      return NULL;
    l->run = more;
    l->room = room;
  }
  return &l->run[l->runs++];
}

/* Whether the run continues the last one. */
static int join_last(rgi_layout *l, int64_t offset, int64_t bytes) {
  rgi_layout_run *last = l->runs ? &l->run[l->runs - 1] : NULL;
  if (!last)
    return 0;
  if (last->n == 1 && offset == last->offset + last->bytes) {
    last->bytes += bytes;
    return 1;
  }
  if (bytes != last->bytes || (last->n > 1 && offset != last->offset + last->n * last->stride) ||
      offset < last->offset + last->bytes)
    return 0;
  last->stride = (offset - last->offset) / last->n;
  last->n++;
  return 1;
}

int rgi_layout_add(rgi_layout *l, int64_t offset, int64_t bytes) {
  if (bytes == 0)
    return 1;
  if (l->size == 0 || offset < l->low)
    l->low = offset;
  if (l->size == 0 || offset + bytes > l->high)
    l->high = offset + bytes;
  l->size += bytes;
  if (join_last(l, offset, bytes))
    return 1;
  rgi_layout_run *run = new_run(l);
  if (run)
    *run = (rgi_layout_run){offset, bytes, 1, bytes};
  return run != NULL;
}

/* The first two are added by themselves. If they have begun or continued evenly spaced runs, the
 * others do, too. */
int rgi_layout_add_runs(rgi_layout *l, const rgi_layout_run *runs) {
  int64_t offset = runs->offset, bytes = runs->bytes, n = runs->n, stride = runs->stride;
  int64_t first = n < 2 ? n : 2;
  for (int64_t i = 0; i < first; i++)
    if (!rgi_layout_add(l, offset + i * stride, bytes))
      return 0;
  rgi_layout_run *last = l->runs ? &l->run[l->runs - 1] : NULL;
  if (bytes > 0 && n > first && last->n > 1) {
    int64_t end = offset + (n - 1) * stride + bytes;
    last->n += n - first;
    l->size += (n - first) * bytes;
    l->high = end > l->high ? end : l->high;
    return 1;
  }
  for (int64_t i = first; i < n; i++)
    if (!rgi_layout_add(l, offset + i * stride, bytes))
      return 0;
  return 1;
}

int rgi_layout_add_all(rgi_layout *l, const rgi_layout *part, int64_t offset) {
  for (size_t i = 0; i < part->runs; i++) {
    rgi_layout_run moved = part->run[i];
    moved.offset += offset;
    if (!rgi_layout_add_runs(l, &moved))
      return 0;
  }
  return 1;
}

void rgi_layout_free(rgi_layout *l) {
  free(l->run);
  *l = (rgi_layout){0};
}

/* Elements of one run, or of evenly spaced ones that go on evenly, are one list of runs. */
static int join_elements(rgi_layout_run *one, const rgi_layout *l, int64_t count) {
  *one = l->run[0];
  if (one->n == 1 && l->extent == one->bytes)
    one->bytes *= count;
  else if (one->n == 1 && l->extent > one->bytes)
    *one = (rgi_layout_run){one->offset, one->bytes, count, l->extent};
  else if (one->n > 1 && l->extent == one->n * one->stride)
    one->n *= count;
  else
    return 0;
  return 1;
}

void rgi_layout_begin(rgi_layout_cursor *c, const rgi_layout *l, void *memory, int64_t count) {
  *c = (rgi_layout_cursor){.memory = memory, .extent = l->extent, .left = count - 1};
  c->run = l->run;
  c->runs = l->runs;
  if (l->runs == 1 && join_elements(&c->one, l, count)) {
    c->run = &c->one;
    c->left = 0;
  }
}

void rgi_layout_begin_flat(rgi_layout_cursor *c, void *memory, int64_t bytes) {
  *c = (rgi_layout_cursor){.memory = memory, .runs = 1, .one = {0, bytes, 1, bytes}};
  c->run = &c->one;
}

static char *place_of(const rgi_layout_cursor *c) {
  const rgi_layout_run *r = &c->run[c->at];
  return c->memory + r->offset + c->k * r->stride + c->in;
}

static int64_t rest_of_run(const rgi_layout_cursor *c) {
  return c->run[c->at].bytes - c->in;
}

static void next_run(rgi_layout_cursor *c) {
  c->k = 0;
  if (++c->at == c->runs && c->left > 0) {
    c->at = 0;
    c->left--;
    c->memory += c->extent;
  }
}

/* n runs of so many bytes each; in what lies dense they are one range. */
static void pass_piece(rgi_layout_cursor *c, int64_t n, int64_t bytes) {
  const rgi_layout_run *r = &c->run[c->at];
  if (c->in == 0 && bytes == r->bytes) {
    c->k += n;
  } else {
    c->in += n * bytes;
    if (c->in < r->bytes)
      return;
    c->in = 0;
    c->k++;
  }
  if (c->k == r->n)
    next_run(c);
}

/* How many runs of so many bytes, at most, come next on this side, and how far apart they are. */
static int64_t count_runs(const rgi_layout_cursor *c, int64_t bytes, int64_t *stride) {
  const rgi_layout_run *r = &c->run[c->at];
  if (c->in == 0 && r->bytes == bytes) {
    *stride = r->stride;
    return r->n - c->k;
  }
  *stride = bytes;
  return rest_of_run(c) / bytes;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void rgi_layout_walk(rgi_layout_cursor *target, rgi_layout_cursor *origin, int64_t bytes,
                     rgi_layout_move *move, const void *how) {
  while (bytes > 0) {
    int64_t run = least(least(rest_of_run(target), rest_of_run(origin)), bytes);
    int64_t to_stride, from_stride;
    int64_t n = least(count_runs(target, run, &to_stride), count_runs(origin, run, &from_stride));
    n = least(n, bytes / run);
    rgi_strided piece = rgi_strided_flat(run);
    rgi_strided_add(&piece, n, from_stride, to_stride);
    move(&piece, place_of(target), place_of(origin), how);
    pass_piece(target, n, run);
    pass_piece(origin, n, run);
    bytes -= n * run;
  }
}
