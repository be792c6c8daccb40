/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Elements with gaps. A walk over two memories takes pieces that are runs of the same length on
 * both sides; what lies dense on one side is cut into runs as long as those of the other one. So a
 * part of a matrix is one piece, moved by patch_copy.c. */
#include "access/layout.h"

#include <stdlib.h>

#include "base/grow.h"

static rgi_layout_run *new_run(rgi_layout *layout) {
  if (rgi_grow(&layout->run, (int64_t)layout->runs, &layout->room, sizeof *layout->run,
               "no memory for %lld runs"))
    return NULL;
  return &layout->run[layout->runs++];
}

/* Whether the run continues the last one. */
static int join_last(rgi_layout *layout, int64_t offset, int64_t bytes) {
  rgi_layout_run *last = layout->runs ? &layout->run[layout->runs - 1] : NULL;
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

int rgi_layout_add(rgi_layout *layout, int64_t offset, int64_t bytes) {
  if (bytes == 0)
    return 1;
  if (layout->size == 0 || offset < layout->low)
    layout->low = offset;
  if (layout->size == 0 || offset + bytes > layout->high)
    layout->high = offset + bytes;
  layout->size += bytes;
  if (join_last(layout, offset, bytes))
    return 1;
  rgi_layout_run *run = new_run(layout);
  if (run)
    *run = (rgi_layout_run){.offset = offset, .bytes = bytes, .n = 1, .stride = bytes};
  return run != NULL;
}

/* The first two are added by themselves. If they have begun or continued evenly spaced runs, the
 * others do, too. */
int rgi_layout_add_runs(rgi_layout *layout, const rgi_layout_run *runs) {
  int64_t offset = runs->offset, bytes = runs->bytes, n = runs->n, stride = runs->stride;
  int64_t first = n < 2 ? n : 2;
  for (int64_t i = 0; i < first; i++)
    if (!rgi_layout_add(layout, offset + i * stride, bytes))
      return 0;
  rgi_layout_run *last = layout->runs ? &layout->run[layout->runs - 1] : NULL;
  if (bytes > 0 && n > first && last->n > 1) {
    int64_t end = offset + (n - 1) * stride + bytes;
    last->n += n - first;
    layout->size += (n - first) * bytes;
    layout->high = end > layout->high ? end : layout->high;
    return 1;
  }
  for (int64_t i = first; i < n; i++)
    if (!rgi_layout_add(layout, offset + i * stride, bytes))
      return 0;
  return 1;
}

int rgi_layout_add_all(rgi_layout *layout, const rgi_layout *part, int64_t offset) {
  for (size_t i = 0; i < part->runs; i++) {
    rgi_layout_run moved = part->run[i];
    moved.offset += offset;
    if (!rgi_layout_add_runs(layout, &moved))
      return 0;
  }
  return 1;
}

void rgi_layout_free(rgi_layout *layout) {
  free(layout->run);
  *layout = (rgi_layout){0};
}

/* Elements of one run, or of evenly spaced ones that go on evenly, are one list of runs. */
static int join_elements(rgi_layout_run *one, const rgi_layout *layout, int64_t count) {
  *one = layout->run[0];
  if (one->n == 1 && layout->extent == one->bytes)
    one->bytes *= count;
  else if (one->n == 1 && layout->extent > one->bytes)
    *one = (rgi_layout_run){
        .offset = one->offset, .bytes = one->bytes, .n = count, .stride = layout->extent};
  else if (one->n > 1 && layout->extent == one->n * one->stride)
    one->n *= count;
  else
    return 0;
  return 1;
}

void rgi_layout_begin(rgi_layout_cursor *cursor, const rgi_layout *layout, void *memory,
                      int64_t count) {
  *cursor = (rgi_layout_cursor){.memory = memory, .extent = layout->extent, .left = count - 1};
  cursor->run = layout->run;
  cursor->runs = layout->runs;
  if (layout->runs == 1 && join_elements(&cursor->one, layout, count)) {
    cursor->run = &cursor->one;
    cursor->left = 0;
  }
}

void rgi_layout_begin_flat(rgi_layout_cursor *cursor, void *memory, int64_t bytes) {
  *cursor = (rgi_layout_cursor){.memory = memory, .runs = 1, .one = {0, bytes, 1, bytes}};
  cursor->run = &cursor->one;
}

static char *place_of(const rgi_layout_cursor *cursor) {
  const rgi_layout_run *r = &cursor->run[cursor->at];
  return cursor->memory + r->offset + cursor->k * r->stride + cursor->in;
}

static int64_t rest_of_run(const rgi_layout_cursor *cursor) {
  return cursor->run[cursor->at].bytes - cursor->in;
}

static void next_run(rgi_layout_cursor *cursor) {
  cursor->k = 0;
  if (++cursor->at == cursor->runs && cursor->left > 0) {
    cursor->at = 0;
    cursor->left--;
    cursor->memory += cursor->extent;
  }
}

/* n runs of so many bytes each; in what lies dense they are one range. */
static void pass_piece(rgi_layout_cursor *cursor, int64_t n, int64_t bytes) {
  const rgi_layout_run *r = &cursor->run[cursor->at];
  if (cursor->in == 0 && bytes == r->bytes) {
    cursor->k += n;
  } else {
    cursor->in += n * bytes;
    if (cursor->in < r->bytes)
      return;
    cursor->in = 0;
    cursor->k++;
  }
  if (cursor->k == r->n)
    next_run(cursor);
}

/* How many runs of so many bytes, at most, come next on this side, and how far apart they are. */
static int64_t count_runs(const rgi_layout_cursor *cursor, int64_t bytes, int64_t *stride) {
  const rgi_layout_run *r = &cursor->run[cursor->at];
  if (cursor->in == 0 && r->bytes == bytes) {
    *stride = r->stride;
    return r->n - cursor->k;
  }
  *stride = bytes;
  return rest_of_run(cursor) / bytes;
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
