/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "image.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

static unsigned long long state;

void dice_start(unsigned long long seed) {
  state = seed * 0x9e3779b97f4a7c15u + 1;
}

int64_t dice(int64_t n) {
  state += 0x9e3779b97f4a7c15u;
  unsigned long long x = state;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (int64_t)((x ^ (x >> 31)) % (unsigned long long)n);
}

rg_group random_group(rg_group world) {
  int size, ranks[64];
  rg_group g;
  RGT_OK(rg_group_size(world, &size));
  for (int i = 0; i < size; i++)
    ranks[i] = i;
  for (int i = size - 1; i > 0; i--) {
    int k = (int)dice(i + 1), rank = ranks[i];
    ranks[i] = ranks[k];
    ranks[k] = rank;
  }
  int n = dice(3) ? size : 1 + (int)dice(size);
  RGT_OK(rg_group_create(world, n, ranks, 5, &g));
  return g;
}

static void random_layout(int members, rg_array_spec *spec,
                          int64_t boundaries[RG_ARRAY_MAX_DIMS][16]) {
  spec->layout = (rg_array_layout)dice(4);
  int left = members;
  for (int d = 0; d < spec->dims; d++) {
    if (spec->layout >= RG_LAYOUT_BLOCK_CYCLIC) {
      spec->chunk[d] = 1 + dice(4);
      continue;
    }
    spec->ghosts[d] = dice(3) ? 0 : dice(3);
    spec->periodic[d] = (int)dice(2);
    if (spec->layout == RG_LAYOUT_BLOCK) {
      spec->chunk[d] = dice(4) ? 0 : dice(4) - 1;
      continue;
    }
    spec->grid[d] = 1 + (int)dice(left < 16 ? left : 16);
    left /= spec->grid[d];
    spec->boundaries[d] = boundaries[d];
    for (int k = 0; k < spec->grid[d]; k++) {
      int64_t least = k ? boundaries[d][k - 1] : 0;
      boundaries[d][k] = k ? least + dice(spec->shape[d] - least + 1) : 0;
    }
  }
}

void random_image(int members, image *im, int64_t boundaries[RG_ARRAY_MAX_DIMS][16]) {
  static const int most[] = {0, 200, 20, 9, 6, 4, 3, 3};
  static const size_t sizes[] = {4, 8, 4, 8, 8, 16, 0};
  int dims = 1 + (int)dice(RG_ARRAY_MAX_DIMS);
  int64_t shape[RG_ARRAY_MAX_DIMS];
  rg_array_type type = (rg_array_type)dice(RG_TYPE_COUNT);
  im->elements = 1;
  for (int d = 0; d < dims; d++)
    im->elements *= shape[d] = 1 + dice(most[dims]);
  im->spec.size = sizeof im->spec;
  RGT_OK(rg_array_spec_set(&im->spec, type, dims, shape));
  if (type == RG_TYPE_OPAQUE)
    im->spec.element_size = 1 + (size_t)dice(40);
  im->element = type == RG_TYPE_OPAQUE ? im->spec.element_size : sizes[type];
  random_layout(members, &im->spec, boundaries);
  im->data = malloc((size_t)im->elements * im->element);
  for (int64_t i = 0; i < im->elements; i++)
    set_value(im, im->data + i * (int64_t)im->element, dice(1000));
}

void image_free(image *im) {
  free(im->data);
}

char *image_at(const image *im, const int64_t at[]) {
  int64_t offset = 0;
  for (int d = 0; d < im->spec.dims; d++)
    offset = offset * im->spec.shape[d] + at[d];
  return im->data + offset * (int64_t)im->element;
}

void set_value(const image *im, void *element, int64_t value) {
  switch (im->spec.type) {
  case RG_TYPE_INT32:
    memcpy(element, &(int32_t){(int32_t)value}, 4);
    break;
  case RG_TYPE_INT64:
    memcpy(element, &value, 8);
    break;
  case RG_TYPE_FLOAT:
    memcpy(element, &(float){(float)value}, 4);
    break;
  case RG_TYPE_DOUBLE:
    memcpy(element, &(double){(double)value}, 8);
    break;
  case RG_TYPE_FLOAT_COMPLEX:
    memcpy(element, &(float[]){(float)value, (float)(value % 7)}, 8);
    break;
  case RG_TYPE_DOUBLE_COMPLEX:
    memcpy(element, &(double[]){(double)value, (double)(value % 7)}, 16);
    break;
  default:
    for (size_t i = 0; i < im->element; i++)
      ((char *)element)[i] = (char)(value + (int64_t)(i * i));
  }
}

#define ADD(type)                                                                                  \
  do {                                                                                             \
    type x, y, f = 1;                                                                              \
    memcpy(&x, element, sizeof x);                                                                 \
    memcpy(&y, value, sizeof y);                                                                   \
    if (alpha)                                                                                     \
      memcpy(&f, alpha, sizeof f);                                                                 \
    x += f * y;                                                                                    \
    memcpy(element, &x, sizeof x);                                                                 \
  } while (0)

void add_value(const image *im, void *element, const void *value, const void *alpha) {
  switch (im->spec.type) {
  case RG_TYPE_INT32:
    ADD(int32_t);
    break;
  case RG_TYPE_INT64:
    ADD(int64_t);
    break;
  case RG_TYPE_FLOAT:
    ADD(float);
    break;
  case RG_TYPE_DOUBLE:
    ADD(double);
    break;
  case RG_TYPE_FLOAT_COMPLEX:
    ADD(float complex);
    break;
  default:
    ADD(double complex);
  }
}

void random_patch(const image *im, int64_t lo[], int64_t hi[]) {
  int single = dice(4) == 0;
  for (int d = 0; d < im->spec.dims; d++) {
    int64_t shape = im->spec.shape[d];
    lo[d] = dice(shape);
    hi[d] = single ? lo[d] + 1 : lo[d] + dice(shape - lo[d] + 1);
    if (!single && hi[d] == lo[d] && dice(4))
      hi[d]++;
  }
}

int next_of(const image *im, const int64_t lo[], const int64_t hi[], const int64_t step[],
            int64_t at[]) {
  for (int d = im->spec.dims - 1; d >= 0; d--) {
    at[d] += step ? step[d] : 1;
    if (at[d] < hi[d])
      return 1;
    at[d] = lo[d];
  }
  return 0;
}
