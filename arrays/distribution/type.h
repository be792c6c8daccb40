/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The types of elements. */
#ifndef RGI_TYPE_H
#define RGI_TYPE_H

#include <regroup/array.h>

/* Bytes of an element of this type (RG_TYPE_OPAQUE: element_size); 0: no such type. */
static inline size_t rgi_type_size(rg_array_type type, size_t element_size) {
  switch (type) {
  case RG_TYPE_INT32:
  case RG_TYPE_FLOAT:
    return 4;
  case RG_TYPE_INT64:
  case RG_TYPE_DOUBLE:
  case RG_TYPE_FLOAT_COMPLEX:
    return 8;
  case RG_TYPE_DOUBLE_COMPLEX:
    return 16;
  case RG_TYPE_OPAQUE:
    return element_size;
  default:
    return 0;
  }
}

static inline int rgi_type_is_integer(rg_array_type type) {
  return type == RG_TYPE_INT32 || type == RG_TYPE_INT64;
}

static inline int rgi_type_is_complex(rg_array_type type) {
  return type == RG_TYPE_FLOAT_COMPLEX || type == RG_TYPE_DOUBLE_COMPLEX;
}

#endif
