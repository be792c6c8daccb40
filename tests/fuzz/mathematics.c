/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whole arrays and patches: arrays that do not match, patches outside, no arrays at all. */
#include <mpi.h>
#include <stdio.h>

#include "arrays.h"
#include "draw.h"
#include "tests/check/check.h"

static void free_array(rg_array *a) {
  if (*a)
    FUZZ(rg_array_free(a));
}

/* As the first, in another layout, or another one altogether. */
static rg_array draw_second(rg_array a) {
  rg_array *b = fuzz_out_some(sizeof *b);
  if (!a || draw_chance(6))
    return arrays_draw(fuzz.g);
  return FUZZ(rg_array_dup(a, b)) ? NULL : *b;
}

static void change(rg_array a, const arrays_patch *patch, int call) {
  const int64_t *lo = patch->with_ld ? patch->lo : NULL, *hi = draw_chance(16) ? NULL
                                                               : lo            ? patch->hi
                                                                               : NULL;
  const void *value = draw_chance(16) ? NULL : fuzz_in(64);
  switch (call) {
  case 0:
    FUZZ(rg_array_fill(a, lo, hi, value));
    break;
  case 1:
    FUZZ(rg_array_zero(a));
    break;
  case 2:
    FUZZ(rg_array_random(a, draw_bits()));
    break;
  case 3:
    FUZZ(rg_array_scale(a, lo, hi, value));
    break;
  case 4:
    FUZZ(rg_array_add_scalar(a, lo, hi, value));
    break;
  default:
    FUZZ(rg_array_update_ghosts(a));
  }
}

static void reduce(rg_array a, const arrays_patch *patch, int call) {
  const int64_t *lo = patch->with_ld ? patch->lo : NULL, *hi = lo ? patch->hi : NULL;
  void *result = fuzz_out(64);
  int64_t *at = fuzz_out_some(sizeof patch->lo);
  rg_norm_kind norm = (rg_norm_kind)draw_near(3);
  switch (call) {
  case 0:
    FUZZ(rg_array_sum(a, lo, hi, result));
    break;
  case 1:
    FUZZ(rg_array_min(a, lo, hi, result, at));
    break;
  case 2:
    FUZZ(rg_array_max(a, lo, hi, result, NULL));
    break;
  case 3:
    FUZZ(rg_array_norm(a, norm, result));
    break;
  case 4:
    FUZZ(rg_array_checksum(a, result));
    break;
  case 5:
    FUZZ(rg_array_sum_reproducible(a, result));
    break;
  default:
    FUZZ(rg_array_norm_reproducible(a, norm, result));
  }
}

static int ten(void *memory, int64_t n, const int64_t at[], void *context) {
  (void)memory;
  (void)context;
  return n > 0 && at[0] >= 0 ? RG_SUCCESS : RG_ERR_INTERNAL;
}

static void one(void) {
  rg_array a = arrays_draw(fuzz.g);
  if (!a)
    return;
  for (int i = 0; i < 3; i++) {
    arrays_patch p = arrays_draw_patch(a);
    int group = draw_below(3), call = draw_below(7);
    rg_array used = draw_chance(64) ? NULL : a;
    if (group == 0)
      change(used, &p, call);
    else if (group == 1)
      reduce(used, &p, call);
    else
      FUZZ(rg_array_map(used, p.lo, p.hi, draw_chance(16) ? NULL : ten, NULL));
  }
  free_array(&a);
}

static int keep_first(int64_t n, void *const at[], void *context) {
  (void)at;
  (void)context;
  return n > 0 ? RG_SUCCESS : RG_ERR_INTERNAL;
}

/* Any number of patches. */
static void combine_some(rg_array a, const arrays_patch *p, rg_array b, const arrays_patch *q) {
  rg_array_patch *patch = fuzz_in(4 * sizeof *patch);
  for (int k = 0; k < 4; k++)
    patch[k] =
        draw_chance(2) ? (rg_array_patch){a, p->lo, p->hi} : (rg_array_patch){b, q->lo, q->hi};
  int n = draw_near(4);
  if (n > 4)
    n = 4;
  if (draw_chance(3))
    FUZZ(rg_array_map_patches(n, patch, keep_first, NULL));
  else if (draw_chance(3))
    FUZZ(rg_array_step_bounds(n, patch, fuzz_out(24)));
  else
    FUZZ(rg_array_combine_patches((rg_combine_operation)draw_near(7), n, patch));
}

static void combine_patches(rg_array a, rg_array b, int call) {
  arrays_patch p = arrays_draw_patch(a), q = draw_chance(2) ? p : arrays_draw_patch(b);
  const void *alpha = draw_chance(24) ? NULL : fuzz_in(64);
  void *result = fuzz_out(64);
  rg_array_form form = (rg_array_form)draw_near(3);
  switch (call) {
  case 0:
    FUZZ(rg_array_copy_patch(a, p.lo, p.hi, b, q.lo, q.hi, draw_below(2)));
    break;
  case 1:
    FUZZ(rg_array_add_patch(alpha, a, p.lo, p.hi, alpha, b, q.lo, q.hi, a, p.lo, p.hi));
    break;
  case 2:
    FUZZ(rg_array_dot_patch(a, p.lo, p.hi, b, q.lo, q.hi, result));
    break;
  case 3:
    combine_some(a, &p, b, &q);
    break;
  default:
    FUZZ(rg_array_multiply_patch(form, form, alpha, a, p.lo, p.hi, a, q.lo, q.hi, alpha, b, q.lo,
                                 q.hi));
  }
}

static void combine(rg_array a, rg_array b, int call) {
  const void *alpha = draw_chance(24) ? NULL : fuzz_in(64);
  void *result = fuzz_out(64);
  rg_array_form form = (rg_array_form)draw_near(3);
  switch (call) {
  case 0:
    FUZZ(rg_array_copy(a, b));
    break;
  case 1:
    FUZZ(rg_array_add(alpha, a, alpha, b, a));
    break;
  case 2:
    FUZZ(rg_array_combine((rg_combine_operation)draw_near(4), a, b, b));
    break;
  case 3:
    FUZZ(rg_array_dot(a, b, result));
    break;
  case 4:
    FUZZ(rg_array_dot_reproducible(a, b, result));
    break;
  case 5:
    FUZZ(rg_array_transpose(a, b));
    break;
  case 6:
    FUZZ(rg_array_multiply(form, form, alpha, a, a, alpha, b));
    break;
  default:
    FUZZ(rg_array_multiply_vector(form, alpha, a, b, alpha, b));
  }
}

static void two(void) {
  rg_array a = arrays_draw(fuzz.g), b = draw_second(a);
  for (int i = 0; a && b && i < 3; i++)
    if (draw_chance(2))
      combine(a, draw_chance(32) ? NULL : b, draw_below(8));
    else
      combine_patches(a, b, draw_below(5));
  free_array(&a);
  free_array(&b);
}

static void regroup(void) {
  rg_array_spec s;
  rg_array a = arrays_draw(fuzz.g);
  if (!a)
    return;
  arrays_draw_spec(&s);
  FUZZ(rg_array_regroup(draw_chance(16) ? NULL : fuzz.g, fuzz.g, draw_chance(3) ? NULL : &s, &a));
  FUZZ(rg_array_recover(draw_chance(8) ? NULL : fuzz.g, &a));
  free_array(&a);
}

static void print(void) {
  rg_array a = arrays_draw(fuzz.g);
  if (!a)
    return;
  arrays_patch p = arrays_draw_patch(a);
  FILE *file = fopen("/dev/null", "w");
  FUZZ(rg_array_print(a, p.lo, p.hi, file));
  if (file)
    fclose(file);
  free_array(&a);
}

const fuzz_case fuzz_math_cases[] = {{"math_one", one, FUZZ_ANY},
                                     {"math_two", two, FUZZ_ANY},
                                     {"math_regroup", regroup, FUZZ_ANY},
                                     {"math_print", print, FUZZ_SAME},
                                     {0}};
