/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The engine of a job that survives: the servers of the nodes (noded/server.h) are asked,
 * and neither MPI nor ARMCI has a part in it. What is in this node's memory is done at once.
 * The elements of the dead can be reached as long as somebody lives on their node; then all
 * that was asked of it ends with RG_ERR_PROC_FAILED. Operations of a process on one node are
 * done in the order in which they were started. */
#ifndef RGI_SERVED_H
#define RGI_SERVED_H

#include "engine/issue.h"
#include "progress/wait.h"

/* Collective; nothing but memory is taken: connections are made when they are needed. */
int rgi_served_open(void);
void rgi_served_close(void);

/* Whether this is the engine that is used. */
int rgi_served_there(void);

/* Starts an operation of so many bytes. Its runs and alpha may go, its buffer not. */
typedef struct rgi_served_op *rgi_served;
int rgi_served_start(const rgi_remote_job *j, int64_t bytes, rgi_served *op);

/* Whether a put's or an accumulate's buffer may be used again, or a get's data are there;
 * also with an error. Never waits. */
int rgi_served_test(rgi_served op, const char *call, int *done);

/* Its owner does not ask any more, but it is done. */
void rgi_served_drop(rgi_served op);

/* Between two tests in vain. */
int rgi_served_pause(rgi_wait *w, int target);

/* An integer, of rg_type; kind: RGI_ASK_FETCH_ADD, RGI_ASK_SWAP (noded/service.h). */
int rgi_served_word(const char *call, int kind, int target, uint64_t offset, rg_type type,
                    int64_t a, int64_t b, int64_t *before);

/* As rgi_engine_fence and rgi_engine_lost. */
int rgi_served_fence(int target);
int rgi_served_lost(int target);

void rgi_served_progress(void);

#endif
