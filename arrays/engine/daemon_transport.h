/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The engine of a job that survives: the servers of the nodes (noded/server.h) are asked,
 * and neither MPI nor ARMCI has a part in it. What is in this node's memory is done at once.
 * The elements of the dead can be reached as long as somebody lives on their node; then all
 * that was asked of it ends with RG_ERR_PROC_FAILED. Operations of a process on one node are
 * done in the order in which they were started. */
#ifndef RGI_DAEMON_TRANSPORT_H
#define RGI_DAEMON_TRANSPORT_H

#include "engine/transfer.h"
#include "progress/wait.h"

/* Collective; nothing but memory is taken: connections are made when they are needed. */
int rgi_daemon_transport_open(void);
void rgi_daemon_transport_close(void);

/* Whether this is the engine that is used. */
int rgi_daemon_transport_is_used(void);

/* Starts an operation of so many bytes. Its runs and alpha may go, its buffer not. */
typedef struct rgi_daemon_transport_op *rgi_daemon_transport_handle;
int rgi_daemon_transport_start(const rgi_transfer *j, int64_t bytes,
                               rgi_daemon_transport_handle *op);

/* Whether a put's or an accumulate's buffer may be used again, or a get's data are there;
 * also with an error. Never waits. */
int rgi_daemon_transport_test(rgi_daemon_transport_handle op, const char *call, int *done);

/* Its owner does not ask any more, but it is done. */
void rgi_daemon_transport_drop(rgi_daemon_transport_handle op);

/* Between two tests in vain. */
int rgi_daemon_transport_pause(rgi_wait *w, int target);

/* An integer, of rg_type; kind: RGI_QUERY_FETCH_ADD, RGI_QUERY_COMPARE_SWAP (noded/query.h). */
int rgi_daemon_transport_word(const char *call, int kind, int target, uint64_t offset, rg_type type,
                              int64_t a, int64_t b, int64_t *before);

/* As rgi_engine_fence and rgi_engine_lost. */
int rgi_daemon_transport_fence(int target);
int rgi_daemon_transport_lost(int target);

void rgi_daemon_transport_progress(void);

#endif
