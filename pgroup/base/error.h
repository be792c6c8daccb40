/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Errors: the function that first decides that there is one describes it here, in words. */
#ifndef RGI_ERROR_H
#define RGI_ERROR_H

#include <regroup/error.h>

/* Keeps the text as this thread's rg_error_detail and returns code. */
int rgi_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for an error that another process has reported. rank: that process. */
int rgi_error_from(int code, const char *call, int rank);

/* Checks an output pointer that must not be NULL. */
#define RGI_REQUIRE(pointer)                                                                       \
  do {                                                                                             \
    if (!(pointer))                                                                                \
      return rgi_error(RG_ERR_ARG, "%s: " #pointer " is NULL", __func__);                          \
  } while (0)

#define RGI_TRY(call)                                                                              \
  do {                                                                                             \
    int rgi_try_ = (call);                                                                         \
    if (rgi_try_ != RG_SUCCESS)                                                                    \
      return rgi_try_;                                                                             \
  } while (0)

#endif
