/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One-sided access to arrays, their queries, mutexes and tasks. */
#include <mpi.h>
#include <string.h>

#include "arrays.h"
#include "draw.h"
#include "tests/check/check.h"

static void free_array(rg_array *a) {
  FUZZ(rg_barrier(fuzz.g));
  FUZZ(rg_array_free(a));
}

static void spec(void) {
  rg_array_spec *s = fuzz_in(sizeof *s);
  int64_t shape[RG_ARRAY_MAX_DIMS];
  for (int d = 0; d < RG_ARRAY_MAX_DIMS; d++)
    shape[d] = draw_chance(4) ? draw_int64() : draw_below(10);
  s->size = draw_chance(8) ? (size_t)draw_near(8) : sizeof *s;
  if (s->size > sizeof *s && s->size <= 4096)
    s->size = sizeof *s;
  rg_array_type type = (rg_array_type)(draw_chance(4) ? draw_int() : draw_below(RG_TYPE_COUNT));
  FUZZ(rg_array_spec_set(draw_chance(16) ? NULL : s, type, draw_near(7),
                         draw_chance(16) ? NULL : shape));
}

static void create(void) {
  rg_array_spec s;
  rg_array *a = fuzz_out(sizeof *a);
  arrays_draw_spec(&s);
  if (draw_chance(32))
    s.size = (size_t)draw_near(8);
  rg_group g = draw_chance(32) ? NULL : fuzz.g;
  if (FUZZ(rg_array_create(g, draw_chance(32) ? NULL : &s, a)))
    return;
  FUZZ(rg_array_sync(*a));
  free_array(a);
}

static void create_simple(void) {
  int64_t shape[RG_ARRAY_MAX_DIMS];
  rg_array *a = fuzz_out(sizeof *a), *copy;
  for (int d = 0; d < RG_ARRAY_MAX_DIMS; d++)
    shape[d] = draw_chance(3) ? draw_int64() : draw_below(5);
  if (FUZZ(rg_array_create_simple(fuzz.g, (rg_array_type)draw_near(RG_TYPE_COUNT), draw_near(7),
                                  shape, a)))
    return;
  copy = fuzz_out_some(sizeof *copy);
  if (!FUZZ(rg_array_dup(*a, copy)))
    FUZZ(rg_array_free(copy));
  free_array(a);
}

/* Patches and steps are the same on all ranks, so that all can change the elements. */
static void move(rg_array a, const arrays_patch *patch, int call) {
  const int64_t *ld = patch->with_ld ? patch->ld : NULL;
  const void *alpha = draw_chance(2) ? NULL : fuzz_in(64);
  switch (call) {
  case 0:
    FUZZ(rg_array_put(a, patch->lo, patch->hi, patch->buffer, ld));
    break;
  case 1:
    FUZZ(rg_array_get(a, patch->lo, patch->hi, patch->buffer, ld));
    break;
  case 2:
    FUZZ(rg_array_acc(a, patch->lo, patch->hi, patch->buffer, ld, alpha));
    break;
  case 3:
    FUZZ(rg_array_put_strided(a, patch->lo, patch->hi, patch->step, patch->buffer, ld));
    break;
  case 4:
    FUZZ(rg_array_get_strided(a, patch->lo, patch->hi, patch->step, patch->buffer, ld));
    break;
  default:
    FUZZ(rg_array_acc_strided(a, patch->lo, patch->hi, patch->step, patch->buffer, ld, alpha));
  }
}

static void start(rg_array a, const arrays_patch *patch, int call) {
  const int64_t *ld = patch->with_ld ? patch->ld : NULL;
  rg_request *r = fuzz_out(sizeof *r);
  int error = call == 0 ? FUZZ(rg_array_iput(a, patch->lo, patch->hi, patch->buffer, ld, r))
              : call == 1
                  ? FUZZ(rg_array_iget(a, patch->lo, patch->hi, patch->buffer, ld, r))
                  : FUZZ(rg_array_iacc(a, patch->lo, patch->hi, patch->buffer, ld, NULL, r));
  if (!error)
    FUZZ(rg_wait(r, NULL));
}

/* Anywhere, but of the length of the patch. */
static void move_periodic(rg_array a, arrays_patch *patch, int call) {
  const int64_t *ld = patch->with_ld ? patch->ld : NULL;
  for (int d = 0; d < patch->info.dims; d++) {
    int64_t by = draw_chance(2) ? draw_int64() : draw_below(9);
    patch->lo[d] = (int64_t)((uint64_t)patch->lo[d] + (uint64_t)by);
    patch->hi[d] = (int64_t)((uint64_t)patch->hi[d] + (uint64_t)by);
  }
  if (draw_chance(4)) {
    size_t offset = (size_t)draw_below(9), size = (size_t)draw_below(9);
    if (call == 0)
      FUZZ(rg_array_put_field(a, patch->lo, patch->hi, offset, size, patch->buffer, ld));
    else
      FUZZ(rg_array_get_field(a, patch->lo, patch->hi, offset, size, patch->buffer, ld));
  } else if (call == 0)
    FUZZ(rg_array_put_periodic(a, patch->lo, patch->hi, patch->buffer, ld));
  else if (call == 1)
    FUZZ(rg_array_get_periodic(a, patch->lo, patch->hi, patch->buffer, ld));
  else
    FUZZ(rg_array_acc_periodic(a, patch->lo, patch->hi, patch->buffer, ld, NULL));
}

static void elements(rg_array a, const arrays_patch *patch, int call) {
  enum { ROOM = 16 };
  int64_t *at = fuzz_in(ROOM * RG_ARRAY_MAX_DIMS * sizeof *at), *before = fuzz_out(sizeof *before);
  int64_t n = draw_below(ROOM);
  for (int i = 0; i < ROOM * RG_ARRAY_MAX_DIMS; i++) {
    int64_t extent = patch->info.dims > 0 ? patch->info.shape[i % patch->info.dims] : 1;
    at[i] = draw_chance(32) ? draw_int64()
            : extent > 0    ? draw_below(extent < 9 ? (int)extent : 9)
                            : 0;
  }
  if (draw_chance(8))
    n = draw_chance(2) ? -1 : INT64_MAX / (1 + draw_below(8));
  switch (call) {
  case 0:
    FUZZ(rg_array_gather(a, n, at, patch->buffer));
    break;
  case 1:
    FUZZ(rg_array_scatter(a, n, at, patch->buffer));
    break;
  case 2:
    FUZZ(rg_array_scatter_acc(a, n, at, patch->buffer, NULL));
    break;
  case 3:
    FUZZ(rg_array_read_inc(a, at, draw_int64(), before));
    break;
  default:
    FUZZ(rg_array_compare_and_swap(a, at, draw_int64(), draw_int64(), before));
  }
}

static void queries(rg_array a, const arrays_patch *patch) {
  int rank = draw_near(rgt_size);
  int64_t *lo = fuzz_out_some(sizeof patch->lo), *hi = fuzz_out_some(sizeof patch->hi);
  int64_t *count = fuzz_out(sizeof *count);
  FUZZ(rg_array_owner(a, patch->lo, fuzz_out(sizeof(int))));
  FUZZ(rg_array_block_count(a, rank, count));
  FUZZ(rg_array_block(a, rank, draw_near64(3), lo, hi));
  FUZZ(rg_array_distribution(a, rank, lo, hi));
  FUZZ(rg_array_locate_count(a, patch->lo, patch->hi, count));
  FUZZ(rg_array_locate(a, patch->lo, patch->hi, draw_near64(4), fuzz_out(sizeof(rg_array_piece))));
  FUZZ(rg_array_is_valid(a, fuzz_out(sizeof(int))));
  FUZZ(rg_array_group(a, fuzz_out(sizeof(rg_group))));
}

/* Of the caller's own elements, of which another rank has others. */
static void direct(rg_array a, const arrays_patch *patch) {
  fuzz_differs();
  void **at = fuzz_out(sizeof *at);
  rg_access_mode mode = (rg_access_mode)draw_near(3);
  if (!FUZZ(rg_array_access(a, patch->lo, patch->hi, mode, at, NULL)))
    FUZZ(rg_array_release(a, patch->lo, patch->hi));
  if (!FUZZ(rg_array_access_ghosts(a, mode, at, NULL)))
    FUZZ(rg_array_release_ghosts(a));
}

static void access(void) {
  rg_array a = arrays_draw(fuzz.g);
  if (!a)
    return;
  for (int i = 0; i < 4; i++) {
    arrays_patch p = arrays_draw_patch(a);
    int group = draw_below(6), call = draw_below(6);
    rg_array one = draw_chance(64) ? NULL : a;
    if (group == 0)
      move(one, &p, call);
    else if (group == 1)
      start(one, &p, call % 3);
    else if (group == 2)
      move_periodic(one, &p, call % 3);
    else if (group == 3)
      elements(one, &p, call % 5);
    else if (group == 4)
      queries(one, &p);
    else
      direct(one, &p);
  }
  FUZZ(rg_array_fence(draw_chance(2) ? NULL : a));
  free_array(&a);
  FUZZ(rg_progress());
}

static void mutexes(void) {
  rg_mutexes *m = fuzz_out(sizeof *m);
  int64_t n = draw_chance(2) ? draw_int64() : 1 + draw_below(4), i = draw_near64(4);
  if (n > 1000 && n < INT64_C(1) << 40)
    n = 1000;
  int *locked = fuzz_out(sizeof *locked);
  if (FUZZ(rg_mutexes_create(draw_chance(16) ? NULL : fuzz.g, n, m)))
    return;
  FUZZ(rg_mutexes_unlock(*m, i));
  if (!FUZZ(rg_mutexes_lock(*m, i)))
    FUZZ(rg_mutexes_unlock(*m, i));
  if (!FUZZ(rg_mutexes_try(*m, i, locked)) && *locked)
    FUZZ(rg_mutexes_unlock(*m, i));
  FUZZ(rg_mutexes_free(m));
}

static void tasks(void) {
  rg_tasks *list = fuzz_out(sizeof *list);
  int64_t n = draw_near64(9), least = draw_near64(3), *first, *count;
  if (FUZZ(rg_tasks_create(draw_chance(16) ? NULL : fuzz.g, n, least, list)))
    return;
  for (int i = 0; i < 4; i++) {
    first = fuzz_out(sizeof *first);
    count = fuzz_out(sizeof *count);
    if (!FUZZ(rg_tasks_next(*list, first, count)))
      FUZZ_TRUE(*first >= 0 && *count >= 0 && *count <= n - *first);
  }
  FUZZ(rg_tasks_next(NULL, fuzz_out(sizeof n), fuzz_out(sizeof n)));
  FUZZ(rg_tasks_free(list));
}

/* Numbers that are taken do not come again. */
static void counter(void) {
  rg_counter *c = fuzz_out(sizeof *c);
  int64_t end = 0;
  if (FUZZ(rg_counter_create(draw_chance(16) ? NULL : fuzz.g, c)))
    return;
  fuzz_differs();
  for (int i = 0; i < 4; i++) {
    int64_t n = draw_chance(2) ? draw_int64() : draw_below(5), *first = fuzz_out(sizeof *first);
    if (FUZZ(rg_counter_next(*c, n, first)))
      continue;
    FUZZ_TRUE(*first >= end && *first <= INT64_MAX - n);
    end = *first + n;
  }
  FUZZ(rg_counter_reset(*c));
  FUZZ(rg_counter_free(c));
}

const fuzz_case fuzz_array_cases[] = {{"array_spec", spec, FUZZ_LOCAL},
                                      {"array_create", create, FUZZ_ANY},
                                      {"array_create_simple", create_simple, FUZZ_ANY},
                                      {"array_access", access, FUZZ_SAME},
                                      {"array_access again", access, FUZZ_SAME},
                                      {"array_mutexes", mutexes, FUZZ_ANY},
                                      {"array_tasks", tasks, FUZZ_ANY},
                                      {"array_counter", counter, FUZZ_ANY},
                                      {0}};
