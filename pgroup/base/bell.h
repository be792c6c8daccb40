/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A doorbell: a word of shared memory on which processes sleep until another one wakes them
 * (futex(2)). */
#ifndef RGI_BELL_H
#define RGI_BELL_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A writer changes the value and then calls rgi_bell_wake. */
typedef struct {
  _Atomic uint32_t value;
  _Atomic uint32_t sleepers; /* processes that sleep on it, and those that expect a ring */
} rgi_bell;

#define RGI_BELL_EXPECTS ((uint32_t)1 << 16) /* one of these, in sleepers */

/* Sleeps while the value is `old`, at most `seconds`; may return early. */
static inline void rgi_bell_sleep(rgi_bell *bell, uint32_t old, double seconds) {
  struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  atomic_fetch_add(&bell->sleepers, 1);
  if (atomic_load(&bell->value) == old)
    syscall(SYS_futex, &bell->value, FUTEX_WAIT, old, &t, NULL, 0);
  atomic_fetch_sub(&bell->sleepers, 1);
}

/* As rgi_bell_sleep on two bells. Where the system cannot wait for both (Linux before 5.16) it
 * looks each millisecond. */
static inline void rgi_bell_sleep_either(rgi_bell *a, uint32_t old_a, rgi_bell *b, uint32_t old_b,
                                         double seconds) {
#ifdef SYS_futex_waitv
  struct timespec end;
  struct futex_waitv both[2] = {{.val = old_a, .uaddr = (uintptr_t)&a->value, .flags = FUTEX_32},
                                {.val = old_b, .uaddr = (uintptr_t)&b->value, .flags = FUTEX_32}};
  clock_gettime(CLOCK_MONOTONIC, &end);
  double until = (double)end.tv_nsec * 1e-9 + seconds;
  end.tv_sec += (time_t)until;
  end.tv_nsec = (long)((until - (double)(time_t)until) * 1e9);
  atomic_fetch_add(&a->sleepers, 1);
  atomic_fetch_add(&b->sleepers, 1);
  long woken = 0;
  if (atomic_load(&a->value) == old_a && atomic_load(&b->value) == old_b)
    woken = syscall(SYS_futex_waitv, both, 2, 0, &end, CLOCK_MONOTONIC);
  int missing = woken < 0 && errno == ENOSYS;
  atomic_fetch_sub(&b->sleepers, 1);
  atomic_fetch_sub(&a->sleepers, 1);
  if (!missing)
    return;
#endif
  if (atomic_load(&b->value) == old_b)
    rgi_bell_sleep(a, old_a, seconds < 1e-3 ? seconds : 1e-3);
}

/* The fence orders the writer's store of the value before its load of sleepers; the sleeper counts
 * itself before it loads the value, both sequentially consistent. So a writer that sees no sleeper
 * has changed the value before the sleeper looks at it, which then does not sleep. */
static inline void rgi_bell_wake_some(rgi_bell *bell, int most) {
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&bell->sleepers, memory_order_relaxed) % RGI_BELL_EXPECTS)
    syscall(SYS_futex, &bell->value, FUTEX_WAKE, most, NULL, NULL, 0);
}

static inline void rgi_bell_wake(rgi_bell *bell) {
  rgi_bell_wake_some(bell, INT_MAX);
}

static inline void rgi_bell_set(rgi_bell *bell, uint32_t value) {
  atomic_store_explicit(&bell->value, value, memory_order_release);
  rgi_bell_wake(bell);
}

/* For a condition whose writer rings only where a process expects it (rgi_bell_ring_expected): that
 * process counts itself before it looks at the condition, and stays counted until it has done
 * waiting. Counted no earlier than in rgi_bell_sleep it could look, be overlooked, and then sleep.
 * While it only yields the ring costs no system call. */
static inline void rgi_bell_expect(rgi_bell *bell) {
  atomic_fetch_add(&bell->sleepers, RGI_BELL_EXPECTS);
  atomic_thread_fence(memory_order_seq_cst);
}

static inline void rgi_bell_expect_end(rgi_bell *bell) {
  atomic_fetch_sub(&bell->sleepers, RGI_BELL_EXPECTS);
}

/* Changes the value: something may have happened for the processes that wait. */
static inline void rgi_bell_ring(rgi_bell *bell) {
  atomic_fetch_add_explicit(&bell->value, 1, memory_order_release);
  rgi_bell_wake(bell);
}

/* Whether a process expects it, after a fence: by rgi_bell_ring_expected of another bell, or
 * seq_cst. */
static inline int rgi_bell_is_expected(rgi_bell *bell) {
  return atomic_load_explicit(&bell->sleepers, memory_order_relaxed) != 0;
}

/* As rgi_bell_ring if a process expects it. The writer has fulfilled the condition; the fence
 * orders that before its load of sleepers. */
static inline void rgi_bell_ring_expected(rgi_bell *bell) {
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&bell->sleepers, memory_order_relaxed))
    rgi_bell_ring(bell);
}

#endif
