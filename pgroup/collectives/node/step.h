/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The steps of which collectives in shared memory are made: how a member begins a step,
 * publishes, waits for others and ends it. What lies in memory, the two ways to wait and the
 * memory ordering: shared_state.h. */
#ifndef RGI_STEP_H
#define RGI_STEP_H

#include "collectives/shared/shared_state.h"

/* Begins a step: attaches the memory if need be and waits until the step's own cell may be written,
 * and the members' chunks for it if it uses them. */
int rgi_step_begin(rgi_shared_state *state, int chunks, const char *call);

/* As rgi_step_begin, without chunks, for a step in which the caller's cell is read by its parent
 * and children in the levels only, and by the member that rgi_step_give_to has named. */
int rgi_step_begin_near(rgi_shared_state *state, const char *call);

/* In the step that runs member i reads the caller's cell. */
static inline void rgi_step_give_to(rgi_shared_state *state, int i) {
  state->use[rgi_shared_state_index(state, state->step)].reader = i;
}

/* As rgi_step_begin, without chunks, for a step in which no member reads the caller's cell or
 * chunk, and the caller writes to none of others: it takes only, or gives to the one member that
 * rgi_step_give_to has named. */
int rgi_step_begin_unread(rgi_shared_state *state, const char *call);

/* Attaches the buffer with chunks for so many bytes, before the first step of an operation that
 * needs them. If state->buffer is NULL afterwards the arena has no room for it, which all members
 * find in this operation. */
int rgi_step_attach_buffer(rgi_shared_state *state, size_t bytes, const char *call);

/* Puts tiny data and the step's number into the own cell. */
void rgi_step_publish(rgi_shared_state *state, const void *data, size_t bytes);

/* Waits until member i has published the step. Only where members can spin. */
int rgi_step_await_member(rgi_shared_state *state, int i, const char *call);

/* Waits until member i has stored the step's number in the word. */
int rgi_step_await_word(rgi_shared_state *state, const _Atomic uint32_t *word, int i,
                        const char *call);

/* Counts the caller in; returns 1 to the last member to arrive. */
int rgi_step_arrive(rgi_shared_state *state);

/* Waits until all members have been counted in. */
int rgi_step_await_all(rgi_shared_state *state, const char *call);

/* Whether member i, which has published the step, means an operation of the same length.
 * RG_ERR_TRUNCATE: it means a longer one; RG_ERR_MISMATCH: a shorter one. */
int rgi_step_check_length(const rgi_shared_state *state, int i, uint32_t step, const char *call);
/* As rgi_step_check_length, of the first n members, and of all. */
int rgi_step_check_first(const rgi_shared_state *state, int n, uint32_t step, const char *call);
int rgi_step_check_all(const rgi_shared_state *state, uint32_t step, const char *call);

/* Wakes the members that wait for the step's release; waits for it, from member i or, if i is
 * -1, from the last member to arrive. */
void rgi_step_release(rgi_shared_state *state);
int rgi_step_await_release(rgi_shared_state *state, int i, const char *call);

/* No member leaves before all have arrived. */
int rgi_step_barrier(rgi_shared_state *state, const char *call);

/* To be called when the caller has seen all members in this step: all have ended the steps
 * that the caller ended before. */
void rgi_step_mark_all_seen(rgi_shared_state *state);

/* The caller no longer needs what was published up to this step. */
void rgi_step_end(rgi_shared_state *state);

/* Waits until all members have ended the step, which the caller has ended. */
int rgi_step_await_ended(rgi_shared_state *state, const char *call);

/* After a read of another member's memory: an error if that member may have left the operation. */
int rgi_step_check_not_broken(const rgi_shared_state *state, const char *call);

/* Passes on what an operation returns; after an error the shared state is broken. */
int rgi_step_result(rgi_shared_state *state, int error);

/* The same for an error that a member has met in that call; 0: not known. */
int rgi_step_failed_in(rgi_shared_state *state, int error, uint32_t call);

/* Whether the node has a processor for every process: members spin, else they sleep. */
int rgi_step_can_spin(void);

/* A step in which one member, the root, gives to all others. The root publishes, and does not wait;
 * the others wait for it, and check its length. */
static inline void rgi_step_give(rgi_shared_state *state, const void *data, size_t bytes) {
  rgi_step_publish(state, data, bytes);
  state->gave = state->step;
  if (!rgi_step_can_spin())
    rgi_step_release(state);
}

/* The same where all members give, some or all to take. Members that sleep take after
 * rgi_step_await_all. */
static inline void rgi_step_give_counted(rgi_shared_state *state, const void *data, size_t bytes) {
  rgi_step_publish(state, data, bytes);
  if (rgi_step_can_spin() || !rgi_step_arrive(state))
    return;
  /* Nobody waits for the release, but what it was long ago must not be taken for a later step. */
  rgi_shared_state_turn *turn = rgi_shared_state_turn_of(state, state->step);
  atomic_store_explicit(&turn->release.value, state->step, memory_order_relaxed);
  rgi_bell_wake(&turn->arrived);
}

static inline int rgi_step_take(rgi_shared_state *state, int root, const char *call) {
  int error = rgi_step_can_spin() ? rgi_step_await_member(state, root, call)
                                  : rgi_step_await_release(state, root, call);
  return error ? error : rgi_step_check_length(state, root, state->step, call);
}

static inline rgi_shared_state_cell *rgi_step_cell(rgi_shared_state *state, int i) {
  return (rgi_shared_state_cell *)(void *)(state->now + (size_t)i * state->stride);
}

/* Member i's part of the buffer: its chunks. */
static inline char *rgi_step_part(rgi_shared_state *state, int i) {
  return state->buffer + (size_t)i * rgi_shared_state_part(state->depth, state->chunk);
}

/* The one for a step. */
static inline char *rgi_step_chunk(rgi_shared_state *state, int i, uint32_t step) {
  uint32_t at =
      state->chunk > RGI_SHM_SMALL ? step % RGI_SHM_CHUNKS : rgi_shared_state_index(state, step);
  return rgi_step_part(state, i) + (size_t)at * state->chunk;
}

/* Where member i's data of the step are that runs: tiny ones in its cell. */
static inline char *rgi_step_data(rgi_shared_state *state, int i, size_t bytes) {
  return bytes <= RGI_SHM_TINY ? rgi_step_cell(state, i)->data
                               : rgi_step_chunk(state, i, state->step);
}

#endif
