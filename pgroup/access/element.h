/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations on elements in shared memory, each atomic with one another, in whichever process. */
#ifndef RGI_ELEMENT_H
#define RGI_ELEMENT_H

#include <stdint.h>

typedef enum {
  RGI_ELEMENT_INT32,
  RGI_ELEMENT_INT64,
  RGI_ELEMENT_FLOAT,
  RGI_ELEMENT_DOUBLE
} rgi_element_type;

/* Adds the elements of `from` to those of `to`, one by one; together `bytes` bytes. `to` is aligned
 * to the elements, `from` need not be. */
void rgi_element_add(rgi_element_type type, char *to, const char *from, uint64_t bytes);

/* On an integer, which is aligned: adds to it; stores `value` if it is `expected`. They return what
 * was there before. */
int64_t rgi_element_fetch_add(rgi_element_type type, char *at, int64_t value);
int64_t rgi_element_compare_swap(rgi_element_type type, char *at, int64_t expected, int64_t value);

#endif
