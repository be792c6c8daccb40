/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The one-sided engine between nodes. A target's memory is its part of the array heap (heap.h),
 * addressed by world rank and offset. What carries an access is a transport (transport.h). A world
 * on one node has no heap and no transport, and ARMCI is never started there.
 *
 * Any thread where MPI_THREAD_MULTIPLE is provided. Waits are polite. With a time limit
 * (RG_TIMEOUT) rgi_engine_wait returns RG_ERR_TIMEOUT after it: what was started goes on, and its
 * buffer must stay. The others wait inside ARMCI or MPI. All may return RG_ERR_MPI, and
 * RG_ERR_NOMEM where memory for records is missing. */
#ifndef RGI_ENGINE_H
#define RGI_ENGINE_H

#include "engine/transport.h"

/* What carries the accesses; NULL: there is no heap. */
extern const rgi_transport *rgi_engine_transport;

/* Bytes of one operation; patches of more are cut. */
extern int64_t rgi_engine_most;

#define RGI_ENGINE_RUNS_BYTES ((int64_t)1 << 28)

/* Starts a get, a put or an accumulate (RG_TYPE_INT32 to RG_TYPE_DOUBLE_COMPLEX), and does not wait
 * for it. It is one message, or a request and its answer; a patch of more bytes than the transport
 * takes is cut. Runs are one operation, of RGI_ENGINE_RUNS_BYTES at most. Any process may be the
 * target, also one of the caller's node and the caller itself. Accumulates are atomic for each
 * element (of a complex one: for each of its two parts) with one another and with rgi_engine_word.
 * Operations of one thread on the same bytes are done in the order of its calls. Loads and stores
 * through rgi_heap_at need rgi_engine_settle first. */
typedef rgi_transport_op *rgi_engine_handle;
int rgi_engine_start(rgi_transfer *transfer, rgi_engine_handle *handle);

/* Afterwards the buffer of a put or accumulate may be used again, or the data of a get have
 * arrived. They end the operation and set the handle to NULL, also with an error. NULL is an
 * operation that is done. _test never waits. */
int rgi_engine_test(rgi_engine_handle *handle, int *done);
int rgi_engine_wait(rgi_engine_handle *handle);

/* Waits. The same offset twice: put leaves either value, acc adds both. */
int rgi_engine_elements(const rgi_transfer_elements *elements);

/* Waits. before: what the integer was. */
int rgi_engine_word(const rgi_transfer_word *word, int64_t *before);

/* Afterwards all puts and accumulates of this process to the target (-1: to all) are complete
 * there, or lost with its node. Sends nothing where there was none. */
int rgi_engine_fence(int target);

/* Afterwards all operations of this process are complete, gets as well. */
int rgi_engine_finish(void);

/* Whether something that this process has written to the target's node has been lost since the
 * last call. */
int rgi_engine_lost(int target);

/* As a fence, if one of them may touch these bytes: before loads or stores there. */
int rgi_engine_settle(int target, uint64_t offset, uint64_t bytes);

/* Moves other processes' operations on this process's heap part on. Any thread. */
void rgi_engine_progress(void);

#endif
