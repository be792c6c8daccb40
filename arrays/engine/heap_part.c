/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A treap: a tree by offset that is a heap by random priorities, so that it stays
 * shallow; each node knows the longest range below it. */
#include "engine/heap.h"

#include <stdlib.h>

#include "base/error.h"
#include "shm/arena.h"

typedef struct rgi_heap_part_range {
  uint64_t start, length, longest, priority;
  struct rgi_heap_part_range *left, *right;
} range;

uint64_t rgi_heap_part_round(uint64_t bytes) {
  return bytes ? rgi_lines_whole(bytes) : RGI_LINE;
}

static uint64_t longest_below(const range *r) {
  return r ? r->longest : 0;
}

static range *renew_longest(range *r) {
  r->longest = r->length;
  if (longest_below(r->left) > r->longest)
    r->longest = longest_below(r->left);
  if (longest_below(r->right) > r->longest)
    r->longest = longest_below(r->right);
  return r;
}

/* All of low lies before all of high. */
static range *join_trees(range *low, range *high) {
  if (!low || !high)
    return low ? low : high;
  if (low->priority > high->priority) {
    low->right = join_trees(low->right, high);
    return renew_longest(low);
  }
  high->left = join_trees(low, high->left);
  return renew_longest(high);
}

/* Into what starts before `at` and the rest. */
static void split_tree(range *r, uint64_t at, range **low, range **high) {
  if (!r) {
    *low = *high = NULL;
  } else if (r->start < at) {
    split_tree(r->right, at, &r->right, high);
    *low = renew_longest(r);
  } else {
    split_tree(r->left, at, low, &r->left);
    *high = renew_longest(r);
  }
}

static range *make_range(rgi_heap_part *part, uint64_t start, uint64_t length) {
  range *r = malloc(sizeof *r);
  if (!r)
    return NULL;
  part->random ^= part->random << 13; /* xorshift, Marsaglia 2003 */
  part->random ^= part->random >> 7;
  part->random ^= part->random << 17;
  *r = (range){start, length, length, part->random, NULL, NULL};
  return r;
}

int rgi_heap_part_open(rgi_heap_part *part, uint64_t size) {
  *part = (rgi_heap_part){.size = size, .left = size, .random = 88172645463325252u};
  part->free = make_range(part, 0, size);
  return part->free ? RG_SUCCESS
                    : rgi_error(RG_ERR_NOMEM, "rg_init: no memory for a heap part's records");
}

static void free_tree(range *r) {
  if (!r)
    return;
  free_tree(r->left);
  free_tree(r->right);
  free(r);
}

void rgi_heap_part_close(rgi_heap_part *part) {
  free_tree(part->free);
  part->free = NULL;
}

uint64_t rgi_heap_part_longest(const rgi_heap_part *part) {
  return longest_below(part->free);
}

/* Cuts `bytes` off the front of the lowest range that has them. *used: a range of
 * which nothing is left. */
static range *cut_front(range *r, uint64_t bytes, uint64_t *offset, range **used) {
  if (longest_below(r->left) >= bytes) {
    r->left = cut_front(r->left, bytes, offset, used);
  } else if (r->length >= bytes) {
    *offset = r->start;
    r->start += bytes;
    r->length -= bytes;
    if (!r->length) {
      *used = r;
      return join_trees(r->left, r->right);
    }
  } else {
    r->right = cut_front(r->right, bytes, offset, used);
  }
  return renew_longest(r);
}

int rgi_heap_part_take(rgi_heap_part *part, uint64_t bytes, uint64_t *offset) {
  range *used = NULL;
  if (longest_below(part->free) < bytes)
    return 0;
  part->free = cut_front(part->free, bytes, offset, &used);
  part->left -= bytes;
  free(used);
  return 1;
}

/* Takes the last range out of a tree if it ends at `at`. */
static range *cut_last(range *r, uint64_t at, range **last) {
  if (r && r->right) {
    r->right = cut_last(r->right, at, last);
    return renew_longest(r);
  }
  if (!r || r->start + r->length != at)
    return r;
  *last = r;
  return r->left;
}

/* Takes the first range out of a tree if it starts at `at`. */
static range *cut_first(range *r, uint64_t at, range **first) {
  if (r && r->left) {
    r->left = cut_first(r->left, at, first);
    return renew_longest(r);
  }
  if (!r || r->start != at)
    return r;
  *first = r;
  return r->right;
}

int rgi_heap_part_give(rgi_heap_part *part, uint64_t offset, uint64_t bytes) {
  range *low, *high, *before = NULL, *behind = NULL, *r = make_range(part, offset, bytes);
  if (!r)
    return 0;
  split_tree(part->free, offset, &low, &high);
  low = cut_last(low, offset, &before);
  high = cut_first(high, offset + bytes, &behind);
  if (before) {
    r->start = before->start;
    r->length += before->length;
  }
  if (behind)
    r->length += behind->length;
  free(before);
  free(behind);
  part->free = join_trees(join_trees(low, renew_longest(r)), high);
  part->left += bytes;
  return 1;
}
