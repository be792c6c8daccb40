/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The one-sided engine between nodes. A target's memory is its part of the array heap (heap.h),
 * addressed by world rank and offset. There are two transports: one-sided operations on ARMCI's
 * window (rma.h), with which all heap parts are registered once in rg_init, and in a job that
 * survives queries to the node daemons (daemon_transport.h). A world on one node has no heap, and
 * ARMCI is never started there.
 *
 * Any thread where MPI_THREAD_MULTIPLE is provided. Blocking calls wait politely. With a time
 * limit (RG_TIMEOUT) put, get, acc and _wait return RG_ERR_TIMEOUT after it: what was started
 * goes on, and its buffer must stay. The others wait inside ARMCI or MPI. All may return
 * RG_ERR_MPI, and RG_ERR_NOMEM where memory for records is missing. */
#ifndef RGI_ENGINE_H
#define RGI_ENGINE_H

#include "engine/transfer.h"

/* Each is one message, or a request and its answer; a patch of more than rgi_transfer_most bytes is
 * cut. Any process may be the target, also one of the caller's node and the caller itself.
 * Blocking: put and acc return when the buffer may be used again, get when the data have arrived.
 * Operations of one thread on the same bytes are done in the order of its calls. Loads and stores
 * through rgi_heap_at need rgi_engine_settle first. */
int rgi_engine_put(int target, uint64_t offset, const void *from, const rgi_strided *p);
int rgi_engine_get(int target, uint64_t offset, void *to, const rgi_strided *p);
/* type: RG_TYPE_INT32 to RG_TYPE_DOUBLE_COMPLEX; alpha: NULL is 1. Atomic for each element (of a
 * complex one: for each of its two parts) with one another and with the two below. */
int rgi_engine_acc(int target, uint64_t offset, const void *from, const rgi_strided *p,
                   rg_array_type type, const void *alpha);
/* RG_TYPE_INT32, RG_TYPE_INT64. */
int rgi_engine_fetch_add(int target, uint64_t offset, rg_array_type type, int64_t increment,
                         int64_t *before);
int rgi_engine_compare_and_swap(int target, uint64_t offset, rg_array_type type, int64_t compare,
                                int64_t value, int64_t *before);

/* n runs in one message: the i-th has bytes at origin + runs[i].origin and at offset +
 * runs[i].target; none of these negative, all of them together at most RGI_ENGINE_RUNS_BYTES.
 * Blocking as put, get and acc above are; type and alpha are for accumulates. */
#define RGI_ENGINE_RUNS_BYTES ((int64_t)1 << 28)
int rgi_engine_runs(rgi_transfer_kind kind, int target, uint64_t offset, void *origin, int n,
                    const rgi_strided_run runs[], rg_array_type type, const void *alpha);

/* n elements of `element` bytes each at offsets[i], in one vector operation. The
 * same offset twice: put leaves either value, acc adds both. */
int rgi_engine_put_elements(int target, int64_t n, const uint64_t offsets[], const void *const at[],
                            size_t element);
int rgi_engine_get_elements(int target, int64_t n, const uint64_t offsets[], void *const at[],
                            size_t element);
int rgi_engine_acc_elements(int target, int64_t n, const uint64_t offsets[], const void *const at[],
                            size_t element, rg_array_type type, const void *alpha);

/* Start an operation and do not wait for it. *handle (never NULL on success) is to be given to
 * _test or _wait, which end the operation and set it to NULL, also with an error. _test never
 * waits. */
typedef struct rgi_engine_op *rgi_engine_handle;
int rgi_engine_start_put(int target, uint64_t offset, const void *from, const rgi_strided *p,
                         rgi_engine_handle *handle);
int rgi_engine_start_get(int target, uint64_t offset, void *to, const rgi_strided *p,
                         rgi_engine_handle *handle);
int rgi_engine_start_acc(int target, uint64_t offset, const void *from, const rgi_strided *p,
                         rg_array_type type, const void *alpha, rgi_engine_handle *handle);
int rgi_engine_start_runs(rgi_transfer_kind kind, int target, uint64_t offset, void *origin, int n,
                          const rgi_strided_run runs[], rg_array_type type, const void *alpha,
                          rgi_engine_handle *handle);
int rgi_engine_test(rgi_engine_handle *handle, int *done);
int rgi_engine_wait(rgi_engine_handle *handle);

/* Afterwards all puts and accumulates of this process to the target (-1: to all) are complete
 * there, or lost with its node. Sends nothing where there was none. */
int rgi_engine_fence(int target);

/* Whether something that this process has written to the target's node has been lost since the
 * last call. */
int rgi_engine_lost(int target);

/* As a fence, if one of them may touch these bytes: before loads or stores there. */
int rgi_engine_settle(int target, uint64_t offset, uint64_t bytes);

/* Moves other processes' operations on this process's heap part on. Any thread. */
void rgi_engine_progress(void);

/* When the library stops: ends the operations that were given up after a time limit. mpi: it can
 * still be called. */
void rgi_engine_end_given_up(int mpi);

#endif
