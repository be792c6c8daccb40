/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Single elements: as many at a time as the transport takes. */
#include <limits.h>

#include "base/error.h"
#include "engine/engine.h"

int rgi_engine_elements(const rgi_transfer_elements *elements) {
  if (elements->element > INT_MAX)
    return rgi_error(RG_ERR_LIMIT, "elements of %zu bytes cannot be gathered from another node",
                     elements->element);
  int64_t most = rgi_engine_most / (int64_t)elements->element;
  if (most < 1)
    most = 1;
  for (int64_t i = 0; i < elements->n; i += most) {
    rgi_transfer_elements some = *elements;
    some.n = most < elements->n - i ? most : elements->n - i;
    some.offsets += i;
    some.origin += i;
    RGI_TRY(rgi_engine_transport->elements(&some));
  }
  return RG_SUCCESS;
}
