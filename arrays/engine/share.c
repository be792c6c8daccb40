/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A treap: a tree by offset that is a heap by random priorities, so that it stays
 * shallow; each node knows the longest range below it. */
#include "engine/share.h"

#include <stdlib.h>

#include "base/error.h"
#include "shm/arena.h"

typedef struct rgi_range {
  uint64_t start, length, longest, priority;
  struct rgi_range *left, *right;
} range;

uint64_t rgi_share_round(uint64_t bytes) {
  return bytes ? (bytes + RGI_LINE - 1) / RGI_LINE * RGI_LINE : RGI_LINE;
}

static uint64_t longest(const range *r) {
  return r ? r->longest : 0;
}

static range *renew(range *r) {
  r->longest = r->length;
  if (longest(r->left) > r->longest)
    r->longest = longest(r->left);
  if (longest(r->right) > r->longest)
    r->longest = longest(r->right);
  return r;
}

/* All of low lies before all of high. */
static range *join(range *low, range *high) {
  if (!low || !high)
    return low ? low : high;
  if (low->priority > high->priority) {
    low->right = join(low->right, high);
    return renew(low);
  }
  high->left = join(low, high->left);
  return renew(high);
}

/* Into what starts before `at` and the rest. */
static void part(range *r, uint64_t at, range **low, range **high) {
  if (!r) {
    *low = *high = NULL;
  } else if (r->start < at) {
    part(r->right, at, &r->right, high);
    *low = renew(r);
  } else {
    part(r->left, at, low, &r->left);
    *high = renew(r);
  }
}

static range *make(rgi_share *s, uint64_t start, uint64_t length) {
  range *r = malloc(sizeof *r);
  if (!r)
    return NULL;
  s->random ^= s->random << 13; /* xorshift, Marsaglia 2003 */
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  *r = (range){start, length, length, s->random, NULL, NULL};
  return r;
}

int rgi_share_open(rgi_share *s, uint64_t size) {
  *s = (rgi_share){.size = size, .left = size, .random = 88172645463325252u};
  s->free = make(s, 0, size);
  return s->free ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "rg_init: no memory for a share's records");
}

static void empty(range *r) {
  if (!r)
    return;
  empty(r->left);
  empty(r->right);
  free(r);
}

void rgi_share_close(rgi_share *s) {
  empty(s->free);
  s->free = NULL;
}

uint64_t rgi_share_longest(const rgi_share *s) {
  return longest(s->free);
}

/* Cuts `bytes` off the front of the lowest range that has them. *used: a range of
 * which nothing is left. */
static range *cut(range *r, uint64_t bytes, uint64_t *offset, range **used) {
  if (longest(r->left) >= bytes) {
    r->left = cut(r->left, bytes, offset, used);
  } else if (r->length >= bytes) {
    *offset = r->start;
    r->start += bytes;
    r->length -= bytes;
    if (!r->length) {
      *used = r;
      return join(r->left, r->right);
    }
  } else {
    r->right = cut(r->right, bytes, offset, used);
  }
  return renew(r);
}

int rgi_share_take(rgi_share *s, uint64_t bytes, uint64_t *offset) {
  range *used = NULL;
  if (longest(s->free) < bytes)
    return 0;
  s->free = cut(s->free, bytes, offset, &used);
  s->left -= bytes;
  free(used);
  return 1;
}

/* Takes the last range out of a tree if it ends at `at`. */
static range *cut_last(range *r, uint64_t at, range **last) {
  if (r && r->right) {
    r->right = cut_last(r->right, at, last);
    return renew(r);
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
    return renew(r);
  }
  if (!r || r->start != at)
    return r;
  *first = r;
  return r->right;
}

int rgi_share_give(rgi_share *s, uint64_t offset, uint64_t bytes) {
  range *low, *high, *before = NULL, *behind = NULL, *r = make(s, offset, bytes);
  if (!r)
    return 0;
  part(s->free, offset, &low, &high);
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
  s->free = join(join(low, renew(r)), high);
  s->left += bytes;
  return 1;
}
