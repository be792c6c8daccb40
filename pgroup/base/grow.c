/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/grow.h"

#include <stdlib.h>

#include "base/error.h"

int rgi_grow(void *array, int64_t count, int64_t *room, size_t each, const char *text) {
  if (count < *room)
    return RG_SUCCESS;
  int64_t wanted = 2 * *room + 8;
  void *more = realloc(*(void **)array, (size_t)wanted * each);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, text, (long long)wanted);
  *(void **)array = more;
  *room = wanted;
  return RG_SUCCESS;
}
