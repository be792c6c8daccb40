/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The engine's transport in a job that survives: queries to the node daemons (noded/server.h),
 * without MPI and ARMCI. An operation on memory of the caller's node is complete when it has been
 * started. The elements of a dead process can be reached as long as a process of its node lives;
 * after that, all operations on that node end with RG_ERR_PROC_FAILED. Operations of one process
 * on one node are done in the order in which they were started. */
#ifndef RGI_DAEMON_TRANSPORT_H
#define RGI_DAEMON_TRANSPORT_H

#include "engine/transfer.h"
#include "progress/wait.h"

/* Collective. Takes memory only: connections are made when they are needed. */
int rgi_daemon_transport_open(void);
void rgi_daemon_transport_close(void);

/* Whether this is the transport in use: it is open. */
int rgi_daemon_transport_is_used(void);

/* Starts an operation of so many bytes. The caller may free its runs and alpha when this has
 * returned, its buffer only when the operation is done. */
typedef struct rgi_daemon_transport_op *rgi_daemon_transport_handle;
int rgi_daemon_transport_start(const rgi_transfer *t, int64_t bytes,
                               rgi_daemon_transport_handle *op);

/* Whether a put's or an accumulate's buffer may be used again, or a get's data are there;
 * also with an error. Never waits. */
int rgi_daemon_transport_test(rgi_daemon_transport_handle op, const char *call, int *done);

/* The caller does not test it any more. It is carried out all the same. */
void rgi_daemon_transport_drop(rgi_daemon_transport_handle op);

/* Between two tests of an operation that is not done. */
int rgi_daemon_transport_pause(rgi_wait *w, int target);

/* An integer, of rg_array_type; kind: RGI_QUERY_FETCH_ADD, RGI_QUERY_COMPARE_SWAP (noded/query.h).
 */
int rgi_daemon_transport_word(const char *call, int kind, int target, uint64_t offset,
                              rg_array_type type, int64_t a, int64_t b, int64_t *before);

/* As rgi_engine_fence and rgi_engine_lost. */
int rgi_daemon_transport_fence(int target);
int rgi_daemon_transport_lost(int target);

void rgi_daemon_transport_progress(void);

#endif
