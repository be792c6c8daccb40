/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays that follow their group: random old and new groups, layouts and shapes; every
 * element is where it belongs afterwards. */
#include "regroup_cases.h"

#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

#define MOST 400 /* elements */

int rounds = 30;

static unsigned long long state;

/* The same sequence on all ranks (an LCG of Knuth's). */
static int draw(int n) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (int)((state >> 33) % (unsigned)n);
}

static int64_t value(int64_t index) {
  return index * 1000003 + 17;
}

static int64_t elements(const rg_array_spec *spec) {
  int64_t n = 1;
  for (int d = 0; d < spec->dims; d++)
    n *= spec->shape[d];
  return n;
}

/* A random layout for at most so many members. The boundaries stay in room. */
static void draw_layout(rg_array_spec *spec, int members, int64_t room[RG_ARRAY_MAX_DIMS][16]) {
  spec->layout = (rg_array_layout)draw(4);
  int left = members;
  for (int d = 0; d < spec->dims; d++) {
    spec->chunk[d] = spec->layout >= RG_LAYOUT_BLOCK_CYCLIC ? 1 + draw(4) : 0;
    spec->ghosts[d] = spec->layout == RG_LAYOUT_BLOCK ? draw(2) : 0;
    spec->grid[d] = 0;
    if (spec->layout != RG_LAYOUT_IRREGULAR)
      continue;
    spec->grid[d] = 1 + draw(left < 3 ? left : 3);
    left /= spec->grid[d];
    room[d][0] = 0;
    for (int i = 1; i < spec->grid[d]; i++)
      room[d][i] = room[d][i - 1] + draw((int)(spec->shape[d] - room[d][i - 1]) + 1);
    spec->boundaries[d] = room[d];
  }
}

static void draw_shape(rg_array_spec *spec) {
  int64_t shape[RG_ARRAY_MAX_DIMS];
  int dims = 1 + draw(3), most = dims == 1 ? MOST : dims == 2 ? 20 : 7;
  for (int d = 0; d < dims; d++)
    shape[d] = draw(12) ? 1 + draw(most) : 0;
  RGT_OK(rg_array_spec_set(spec, RG_TYPE_INT64, dims, shape));
}

/* A random subset of the world in a random order; the same on all ranks. */
static int draw_members(int ranks[]) {
  int n = 1 + draw(rgt_size), all[64];
  for (int i = 0; i < rgt_size; i++)
    all[i] = i;
  for (int i = 0; i < n; i++) {
    int j = i + draw(rgt_size - i), other = all[i];
    all[i] = all[j];
    all[j] = other;
    ranks[i] = all[i];
  }
  return n;
}

static rg_group group_of(int n, const int ranks[], int tag) {
  rg_group world, g;
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_group_create(world, n, ranks, tag, &g));
  RGT_OK(rg_group_free(&world));
  return g;
}

/* Those of a, then those only in b. */
static int join(int na, const int a[], int nb, const int b[], int both[]) {
  int n = na;
  memcpy(both, a, (size_t)na * sizeof *a);
  for (int i = 0; i < nb; i++) {
    int known = 0;
    for (int j = 0; j < na; j++)
      known |= a[j] == b[i];
    if (!known)
      both[n++] = b[i];
  }
  return n;
}

/* One member writes all of it. */
static void write_all(rg_array a, const rg_array_spec *spec) {
  int64_t data[MOST], lo[RG_ARRAY_MAX_DIMS] = {0}, n = elements(spec);
  rg_group g;
  int rank;
  RGT_OK(rg_array_group(a, &g));
  RGT_OK(rg_group_rank(g, &rank));
  for (int64_t i = 0; i < n; i++)
    data[i] = value(i);
  if (rank == 0)
    RGT_OK(rg_array_put(a, lo, spec->shape, data, NULL));
  RGT_OK(rg_array_sync(a));
}

static void check_all(rg_array b, const rg_array_spec *spec) {
  int64_t data[MOST], lo[RG_ARRAY_MAX_DIMS] = {0}, wrong = 0, n = elements(spec);
  memset(data, 0, sizeof data);
  RGT_OK(rg_array_get(b, lo, spec->shape, data, NULL));
  for (int64_t i = 0; i < n; i++)
    wrong += data[i] != value(i);
  RGT_INT(wrong, 0);
}

static void hand_over(int na, const int a_ranks[], int nb, const int b_ranks[]) {
  int64_t room[2][RG_ARRAY_MAX_DIMS][16];
  int both_ranks[64], n = join(na, a_ranks, nb, b_ranks, both_ranks), given = draw(4) > 0;
  rg_group from = group_of(na, a_ranks, 1), to = group_of(nb, b_ranks, 2),
           both = group_of(n, both_ranks, 3);
  rg_array a = NULL;
  rg_array_spec old = {.size = sizeof old}, new = {.size = sizeof new};
  draw_shape(&old);
  new = old;
  draw_layout(&old, na, room[0]);
  draw_layout(&new, nb, room[1]);
  if (from) {
    RGT_OK(rg_array_create(from, &old, &a));
    write_all(a, &old);
  }
  if (both) {
    RGT_OK(rg_array_regroup(both, to, given ? &new : NULL, &a));
    RGT_INT(a != NULL, to != NULL);
  }
  if (a)
    check_all(a, &old);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_group_free(&from));
  RGT_OK(rg_group_free(&to));
  RGT_OK(rg_group_free(&both));
}

void test_random_groups(void) {
  state = rgt_seed();
  for (int i = 0; i < rounds; i++) {
    int a[64], b[64], na = draw_members(a), nb = draw_members(b);
    hand_over(na, a, nb, b);
  }
}

/* The first half's array to all; then to the second half, which has no member in common with it. */
void test_merge_and_part(void) {
  int all[64], half = (rgt_size + 1) / 2;
  state = rgt_seed() + 1;
  for (int i = 0; i < rgt_size; i++)
    all[i] = i;
  hand_over(half, all, rgt_size, all);
  hand_over(rgt_size, all, half, all);
  if (rgt_size > 1)
    hand_over(half, all, rgt_size - half, all + half);
  hand_over(rgt_size, all, rgt_size, all);
}

static rg_array some_array(rg_group g, rg_array_spec *spec) {
  int64_t shape[1] = {20};
  rg_array a;
  RGT_OK(rg_array_spec_set(spec, RG_TYPE_INT64, 1, shape));
  RGT_OK(rg_array_create(g, spec, &a));
  write_all(a, spec);
  return a;
}

/* One member gives something else than the others: an error on all of them. */
static void check_one_wrong(rg_array *a, rg_group world, const rg_array_spec *spec) {
  rg_array none = NULL, before = *a;
  rg_array_spec bad = *spec;
  int last = rgt_rank == rgt_size - 1;
  RGT_FAILS(rg_array_regroup(world, world, NULL, last ? &none : a),
            rgt_size > 1 ? RG_ERR_MISMATCH : RG_ERR_ARG);
  RGT_FAILS(rg_array_regroup(world, last ? NULL : world, NULL, a),
            rgt_size > 1 ? RG_ERR_MISMATCH : RG_ERR_ARG);
  RGT_FAILS(rg_array_regroup(world, world, NULL, last ? NULL : a), RG_ERR_ARG);
  bad.layout = RG_LAYOUT_IRREGULAR;
  bad.grid[0] = 1;
  RGT_FAILS(rg_array_regroup(world, world, last ? &bad : spec, a), RG_ERR_ARG);
  bad.grid[0] = -5;
  RGT_FAILS(rg_array_regroup(world, world, last ? &bad : spec, a), RG_ERR_ARG);
  bad.layout = (rg_array_layout)77;
  RGT_FAILS(rg_array_regroup(world, world, last ? &bad : spec, a), RG_ERR_ARG);
  RGT_TRUE(*a == before && !none);
}

/* All live, and one passes no array, or one that is none. */
static void check_recover(rg_array *a, rg_group world) {
  unsigned word = 1;
  int failed;
  rg_array none = NULL, before = *a;
  uint64_t nothing[64] = {0};
  rg_array wrong = (rg_array)(void *)nothing;
  int last = rgt_rank == rgt_size - 1;
  if (rg_group_agree(world, &word, &failed) == RG_ERR_UNSUPPORTED)
    return; /* several nodes, without daemons */
  RGT_FAILS(rg_array_recover(world, last ? &none : a), rgt_size > 1 ? RG_ERR_GROUP : RG_ERR_ARRAY);
  RGT_FAILS(rg_array_recover(world, last ? &wrong : a), RG_ERR_ARRAY);
  RGT_TRUE(*a == before && !none);
}

/* After an error the array is unchanged, on all. */
void test_errors(void) {
  rg_group world;
  rg_array_spec s = {.size = sizeof s}, bad = {.size = sizeof bad};
  rg_array a, none = NULL;
  RGT_OK(rg_group_world(&world));
  a = some_array(world, &s);
  bad = s;
  bad.layout = RG_LAYOUT_BLOCK_CYCLIC;
  bad.chunk[0] = 0;
  RGT_FAILS(rg_array_regroup(world, world, &bad, &a), RG_ERR_ARG);
  RGT_FAILS(rg_array_regroup(world, NULL, NULL, &none), RG_ERR_ARG);
  RGT_FAILS(rg_array_regroup(world, world, NULL, &none), RG_ERR_ARG);
  if (rgt_size > 1) {
    int first = 0;
    rg_group one = group_of(1, &first, 4);
    if (one)
      RGT_FAILS(rg_array_regroup(one, one, NULL, &a), RG_ERR_GROUP);
    RGT_OK(rg_group_free(&one));
    bad = s;
    bad.ghosts[0] = rgt_rank == 1;
    RGT_FAILS(rg_array_regroup(world, world, &bad, &a), RG_ERR_MISMATCH);
  }
  check_one_wrong(&a, world, &s);
  check_recover(&a, world);
  check_all(a, &s);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_group_free(&world));
}

void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
}

void test_stop(void) {
  RGT_OK(rg_finalize());
}
