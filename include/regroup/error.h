/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Errors.
 *
 * The contract, stated once for every function of the library:
 *
 *  - A function returns RG_SUCCESS (0) or one of the codes below. It never
 *    aborts, never writes to standard output, and never prints an error that it
 *    also returns.
 *  - Outputs come last and are set only on success.
 *  - A caller's mistake is returned, with a text (rg_error_detail) that says
 *    what was wrong, on which rank, and what to do. Arguments that are the same
 *    on every caller give the same error on every caller.
 *  - Where several processes take part, an error that one of them finds before
 *    the work starts is told to all of them, unless a prototype says otherwise.
 *  - After an error everything that existed before the call still works. */
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
  RG_ERR_ARG,         /* an argument has a value that it may not have */
  RG_ERR_RANK,        /* a rank is out of range, or named twice */
  RG_ERR_TAG,         /* a tag is negative or above MPI_TAG_UB */
  RG_ERR_COMM,        /* a communicator is null, invalid, or an inter-communicator */
  RG_ERR_GROUP,       /* a group is null, or no subset, or the caller is no member */
  RG_ERR_OPTION,      /* an option RG_... has a value that it may not have */
  RG_ERR_NOT_INIT,    /* rg_init has not been called, or rg_finalize has */
  RG_ERR_INIT,        /* rg_init was called again over other processes */
  RG_ERR_LIMIT,       /* a size or a number is over a limit: of communicators alive, say */
  RG_ERR_NOMEM,       /* no memory */
  RG_ERR_MISMATCH,    /* the callers disagree about what they are calling */
  RG_ERR_TIMEOUT,     /* a wait lasted longer than RG_TIMEOUT */
  RG_ERR_ARRAY,       /* an array, or what belongs to one, is NULL or not alive */
  RG_ERR_BOUNDS,      /* an index or a patch is outside its array */
  RG_ERR_FILE,        /* a file cannot be written or read, or is not what it should be */
  RG_ERR_TRUNCATE,    /* a message is longer than the buffer for it */
  RG_ERR_PROC_FAILED, /* a process that takes part has died */
  RG_ERR_REVOKED,     /* a member has revoked the group */
  RG_ERR_RESERVE,     /* the reserve has not as many processes as are asked for */
  RG_ERR_UNSUPPORTED, /* this MPI or this machine cannot do it */
  RG_ERR_MPI,         /* an MPI call failed: rg_error_detail has MPI's text */
  RG_ERR_SYSTEM,      /* an operating system call failed */
  RG_ERR_INTERNAL,    /* a fault of the library's own: please report it */
  RG_ERR_LAST         /* one more than the last code */
};

/* A short English sentence for a code; never NULL, also for unknown codes.
 * Local; any thread; works before rg_init. The text belongs to the library. */
RG_API const char *rg_error_string(int code);

/* What exactly was wrong with the last call of this thread that failed, and
 * what to do about it; "" when none has failed. Local; works before rg_init.
 * The text belongs to the library and lasts until the thread's next error. */
RG_API const char *rg_error_detail(void);

#ifdef __cplusplus
}
#endif
#endif
