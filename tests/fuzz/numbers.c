/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The arithmetic of what no test machine has: arrays of 2^40 elements and more on 100,000 members,
 * and groups of as many, and of nearly 2^31, as ranges and lists. */
#include <limits.h>
#include <stdlib.h>

#include "distribution/distribution.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "distribution/type.h"
#include "draw.h"
#include "formation/members.h"
#include "fuzz.h"
#include "tests/check/check.h"

/* --- arrays --------------------------------------------------------------------------- */

/* Bits for the extents of all dimensions together. */
static void draw_large(rg_array_spec *spec) {
  int bits = 30 + draw_below(33);
  *spec = (rg_array_spec){.size = sizeof *spec, .dims = 1 + draw_below(4), .type = RG_TYPE_OPAQUE};
  spec->element_size = 1 + (size_t)draw_below(3);
  spec->layout = draw_chance(2) ? RG_LAYOUT_BLOCK : RG_LAYOUT_BLOCK_CYCLIC;
  for (int d = 0; d < spec->dims; d++) {
    int mine = d + 1 < spec->dims ? draw_below(bits + 1) : bits;
    spec->shape[d] = draw_chance(32) ? 0 : (INT64_C(1) << mine) - draw_below(2);
    spec->ghosts[d] = spec->layout == RG_LAYOUT_BLOCK && draw_chance(4) ? draw_below(3) : 0;
    spec->chunk[d] =
        draw_chance(8) ? draw_int64() : 1 + (int64_t)(draw_bits() >> (24 + draw_below(40)));
    bits -= mine;
  }
}

/* An element is where its owner's blocks say that it is. */
static void expect_element(const rgi_distribution *distribution, const int64_t at[]) {
  int64_t offset = -1, lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  int rank = rgi_distribution_find(distribution, at, &offset), inside = 1;
  FUZZ_TRUE(rank >= 0 && rank < distribution->owners &&
            rank == rgi_distribution_owner(distribution, at));
  FUZZ_TRUE(offset >= 0 && offset < rgi_distribution_extent(distribution, rank));
  if (distribution->layout != RG_LAYOUT_BLOCK)
    return;
  rgi_distribution_block(distribution, rank, 0, lo, hi);
  for (int k = 0; k < distribution->dims; k++)
    inside &= lo[k] <= at[k] && at[k] < hi[k];
  FUZZ_TRUE(inside);
}

/* The first and the last piece of a patch. */
static void expect_pieces(const rgi_distribution *distribution, const int64_t lo[],
                          const int64_t hi[]) {
  rgi_piece first, last;
  int64_t n = rgi_pieces_count(distribution, lo, hi);
  FUZZ_TRUE(n >= 0);
  if (n < 1)
    return;
  rgi_pieces_get(distribution, lo, hi, 0, &first);
  rgi_pieces_get(distribution, lo, hi, n - 1, &last);
  int met = 1;
  for (int k = 0; k < distribution->dims; k++)
    met &= first.lo[k] == lo[k] && last.hi[k] == hi[k];
  FUZZ_TRUE(met);
}

static void expect_members(const rgi_distribution *distribution) {
  for (int i = 0; i < 8; i++) {
    int rank = draw_chance(2) ? draw_below(distribution->members) : distribution->owners - 1;
    FUZZ_TRUE(rgi_distribution_blocks(distribution, rank) >= 0);
    FUZZ_TRUE(rgi_distribution_extent(distribution, rank) >= 0);
  }
}

static void large_arrays(void) {
  rg_array_spec spec;
  rgi_distribution d;
  draw_large(&spec);
  int empty = 0, members = draw_chance(4) ? 100000 : 1 + draw_below(1000000);
  if (FUZZ(rgi_distribution_make(&spec, members, &d)))
    return;
  expect_members(&d);
  for (int k = 0; k < d.dims; k++)
    empty |= d.shape[k] == 0;
  for (int i = 0; i < 8 && !empty; i++) {
    int64_t at[RG_ARRAY_MAX_DIMS], lo[RG_ARRAY_MAX_DIMS];
    for (int k = 0; k < d.dims; k++) {
      at[k] = draw_chance(4) ? d.shape[k] - 1 : (int64_t)(draw_bits() % (uint64_t)d.shape[k]);
      lo[k] = at[k] - (int64_t)(draw_bits() % 64);
      lo[k] = lo[k] < 0 ? 0 : lo[k];
    }
    expect_element(&d, at);
    for (int k = 0; k < d.dims; k++)
      at[k]++;
    expect_pieces(&d, lo, at);
    expect_pieces(&d, (int64_t[RG_ARRAY_MAX_DIMS]){0}, d.shape);
  }
  rgi_distribution_clear(&d);
}

/* --- members -------------------------------------------------------------------------- */

static void expect_found(const rgi_members *members) {
  int n = rgi_members_count(members), at = (int)(draw_bits() % (uint64_t)n);
  FUZZ_TRUE(n > 0);
  FUZZ_TRUE(rgi_members_find(members, rgi_members_at(members, at)) == at);
  FUZZ_TRUE(rgi_members_find(members, rgi_members_at(members, n - 1)) == n - 1);
  rgi_members_find(members, draw_int());
  FUZZ_TRUE(rgi_members_is_range(members, &(int){0}, &(int){0}) || rgi_members_valid(members));
}

/* Every stride-th of a range of a range, in either direction. */
static void large_ranges(void) {
  int n = draw_chance(2) ? INT_MAX : 100000, stride = 1 + draw_below(1000);
  rgi_members *all, *some, *both;
  if (FUZZ(rgi_members_range(n, 0, 1, &all)))
    return;
  expect_found(all);
  int at[3] = {draw_below(n), 0, 0};
  at[1] = at[0] + stride;
  at[2] = at[1] + (draw_chance(8) ? draw_int() % stride : stride);
  if (at[1] < 0 || at[2] < 0)
    at[1] = at[2] = -1;
  if (!FUZZ(rgi_members_pick("fuzz", all, draw_below(2) ? 3 : 1, at, &some))) {
    expect_found(some);
    if (!FUZZ(rgi_members_concat("fuzz", some, draw_chance(2) ? some : all, &both)))
      rgi_members_drop(both);
    rgi_members_drop(some);
  }
  rgi_members_drop(all);
}

static void large_lists(void) {
  enum { MOST = 100000 };
  int n = draw_chance(8) ? MOST : 1000;
  rgi_members *m, *copy;
  int *ranks = malloc((MOST + 3) * sizeof *ranks), step = 1 + 2 * draw_below(50);
  for (int i = 0; i < n; i++)
    ranks[i] = (int)((long long)i * step % (INT_MAX - 1));
  ranks[draw_below(n)] = draw_chance(2) ? INT_MAX : draw_below(INT_MAX);
  if (!FUZZ(rgi_members_list("fuzz", n, ranks, &m))) {
    expect_found(m);
    rgi_members_pack(m, ranks); /* up to three more */
    if (!FUZZ(rgi_members_unpack("fuzz", ranks, &copy))) {
      FUZZ_TRUE(rgi_members_equal(m, copy));
      rgi_members_drop(copy);
    }
    rgi_members_drop(m);
  }
  free(ranks);
}

const fuzz_case fuzz_number_cases[] = {{"number_arrays", large_arrays, FUZZ_LOCAL},
                                       {"number_ranges", large_ranges, FUZZ_LOCAL},
                                       {"number_lists", large_lists, FUZZ_LOCAL},
                                       {0}};
