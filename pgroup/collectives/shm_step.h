/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The steps of which collectives in shared memory are made.
 *
 * A member may run ahead of others (the root of a broadcast need not wait for
 * them), but not by DEPTH steps: before it writes a cell again, all have said by
 * `done` that they no longer need what was there.
 *
 * With a processor for every process, members look at one another's cells.
 * Otherwise that would keep processors busy that others need: they count
 * themselves in (arrived), the last one does what is left to do, and the others
 * sleep until they are woken (release). Then everybody runs once. */
#ifndef RGI_SHM_STEP_H
#define RGI_SHM_STEP_H

#include "collectives/shared_state.h"

/* Begins a step: attaches the memory if need be and waits until the step's own
 * cell may be written. */
int rgi_shm_step_begin(rgi_shm_coll *l, const char *call);

/* Puts tiny data and the step's number into the own cell. */
void rgi_shm_step_publish(rgi_shm_coll *l, const void *data, size_t bytes);

/* Waits until member i has shown the step; with a processor for everybody. */
int rgi_shm_step_await_member(rgi_shm_coll *l, int i, const char *call);

/* Counts the caller in; returns 1 to the last one. */
int rgi_shm_step_arrive(rgi_shm_coll *l);

/* Waits until all have been counted in. */
int rgi_shm_step_await_all(rgi_shm_coll *l, const char *call);

/* When member i was seen in a step: whether it means an operation of the same length.
 * RG_ERR_TRUNCATE: of a longer one; RG_ERR_MISMATCH. */
int rgi_shm_step_check_length(const rgi_shm_coll *l, int i, uint32_t step, const char *call);
/* The same of all members. */
int rgi_shm_step_check_all(const rgi_shm_coll *l, uint32_t step, const char *call);

/* Lets the others go on; waits to be let, by member i or (-1) by the last one that is
 * counted in. */
void rgi_shm_step_release(rgi_shm_coll *l);
int rgi_shm_step_await_release(rgi_shm_coll *l, int i, const char *call);

/* All members have come here when anyone leaves. */
int rgi_shm_step_barrier(rgi_shm_coll *l, const char *call);

/* To be called when all members were seen in this step: all have ended what was
 * ended before it. */
void rgi_shm_step_mark_all_seen(rgi_shm_coll *l);

/* The caller no longer needs what was shown up to this step. */
void rgi_shm_step_end(rgi_shm_coll *l);

/* What an operation returns: after an error the shared state is of no more use. */
int rgi_shm_step_result(rgi_shm_coll *l, int error);

/* The caller's own processors are enough for all. */
int rgi_shm_step_can_spin(void);

static inline rgi_shared_state_cell *rgi_shm_step_cell(rgi_shm_coll *l, int i) {
  return &l->state->member[i].cell[l->step % RGI_SHM_DEPTH];
}

/* Member i's chunk of the shared buffer for a step. */
static inline char *rgi_shm_step_chunk(rgi_shm_coll *l, int i, uint32_t step) {
  return l->buffer + ((size_t)i * RGI_SHM_DEPTH + step % RGI_SHM_DEPTH) * RGI_SHM_CHUNK;
}

#endif
