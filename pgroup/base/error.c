/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char detail[768];

static const char *const texts[RG_ERR_LAST] = {
    [RG_SUCCESS] = "no error",
    [RG_ERR_ARG] = "an argument has a value that it may not have",
    [RG_ERR_RANK] = "a rank is out of range or named twice",
    [RG_ERR_TAG] = "a tag is out of range",
    [RG_ERR_COMM] = "not a communicator that can be used here",
    [RG_ERR_GROUP] = "not a group that can be used here",
    [RG_ERR_OPTION] = "an option has a value that it may not have",
    [RG_ERR_NOT_INIT] = "the library is not initialised",
    [RG_ERR_INIT] = "the library is already initialised over other processes",
    [RG_ERR_LIMIT] = "a size or a number is over a limit",
    [RG_ERR_NOMEM] = "out of memory",
    [RG_ERR_MISMATCH] = "the callers disagree about what they are calling",
    [RG_ERR_TIMEOUT] = "a wait lasted too long",
    [RG_ERR_ARRAY] = "not an array that can be used here",
    [RG_ERR_BOUNDS] = "outside the array",
    [RG_ERR_FILE] = "a file cannot be written or read",
    [RG_ERR_RESERVE] = "the reserve has fewer processes than are asked for",
    [RG_ERR_TRUNCATE] = "a message is longer than the buffer for it",
    [RG_ERR_PROC_FAILED] = "a process that takes part has died",
    [RG_ERR_REVOKED] = "a member has revoked the group",
    [RG_ERR_UNSUPPORTED] = "not supported here",
    [RG_ERR_MPI] = "an MPI call failed",
    [RG_ERR_SYSTEM] = "an operating system call failed",
    [RG_ERR_INTERNAL] = "internal error of the library",
};

const char *rg_error_string(int code) {
  return code >= 0 && code < RG_ERR_LAST && texts[code] ? texts[code] : "unknown error code";
}

const char *rg_error_detail(void) {
  return detail;
}

int rgi_error(int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  return code;
}

int rgi_error_from(int code, const char *call, int rank) {
  return rgi_error(code, "%s: rank %d reported: %s", call, rank, rg_error_string(code));
}
