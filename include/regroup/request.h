/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests: operations that have been started and continue while the caller does
 * other work. Every non-blocking function of the library, point-to-point, collective
 * or one-sided, returns a request, and these functions wait for any of them.
 *
 * The caller does not change the buffers of a non-blocking call, and does not read
 * buffers for results, until its request is complete. While a thread waits in any
 * call of the library, all open requests of the process make progress. While no
 * thread is in the library, they make progress only as far as other processes need
 * nothing of this process. */
#ifndef REGROUP_REQUEST_H
#define REGROUP_REQUEST_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_request_s *rg_request;

/* The result of a request: for a receive the sender's rank in the group of the call,
 * the tag and the length in bytes; for other requests RG_UNDEFINED (-1), RG_UNDEFINED
 * and 0. */
typedef struct {
  int source, tag;
  MPI_Count bytes;
} rg_status;

/* Waits until *request is complete, frees it and sets it to NULL. If *request is NULL
 * it is complete. status: NULL, or where to store the result.
 * Local. Only one thread waits for a request. Errors: those of the operation (it has
 * ended then, and *request is NULL); RG_ERR_TIMEOUT (*request is still open; the caller
 * may wait for it again; its buffers stay in use); RG_ERR_ARG. */
RG_API int rg_wait(rg_request *request, rg_status *status);

/* The same without waiting: *done is 1 if the request is complete (*request is NULL
 * then) and 0 if not. An error of the operation ends the request as in rg_wait. */
RG_API int rg_test(rg_request *request, int *done, rg_status *status);

/* Waits for all of requests[0..n-1]; entries may be NULL. statuses: NULL, or n of them.
 * If some requests fail the call still waits for all of them, and returns the first
 * error in the order of the array. Local. Errors: as rg_wait; RG_ERR_ARG (n < 0). */
RG_API int rg_wait_all(int n, rg_request requests[], rg_status statuses[]);

#ifdef __cplusplus
}
#endif
#endif
