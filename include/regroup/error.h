/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Errors.
 *
 * The following holds for every function of the library:
 *
 *  - A function returns RG_SUCCESS (0) or one of the codes below. It never
 *    aborts, never writes to standard output, and never prints an error that it
 *    also returns.
 *  - Output arguments come last and are set only on success.
 *  - Misuse returns an error code and a message (rg_error_detail) that says what was
 *    wrong, on which rank, and what to do. Arguments that are the same on every
 *    caller give the same error on every caller.
 *  - If several processes take part, an error that one of them detects before the
 *    work starts is returned on all of them, unless a prototype says otherwise. Of several
 *    errors it is that of the lowest rank. The text on the other processes names this rank
 *    ("rank 3 reported: ..."), as the group or communicator of the call counts it.
 *  - A call that sends no message (one that forms a group, for instance) returns RG_ERR_NOMEM
 *    on the caller alone, and counts as not made. Where others may have made it, the caller
 *    makes it again when it has memory. Where a member lacks memory inside a collective
 *    operation, members that wait in it get RG_ERR_MISMATCH (collectives.h).
 *  - After an error all objects that existed before the call still work.
 *  - A function of the application that the library calls (a callback) returns RG_SUCCESS,
 *    one of the codes below, or a code of the application's own: any number from
 *    RG_ERR_USER on. The call of the library then returns the same number, on every process
 *    on which the error is reported, with the text that the callback has set by
 *    rg_error_set. Another number (a negative one, for instance) becomes RG_ERR_ARG.
 *
 * Structs that callers fill in, or that the library fills in for them, may get more members at
 * their end in later patch versions. A program that was compiled with an earlier patch version
 * continues to work, by one rule: the first member, `size`, is the size of the struct as the
 * program knows it. This initialisation sets it and all other members to zero; C++ has
 * {sizeof options}:
 *
 *     rg_balance_options options = {.size = sizeof options};
 *
 * Zero is the default of every member that comes later. A function that gets a size that is
 * less than that of `size` itself, or more than 4096, returns RG_ERR_ARG; members that the
 * library does not know yet must be zero (RG_ERR_UNSUPPORTED). Structs of which there are
 * arrays (rg_load, rg_balance_outcome, rg_status) have members `reserved` instead, which are
 * zero, and a fixed size; rg_span, rg_pace and rg_plan keep their members. */
#ifndef REGROUP_ERROR_H
#define REGROUP_ERROR_H

#if defined(__GNUC__)
#define RG_API __attribute__((visibility("default")))
#define RG_PRINTF_2_3 __attribute__((format(printf, 2, 3)))
#else
#define RG_API
#define RG_PRINTF_2_3
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are fixed: no later version gives a code another number. */
enum rg_error_code {
  RG_SUCCESS = 0,
  RG_ERR_ARG = 1,          /* an argument has an invalid value */
  RG_ERR_RANK = 2,         /* a rank is out of range, or occurs twice */
  RG_ERR_TAG = 3,          /* a tag is negative or above MPI_TAG_UB */
  RG_ERR_COMM = 4,         /* a communicator is null, invalid, or an inter-communicator */
  RG_ERR_GROUP = 5,        /* a group is null, or not a subset, or the caller is not a member */
  RG_ERR_OPTION = 6,       /* an option RG_... has an invalid value */
  RG_ERR_NOT_INIT = 7,     /* rg_init has not been called, or rg_finalize has */
  RG_ERR_INIT = 8,         /* rg_init was called again over other processes */
  RG_ERR_LIMIT = 9,        /* a size or a number exceeds a limit, e.g. of communicators */
  RG_ERR_NOMEM = 10,       /* no memory */
  RG_ERR_MISMATCH = 11,    /* the callers disagree about what they are calling */
  RG_ERR_TIMEOUT = 12,     /* a wait lasted longer than RG_TIMEOUT */
  RG_ERR_ARRAY = 13,       /* an array, or an object that belongs to one, is NULL or freed */
  RG_ERR_BOUNDS = 14,      /* an index or a patch is outside its array */
  RG_ERR_FILE = 15,        /* a file cannot be written or read, or has invalid contents */
  RG_ERR_TRUNCATE = 16,    /* a message is longer than the buffer for it */
  RG_ERR_PROC_FAILED = 17, /* a process that takes part has died */
  RG_ERR_REVOKED = 18,     /* a member has revoked the group */
  RG_ERR_RESERVE = 19,     /* the reserve has fewer processes than requested */
  RG_ERR_UNSUPPORTED = 20, /* this MPI or this machine cannot do it */
  RG_ERR_MPI = 21,         /* an MPI call failed: rg_error_detail contains MPI's message */
  RG_ERR_SYSTEM = 22,      /* an operating system call failed */
  RG_ERR_INTERNAL = 23,    /* an error in the library: please report it */
  RG_ERR_NUMERIC = 24,     /* a matrix is singular or not positive definite, or no convergence */
  RG_ERR_USER = 64         /* this code and all greater ones: the application's own */
};

/* A short English sentence for a code; never NULL, also for unknown codes.
 * Local; any thread; works before rg_init. The string belongs to the library. */
RG_API const char *rg_error_string(int code);

/* The name of a code: "RG_ERR_ARG"; "RG_ERR_USER" for the application's codes; "unknown error
 * code" for others. Local; any thread; works before rg_init. */
RG_API const char *rg_error_name(int code);

/* Records a text as rg_error_detail of this thread, as printf does with the format, and
 * returns code. For callbacks, and for functions of the application that report errors in the
 * library's way:
 *
 *     return rg_error_set(MY_DIVERGED, "step %d: the residual is %g", step, residual);
 *
 * At most 767 bytes are recorded. Local; any thread; works before rg_init. */
RG_API RG_PRINTF_2_3 int rg_error_set(int code, const char *format, ...);

/* The same with a text that is taken as it is, for other languages. NULL: "". Local; any thread;
 * works before rg_init. */
RG_API int rg_error_set_text(int code, const char *text);

/* The message of the last call of this thread that failed: what was wrong, and what
 * to do about it; "" if no call has failed. Local; works before rg_init. The string
 * belongs to the library and is valid until the thread's next error. */
RG_API const char *rg_error_detail(void);

#ifdef __cplusplus
}
#endif
#endif
