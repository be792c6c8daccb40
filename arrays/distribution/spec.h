/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The parts of rgi_distribution_make. */
#ifndef RGI_SPEC_H
#define RGI_SPEC_H

#include "distribution/distribution.h"

/* Everything about a spec but its size in bytes; RG_ERR_ARG with a text that says
 * what of it is wrong. */
int rgi_spec_check(const rg_array_spec *spec, int members);

/* extent / chunk, rounded up. */
static inline int64_t rgi_span_blocks(int64_t extent, int64_t chunk) {
  return extent / chunk + (extent % chunk != 0);
}

#endif
