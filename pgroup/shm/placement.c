/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pages that lie within one part are stepped over at once; a page with several parts is looked at
 * by itself. So the cost is that of the parts, however large they are. */
#include "shm/placement.h"

#include "shm/pages.h"

static rgi_placement_binder *bind_pages;

void rgi_placement_set_binder(rgi_placement_binder *binder) {
  bind_pages = binder;
}

int rgi_placement_is_active(void) {
  return bind_pages != NULL;
}

static uint64_t page_begin(uint64_t at) {
  return at / RGI_PAGE * RGI_PAGE;
}

static uint64_t page_end(uint64_t at) {
  return page_begin(at + RGI_PAGE - 1);
}

static uint64_t end_of(const rgi_placement *placement, int part) {
  return placement->end ? placement->end[part] : placement->each * (uint64_t)(part + 1);
}

/* The first part that ends behind this byte of the object; placement->parts: none. */
static int part_at(const rgi_placement *placement, uint64_t at) {
  int low = 0, high = placement->parts;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (end_of(placement, middle) > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The node of bytes [begin, end) of the object, which are less than two pages: that of the part
 * with most of them. */
static int node_of(const rgi_placement *placement, uint64_t begin, uint64_t end) {
  uint64_t most = 0;
  int node = RGI_PLACEMENT_ANY;
  for (int i = part_at(placement, begin); i < placement->parts && begin < end; i++) {
    uint64_t to = end_of(placement, i) < end ? end_of(placement, i) : end;
    if (to > begin && to - begin > most) {
      most = to - begin;
      node = placement->node[i];
    }
    begin = to > begin ? to : begin;
  }
  return node;
}

/* Pages from `at` on, as far as it is plain that they have one node. */
static rgi_placement_range step_from(const rgi_placement *placement, uint64_t offset, uint64_t at) {
  uint64_t begin = at > offset ? at - offset : 0, page = at + RGI_PAGE - offset;
  int part = part_at(placement, begin);
  if (end_of(placement, part) <= page)
    return (rgi_placement_range){at, at + RGI_PAGE, node_of(placement, begin, page)};
  return (rgi_placement_range){at, page_begin(offset + end_of(placement, part)),
                               placement->node[part]};
}

int rgi_placement_next(const rgi_placement *placement, uint64_t offset,
                       rgi_placement_range *range) {
  uint64_t last = placement->parts ? page_end(offset + end_of(placement, placement->parts - 1)) : 0;
  uint64_t at = range->end ? range->end : page_begin(offset);
  if (at >= last)
    return 0;
  rgi_placement_range step = *range = step_from(placement, offset, at);
  while (step.node == range->node) {
    range->end = step.end;
    if (range->end >= last)
      break;
    step = step_from(placement, offset, range->end);
  }
  return 1;
}

void rgi_placement_bind(const rgi_placement *placement, uint64_t offset, void *base) {
  rgi_placement_range range = {.end = 0};
  while (bind_pages && rgi_placement_next(placement, offset, &range))
    bind_pages((char *)base + range.begin, range.end - range.begin, range.node);
}

void rgi_placement_unbind(uint64_t offset, size_t bytes, void *base) {
  uint64_t begin = page_begin(offset), end = page_end(offset + bytes);
  if (bind_pages)
    bind_pages((char *)base + begin, end - begin, RGI_PLACEMENT_ANY);
}
