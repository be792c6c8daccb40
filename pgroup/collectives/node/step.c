/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The steps of collectives in shared memory (step.h). A wait looks at the awaited word,
 * then at `broken`, lets messages and requests progress, and pauses by progress/wait.h,
 * which finds deaths, revocations and the time limit. The first 1000 looks at a member's
 * cell leave all of that out: a step among running members ends within them. Which
 * acquire pairs with which release is told in shared_state.h. */
#include "collectives/node/step.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "collectives/shared/lines_count.h"
#include "formation/group.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/revocation.h"

int rgi_step_can_spin(void) {
  return !rgi_node.oversubscribed;
}

/* --- waiting ----------------------------------------------------------------------- */

/* After an error on one member, the step that another one waits for may never come. */
int rgi_step_check_not_broken(const rgi_shared_state *state, const char *call) {
  uint32_t error = atomic_load_explicit(&state->memory->broken, memory_order_relaxed);
  if (!error)
    return RG_SUCCESS;
  RGI_TRY(rgi_failure_check(&rgi_failure_scope_now, call));
  if (error == RG_ERR_PROC_FAILED) /* another node may have told that member of a death */
    return rgi_wait_cause(
        rgi_error(RG_ERR_PROC_FAILED, "%s: another member knows of a death", call), call);
  if (error == RG_ERR_REVOKED)
    return rgi_error(RG_ERR_REVOKED, "%s: a group of these members has been revoked", call);
  if (atomic_load_explicit(&state->memory->orders, memory_order_relaxed))
    return rgi_error(RG_ERR_MISMATCH,
                     "%s: the members formed the group with lists of different orders", call);
  return rgi_error(RG_ERR_MISMATCH,
                   "%s: an operation of these members ended in an error on one of them; form the "
                   "group anew (rg_group_dup)",
                   call);
}

/* To be called after each look in vain, here and below. */
static int wait_spinning(const rgi_shared_state *state, rgi_wait *wait) {
  wait->unmet = !state->ended;
  RGI_TRY(rgi_step_check_not_broken(state, wait->call));
  return rgi_wait_more(wait);
}

static int wait_bell(const rgi_shared_state *state, rgi_wait *wait, rgi_bell *bell, uint32_t old) {
  wait->unmet = !state->ended;
  RGI_TRY(rgi_step_check_not_broken(state, wait->call));
  return rgi_wait_bell(wait, bell, old, 1);
}

/* Whether step a is at or after step b, also when the count has wrapped. */
static int step_reached(uint32_t a, uint32_t b) {
  return (int32_t)(a - b) >= 0;
}

static int is_done(const rgi_shared_state *state, int i, uint32_t step) {
  return step_reached(
      atomic_load_explicit(&rgi_shared_state_member_at(state, i)->done, memory_order_acquire),
      step);
}

static int sleep_until_done(rgi_shared_state *state, int i, uint32_t step, rgi_wait *wait) {
  rgi_bell *bell = &state->memory->done_bell;
  int error = RG_SUCCESS;
  rgi_bell_expect(bell);
  while (!error) {
    uint32_t old = atomic_load_explicit(&bell->value, memory_order_acquire);
    if (is_done(state, i, step))
      break;
    error = wait_bell(state, wait, bell, old);
  }
  rgi_bell_expect_end(bell);
  return error;
}

static int await_done(rgi_shared_state *state, int i, uint32_t step, const char *call) {
  rgi_wait wait;
  RGI_LINES_COUNT_READ(1);
  if (is_done(state, i, step))
    return RG_SUCCESS;
  rgi_wait_start(&wait, call, rgi_shared_state_group_rank(state, i));
  if (!rgi_step_can_spin())
    return sleep_until_done(state, i, step, &wait);
  while (!is_done(state, i, step))
    RGI_TRY(wait_spinning(state, &wait));
  return RG_SUCCESS;
}

/* --- steps --------------------------------------------------------------------------- */

static int await_all_done(rgi_shared_state *state, uint32_t step, const char *call) {
  for (int i = 0; i < state->n; i++)
    if (i != state->me)
      RGI_TRY(await_done(state, i, step, call));
  state->safe = step;
  return RG_SUCCESS;
}

/* A member that takes only does not look at all others for long: before the numbers of steps wrap
 * round it does so once. */
#define SAFE_LAG (1 << 30)

/* How far they have come beyond the step is remembered: most looks are saved. */
static int await_near_done(rgi_shared_state *state, uint32_t step, const char *call) {
  const rgi_levels *t = state->levels;
  if ((int32_t)(step - state->safe) > SAFE_LAG)
    return await_all_done(state, step, call);
  int reader = state->use[rgi_shared_state_index(state, step)].reader;
  uint32_t least = state->step;
  if (reader >= 0)
    RGI_TRY(await_done(state, reader, step, call));
  state->flat = step - 1;
  if (state->use[rgi_shared_state_index(state, step)].unread)
    return RG_SUCCESS;
  for (int k = -1; k < t->children && !step_reached(state->near_safe, step); k++) {
    int i = k < 0 ? t->parent : t->child[k];
    if (i < 0)
      continue;
    RGI_TRY(await_done(state, i, step, call));
    uint32_t done =
        atomic_load_explicit(&rgi_shared_state_member_at(state, i)->done, memory_order_acquire);
    least = step_reached(done, least) ? least : done;
  }
  if (!step_reached(state->near_safe, step))
    state->near_safe = least;
  return RG_SUCCESS;
}

static uint32_t done_of(const rgi_shared_state *state, int i) {
  return atomic_load_explicit(&rgi_shared_state_member_at(state, i)->done, memory_order_acquire);
}

/* A member that has ended the fewest steps. */
static int last_of_all(const rgi_shared_state *state) {
  int last = state->me;
  for (int i = 0; i < state->n; i++)
    last = step_reached(done_of(state, i), done_of(state, last)) ? last : i;
  return last;
}

static uint32_t least_done(const rgi_shared_state *state) {
  uint32_t least = state->ended;
  for (int i = 0; i < state->n; i++) {
    uint32_t done = done_of(state, i);
    least = step_reached(done, least) ? least : done;
  }
  return least;
}

/* Members that sleep wait for more room than they need, so that they sleep once for many steps, and
 * are woken once: when the last of the others has come to a step whose number is a multiple of
 * this. But after so many seconds they take what there is. */
#define ROOM 4
#define PATIENCE 1e-3

static int sleep_until_room(rgi_shared_state *state, uint32_t needed, const char *call) {
  const uint32_t half = state->step + 1 - state->depth / 2;
  uint32_t wanted = (half + ROOM - 1) / ROOM * ROOM;
  rgi_bell *bell = &state->memory->room_bell;
  int error = RG_SUCCESS;
  rgi_wait wait;
  if (step_reached(state->safe = least_done(state), needed))
    return RG_SUCCESS;
  rgi_wait_start(&wait, call, rgi_shared_state_group_rank(state, last_of_all(state)));
  rgi_bell_expect(bell);
  while (!error) {
    uint32_t old = atomic_load_explicit(&bell->value, memory_order_acquire);
    if (wait.pause.start > 0 && rgi_clock_now() - wait.pause.start > PATIENCE)
      wanted = needed;
    if (step_reached(state->safe = least_done(state), wanted))
      break;
    wait.peer = rgi_shared_state_group_rank(state, last_of_all(state));
    error = wait_bell(state, &wait, bell, old);
  }
  rgi_bell_expect_end(bell);
  return error;
}

/* After the caller has come from step `before` to a later one. */
static __attribute__((noinline)) void tell_room(rgi_shared_state *state, uint32_t before) {
  if (step_reached(least_done(state), (before / ROOM + 1) * ROOM))
    rgi_bell_ring(&state->memory->room_bell);
}

/* Which members read the caller's cell in a step. */
typedef enum { BY_ALL, BY_NEAR, BY_NONE } readers;

/* Waits for the members that may still read the step whose cells this one uses; for all if it is to
 * be read by all: the caller may write to their chunks, too. */
static __attribute__((noinline)) int await_room(rgi_shared_state *state, readers by,
                                                uint32_t needed, const char *call) {
  if (by != BY_ALL && !step_reached(state->flat, needed))
    return await_near_done(state, needed, call);
  if (needed == state->step + 1 - RGI_SHM_DEPTH && !rgi_step_can_spin())
    return sleep_until_room(state, needed, call);
  return await_all_done(state, needed, call);
}

/* Inline: each short operation is here once or twice. */
static inline __attribute__((always_inline)) int begin_step(rgi_shared_state *state, readers by,
                                                            int chunks, const char *call) {
  if (!state->memory)
    RGI_TRY(rgi_shared_state_attach(state));
  if (atomic_load_explicit(&state->memory->broken, memory_order_relaxed))
    RGI_TRY(rgi_step_check_not_broken(state, call));
  if (rgi_revocation_any())
    RGI_TRY(rgi_failure_check(&rgi_failure_scope_now, call));
  /* Between two operations: another handle of the world may have been used, and shares the memory.
   */
  if (state->step == state->ended) {
    uint32_t done = atomic_load_explicit(&rgi_shared_state_member_at(state, state->me)->done,
                                         memory_order_relaxed);
    state->flat = done == state->ended ? state->flat : done;
    state->step = state->ended = done;
  }
  int is_long = chunks && state->chunk > RGI_SHM_SMALL;
  uint32_t step = state->step + 1, needed = step - (is_long ? RGI_SHM_CHUNKS : state->depth);
  by = by == BY_NEAR && !state->levels ? BY_ALL : by;
  if (!step_reached(state->safe, needed))
    RGI_TRY(await_room(state, by, needed, call));
  state->step = step;
  state->flat = by == BY_ALL ? step : state->flat;
  uint32_t at = rgi_shared_state_index(state, step);
  state->use[at] = (rgi_shared_state_use){-1, by == BY_NONE};
  state->now = state->cells + at * sizeof(rgi_shared_state_cell);
  rgi_step_cell(state, state->me)->bytes = state->bytes;
  return RG_SUCCESS;
}

int rgi_step_begin(rgi_shared_state *state, int chunks, const char *call) {
  return begin_step(state, BY_ALL, chunks, call);
}

int rgi_step_begin_near(rgi_shared_state *state, const char *call) {
  return begin_step(state, BY_NEAR, 0, call);
}

int rgi_step_begin_unread(rgi_shared_state *state, const char *call) {
  return begin_step(state, BY_NONE, 0, call);
}

/* The step that is begun here is the operation's first, which begins it again. If there is no room
 * it is a step of its own, published so that a member whose operation is shorter sees that. */
static int attach_buffer(rgi_shared_state *state, int size, const char *call) {
  rgi_shared_state_room room;
  rgi_wait wait;
  RGI_TRY(rgi_step_begin(state, 0, call));
  rgi_wait_start(&wait, call, -1);
  while ((room = rgi_shared_state_attach_buffer(state, size, state->step)) ==
         RGI_SHARED_STATE_LATER)
    RGI_TRY(wait_spinning(state, &wait));
  if (room == RGI_SHARED_STATE_BUFFER) {
    state->step--;
    return RG_SUCCESS;
  }
  rgi_step_publish(state, NULL, 0);
  rgi_step_end(state);
  return RG_SUCCESS;
}

int rgi_step_attach_buffer(rgi_shared_state *state, size_t bytes, const char *call) {
  int size = rgi_shared_state_size(bytes);
  if (!state->of[size])
    RGI_TRY(attach_buffer(state, size, call));
  state->buffer = state->of[size];
  state->chunk = rgi_shared_state_chunk(size);
  return RG_SUCCESS;
}

int rgi_step_check_length(const rgi_shared_state *state, int i, uint32_t step, const char *call) {
  uint32_t bytes = rgi_shared_state_cell_at(state, i, step)->bytes;
  if (bytes == state->bytes)
    return RG_SUCCESS;
  return rgi_error(bytes > state->bytes ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                   "%s: the lengths differ: rank %d has %u bytes, this process %u; form the "
                   "group anew (rg_group_dup)",
                   call, rgi_shared_state_group_rank(state, i), bytes, state->bytes);
}

int rgi_step_check_first(const rgi_shared_state *state, int n, uint32_t step, const char *call) {
  for (int i = 0; i < n; i++)
    RGI_TRY(rgi_step_check_length(state, i, step, call));
  return RG_SUCCESS;
}

int rgi_step_check_all(const rgi_shared_state *state, uint32_t step, const char *call) {
  RGI_LINES_COUNT_READ(state->levels ? state->n - 1 : 0); /* else the caller has read them */
  return rgi_step_check_first(state, state->n, step, call);
}

void rgi_step_publish(rgi_shared_state *state, const void *data, size_t bytes) {
  rgi_shared_state_cell *c = rgi_step_cell(state, state->me);
  if (bytes)
    memcpy(c->data, data, bytes);
  atomic_store_explicit(&c->step, state->step, memory_order_release);
}

int rgi_step_await_word(rgi_shared_state *state, const _Atomic uint32_t *word, int i,
                        const char *call) {
  rgi_wait wait;
  RGI_LINES_COUNT_READ(1);
  for (int look = 0; look < 1000; look++) {
    if (atomic_load_explicit(word, memory_order_acquire) == state->step)
      return RG_SUCCESS;
    rgi_pause_spin();
  }
  rgi_wait_start(&wait, call, rgi_shared_state_group_rank(state, i));
  while (atomic_load_explicit(word, memory_order_acquire) != state->step)
    RGI_TRY(wait_spinning(state, &wait));
  return RG_SUCCESS;
}

int rgi_step_await_member(rgi_shared_state *state, int i, const char *call) {
  return rgi_step_await_word(state, &rgi_step_cell(state, i)->step, i, call);
}

/* How often member i has been counted in at the steps of this cell. */
static uint32_t arrival_count(const rgi_shared_state *state, int i) {
  return atomic_load_explicit(rgi_shared_state_arrivals(state, i, state->step),
                              memory_order_relaxed);
}

/* For reports: the first member that has not been counted in, or -1. */
static int missing_member(const void *of) {
  const rgi_shared_state *state = of;
  for (int i = 0; i < state->n; i++)
    if (!step_reached(arrival_count(state, i), arrival_count(state, state->me)))
      return rgi_shared_state_group_rank(state, i);
  return -1;
}

int rgi_step_arrive(rgi_shared_state *state) {
  uint32_t mine = arrival_count(state, state->me) + 1, all = mine * (uint32_t)state->n;
  rgi_shared_state_turn *turn = rgi_shared_state_turn_of(state, state->step);
  atomic_store_explicit(rgi_shared_state_arrivals(state, state->me, state->step), mine,
                        memory_order_relaxed);
  RGI_LINES_COUNT_READ(1);
  RGI_LINES_COUNT_WRITTEN(1);
  if (atomic_fetch_add(&turn->arrived.value, 1) + 1 != all)
    return 0;
  turn->last_arrived = (uint32_t)state->me;
  return 1;
}

int rgi_step_await_all(rgi_shared_state *state, const char *call) {
  uint32_t all = arrival_count(state, state->me) * (uint32_t)state->n, now;
  rgi_bell *bell = &rgi_shared_state_turn_of(state, state->step)->arrived;
  rgi_wait wait;
  RGI_LINES_COUNT_READ(1);
  rgi_wait_start(&wait, call, -1);
  wait.awaited = missing_member;
  wait.of = state;
  while ((now = atomic_load_explicit(&bell->value, memory_order_acquire)) != all)
    RGI_TRY(wait_bell(state, &wait, bell, now));
  return RG_SUCCESS;
}

void rgi_step_release(rgi_shared_state *state) {
  RGI_LINES_COUNT_WRITTEN(1);
  rgi_bell_set(&rgi_shared_state_turn_of(state, state->step)->release, state->step);
}

int rgi_step_await_release(rgi_shared_state *state, int i, const char *call) {
  rgi_bell *bell = &rgi_shared_state_turn_of(state, state->step)->release;
  rgi_wait wait;
  uint32_t now;
  RGI_LINES_COUNT_READ(1);
  if (atomic_load_explicit(&bell->value, memory_order_acquire) == state->step)
    return RG_SUCCESS;
  rgi_wait_start(&wait, call, i < 0 ? -1 : rgi_shared_state_group_rank(state, i));
  if (i < 0) {
    wait.awaited = missing_member;
    wait.of = state;
  }
  while ((now = atomic_load_explicit(&bell->value, memory_order_acquire)) != state->step)
    RGI_TRY(wait_bell(state, &wait, bell, now));
  return RG_SUCCESS;
}

void rgi_step_mark_all_seen(rgi_shared_state *state) {
  if (!step_reached(state->safe, state->ended))
    state->safe = state->ended;
}

/* Members tell their parents, the first member knows of all, and the answer comes down in a step of
 * its own. */
static int barrier_by_levels(rgi_shared_state *state, const char *call) {
  const rgi_levels *t = state->levels;
  for (int k = 0; k < t->children; k++)
    RGI_TRY(rgi_step_await_member(state, t->child[k], call));
  rgi_step_publish(state, NULL, 0);
  RGI_TRY(rgi_step_begin_near(state, call));
  if (t->parent >= 0)
    RGI_TRY(rgi_step_await_member(state, t->parent, call));
  rgi_step_publish(state, NULL, 0);
  rgi_step_mark_all_seen(state);
  return RG_SUCCESS;
}

/* By the root of the operation before. There may be two of them, if one was not in shared memory:
 * then both release, and the later one leaves what is claimed of the next step alone. */
static int release_first(rgi_shared_state *state, const char *call) {
  uint32_t mine = state->step;
  atomic_store_explicit(&state->memory->claimed, mine, memory_order_relaxed);
  if (!rgi_step_arrive(state))
    RGI_TRY(rgi_step_await_all(state, call));
  rgi_bell_wake(&rgi_shared_state_turn_of(state, mine)->arrived); /* the other one may sleep */
  atomic_compare_exchange_strong_explicit(&state->memory->claimed, &mine, 0, memory_order_relaxed,
                                          memory_order_relaxed);
  rgi_step_release(state);
  return RG_SUCCESS;
}

/* Whether another member releases the step: the caller is the last one to arrive, and wakes it. */
static int wake_claimer(rgi_shared_state *state) {
  uint32_t claimed = atomic_load_explicit(&state->memory->claimed, memory_order_relaxed);
  if (!claimed || claimed != state->step)
    return 0;
  rgi_bell_wake(&rgi_shared_state_turn_of(state, state->step)->arrived);
  return 1;
}

int rgi_step_barrier(rgi_shared_state *state, const char *call) {
  if (state->levels)
    return barrier_by_levels(state, call);
  if (rgi_step_can_spin()) {
    rgi_step_publish(state, NULL, 0);
    for (int i = 0; i < state->n; i++)
      if (i != state->me)
        RGI_TRY(rgi_step_await_member(state, i, call));
  } else if (state->gave && state->gave == state->step - 1) {
    RGI_TRY(release_first(state, call));
  } else if (rgi_step_arrive(state) && !wake_claimer(state)) {
    rgi_step_release(state);
  } else {
    RGI_TRY(rgi_step_await_release(state, -1, call));
  }
  rgi_step_mark_all_seen(state);
  return RG_SUCCESS;
}

void rgi_step_end(rgi_shared_state *state) {
  uint32_t before = state->ended;
  state->ended = state->step;
  atomic_store_explicit(&rgi_shared_state_member_at(state, state->me)->done, state->step,
                        memory_order_release);
  if (rgi_step_can_spin())
    return;
  rgi_bell_ring_expected(&state->memory->done_bell);
  if (before / ROOM != state->step / ROOM && rgi_bell_is_expected(&state->memory->room_bell))
    tell_room(state, before);
}

int rgi_step_await_ended(rgi_shared_state *state, const char *call) {
  return await_all_done(state, state->ended, call);
}

int rgi_step_result(rgi_shared_state *state, int error) {
  return rgi_step_failed_in(state, error, state->call);
}

int rgi_step_failed_in(rgi_shared_state *state, int error, uint32_t call) {
  if (!error || !state->memory)
    return error;
  rgi_shared_state_note(state, error, call);
  rgi_step_end(state);
  rgi_bell_ring_expected(&state->memory->room_bell);
  return error;
}
