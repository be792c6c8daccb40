/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/sized.h"

#include <string.h>

#include "base/error.h"

static size_t size_of(const void *given) {
  size_t size;
  memcpy(&size, given, sizeof size);
  return size;
}

int rgi_sized_check(const void *given, const char *what) {
  if (!given)
    return rgi_error(RG_ERR_ARG, "%s is NULL", what);
  size_t size = size_of(given);
  if (size < sizeof size || size > RGI_SIZED_MOST)
    return rgi_error(RG_ERR_ARG, "%s: its size is %zu: initialise the struct with {sizeof x}", what,
                     size);
  return RG_SUCCESS;
}

int rgi_sized_take(void *own, size_t bytes, const void *given, const char *what) {
  RGI_TRY(rgi_sized_check(given, what));
  size_t size = size_of(given);
  for (size_t i = bytes; i < size; i++)
    if (((const char *)given)[i])
      return rgi_error(
          RG_ERR_UNSUPPORTED,
          "%s: a member that this version of the library does not know is not zero: the "
          "program was compiled for a later version",
          what);
  memset(own, 0, bytes);
  memcpy(own, given, size < bytes ? size : bytes);
  memcpy(own, &bytes, sizeof bytes);
  return RG_SUCCESS;
}

int rgi_sized_give(void *given, const void *own, size_t bytes, const char *what) {
  RGI_TRY(rgi_sized_check(given, what));
  size_t size = size_of(given);
  memset(given, 0, size);
  memcpy(given, own, size < bytes ? size : bytes);
  memcpy(given, &size, sizeof size);
  return RG_SUCCESS;
}
