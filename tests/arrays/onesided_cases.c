/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One member after another changes the array, by an operation chosen at random and known to all.
 * All members do the same to their images. */
#include "onesided_cases.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "tests/check/check.h"

int cases = 60;

static rg_group world;

void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
}

void test_stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* One random array and what is going on with it. */
typedef struct {
  image im;
  rg_array a;
  int doing; /* it is the caller's turn */
  int wrong; /* elements that were wrong */
} scene;

/* --- a buffer for a patch --------------------------------------------------------------- */

typedef struct {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], step[RG_ARRAY_MAX_DIMS],
      ld[RG_ARRAY_MAX_DIMS];
  int64_t extent[RG_ARRAY_MAX_DIMS];
  int strided, dense;
  char *buf;
  size_t bytes;
} patch;

/* shift: a periodic patch may lie anywhere. */
static void random_buffer(const scene *s, patch *p, int strided) {
  int dims = s->im.spec.dims;
  int64_t n = 1;
  p->strided = strided;
  p->dense = (int)dice(2);
  for (int d = 0; d < dims; d++) {
    p->step[d] = strided ? 1 + dice(3) : 1;
    p->extent[d] = (p->hi[d] - p->lo[d] + p->step[d] - 1) / p->step[d];
    if (d > 0)
      p->ld[d - 1] = p->extent[d] + (p->dense ? 0 : dice(3));
    n *= d > 0 ? p->ld[d - 1] : p->extent[0];
  }
  p->bytes = (size_t)n * s->im.element;
  p->buf = malloc(p->bytes + 1);
  for (int64_t i = 0; i < n; i++)
    set_value(&s->im, p->buf + i * (int64_t)s->im.element, dice(1000));
}

static const int64_t *ld_of(const patch *p) {
  return p->dense ? NULL : p->ld;
}

/* The buffer's element for the array's at. */
static char *in_buffer(const scene *s, const patch *p, const int64_t at[]) {
  int64_t offset = 0;
  for (int d = 0; d < s->im.spec.dims; d++)
    offset = offset * (d ? p->ld[d - 1] : 1) + (at[d] - p->lo[d]) / p->step[d];
  return p->buf + offset * (int64_t)s->im.element;
}

static int is_empty(const scene *s, const patch *p) {
  for (int d = 0; d < s->im.spec.dims; d++)
    if (p->lo[d] == p->hi[d])
      return 1;
  return 0;
}

/* Where a subscript of a periodic patch is. */
static void wrap(const scene *s, const int64_t at[], int64_t inside[]) {
  for (int d = 0; d < s->im.spec.dims; d++) {
    int64_t n = s->im.spec.shape[d];
    inside[d] = (at[d] % n + n) % n;
  }
}

typedef enum { PUT, GET, ACC } way;

/* The same to the image. A get fills the buffer with what is expected. */
static void to_image(scene *s, patch *p, way w, const void *alpha) {
  int64_t at[RG_ARRAY_MAX_DIMS], inside[RG_ARRAY_MAX_DIMS];
  memcpy(at, p->lo, sizeof at);
  if (is_empty(s, p))
    return;
  do {
    char *here = in_buffer(s, p, at);
    wrap(s, at, inside);
    char *there = image_at(&s->im, inside);
    if (w == PUT)
      memcpy(there, here, s->im.element);
    else if (w == GET)
      memcpy(here, there, s->im.element);
    else
      add_value(&s->im, there, here, alpha);
  } while (next_of(&s->im, p->lo, p->hi, p->step, at));
}

/* --- what is done ------------------------------------------------------------------------- */

static way random_way(const scene *s) {
  return (way)dice(s->im.spec.type == RG_TYPE_OPAQUE ? 2 : 3);
}

static const void *random_alpha(const scene *s, char memory[16]) {
  set_value(&s->im, memory, dice(5));
  return dice(2) ? memory : NULL;
}

static void finish(scene *s, patch *p, way w, const void *alpha) {
  char *got = p->buf;
  if (w == GET && s->doing) {
    /* buf has what the array returned; what is expected goes into a copy. */
    p->buf = malloc(p->bytes + 1);
    memcpy(p->buf, got, p->bytes);
    to_image(s, p, w, alpha);
    s->wrong += memcmp(p->buf, got, p->bytes) != 0;
    free(got);
  } else {
    to_image(s, p, w, alpha);
  }
  free(p->buf);
}

static void do_patch(scene *s) {
  patch p;
  char memory[16];
  random_patch(&s->im, p.lo, p.hi);
  random_buffer(s, &p, 0);
  way w = random_way(s);
  const void *alpha = s->im.spec.type == RG_TYPE_OPAQUE ? NULL : random_alpha(s, memory);
  int later = (int)dice(2);
  rg_request r = NULL;
  if (s->doing && later) {
    RGT_OK(w == PUT   ? rg_array_iput(s->a, p.lo, p.hi, p.buf, ld_of(&p), &r)
           : w == GET ? rg_array_iget(s->a, p.lo, p.hi, p.buf, ld_of(&p), &r)
                      : rg_array_iacc(s->a, p.lo, p.hi, p.buf, ld_of(&p), alpha, &r));
    RGT_OK(rg_wait(&r, NULL));
  } else if (s->doing) {
    RGT_OK(w == PUT   ? rg_array_put(s->a, p.lo, p.hi, p.buf, ld_of(&p))
           : w == GET ? rg_array_get(s->a, p.lo, p.hi, p.buf, ld_of(&p))
                      : rg_array_acc(s->a, p.lo, p.hi, p.buf, ld_of(&p), alpha));
  }
  finish(s, &p, w, alpha);
}

static void do_strided(scene *s) {
  patch p;
  char memory[16];
  random_patch(&s->im, p.lo, p.hi);
  random_buffer(s, &p, 1);
  way w = random_way(s);
  const void *alpha = s->im.spec.type == RG_TYPE_OPAQUE ? NULL : random_alpha(s, memory);
  if (s->doing)
    RGT_OK(w == PUT   ? rg_array_put_strided(s->a, p.lo, p.hi, p.step, p.buf, ld_of(&p))
           : w == GET ? rg_array_get_strided(s->a, p.lo, p.hi, p.step, p.buf, ld_of(&p))
                      : rg_array_acc_strided(s->a, p.lo, p.hi, p.step, p.buf, ld_of(&p), alpha));
  finish(s, &p, w, alpha);
}

static void do_periodic(scene *s) {
  patch p;
  char memory[16];
  for (int d = 0; d < s->im.spec.dims; d++) {
    p.lo[d] = dice(5 * s->im.spec.shape[d]) - 2 * s->im.spec.shape[d];
    p.hi[d] = p.lo[d] + dice(s->im.spec.shape[d] + 1);
  }
  random_buffer(s, &p, 0);
  way w = random_way(s);
  const void *alpha = s->im.spec.type == RG_TYPE_OPAQUE ? NULL : random_alpha(s, memory);
  if (s->doing)
    RGT_OK(w == PUT   ? rg_array_put_periodic(s->a, p.lo, p.hi, p.buf, ld_of(&p))
           : w == GET ? rg_array_get_periodic(s->a, p.lo, p.hi, p.buf, ld_of(&p))
                      : rg_array_acc_periodic(s->a, p.lo, p.hi, p.buf, ld_of(&p), alpha));
  finish(s, &p, w, alpha);
}

/* Some bytes of each element of a patch. */
static void do_field(scene *s) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], at[RG_ARRAY_MAX_DIMS], n = 1, i = 0;
  size_t offset = (size_t)dice((int64_t)s->im.element);
  size_t size = 1 + (size_t)dice((int64_t)(s->im.element - offset));
  random_patch(&s->im, lo, hi);
  for (int d = 0; d < s->im.spec.dims; d++)
    n *= hi[d] - lo[d];
  char *buf = malloc((size_t)n * size + 1);
  int put = (int)dice(2);
  for (int64_t k = 0; k < n * (int64_t)size; k++)
    buf[k] = (char)dice(100);
  if (s->doing)
    RGT_OK(put ? rg_array_put_field(s->a, lo, hi, offset, size, buf, NULL)
               : rg_array_get_field(s->a, lo, hi, offset, size, buf, NULL));
  memcpy(at, lo, sizeof at);
  for (int more = n > 0; more; more = next_of(&s->im, lo, hi, NULL, at), i++) {
    char *there = image_at(&s->im, at) + offset, *here = buf + i * (int64_t)size;
    if (put)
      memcpy(there, here, size);
    else if (s->doing)
      s->wrong += memcmp(there, here, size) != 0;
  }
  free(buf);
}

/* Elements named twice get the same value, as either may stay. */
static void do_elements(scene *s) {
  enum { MOST = 60 };
  int64_t n = dice(MOST), at[MOST * RG_ARRAY_MAX_DIMS];
  char *values = malloc(MOST * s->im.element), memory[16];
  int dims = s->im.spec.dims;
  way w = random_way(s);
  const void *alpha = s->im.spec.type == RG_TYPE_OPAQUE ? NULL : random_alpha(s, memory);
  for (int64_t i = 0; i < n; i++) {
    int64_t sum = 0;
    for (int d = 0; d < dims; d++)
      sum = sum * 31 + (at[i * dims + d] = dice(s->im.spec.shape[d]));
    set_value(&s->im, values + i * (int64_t)s->im.element, sum % 1000);
  }
  if (s->doing)
    RGT_OK(w == PUT   ? rg_array_scatter(s->a, n, at, values)
           : w == GET ? rg_array_gather(s->a, n, at, values)
                      : rg_array_scatter_acc(s->a, n, at, values, alpha));
  for (int64_t i = 0; i < n; i++) {
    char *there = image_at(&s->im, at + i * dims), *here = values + i * (int64_t)s->im.element;
    if (w == PUT)
      memcpy(there, here, s->im.element);
    else if (w == ACC)
      add_value(&s->im, there, here, alpha);
    else if (s->doing)
      s->wrong += memcmp(there, here, s->im.element) != 0;
  }
  free(values);
}

static int64_t integer_at(const scene *s, const int64_t at[]) {
  int32_t small;
  int64_t value;
  if (s->im.spec.type == RG_TYPE_INT64) {
    memcpy(&value, image_at(&s->im, at), sizeof value);
    return value;
  }
  memcpy(&small, image_at(&s->im, at), sizeof small);
  return small;
}

static void do_atomic(scene *s) {
  int64_t at[RG_ARRAY_MAX_DIMS], before = 0;
  if (s->im.spec.type != RG_TYPE_INT32 && s->im.spec.type != RG_TYPE_INT64)
    return;
  for (int d = 0; d < s->im.spec.dims; d++)
    at[d] = dice(s->im.spec.shape[d]);
  int64_t was = integer_at(s, at), value = dice(1000) - 500, swap = dice(2);
  int64_t compare = was + (dice(3) == 0);
  if (s->doing) {
    RGT_OK(swap ? rg_array_compare_and_swap(s->a, at, compare, value, &before)
                : rg_array_read_inc(s->a, at, value, &before));
    s->wrong += before != was;
  }
  if (!swap)
    set_value(&s->im, image_at(&s->im, at), was + value);
  else if (compare == was)
    set_value(&s->im, image_at(&s->im, at), value);
}

/* A part of a block that is on the node of the member whose turn it is. */
static void do_access(scene *s) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], ld[RG_ARRAY_MAX_DIMS] = {0},
                                                        at[RG_ARRAY_MAX_DIMS], count;
  int size, rank, dims = s->im.spec.dims;
  char *p = NULL;
  rg_group g;
  rg_array_piece piece;
  for (int d = 0; d < dims; d++)
    at[d] = dice(s->im.spec.shape[d]);
  random_patch(&s->im, lo, hi);
  RGT_OK(rg_array_group(s->a, &g));
  RGT_OK(rg_group_size(g, &size));
  RGT_OK(rg_group_rank(g, &rank));
  RGT_OK(rg_array_locate_count(s->a, lo, hi, &count));
  if (count == 0)
    return;
  RGT_OK(rg_array_locate(s->a, lo, hi, dice(count), &piece));
  int64_t value = dice(1000);
  memcpy(at, piece.lo, sizeof at);
  int owner = piece.rank == rank; /* its owner does it, whichever member's turn it is */
  if (owner)
    RGT_OK(rg_array_access(s->a, piece.lo, piece.hi, RG_ACCESS_READ_WRITE, &p, ld));
  do {
    int64_t offset = 0;
    for (int d = 0; d < dims; d++)
      offset = offset * (d ? ld[d - 1] : 1) + at[d] - piece.lo[d];
    if (owner) {
      s->wrong +=
          memcmp(p + offset * (int64_t)s->im.element, image_at(&s->im, at), s->im.element) != 0;
      set_value(&s->im, p + offset * (int64_t)s->im.element, value);
    }
    set_value(&s->im, image_at(&s->im, at), value);
  } while (next_of(&s->im, piece.lo, piece.hi, NULL, at));
  if (owner)
    RGT_OK(rg_array_release(s->a, piece.lo, piece.hi));
}

/* --- a scene -------------------------------------------------------------------------------- */

static void compare(scene *s) {
  int64_t lo[RG_ARRAY_MAX_DIMS] = {0};
  char *all = malloc((size_t)s->im.elements * s->im.element);
  RGT_OK(rg_array_get(s->a, lo, s->im.spec.shape, all, NULL));
  s->wrong += memcmp(all, s->im.data, (size_t)s->im.elements * s->im.element) != 0;
  free(all);
}

static void play(rg_group g, int members) {
  static void (*const what[])(scene *) = {do_patch, do_patch,    do_strided, do_periodic,
                                          do_field, do_elements, do_atomic,  do_access};
  int64_t boundaries[RG_ARRAY_MAX_DIMS][16], lo[RG_ARRAY_MAX_DIMS] = {0};
  int rank, valid;
  scene s = {.wrong = 0};
  random_image(members, &s.im, boundaries);
  RGT_OK(rg_group_rank(g, &rank));
  RGT_OK(rg_array_create(g, &s.im.spec, &s.a));
  RGT_OK(rg_array_is_valid(s.a, &valid));
  RGT_INT(valid, 1);
  if (rank == 0)
    RGT_OK(rg_array_put(s.a, lo, s.im.spec.shape, s.im.data, NULL));
  RGT_OK(rg_array_sync(s.a));
  for (int turn = 0; turn < 12; turn++) {
    s.doing = rank == (int)dice(members);
    what[dice((int64_t)(sizeof what / sizeof *what))](&s);
    if (dice(2)) /* or the next one follows at once, by another member */
      RGT_OK(rg_array_sync(s.a));
    else
      RGT_OK(rg_array_sync(s.a)), compare(&s), RGT_OK(rg_array_sync(s.a));
  }
  compare(&s);
  RGT_INT(s.wrong, 0);
  RGT_OK(rg_array_sync(s.a));
  RGT_OK(rg_array_free(&s.a));
  image_free(&s.im);
}

void test_random(void) {
  for (int i = 0; i < cases; i++) {
    int members;
    dice_start(rgt_seed() + (unsigned long long)i);
    rg_group g = random_group(world);
    if (!g)
      continue;
    RGT_OK(rg_group_size(g, &members));
    play(g, members);
    RGT_OK(rg_group_free(&g));
  }
}

/* Operations of one process on the same elements are done in its order, without a
 * fence between. */
void test_own_order(void) {
  int64_t n = 16 * rgt_size, value, before;
  rg_array a;
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &n, &a));
  RGT_OK(rg_array_sync(a));
  int wrong = 0;
  for (int64_t i = rgt_rank; i < n; i += rgt_size) {
    int64_t end = i + 1;
    RGT_OK(rg_array_put(a, &i, &end, &i, NULL));
    RGT_OK(rg_array_get(a, &i, &end, &value, NULL));
    wrong += value != i;
    RGT_OK(rg_array_acc(a, &i, &end, &(int64_t){10}, NULL, NULL));
    RGT_OK(rg_array_get(a, &i, &end, &value, NULL));
    wrong += value != i + 10;
    RGT_OK(rg_array_acc(a, &i, &end, &(int64_t){1}, NULL, &(int64_t){5}));
    RGT_OK(rg_array_read_inc(a, &i, 100, &before));
    wrong += before != i + 15;
    RGT_OK(rg_array_put(a, &i, &end, &(int64_t){-1}, NULL));
    RGT_OK(rg_array_compare_and_swap(a, &i, -1, 7, &before));
    wrong += before != -1;
    RGT_OK(rg_array_scatter_acc(a, 1, &i, &(int64_t){3}, NULL));
    RGT_OK(rg_array_gather(a, 1, &i, &value));
    wrong += value != 10;
  }
  RGT_INT(wrong, 0);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}
