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
 *    work starts is returned on all of them, unless a prototype says otherwise.
 *  - After an error all objects that existed before the call still work. */
#ifndef REGROUP_ERROR_H
#define REGROUP_ERROR_H

#if defined(__GNUC__)
#define RG_API __attribute__((visibility("default")))
#else
#define RG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  RG_SUCCESS = 0,
  RG_ERR_ARG,         /* an argument has an invalid value */
  RG_ERR_RANK,        /* a rank is out of range, or occurs twice */
  RG_ERR_TAG,         /* a tag is negative or above MPI_TAG_UB */
  RG_ERR_COMM,        /* a communicator is null, invalid, or an inter-communicator */
  RG_ERR_GROUP,       /* a group is null, or not a subset, or the caller is not a member */
  RG_ERR_OPTION,      /* an option RG_... has an invalid value */
  RG_ERR_NOT_INIT,    /* rg_init has not been called, or rg_finalize has */
  RG_ERR_INIT,        /* rg_init was called again over other processes */
  RG_ERR_LIMIT,       /* a size or a number exceeds a limit, e.g. of communicators */
  RG_ERR_NOMEM,       /* no memory */
  RG_ERR_MISMATCH,    /* the callers disagree about what they are calling */
  RG_ERR_TIMEOUT,     /* a wait lasted longer than RG_TIMEOUT */
  RG_ERR_ARRAY,       /* an array, or an object that belongs to one, is NULL or freed */
  RG_ERR_BOUNDS,      /* an index or a patch is outside its array */
  RG_ERR_FILE,        /* a file cannot be written or read, or has invalid contents */
  RG_ERR_TRUNCATE,    /* a message is longer than the buffer for it */
  RG_ERR_PROC_FAILED, /* a process that takes part has died */
  RG_ERR_REVOKED,     /* a member has revoked the group */
  RG_ERR_RESERVE,     /* the reserve has fewer processes than requested */
  RG_ERR_UNSUPPORTED, /* this MPI or this machine cannot do it */
  RG_ERR_MPI,         /* an MPI call failed: rg_error_detail contains MPI's message */
  RG_ERR_SYSTEM,      /* an operating system call failed */
  RG_ERR_INTERNAL,    /* an error in the library: please report it */
  RG_ERR_LAST         /* one more than the last code */
};

/* A short English sentence for a code; never NULL, also for unknown codes.
 * Local; any thread; works before rg_init. The string belongs to the library. */
RG_API const char *rg_error_string(int code);

/* The message of the last call of this thread that failed: what was wrong, and what
 * to do about it; "" if no call has failed. Local; works before rg_init. The string
 * belongs to the library and is valid until the thread's next error. */
RG_API const char *rg_error_detail(void);

#ifdef __cplusplus
}
#endif
#endif
