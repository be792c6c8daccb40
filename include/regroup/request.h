/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests: operations that were started and go on while the caller does
 * something else. Every non-blocking function of the library, point-to-point or
 * collective, gives one of these, and any of them may be waited for here.
 *
 * Buffers given to a non-blocking call stay untouched (and, where results come,
 * unread) until its request is done. While a thread waits in any call of the
 * library, all open requests of the process go on; while none is in the library,
 * they go on only as far as the others' part needs nothing of this process. */
#ifndef REGROUP_REQUEST_H
#define REGROUP_REQUEST_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_request_s *rg_request;

/* What came: for a receive the sender's rank in the group of the call, the tag
 * and the length in bytes. Other requests give RG_UNDEFINED (-1), RG_UNDEFINED
 * and 0. */
typedef struct {
  int source, tag;
  MPI_Count bytes;
} rg_status;

/* Waits until *request is done, frees it and sets it to NULL. A request that is
 * NULL is done. status: NULL, or where to put what came.
 * Local. One thread waits for a request. Errors: those of the operation (it has
 * ended then, and *request is NULL); RG_ERR_TIMEOUT (*request is still open and
 * may be waited for again; its buffers stay in use); RG_ERR_ARG. */
RG_API int rg_wait(rg_request *request, rg_status *status);

/* The same without waiting: *done is 1 if the request was done (it is NULL then)
 * and 0 if not. An error of the operation ends the request as in rg_wait. */
RG_API int rg_test(rg_request *request, int *done, rg_status *status);

/* Waits for all of requests[0..n-1]; NULL ones are done. statuses: NULL, or n of
 * them. Waits for all of them also when some fail, and returns the first error in
 * the order of the array. Errors: as rg_wait; RG_ERR_ARG (n < 0). */
RG_API int rg_wait_all(int n, rg_request requests[], rg_status statuses[]);

#ifdef __cplusplus
}
#endif
#endif
