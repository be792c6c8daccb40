/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Vectors: enumeration, scans, pack and unpack. Global Arrays has masks of any type, the library
 * masks of integers. */
#include <regroup/array_math.h>
#include <string.h>

#include "ga/ga_handle.h"
#include "ga_core.h"

/* The caller's block of the mask, and of the integers in its place: 1 where an element is not 0. */
static void convert_block(const char *call, int g, rg_array mask, rg_array integers, size_t bytes) {
  static const char zero[64];
  int rank = rgi_ga_handle_me(call, g, mask);
  int64_t blocks, lo, end;
  rgi_ga_error_check(call, g, rg_array_block_count(mask, rank, &blocks));
  for (int64_t i = 0; i < blocks; i++) {
    const char *from;
    int32_t *to;
    rgi_ga_error_check(call, g, rg_array_block(mask, rank, i, &lo, &end));
    if (lo == end)
      continue;
    rgi_ga_error_check(call, g, rg_array_access(mask, &lo, &end, RG_ACCESS_READ, &from, NULL));
    rgi_ga_error_check(call, g, rg_array_access(integers, &lo, &end, RG_ACCESS_WRITE, &to, NULL));
    for (int64_t k = 0; k < end - lo; k++)
      to[k] = memcmp(from + (size_t)k * bytes, zero, bytes) != 0;
    rgi_ga_error_check(call, g, rg_array_release(mask, &lo, &end));
    rgi_ga_error_check(call, g, rg_array_release(integers, &lo, &end));
  }
}

/* The mask as integers, with `ones` as 0 and 1; *made: an array to be freed, or NULL. */
static rg_array mask_of(const char *call, int g, int ones, rg_array *made) {
  rg_array mask = rgi_ga_handle_array(call, g);
  rg_array_spec spec = rgi_ga_handle_spec(call, g);
  rg_group group;
  *made = NULL;
  if (!ones && (spec.type == RG_TYPE_INT32 || spec.type == RG_TYPE_INT64))
    return mask;
  size_t bytes = spec.element_size;
  if (spec.dims != 1 || bytes > 64)
    rgi_ga_error_end(call, g, "a mask has 1 dimension, and numbers as elements");
  spec.type = RG_TYPE_INT32;
  spec.element_size = 0;
  rgi_ga_error_check(call, g, rg_array_group(mask, &group));
  rgi_ga_error_check(call, g, rg_array_create(group, &spec, made));
  rgi_ga_error_check(call, g, rg_array_sync(mask));
  convert_block(call, g, mask, *made, bytes);
  rgi_ga_error_check(call, g, rg_array_sync(*made));
  return *made;
}

void rgi_ga_patch_enum(int g_a, int64_t lo, int64_t hi, const void *start, const void *inc) {
  RGI_GA_TRY(g_a, rg_array_enumerate(RGI_GA_ARRAY(g_a), &lo, (int64_t[]){hi + 1}, start, inc));
}

/* Elements before the first 1 of the mask do not change: the scan begins there. */
void rgi_ga_scan_add(int g_a, int g_b, int g_sbit, int64_t lo, int64_t hi, int excl) {
  rg_array made, mask = mask_of(__func__, g_sbit, 1, &made);
  const int64_t end = hi + 1;
  int64_t first;
  int32_t greatest;
  RGI_GA_TRY(g_sbit, rg_array_max(mask, &lo, &end, &greatest, &first));
  if (greatest)
    RGI_GA_TRY(g_a, rg_array_scan(excl ? RG_SCAN_ADD_EXCLUSIVE : RG_SCAN_ADD, RGI_GA_ARRAY(g_a),
                                  mask, RGI_GA_ARRAY(g_b), first, end));
  RGI_GA_TRY(g_sbit, rg_array_free(&made));
}

void rgi_ga_scan_copy(int g_a, int g_b, int g_sbit, int64_t lo, int64_t hi) {
  rg_array made, mask = mask_of(__func__, g_sbit, 0, &made);
  RGI_GA_TRY(g_a,
             rg_array_scan(RG_SCAN_COPY, RGI_GA_ARRAY(g_a), mask, RGI_GA_ARRAY(g_b), lo, hi + 1));
  RGI_GA_TRY(g_sbit, rg_array_free(&made));
}

void rgi_ga_pack(int g_src, int g_dest, int g_mask, int64_t lo, int64_t hi, int64_t *icount) {
  rg_array made, mask = mask_of(__func__, g_mask, 0, &made);
  RGI_GA_TRY(g_src,
             rg_array_pack(RGI_GA_ARRAY(g_src), mask, RGI_GA_ARRAY(g_dest), lo, hi + 1, icount));
  RGI_GA_TRY(g_mask, rg_array_free(&made));
}

void rgi_ga_unpack(int g_src, int g_dest, int g_mask, int64_t lo, int64_t hi, int64_t *icount) {
  rg_array made, mask = mask_of(__func__, g_mask, 0, &made);
  RGI_GA_TRY(g_src,
             rg_array_unpack(RGI_GA_ARRAY(g_src), mask, RGI_GA_ARRAY(g_dest), lo, hi + 1, icount));
  RGI_GA_TRY(g_mask, rg_array_free(&made));
}
