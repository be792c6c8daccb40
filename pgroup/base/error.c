/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Codes of errors with their names and sentences, and the text of each thread's last error. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"

static _Thread_local char detail[RGI_ERROR_TEXT];
static _Thread_local unsigned recorded; /* texts so far */
static _Thread_local int latest;        /* the code of the text */

typedef struct {
  const char *name, *text;
} described;

#define CODE(code, text) [code] = {#code, text}
static const described codes[] = {
    CODE(RG_SUCCESS, "no error"),
    CODE(RG_ERR_ARG, "an argument has a value that it may not have"),
    CODE(RG_ERR_RANK, "a rank is out of range or named twice"),
    CODE(RG_ERR_TAG, "a tag is out of range"),
    CODE(RG_ERR_COMM, "not a communicator that can be used here"),
    CODE(RG_ERR_GROUP, "not a group that can be used here"),
    CODE(RG_ERR_OPTION, "an option has a value that it may not have"),
    CODE(RG_ERR_NOT_INIT, "the library is not initialised"),
    CODE(RG_ERR_INIT, "the library is already initialised over other processes"),
    CODE(RG_ERR_LIMIT, "a size or a number is over a limit"),
    CODE(RG_ERR_NOMEM, "out of memory"),
    CODE(RG_ERR_MISMATCH, "the callers disagree about what they are calling"),
    CODE(RG_ERR_TIMEOUT, "a wait lasted too long"),
    CODE(RG_ERR_ARRAY, "not an array that can be used here"),
    CODE(RG_ERR_BOUNDS, "outside the array"),
    CODE(RG_ERR_FILE, "a file cannot be written or read"),
    CODE(RG_ERR_RESERVE, "the reserve has fewer processes than are asked for"),
    CODE(RG_ERR_TRUNCATE, "a message is longer than the buffer for it"),
    CODE(RG_ERR_PROC_FAILED, "a process that takes part has died"),
    CODE(RG_ERR_REVOKED, "a member has revoked the group"),
    CODE(RG_ERR_UNSUPPORTED, "not supported here"),
    CODE(RG_ERR_MPI, "an MPI call failed"),
    CODE(RG_ERR_SYSTEM, "an operating system call failed"),
    CODE(RG_ERR_INTERNAL, "internal error of the library"),
    CODE(RG_ERR_NUMERIC,
         "a matrix is singular or not positive definite, or there is no convergence"),
};

static const described *describe(int code) {
  static const described user = {"RG_ERR_USER", "an error of the application's own"};
  static const described none = {"unknown error code", "unknown error code"};
  if (code >= RG_ERR_USER)
    return &user;
  int known = code >= 0 && code < (int)(sizeof codes / sizeof codes[0]) && codes[code].name;
  return known ? &codes[code] : &none;
}

const char *rg_error_string(int code) {
  return describe(code)->text;
}

const char *rg_error_name(int code) {
  return describe(code)->name;
}

const char *rg_error_detail(void) {
  return detail;
}

static int record(int code, const char *format, va_list args) {
  char text[sizeof detail]; /* an argument may be the present text */
  locale_t before = rgi_c_locale_enter();
  vsnprintf(text, sizeof text, format, args);
  rgi_c_locale_leave(before);
  strcpy(detail, text);
  recorded++;
  latest = code;
  return code;
}

int rgi_error(int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  record(code, format, args);
  va_end(args);
  return code;
}

int rg_error_set(int code, const char *format, ...) {
  va_list args;
  if (!format)
    return rg_error_set_text(code, NULL);
  va_start(args, format);
  record(code, format, args);
  va_end(args);
  return code;
}

int rg_error_set_text(int code, const char *text) {
  return rgi_error(code, "%s", text ? text : "");
}

int rgi_error_code(void) {
  return latest;
}

unsigned rgi_error_mark(void) {
  return recorded;
}

int rgi_error_of_callback(const char *callback, int returned, unsigned mark) {
  if (returned == RG_SUCCESS)
    return RG_SUCCESS;
  if (returned < RG_ERR_USER && describe(returned)->name == describe(-1)->name)
    return rgi_error(RG_ERR_ARG,
                     "%s returned %d, which is no error code: those of the application "
                     "begin with RG_ERR_USER, %d",
                     callback, returned, RG_ERR_USER);
  if (recorded != mark && returned >= RG_ERR_USER)
    return returned;
  if (recorded != mark)
    return rgi_error(returned, "%s: %s", callback, detail);
  return rgi_error(returned, "%s returned %d (%s)", callback, returned, rg_error_string(returned));
}

/* The text without "CALL: " at its beginning. */
static const char *skip_call(const char *text, const char *call) {
  size_t n = strcspn(call, ":");
  return strncmp(text, call, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

int rgi_error_from(int code, const char *call, int rank, const char *text) {
  const char *what = text && *text ? skip_call(text, call) : rg_error_string(code);
  return rgi_error(code, "%s: rank %d reported: %s", call, rank, what);
}
