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
#include <stdint.h>

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_request_s *rg_request;

/* The result of a request: for a receive the sender's rank in the group of the call,
 * the tag and the length in bytes; for other requests RG_UNDEFINED, RG_UNDEFINED and 0. There
 * are arrays of statuses: so the size is fixed, and the members `reserved` are 0. */
typedef struct {
  int source, tag;
  MPI_Count bytes;
  int64_t reserved[2];
} rg_status;

/* The following holds for all functions below. They are local. An entry of an array of requests
 * that is NULL is inactive: it has no part in the call. A request that is complete is freed by the
 * call that reports it, and its entry is NULL then. Only one thread waits for a request. status
 * and statuses: NULL, or where to store the results. Errors:
 *
 *  - The error of an operation ends its request: the request is freed, its entry is NULL, and its
 *    status is not set. With several requests the error's text begins with the number of the
 *    request: "rg_wait_any: requests[3]: ...".
 *  - RG_ERR_PROC_FAILED and RG_ERR_REVOKED end requests of groups that have a dead member or are
 *    revoked (recovery.h), and are errors of these operations.
 *  - RG_ERR_TIMEOUT (the functions that wait): the call has ended no request. All are open, their
 *    buffers stay in use, and the caller may wait for them again.
 *  - RG_ERR_NOT_INIT; RG_ERR_ARG (n < 0, an output is NULL, an entry is not a request): nothing has
 *    happened. */

/* Waits until *request is complete. If it is NULL it is complete. */
RG_API int rg_wait(rg_request *request, rg_status *status);

/* The same without waiting: *done is 1 if the request is complete and 0 if not. */
RG_API int rg_test(rg_request *request, int *done, rg_status *status);

/* Waits until all of requests[0..n-1] are complete. If some have failed all are freed, and the
 * call returns the first error in the order of the array. statuses: n of them. */
RG_API int rg_wait_all(int64_t n, rg_request requests[], rg_status statuses[]);

/* The same without waiting: *done is 1 if all requests are complete. Otherwise it is 0, and no
 * request has been freed. */
RG_API int rg_test_all(int64_t n, rg_request requests[], int *done, rg_status statuses[]);

/* Waits until one of requests[0..n-1] is complete, and frees that one: the first in the order of
 * the array. *index: its number, or RG_UNDEFINED if all entries are NULL. If it has failed the call
 * returns its error, *index is not set, and requests[its number] is NULL. */
RG_API int rg_wait_any(int64_t n, rg_request requests[], int64_t *index, rg_status *status);

/* The same without waiting: *done is 1 if a request is complete, or all entries are NULL.
 * Otherwise it is 0, and *index is RG_UNDEFINED. */
RG_API int rg_test_any(int64_t n, rg_request requests[], int64_t *index, int *done,
                       rg_status *status);

/* Waits until at least one of requests[0..n-1] is complete, and frees all that are complete.
 * *count: how many, or RG_UNDEFINED if all entries are NULL; indices[0..*count-1]: their numbers,
 * ascending; statuses[0..*count-1]: their results. There is room for n of each. If one that is
 * complete has failed, the call frees only the first such one, returns its error, and the next
 * call reports the others. */
RG_API int rg_wait_some(int64_t n, rg_request requests[], int64_t *count, int64_t indices[],
                        rg_status statuses[]);

/* The same without waiting: *count is 0 if no request is complete. */
RG_API int rg_test_some(int64_t n, rg_request requests[], int64_t *count, int64_t indices[],
                        rg_status statuses[]);

/* Gives *request up to the library and sets it to NULL: the operation continues, and the request is
 * freed when it has ended. Nothing tells the caller when; so the buffers of the operation may be
 * used again only after something else has shown that it has ended: for a send, an answer of the
 * receiver. An error of the operation is lost, except for a line in the log (RG_LOG=debug). An
 * operation that has not ended when all processes are in rg_finalize is given up. A NULL request is
 * RG_SUCCESS. */
RG_API int rg_request_free(rg_request *request);

#ifdef __cplusplus
}
#endif
#endif
