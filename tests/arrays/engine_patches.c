/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Random patches, against a model. */
#include "tests/check/check.h"
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "distribution/type.h"
#include "engine/engine.h"
#include "engine/scalar.h"
#include "tests/arrays/engine_calls.h"
#include "tests/arrays/engine_cases.h"

/* Extents and strides of both sides, within BLOCK bytes, that need not divide one
 * another; units of `size` bytes. */
static rgi_strided draw_patch(size_t size) {
  rgi_strided p = {.dims = 0};
  int dims = 1 + (int)draw(4);
  int64_t near = (1 + draw(20)) * (int64_t)size, far = near;
  rgi_strided_add(&p, near, 1, 1);
  for (int d = 1; d < dims; d++) {
    int64_t n = 1 + draw(6);
    near += draw(3) * (int64_t)size;
    far += draw(4) * (int64_t)size;
    rgi_strided_add(&p, n, near, far);
    near *= n;
    far *= n;
  }
  return p;
}

static void (*visit_row)(char *near, char *far, size_t bytes);

static void visit(const rgi_strided *strided, int d, char *near, char *far) {
  if (d == 0) {
    visit_row(near, far, (size_t)strided->extent[d]);
    return;
  }
  for (int64_t i = 0; i < strided->extent[d]; i++)
    visit(strided, d - 1, near + i * strided->origin_stride[d],
          far + i * strided->target_stride[d]);
}

static void copy_out(char *near, char *far, size_t bytes) {
  memcpy(far, near, bytes);
}

static void copy_in(char *near, char *far, size_t bytes) {
  memcpy(near, far, bytes);
}

static rg_array_type acc_type;
static rgi_scalar acc_alpha;

/* array += alpha * buffer, of small whole numbers: exact in all types. */
static void add(char *near, char *far, size_t bytes) {
#define ADD(T, MEMBER)                                                                             \
  for (size_t i = 0; i < bytes / sizeof(T); i++)                                                   \
  ((T *)(void *)far)[i] += (T)(acc_alpha.MEMBER * ((T *)(void *)near)[i])
#define ADD_COMPLEX(T, MEMBER)                                                                     \
  for (size_t i = 0; i < bytes / sizeof(T); i += 2) {                                              \
    T *to = (T *)(void *)far + i, *by = (T *)(void *)near + i, *a = acc_alpha.MEMBER;              \
    to[0] += a[0] * by[0] - a[1] * by[1];                                                          \
    to[1] += a[0] * by[1] + a[1] * by[0];                                                          \
  }
  switch (acc_type) {
  case RG_TYPE_INT32:
    ADD(int32_t, int32);
    break;
  case RG_TYPE_INT64:
    ADD(int64_t, int64);
    break;
  case RG_TYPE_FLOAT:
    ADD(float, real[0]);
    break;
  case RG_TYPE_DOUBLE:
    ADD(double, real2[0]);
    break;
  case RG_TYPE_FLOAT_COMPLEX:
    ADD_COMPLEX(float, real);
    break;
  default:
    ADD_COMPLEX(double, real2);
  }
}

/* n bytes of small numbers of that type. */
static void fill_numbers(rg_array_type type, char *to, size_t n) {
  for (size_t i = 0; i < n / 4; i++) {
    int v = (int)draw(100) - 50;
    switch (type) {
    case RG_TYPE_INT32:
      ((int32_t *)(void *)to)[i] = v;
      break;
    case RG_TYPE_FLOAT:
    case RG_TYPE_FLOAT_COMPLEX:
      ((float *)(void *)to)[i] = (float)v;
      break;
    case RG_TYPE_INT64:
      if (i % 2)
        ((int64_t *)(void *)to)[i / 2] = v;
      break;
    default:
      if (i % 2)
        ((double *)(void *)to)[i / 2] = v;
    }
  }
}

static rgi_scalar draw_alpha(rg_array_type type) {
  rgi_scalar alpha = rgi_scalar_one(type);
  int v = (int)draw(3);
  switch (type) {
  case RG_TYPE_INT32:
    alpha.int32 += v;
    break;
  case RG_TYPE_INT64:
    alpha.int64 += v;
    break;
  case RG_TYPE_FLOAT:
    alpha.real[0] += (float)v;
    break;
  case RG_TYPE_DOUBLE:
    alpha.real2[0] += v;
    break;
  case RG_TYPE_FLOAT_COMPLEX:
    alpha.real[1] += (float)v;
    break;
  default:
    alpha.real2[1] += v;
  }
  return alpha;
}

/* Each rank, alone, changes its successor's block and a model of it in the same way, by each form
 * of call in turn. */
enum { ROUNDS = 60, NEAR = 200000 };

static void one_round(int i, int target, char *near, char *expect, char *model) {
  rg_array_type type = (rg_array_type)draw(RG_TYPE_OPAQUE);
  size_t size = rgi_type_size(type, 0);
  rgi_strided p = draw_patch(size);
  uint64_t shift = (uint64_t)draw(100) * 16, offset = blocks[target] + shift;
  rgi_engine_handle h = NULL;
  int done = 0, split = i % 2;
  acc_type = type;
  acc_alpha = draw_alpha(type);
  fill_numbers(type, near, NEAR);
  visit_row = copy_out;
  visit(&p, p.dims - 1, near, model + shift);
  if (split)
    RGT_OK(engine_start_put(target, offset, near, &p, &h));
  if (split)
    RGT_OK(rgi_engine_wait(&h));
  else
    RGT_OK(engine_put(target, offset, near, &p));
  RGT_PTR_NULL(h);
  fill_numbers(type, near, NEAR);
  visit_row = add;
  visit(&p, p.dims - 1, near, model + shift);
  if (split) {
    RGT_OK(engine_start_acc(target, offset, near, &p, type, &acc_alpha, &h));
    while (h)
      if (!RGT_OK(rgi_engine_test(&h, &done)))
        return;
    RGT_INT(done, 1);
  } else
    RGT_OK(engine_acc(target, offset, near, &p, type, &acc_alpha));
  memset(near, -1, NEAR);
  memset(expect, -1, NEAR);
  visit_row = copy_in;
  visit(&p, p.dims - 1, expect, model + shift);
  if (split) {
    RGT_OK(engine_start_get(target, offset, near, &p, &h));
    RGT_OK(rgi_engine_wait(&h));
  } else
    RGT_OK(engine_get(target, offset, near, &p));
  RGT_INT(memcmp(near, expect, NEAR), 0);
}

static void patches(int64_t most) {
  int target = (rgt_rank + 1) % rgt_size;
  int64_t before = rgi_engine_most;
  char *near = malloc(NEAR), *expect = malloc(NEAR), *model = calloc(1, BLOCK);
  rgi_engine_most = most;
  memset(mine(), 0, BLOCK);
  barrier();
  for (int i = 0; i < ROUNDS; i++)
    one_round(i, target, near, expect, model);
  RGT_OK(rgi_engine_fence(target));
  rgi_engine_most = before;
  barrier();
  char *there = malloc(BLOCK);
  rgi_strided all = rgi_strided_flat(BLOCK);
  RGT_OK(engine_get(target, blocks[target], there, &all));
  RGT_INT(memcmp(there, model, BLOCK), 0);
  barrier();
  free(there);
  free(model);
  free(expect);
  free(near);
}

void test_patches(void) {
  patches(rgi_engine_most);
}

/* What is too long for one message. */
void test_cut(void) {
  patches(112);
}

void test_nothing(void) {
  rgi_strided none = rgi_strided_flat(0);
  rgi_engine_handle h = NULL;
  char byte = 7;
  int done = 0;
  RGT_OK(engine_put(0, blocks[0], &byte, &none));
  RGT_OK(engine_start_get(0, blocks[0], &byte, &none, &h));
  RGT_PTR_NULL(h);
  RGT_OK(rgi_engine_test(&h, &done));
  RGT_INT(done, 1);
  RGT_INT(byte, 7);
  RGT_OK(rgi_engine_elements(&(rgi_transfer_elements){.kind = RGI_ACCESS_KIND_GET, .element = 8}));
  RGT_OK(rgi_engine_fence(-1));
}

/* The buffer of a put or accumulate may be changed as soon as it has been waited for, also when so
 * many are under way that MPI has to delay them. */
void test_flood(void) {
  enum { MANY = 100, WORDS = 8 };
  int target = (rgt_rank + 1) % rgt_size;
  rgi_strided p = rgi_strided_flat(16);
  int64_t values[WORDS], got[WORDS];
  rgi_engine_handle h;
  rgi_strided_add(&p, 4, 16, 32);
  for (int i = 0; i < 6 * MANY; i++) {
    uint64_t at = blocks[target] + 128 * (uint64_t)(i % MANY);
    for (int k = 0; k < WORDS; k++)
      values[k] = (int64_t)rgt_rank * 1000000 + i % MANY * 100 + k;
    if (i / MANY % 2 == 0)
      RGT_OK(engine_start_put(target, at, values, &p, &h));
    else
      RGT_OK(engine_start_acc(target, at, values, &p, RG_TYPE_INT64, NULL, &h));
    RGT_OK(rgi_engine_wait(&h));
    memset(values, -1, sizeof values);
  }
  for (int i = 0; i < MANY; i++) {
    memset(got, 0, sizeof got);
    RGT_OK(engine_get(target, blocks[target] + 128 * (uint64_t)i, got, &p));
    for (int k = 0; k < WORDS; k++)
      RGT_INT(got[k], 2 * ((int64_t)rgt_rank * 1000000 + i * 100 + k));
  }
  barrier();
}
