/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The types of elements. */
#ifndef RGI_TYPE_H
#define RGI_TYPE_H

#include <regroup/array.h>

/* Bytes of an element of this type (RG_OPAQUE: element_size); 0: no such type. */
static inline size_t rgi_type_size(rg_type type, size_t element_size) {
  switch (type) {
  case RG_INT32:
  case RG_FLOAT:
    return 4;
  case RG_INT64:
  case RG_DOUBLE:
  case RG_FLOAT_COMPLEX:
    return 8;
  case RG_DOUBLE_COMPLEX:
    return 16;
  case RG_OPAQUE:
    return element_size;
  default:
    return 0;
  }
}

static inline int rgi_type_is_integer(rg_type type) {
  return type == RG_INT32 || type == RG_INT64;
}

static inline int rgi_type_is_complex(rg_type type) {
  return type == RG_FLOAT_COMPLEX || type == RG_DOUBLE_COMPLEX;
}

#endif
