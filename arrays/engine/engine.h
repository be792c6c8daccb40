/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The one-sided engine between nodes, over ARMCI-MPI: each process of the world has
 * a share, one piece of its node's arena that is registered once, when rg_init is
 * called; what crosses nodes addresses it as (world rank, offset in the share).
 * A world on one node has no shares, and ARMCI is never started there; nor in a job
 * that survives, where the nodes' guardians serve (daemon_transport.h).
 *
 * Any thread where MPI_THREAD_MULTIPLE is provided. Blocking calls wait politely;
 * where there is a limit put, get, acc and _wait end at the latest after RG_TIMEOUT
 * (RG_ERR_TIMEOUT: what was started goes on, its buffer must stay); the others wait inside ARMCI or
 * MPI. All may return RG_ERR_MPI; RG_ERR_NOMEM where memory for records is missing. */
#ifndef RGI_ENGINE_H
#define RGI_ENGINE_H

#include "engine/transfer.h"

/* One message, or a request and its answer, each (a patch of more than 1 GiB is
 * cut); any process may be the target, also one of the caller's node and the
 * caller. Blocking: put and acc return when the buffer may be used again, get when
 * the data are there. Operations of one thread on the same bytes are done in its
 * order; loads and stores through rgi_heap_at need rgi_engine_settle first. */
int rgi_engine_put(int target, uint64_t offset, const void *from, const rgi_strided *p);
int rgi_engine_get(int target, uint64_t offset, void *to, const rgi_strided *p);
/* type: RG_INT32 to RG_DOUBLE_COMPLEX; alpha: NULL is 1. Atomic for each element
 * (of a complex one: for each) with one another and with the two below. */
int rgi_engine_acc(int target, uint64_t offset, const void *from, const rgi_strided *p,
                   rg_type type, const void *alpha);
/* RG_INT32, RG_INT64. */
int rgi_engine_fetch_add(int target, uint64_t offset, rg_type type, int64_t increment,
                         int64_t *before);
int rgi_engine_compare_and_swap(int target, uint64_t offset, rg_type type, int64_t compare,
                                int64_t value, int64_t *before);

/* n runs in one message: the i-th has bytes at origin + runs[i].origin and at offset +
 * runs[i].target; none of these negative, all of them together at most RGI_ENGINE_RUNS_BYTES.
 * Blocking as put, get and acc above are; type and alpha are for accumulates. */
#define RGI_ENGINE_RUNS_BYTES ((int64_t)1 << 28)
int rgi_engine_runs(rgi_transfer_kind kind, int target, uint64_t offset, void *origin, int n,
                    const rgi_strided_run runs[], rg_type type, const void *alpha);

/* n elements of `element` bytes each at offsets[i], in one vector operation. The
 * same offset twice: put leaves either, acc adds both. */
int rgi_engine_put_elements(int target, int64_t n, const uint64_t offsets[], const void *const at[],
                            size_t element);
int rgi_engine_get_elements(int target, int64_t n, const uint64_t offsets[], void *const at[],
                            size_t element);
int rgi_engine_acc_elements(int target, int64_t n, const uint64_t offsets[], const void *const at[],
                            size_t element, rg_type type, const void *alpha);

/* Started, not waited for: *handle (never 0 on success) is given to _test or
 * _wait, which end it and set it to 0, also with an error. _test never waits. */
typedef struct rgi_engine_op *rgi_engine_handle;
int rgi_engine_start_put(int target, uint64_t offset, const void *from, const rgi_strided *p,
                         rgi_engine_handle *handle);
int rgi_engine_start_get(int target, uint64_t offset, void *to, const rgi_strided *p,
                         rgi_engine_handle *handle);
int rgi_engine_start_acc(int target, uint64_t offset, const void *from, const rgi_strided *p,
                         rg_type type, const void *alpha, rgi_engine_handle *handle);
int rgi_engine_start_runs(rgi_transfer_kind kind, int target, uint64_t offset, void *origin, int n,
                          const rgi_strided_run runs[], rg_type type, const void *alpha,
                          rgi_engine_handle *handle);
int rgi_engine_test(rgi_engine_handle *handle, int *done);
int rgi_engine_wait(rgi_engine_handle *handle);

/* All puts and accumulates of this process to the target (-1: to all) are complete
 * there, or lost with its node. Nothing is sent where there was none. */
int rgi_engine_fence(int target);

/* Whether something that this process has written to the target's node is lost, since it was
 * asked last. */
int rgi_engine_lost(int target);

/* The same if some of them may touch these bytes: before loads or stores there. */
int rgi_engine_settle(int target, uint64_t offset, uint64_t bytes);

/* Lets others' operations on this process's heap part go on. Any thread. */
void rgi_engine_progress(void);

/* When the library stops: ends the operations that were given up after a time limit. mpi: it can
 * still be called. */
void rgi_engine_end_given_up(int mpi);

#endif
