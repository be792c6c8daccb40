/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Errors: the function that first decides that there is one describes it here, in words. */
#ifndef RGI_ERROR_H
#define RGI_ERROR_H

#include <regroup/error.h>

/* Bytes of a text, at most, with the 0 at its end. */
#define RGI_ERROR_TEXT 768

/* Keeps the text as this thread's rg_error_detail and returns code. */
int rgi_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As rgi_error, for an error that another process has reported. rank: that process, in the caller's
 * group; a call like "rg_array_copy: in the source's group" names another one. text: that of the
 * other process, without the call's name at its beginning; NULL or "": unknown. */
int rgi_error_from(int code, const char *call, int rank, const char *text);

/* A number that changes with each text that this thread records. */
unsigned rgi_error_mark(void);

/* The code that came with this thread's latest text. */
int rgi_error_code(void);

/* What a call returns after a callback has returned `returned`: RG_SUCCESS, one of the library's
 * codes or of the application's, or RG_ERR_ARG for any other number. The text is what the callback
 * has recorded since mark, if anything: as it is with a code of the application's; after the
 * callback's name with one of the library's. */
int rgi_error_of_callback(const char *callback, int returned, unsigned mark);

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
