/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Scans of vectors in segments, and packing by a mask. The range is divided evenly among the
 * members, whoever owns the elements. Each member goes through its part twice, in blocks: first for
 * what later members need of it, then, when it has that of the earlier members, for the result. */
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "distribution/type.h"
#include "math/operand.h"
#include "math/typed_loops.h"

enum { BLOCK = 8192, LARGEST = 16 }; /* elements of a block; bytes of a number */

/* *total += *x */
typedef void add_element(char *total, const char *x);
#define ADD(TYPE, name, type, work)                                                                \
  static void add_##name(char *total, const char *x) {                                             \
    work sum, y;                                                                                   \
    memcpy(&sum, total, sizeof sum);                                                               \
    memcpy(&y, x, sizeof y);                                                                       \
    sum = (work)(sum + y);                                                                         \
    memcpy(total, &sum, sizeof sum);                                                               \
  }
RGI_EACH_TYPE(ADD)
#define ENTRY(TYPE, name, type, work) [TYPE] = add_##name,
static add_element *const adders[RG_TYPE_COUNT] = {RGI_EACH_TYPE(ENTRY)};

/* Of a member's part: how many elements of the mask are not 0, the last such place (-1: none), and
 * the sum of the elements from there on, or of all. */
typedef struct {
  int64_t count, last;
  char sum[LARGEST];
} part_summary;

typedef struct scan_call scan_call;

/* Works on n elements from `first` on; block, mask: the elements of the array that is read and of
 * the mask. */
typedef int scan_step(scan_call *call, int64_t first, int64_t n);

struct scan_call {
  const char *name;
  rg_scan_kind kind;
  rg_array a, mask, b;
  rgi_operand operand[3];
  int64_t lo, hi; /* the caller's part */
  char *block, *flags;
  part_summary before; /* of all earlier members, then of the elements before the present one */
};

static int is_flagged(const scan_call *call, int64_t i) {
  int32_t narrow;
  int64_t wide;
  if (call->mask->type == RG_TYPE_INT32) {
    memcpy(&narrow, call->flags + i * 4, sizeof narrow);
    return narrow != 0;
  }
  memcpy(&wide, call->flags + i * 8, sizeof wide);
  return wide != 0;
}

static int go_through(scan_call *call, rg_array from, scan_step *step) {
  for (int64_t i = call->lo; i < call->hi; i += BLOCK) {
    const int64_t end = call->hi - i < BLOCK ? call->hi : i + BLOCK;
    RGI_TRY(rg_array_get(call->mask, &i, &end, call->flags, NULL));
    if (from)
      RGI_TRY(rg_array_get(from, &i, &end, call->block, NULL));
    RGI_TRY(step(call, i, end - i));
  }
  return RG_SUCCESS;
}

/* --- the first time ------------------------------------------------------------------------- */

static int sum_up(scan_call *call, int64_t first, int64_t n) {
  part_summary *sum = &call->before;
  int64_t element = (int64_t)call->a->element;
  for (int64_t i = 0; i < n; i++) {
    if (is_flagged(call, i)) {
      memset(sum->sum, 0, sizeof sum->sum);
      sum->last = first + i;
      sum->count++;
    }
    if (call->kind != RG_SCAN_COPY)
      adders[call->a->type](sum->sum, call->block + i * element);
  }
  return RG_SUCCESS;
}

/* What the parts of the members before the caller are together; *all: elements of the mask in all
 * parts. */
static void join_parts(scan_call *call, const part_summary part[], int64_t *all) {
  part_summary before = {.last = -1};
  *all = 0;
  for (int i = 0; i < call->a->members; i++)
    *all += part[i].count;
  for (int i = 0; i < call->a->me; i++) {
    if (part[i].last >= 0) {
      before.last = part[i].last;
      memcpy(before.sum, part[i].sum, sizeof before.sum);
    } else if (call->kind != RG_SCAN_COPY) {
      adders[call->a->type](before.sum, part[i].sum);
    }
    before.count += part[i].count;
  }
  call->before = before;
}

static int exchange_parts(scan_call *call, int error, int64_t *all) {
  part_summary *part = malloc((size_t)call->a->members * sizeof *part);
  if (!error && !part)
    error = rgi_error(RG_ERR_NOMEM, "no memory for %d members", call->a->members);
  error = rgi_group_error_share(call->a->group, call->name, error);
  if (!error)
    error = rg_allgather(call->a->group, &call->before, sizeof *part, MPI_BYTE, part, sizeof *part,
                         MPI_BYTE);
  if (!error)
    join_parts(call, part, all);
  free(part);
  return error;
}

static int begin_scan(scan_call *call, int64_t lo, int64_t hi, int64_t *all) {
  rg_array a = call->a;
  RGI_TRY(rgi_operands_begin(call->name, 3, call->operand));
  call->lo = lo + (int64_t)((__int128)(hi - lo) * a->me / a->members);
  call->hi = lo + (int64_t)((__int128)(hi - lo) * (a->me + 1) / a->members);
  call->before = (part_summary){.last = -1};
  call->flags = malloc(BLOCK * 8);
  call->block = malloc(2 * BLOCK * a->element); /* and as many values */
  int error = call->flags && call->block
                  ? RG_SUCCESS
                  : rgi_error(RG_ERR_NOMEM, "no memory for %d elements", BLOCK);
  if (!error)
    error = go_through(call, call->kind == RG_SCAN_COPY ? NULL : a, sum_up);
  return exchange_parts(call, error, all);
}

static int end_scan(scan_call *call, int error) {
  free(call->flags);
  free(call->block);
  return error;
}

/* --- scans ------------------------------------------------------------------------------------ */

static int scan_sums(scan_call *call, int64_t first, int64_t n) {
  const int64_t element = (int64_t)call->a->element, end = first + n;
  char *sum = call->before.sum, x[LARGEST];
  for (int64_t i = 0; i < n; i++) {
    char *at = call->block + i * element;
    if (is_flagged(call, i))
      memset(sum, 0, LARGEST);
    memcpy(x, at, (size_t)element);
    if (call->kind == RG_SCAN_ADD_EXCLUSIVE)
      memcpy(at, sum, (size_t)element);
    adders[call->a->type](sum, x);
    if (call->kind == RG_SCAN_ADD)
      memcpy(at, sum, (size_t)element);
  }
  return rg_array_put(call->b, &first, &end, call->block, NULL);
}

/* Elements before the first one that the mask has are not put. */
static int scan_copies(scan_call *call, int64_t first, int64_t n) {
  const int64_t element = (int64_t)call->a->element, end = first + n;
  int64_t known = call->before.last >= 0 ? 0 : n;
  const char *from = NULL;
  if (known == 0) { /* what is to be copied may be in an earlier part */
    const int64_t at = call->before.last, next = at + 1;
    from = call->block + n * element;
    RGI_TRY(rg_array_get(call->a, &at, &next, call->block + n * element, NULL));
  }
  for (int64_t i = 0; i < n; i++) {
    char *at = call->block + i * element;
    if (is_flagged(call, i)) {
      from = at;
      known = i < known ? i : known;
      call->before.last = first + i;
    }
    if (from && from != at)
      memcpy(at, from, (size_t)element);
  }
  const int64_t start = first + known;
  return known < n ? rg_array_put(call->b, &start, &end, call->block + known * element, NULL)
                   : RG_SUCCESS;
}

/* --- the calls -------------------------------------------------------------------------------- */

static int check_call(scan_call *call, int64_t lo, int64_t hi, int all_of_a, int all_of_b) {
  const rg_array arrays[3] = {call->a, call->mask, call->b};
  const int whole[3] = {all_of_a, 0, all_of_b};
  for (int i = 0; i < 3; i++) {
    RGI_TRY(rgi_array_check(call->name, arrays[i]));
    if (arrays[i]->d.dims != 1)
      return rgi_error(RG_ERR_ARG, "%s: an array has %d dimensions, not 1", call->name,
                       arrays[i]->d.dims);
    RGI_TRY(rgi_operand_make(call->name, arrays[i], whole[i] ? NULL : &lo, whole[i] ? NULL : &hi,
                             &call->operand[i]));
    RGI_TRY(rgi_operands_together(call->name, &call->operand[i], &call->operand[0]));
  }
  if (!rgi_type_is_integer(call->mask->type))
    return rgi_error(RG_ERR_ARG, "%s: the mask's elements are no integers", call->name);
  if (call->a->type != call->b->type || call->a->element != call->b->element)
    return rgi_error(RG_ERR_ARG, "%s: the arrays are of different types", call->name);
  if (call->mask == call->b)
    return rgi_error(RG_ERR_ARG, "%s: the mask is the array that is written", call->name);
  return RG_SUCCESS;
}

int rg_array_scan(rg_scan_kind kind, rg_array a, rg_array mask, rg_array b, int64_t lo,
                  int64_t hi) {
  scan_call call = {.name = __func__, .kind = kind, .a = a, .mask = mask, .b = b};
  int64_t all;
  if ((int)kind < RG_SCAN_ADD || kind > RG_SCAN_COPY)
    return rgi_error(RG_ERR_ARG, "%s: there is no scan %d", __func__, (int)kind);
  RGI_TRY(check_call(&call, lo, hi, 0, 0));
  if (kind != RG_SCAN_COPY)
    RGI_TRY(rgi_operand_arithmetic(__func__, &call.operand[0]));
  int error = begin_scan(&call, lo, hi, &all);
  if (error)
    return end_scan(&call, error);
  error = go_through(&call, a, kind == RG_SCAN_COPY ? scan_copies : scan_sums);
  return end_scan(&call, rgi_operands_end(__func__, 3, call.operand, error));
}

/* --- packing ------------------------------------------------------------------------------------
 */

static int pack_block(scan_call *call, int64_t first, int64_t n) {
  const int64_t element = (int64_t)call->a->element, start = call->before.count;
  (void)first;
  for (int64_t i = 0; i < n; i++)
    if (is_flagged(call, i))
      memmove(call->block + (call->before.count++ - start) * element, call->block + i * element,
              (size_t)element);
  return rg_array_put(call->b, &start, &call->before.count, call->block, NULL);
}

/* The block has the elements of b. */
static int unpack_block(scan_call *call, int64_t first, int64_t n) {
  const int64_t element = (int64_t)call->a->element, start = call->before.count, end = first + n;
  for (int64_t i = 0; i < n; i++)
    call->before.count += is_flagged(call, i);
  char *values = call->block + n * element;
  RGI_TRY(rg_array_get(call->a, &start, &call->before.count, values, NULL));
  for (int64_t i = 0; i < n; i++)
    if (is_flagged(call, i)) {
      memcpy(call->block + i * element, values, (size_t)element);
      values += element;
    }
  return rg_array_put(call->b, &first, &end, call->block, NULL);
}

static int pack_elements(scan_call *call, int64_t lo, int64_t hi, int unpack, int64_t *n) {
  int64_t all = 0;
  if (!n)
    return rgi_error(RG_ERR_ARG, "%s: n is NULL", call->name);
  RGI_TRY(check_call(call, lo, hi, unpack, !unpack));
  if (call->a == call->b)
    return rgi_error(RG_ERR_ARG, "%s: a and b are the same array", call->name);
  int error = begin_scan(call, lo, hi, &all);
  int64_t room = (unpack ? call->a : call->b)->d.shape[0];
  if (!error && all > room)
    error = rgi_error(RG_ERR_BOUNDS, "%s: the mask has %lld elements, but %s has %lld", call->name,
                      (long long)all, unpack ? "a" : "b", (long long)room);
  if (error)
    return end_scan(call, error);
  error = unpack ? go_through(call, call->b, unpack_block) : go_through(call, call->a, pack_block);
  error = end_scan(call, rgi_operands_end(call->name, 3, call->operand, error));
  if (!error)
    *n = all;
  return error;
}

int rg_array_pack(rg_array a, rg_array mask, rg_array b, int64_t lo, int64_t hi, int64_t *n) {
  scan_call call = {.name = __func__, .kind = RG_SCAN_COPY, .a = a, .mask = mask, .b = b};
  return pack_elements(&call, lo, hi, 0, n);
}

int rg_array_unpack(rg_array a, rg_array mask, rg_array b, int64_t lo, int64_t hi, int64_t *n) {
  scan_call call = {.name = __func__, .kind = RG_SCAN_COPY, .a = a, .mask = mask, .b = b};
  return pack_elements(&call, lo, hi, 1, n);
}
