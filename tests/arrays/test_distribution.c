/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Distributions against brute force: over random shapes, layouts, grids and ghosts
 * every element is in just one block, where the blocks say that it is.
 *
 * ranks: 1
 * sources: tests/arrays/draw_spec.c */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "distribution/distribution.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "draw_spec.h"

static int64_t product(int dims, const int64_t extent[]) {
  int64_t n = 1;
  for (int k = 0; k < dims; k++)
    n *= extent[k];
  return n;
}

/* To the next index of lo..hi in C order; 0 after the last. */
static int step(int dims, const int64_t lo[], const int64_t hi[], int64_t at[]) {
  for (int k = dims - 1; k >= 0; k--) {
    if (++at[k] < hi[k])
      return 1;
    at[k] = lo[k];
  }
  return 0;
}

static int64_t number(int dims, const int64_t shape[], const int64_t at[]) {
  int64_t n = 0;
  for (int k = 0; k < dims; k++)
    n = n * shape[k] + at[k];
  return n;
}

typedef struct {
  rgt_drawn drawn;
  int members;
} scene;

static void draw(scene *s) {
  rgt_draw_shape(&s->drawn);
  s->members = 1 + (int)rgt_below(rgt_below(2) ? 8 : 60);
  rgt_draw_layout(&s->drawn, s->members);
}

/* --- every element ------------------------------------------------------------------ */

typedef struct {
  int *rank;
  int64_t *offset;
  int failures;
} map;

/* Enters the elements of a block that starts at `start` in its owner's memory;
 * returns the size of that memory. */
static int64_t enter(const rgi_distribution *d, int rank, int64_t i, int64_t start, map *m) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], at[RG_ARRAY_MAX_DIMS],
      extent[RG_ARRAY_MAX_DIMS];
  int empty = 0;
  rgi_distribution_block(d, rank, i, lo, hi);
  for (int k = 0; k < d->dims; k++) {
    m->failures += lo[k] < 0 || lo[k] > hi[k] || hi[k] > d->shape[k];
    extent[k] = hi[k] - lo[k] + 2 * d->ghosts[k];
    empty |= lo[k] == hi[k];
  }
  if (empty)
    return 0;
  memcpy(at, lo, sizeof at);
  do {
    int64_t e = number(d->dims, d->shape, at), place = 0;
    for (int k = 0; k < d->dims; k++)
      place = place * extent[k] + at[k] - lo[k] + d->ghosts[k];
    m->failures += m->rank[e] != -1;
    m->rank[e] = rank;
    m->offset[e] = start + place;
  } while (step(d->dims, lo, hi, at));
  return product(d->dims, extent);
}

/* With RG_LAYOUT_SCALAPACK a member's elements are in its memory in the order of the array. */
static void number_in_order(const rgi_distribution *d, map *m) {
  int64_t *n = calloc((unsigned)d->members, sizeof *n);
  for (int64_t e = 0; e < product(d->dims, d->shape); e++)
    m->offset[e] = n[m->rank[e]]++;
  free(n);
}

/* Fills the map from the members' lists of blocks. */
static void enter_all(const rgi_distribution *d, map *m) {
  for (int rank = 0; rank < d->members; rank++) {
    int64_t start = 0, blocks = rgi_distribution_blocks(d, rank);
    for (int64_t i = 0; i < blocks; i++)
      start += enter(d, rank, i, start, m);
    m->failures += start != rgi_distribution_extent(d, rank);
    m->failures += !rgi_distribution_is_cyclic(d) && blocks != (rank < d->owners);
  }
  if (d->layout == RG_LAYOUT_SCALAPACK)
    number_in_order(d, m);
}

static void check_elements(const rgi_distribution *d, map *m) {
  static const int64_t zero[RG_ARRAY_MAX_DIMS];
  int64_t at[RG_ARRAY_MAX_DIMS] = {0};
  if (product(d->dims, d->shape) == 0)
    return;
  do {
    int64_t e = number(d->dims, d->shape, at), offset = -1;
    m->failures += rgi_distribution_owner(d, at) != m->rank[e];
    m->failures += rgi_distribution_find(d, at, &offset) != m->rank[e];
    m->failures += offset != m->offset[e];
  } while (step(d->dims, zero, d->shape, at));
}

/* --- pieces ---------------------------------------------------------------------------- */

static int same_piece(int dims, const rgi_piece *a, const rgi_piece *b) {
  size_t bytes = (size_t)dims * sizeof(int64_t);
  return a->rank == b->rank && a->offset == b->offset && !memcmp(a->lo, b->lo, bytes) &&
         !memcmp(a->hi, b->hi, bytes) && !memcmp(a->ld, b->ld, bytes - sizeof(int64_t));
}

/* Each element of the piece is where the map has it; marks it as seen. */
static int check_piece(const rgi_distribution *d, const map *m, const rgi_piece *p, char *seen) {
  int64_t at[RG_ARRAY_MAX_DIMS];
  int failures = 0;
  for (int k = 0; k < d->dims; k++)
    if (p->lo[k] >= p->hi[k])
      return 1;
  memcpy(at, p->lo, sizeof at);
  do {
    int64_t e = number(d->dims, d->shape, at), place = at[0] - p->lo[0];
    for (int k = 1; k < d->dims; k++)
      place = place * p->ld[k - 1] + at[k] - p->lo[k];
    failures += seen[e]++ || m->rank[e] != p->rank || m->offset[e] != p->offset + place;
  } while (step(d->dims, p->lo, p->hi, at));
  return failures;
}

static void check_patch(const rgi_distribution *d, map *m, char *seen) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], at[RG_ARRAY_MAX_DIMS], count = 0,
                                                                               covered = 0;
  int64_t elements = product(d->dims, d->shape), extent[RG_ARRAY_MAX_DIMS];
  rgi_pieces it;
  rgi_piece piece, again;
  for (int k = 0; k < d->dims; k++) {
    lo[k] = rgt_below(d->shape[k] + 1);
    hi[k] = lo[k] + rgt_below(d->shape[k] - lo[k] + 1);
    extent[k] = hi[k] - lo[k];
  }
  memset(seen, 0, (size_t)elements);
  m->failures += rgi_distribution_inside(d, "test", lo, hi) != RG_SUCCESS;
  rgi_pieces_start(&it, d, lo, hi);
  for (; rgi_pieces_next(&it, &piece); count++) {
    m->failures += check_piece(d, m, &piece, seen);
    rgi_pieces_get(d, lo, hi, count, &again);
    m->failures += !same_piece(d->dims, &piece, &again);
  }
  m->failures += count != rgi_pieces_count(d, lo, hi) || rgi_pieces_next(&it, &piece);
  if (rgi_piece_within(d, lo, hi, &again))
    m->failures += count != 1 || !same_piece(d->dims, &piece, &again);
  else
    m->failures += count == 1 && !rgi_distribution_is_cyclic(d);
  for (int64_t e = 0; e < elements; e++)
    covered += seen[e];
  m->failures += covered != product(d->dims, extent);
  memcpy(at, lo, sizeof at);
  if (covered)
    do
      m->failures += !seen[number(d->dims, d->shape, at)];
    while (step(d->dims, lo, hi, at));
  hi[0] = d->shape[0] + 1;
  m->failures += rgi_piece_within(d, lo, hi, &again);
}

static void check_scene(const scene *s, const rgi_distribution *d) {
  int64_t elements = product(d->dims, d->shape);
  char *seen = malloc((size_t)elements + 1);
  map m = {malloc(((size_t)elements + 1) * sizeof *m.rank),
           malloc(((size_t)elements + 1) * sizeof *m.offset), 0};
  for (int64_t e = 0; e < elements; e++)
    m.rank[e] = -1;
  enter_all(d, &m);
  for (int64_t e = 0; e < elements; e++)
    m.failures += m.rank[e] == -1;
  check_elements(d, &m);
  for (int i = 0; i < 6; i++)
    check_patch(d, &m, seen);
  RGT_INT(m.failures, 0);
  RGT_INT(d->members, s->members);
  free(m.rank);
  free(m.offset);
  free(seen);
}

static int same_blocks(const rgi_distribution *a, const rgi_distribution *b, int k) {
  if (!a->boundaries[k] || !b->boundaries[k])
    return a->boundaries[k] == b->boundaries[k] && a->chunk[k] == b->chunk[k];
  return !memcmp(a->boundaries[k], b->boundaries[k], ((size_t)a->grid[k] + 1) * sizeof(int64_t));
}

/* Whether both place every element alike: same shape, grid, blocks and ghosts. */
static int is_same(const rgi_distribution *a, const rgi_distribution *b) {
  int same = a->dims == b->dims;
  for (int k = 0; same && k < a->dims; k++)
    same = a->shape[k] == b->shape[k] && a->ghosts[k] == b->ghosts[k] && a->grid[k] == b->grid[k] &&
           same_blocks(a, b, k);
  return same;
}

static void test_random(void) {
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < 1500; i++) {
    scene s;
    rgi_distribution d, again;
    draw(&s);
    if (!RGT_OK(rgi_distribution_make(&s.drawn.spec, s.members, &d)))
      return;
    check_scene(&s, &d);
    RGT_OK(rgi_distribution_make(&s.drawn.spec, s.members, &again));
    RGT_TRUE(is_same(&d, &again));
    again.ghosts[0]++;
    RGT_TRUE(!is_same(&d, &again));
    rgi_distribution_clear(&d);
    rgi_distribution_clear(&again);
  }
}

/* --- what each layout promises ---------------------------------------------------------- */

static void test_even(void) {
  srandom((unsigned)rgt_seed() + 1);
  for (int i = 0; i < 300; i++) {
    scene s;
    rgi_distribution d;
    draw(&s);
    s.drawn.spec.layout = RG_LAYOUT_BLOCK;
    memset(s.drawn.spec.chunk, 0, sizeof s.drawn.spec.chunk);
    if (!RGT_OK(rgi_distribution_make(&s.drawn.spec, s.members, &d)))
      return;
    for (int k = 0; k < d.dims; k++)
      for (int j = 0; j < d.grid[k]; j++) {
        int64_t extent = d.boundaries[k][j + 1] - d.boundaries[k][j];
        RGT_TRUE(extent == d.shape[k] / d.grid[k] || extent == d.shape[k] / d.grid[k] + 1);
      }
    rgi_distribution_clear(&d);
  }
}

/* 17 x 23 elements in blocks of 3 x 2 on 2 x 3 of 7 members. */
static rgi_distribution deal(rg_array_layout kind) {
  rg_array_spec spec = {.size = sizeof spec};
  rgi_distribution layout;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, (int64_t[]){17, 23}));
  spec.layout = kind;
  spec.grid[0] = 2;
  spec.grid[1] = 3;
  spec.chunk[0] = 3;
  spec.chunk[1] = 2;
  RGT_OK(rgi_distribution_make(&spec, 7, &layout));
  return layout;
}

static void test_cyclic(void) {
  rgi_distribution d = deal(RG_LAYOUT_BLOCK_CYCLIC);
  for (int64_t i = 0; i < 17; i++)
    for (int64_t j = 0; j < 23; j++)
      RGT_INT(rgi_distribution_owner(&d, (int64_t[]){i, j}), i / 3 % 2 * 3 + j / 2 % 3);
  RGT_INT(rgi_distribution_blocks(&d, 0), 3 * 4);
  RGT_INT(rgi_distribution_blocks(&d, 6), 0);
  rgi_distribution_clear(&d);
}

/* ScaLAPACK's numroc. */
static int64_t numroc(int64_t n, int64_t nb, int64_t coordinate, int64_t processes) {
  int64_t blocks = n / nb, extra = blocks % processes;
  return blocks / processes * nb + (coordinate < extra ? nb : coordinate == extra ? n % nb : 0);
}

/* The matrix of 23 rows and 17 columns in blocks of 2 x 3 on 3 x 2 processes. */
static void test_scalapack(void) {
  rgi_distribution d = deal(RG_LAYOUT_SCALAPACK);
  for (int rank = 0; rank < 6; rank++)
    RGT_INT(rgi_distribution_extent(&d, rank),
            numroc(23, 2, rank % 3, 3) * numroc(17, 3, rank / 3, 2));
  for (int64_t j = 0; j < 17; j++)
    for (int64_t i = 0; i < 23; i++) {
      int64_t offset, row = i / 2 % 3, column = j / 3 % 2, lld = numroc(23, 2, row, 3);
      RGT_INT(rgi_distribution_find(&d, (int64_t[]){j, i}, &offset), row + 3 * column);
      RGT_INT(offset, i / 6 * 2 + i % 2 + lld * (j / 6 * 3 + j % 3));
    }
  rgi_distribution_clear(&d);
}

/* The grid for a shape, as one number: digits to the base 100. */
static int64_t grid_of(int members, int dims, const int64_t shape[], const int64_t chunk[]) {
  rg_array_spec spec = {.size = sizeof spec};
  rgi_distribution d;
  int64_t digits = 0;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, dims, shape));
  if (chunk)
    memcpy(spec.chunk, chunk, (size_t)dims * sizeof *chunk);
  RGT_OK(rgi_distribution_make(&spec, members, &d));
  for (int k = 0; k < dims; k++)
    digits = digits * 100 + d.grid[k];
  rgi_distribution_clear(&d);
  return digits;
}

static void test_grids(void) {
  static const int64_t square[] = {720, 720}, wide[] = {10, 10000}, cube[] = {64, 64, 64};
  RGT_INT(grid_of(1, 2, square, NULL), 101);
  RGT_INT(grid_of(2, 2, square, NULL), 201);
  RGT_INT(grid_of(4, 2, square, NULL), 202);
  RGT_INT(grid_of(7, 2, square, NULL), 701);
  RGT_INT(grid_of(13, 2, square, NULL), 403);
  RGT_INT(grid_of(72, 2, square, NULL), 908);
  RGT_INT(grid_of(1021, 2, square, NULL), 3529);
  RGT_INT(grid_of(8, 2, wide, NULL), 108);
  RGT_INT(grid_of(8, 3, cube, NULL), 20202);
  RGT_INT(grid_of(64, 3, cube, NULL), 40404);
  /* Hints: the first is not divided; blocks of at least 400. */
  RGT_INT(grid_of(4, 2, square, (int64_t[]){-1, 0}), 104);
  RGT_INT(grid_of(4, 2, square, (int64_t[]){400, 0}), 104);
  RGT_INT(grid_of(4, 2, square, (int64_t[]){400, 400}), 101);
  /* No more blocks than elements. */
  RGT_INT(grid_of(50, 2, (int64_t[]){2, 3}, NULL), 203);
  RGT_INT(grid_of(50, 1, (int64_t[]){0}, NULL), 1);
}

/* No member has more than twice the average, unless the shape leaves no choice. */
static void test_balance(void) {
  for (int members = 1; members <= 300; members++) {
    rg_array_spec spec = {.size = sizeof spec};
    rgi_distribution d;
    RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 3, (int64_t[]){400, 500, 600}));
    RGT_OK(rgi_distribution_make(&spec, members, &d));
    RGT_TRUE(rgi_distribution_extent(&d, 0) * members <= 400 * 500 * 600 * 1.2);
    rgi_distribution_clear(&d);
  }
}

/* --- large numbers ------------------------------------------------------------------------ */

static void check_large(rg_array_layout layout, int64_t extent, int64_t chunk, int members) {
  rg_array_spec spec = {.size = sizeof spec};
  rgi_distribution d;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_OPAQUE, 1, &extent));
  spec.element_size = 1;
  spec.layout = layout;
  spec.chunk[0] = chunk;
  if (!RGT_OK(rgi_distribution_make(&spec, members, &d)))
    return;
  for (int i = 0; i < 2000; i++) {
    int64_t at =
        (int64_t)(((uint64_t)random() << 40 ^ (uint64_t)random() << 20 ^ (uint64_t)random()) %
                  (uint64_t)extent);
    int64_t offset = -1;
    at = i == 0 ? 0 : i == 1 ? extent - 1 : at;
    int rank = rgi_distribution_find(&d, &at, &offset);
    if (layout >= RG_LAYOUT_BLOCK_CYCLIC) {
      RGT_INT(rank, at / chunk % members);
      RGT_INT(offset, at / chunk / members * chunk + at % chunk);
    } else {
      RGT_TRUE(d.boundaries[0][rank] <= at && at < d.boundaries[0][rank + 1]);
      RGT_INT(offset, at - d.boundaries[0][rank]);
    }
  }
  rgi_distribution_clear(&d);
}

static void test_large(void) {
  /* Some room is left for what a member stores beside its elements. */
  static const int64_t extents[] = {INT64_MAX - 10000000, INT64_MAX - 10000001, (int64_t)1 << 62,
                                    1000003};
  srandom((unsigned)rgt_seed() + 2);
  for (int i = 0; i < 4; i++)
    for (int members = 1; members < 1000; members += 111) {
      check_large(RG_LAYOUT_BLOCK, extents[i], 0, members);
      check_large(RG_LAYOUT_BLOCK_CYCLIC, extents[i], 1, members);
      check_large(RG_LAYOUT_BLOCK_CYCLIC, extents[i], 64, members);
      check_large(RG_LAYOUT_BLOCK_CYCLIC, extents[i], extents[i] / 3, members);
      check_large(RG_LAYOUT_SCALAPACK, extents[i], 64, members);
    }
}

static void test_overflow(void) {
  int64_t huge[] = {(int64_t)1 << 31, (int64_t)1 << 31, 2};
  rg_array_spec spec = {.size = sizeof spec};
  rgi_distribution d;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT32, 3, huge));
  RGT_FAILS(rgi_distribution_make(&spec, 4, &d), RG_ERR_LIMIT);
  huge[2] = 0;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT32, 3, huge));
  RGT_OK(rgi_distribution_make(&spec, 4, &d));
  rgi_distribution_clear(&d);
  spec.layout = RG_LAYOUT_BLOCK_CYCLIC;
  for (int k = 0; k < 3; k++)
    spec.chunk[k] = 1;
  spec.shape[0] = spec.shape[1] = (int64_t)1 << 40;
  RGT_OK(rgi_distribution_make(&spec, 4, &d));
  RGT_INT(rgi_distribution_blocks(&d, 0), 0);
  rgi_distribution_clear(&d);
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT32, 2, huge));
  RGT_FAILS(rgi_distribution_make(&spec, 4, &d), RG_ERR_LIMIT);
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT32, 1, huge));
  spec.ghosts[0] = (int64_t)1 << 60;
  RGT_FAILS(rgi_distribution_make(&spec, 4, &d), RG_ERR_LIMIT);
  spec.ghosts[0] = INT64_MAX;
  RGT_FAILS(rgi_distribution_make(&spec, 4, &d), RG_ERR_LIMIT);
  /* With its copies a mirrored array stores five times as much. */
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT64, 1, &(int64_t){(int64_t)1 << 59}));
  RGT_OK(rgi_distribution_make(&spec, 4, &d));
  rgi_distribution_clear(&d);
  spec.flags = RG_ARRAY_MIRRORED;
  RGT_FAILS(rgi_distribution_make(&spec, 4, &d), RG_ERR_LIMIT);
}

/* A chunk that is longer than the array is one block. */
static void test_long_chunk(void) {
  rg_array_spec spec = {.size = sizeof spec};
  rgi_distribution d;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT64, 2, (int64_t[]){10, 0}));
  spec.layout = RG_LAYOUT_BLOCK_CYCLIC;
  spec.chunk[0] = spec.chunk[1] = INT64_MAX;
  RGT_OK(rgi_distribution_make(&spec, 3, &d));
  RGT_INT(d.chunk[0], 10);
  RGT_INT(d.chunk[1], 1);
  rgi_distribution_clear(&d);
}

/* --- errors ---------------------------------------------------------------------------------- */

static int64_t ok_boundaries[] = {0, 3}, descending[] = {0, 5, 4}, late[] = {1, 3},
               outside[] = {0, 11};

static void irregular(rg_array_spec *s, const int64_t *boundaries, int n) {
  s->layout = RG_LAYOUT_IRREGULAR;
  s->grid[0] = 1;
  s->boundaries[0] = ok_boundaries;
  s->grid[1] = n;
  s->boundaries[1] = boundaries;
}

static void refuse(const rg_array_spec *s, const char *word) {
  rgi_distribution d;
  RGT_FAILS(rgi_distribution_make(s, 4, &d), RG_ERR_ARG);
  if (!RGT_TRUE(strstr(rg_error_detail(), word) != NULL))
    RGT_STR(rg_error_detail(), word);
}

/* A good spec, *s, is spoilt: the error's text has the word. */
#define REFUSED(word, ...)                                                                         \
  do {                                                                                             \
    rg_array_spec spec = {.size = sizeof spec}, *s = &spec;                                        \
    RGT_OK(rg_array_spec_set(s, RG_TYPE_DOUBLE, 2, (int64_t[]){10, 10}));                          \
    __VA_ARGS__;                                                                                   \
    refuse(s, word);                                                                               \
  } while (0)

static void test_refused(void) {
  REFUSED("0 dimensions", s->dims = 0);
  REFUSED("8 dimensions", s->dims = 8);
  REFUSED("type", s->type = RG_TYPE_COUNT);
  REFUSED("element_size", s->type = RG_TYPE_OPAQUE);
  REFUSED("element_size is 7", s->element_size = 7);
  REFUSED("layout 4", s->layout = (rg_array_layout)4);
  REFUSED("dimension 1 is -1", s->shape[1] = -1);
  REFUSED("grid[1]", s->grid[1] = -1);
  REFUSED("members, which are 4", s->grid[0] = 2; s->grid[1] = 3);
  REFUSED("ghosts[1]", s->ghosts[1] = -1);
  REFUSED("flags", s->flags = 2);
  REFUSED("chunk[0]", s->chunk[0] = -2);
  REFUSED("grid[0] is 2", s->chunk[0] = -1; s->grid[0] = 2);
  REFUSED("chunk[1]", s->layout = RG_LAYOUT_BLOCK_CYCLIC; s->chunk[0] = 1);
  REFUSED("ghosts[0]", s->layout = RG_LAYOUT_BLOCK_CYCLIC;
          s->chunk[0] = s->chunk[1] = s->ghosts[0] = 1);
  REFUSED("grid[0]", s->layout = RG_LAYOUT_IRREGULAR);
  REFUSED("boundaries[0]", s->layout = RG_LAYOUT_IRREGULAR; s->grid[0] = 2);
  REFUSED("boundaries[1][0] is 1", irregular(s, late, 2));
  REFUSED("boundaries[1][2] is 4", irregular(s, descending, 3));
  REFUSED("boundaries[1][1] is 11", irregular(s, outside, 2));
}

static void bounds(int code, int expected, const char *text) {
  RGT_INT(code, expected);
  RGT_STR(rg_error_detail(), text);
}

static void test_bounds(void) {
  rg_array_spec spec = {.size = sizeof spec};
  rgi_distribution d;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, (int64_t[]){10, 20}));
  RGT_OK(rgi_distribution_make(&spec, 4, &d));
#define INSIDE(l0, l1, h0, h1)                                                                     \
  rgi_distribution_inside(&d, "rg_array_put", (int64_t[]){l0, l1}, (int64_t[]){h0, h1})
  bounds(INSIDE(0, -3, 1, 1), RG_ERR_BOUNDS,
         "rg_array_put: dimension 1: the patch starts at index -3, below 0");
  bounds(INSIDE(0, 3, 1, 21), RG_ERR_BOUNDS,
         "rg_array_put: dimension 1: the patch ends before index 21, but the bound is 20");
  bounds(INSIDE(11, 0, 11, 0), RG_ERR_BOUNDS,
         "rg_array_put: dimension 0: the patch ends before index 11, but the bound is 10");
  bounds(INSIDE(5, 0, 4, 0), RG_ERR_ARG, "rg_array_put: dimension 0: the patch is from 5 to 4");
  RGT_OK(INSIDE(0, 0, 10, 20));
  RGT_OK(INSIDE(10, 20, 10, 20));
  rgi_distribution_clear(&d);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"every element of random distributions", test_random},
                                   {"blocks of nearly equal sizes", test_even},
                                   {"block-cyclic", test_cyclic},
                                   {"ScaLAPACK's", test_scalapack},
                                   {"grids", test_grids},
                                   {"balance", test_balance},
                                   {"large extents", test_large},
                                   {"overflow", test_overflow},
                                   {"long chunks", test_long_chunk},
                                   {"refused specs", test_refused},
                                   {"bounds", test_bounds},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "distribution", tests);
}
