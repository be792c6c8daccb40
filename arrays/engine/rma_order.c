/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The order of a process's operations on the same bytes. MPI keeps it among
 * accumulates only. So for each target there are two ranges of its heap part: one covers all
 * puts, one all accumulates since the last fence. An operation that overlaps a range, and might
 * overtake what made it, first waits for a fence. With one range for each kind a program that
 * puts to distant places and reads between them pays for a fence that it did not need.
 *
 * It also limits how many operations are under way at one target: of all processes together,
 * rgi_rma_bearable. Each process may have its part of them; where there are more processes than
 * that, none has a part of its own, and each operation of more than a
 * word passes the target's gate (rma_gate.c) and is completed at once.
 *
 * order.lock guards all of it, and is held during a fence: what a thread finds fenced is
 * complete. */
#include <armci.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/armci_window.h"
#include "engine/rma.h"

typedef struct {
  uint64_t low, high; /* empty: high = 0 */
} byte_range;

typedef struct {
  byte_range put, acc;
  int listed;
  unsigned turn; /* counts the waits for room */
  int under_way; /* operations of this turn that are not known to be complete */
  int issuing;   /* of them, those between rgi_rma_before and rgi_rma_started */
} pending_access;

/* From about a thousand operations under way on MPICH 4.0 ends with an assertion
 * (mpidig_rma_callbacks.c). */
int rgi_rma_bearable = 256;

static struct {
  pthread_mutex_t lock;
  pending_access *of;
  int *targets, n; /* which have something pending */
  int all;         /* targets */
  int most;        /* operations of this process under way to one target */
  int gated;       /* there are more processes than operations that are bearable */
} order = {.lock = PTHREAD_MUTEX_INITIALIZER};

int rgi_rma_order_open(int targets) {
  order.of = calloc((size_t)targets, sizeof *order.of);
  order.targets = malloc((size_t)targets * sizeof *order.targets);
  order.n = 0;
  order.all = targets;
  order.gated = targets > rgi_rma_bearable;
  order.most = order.gated ? 1 : rgi_rma_bearable / targets;
  if (order.of && order.targets)
    return RG_SUCCESS;
  rgi_rma_order_close();
  return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for a table of %d targets", targets);
}

void rgi_rma_order_close(void) {
  free(order.of);
  free(order.targets);
  order.of = NULL;
  order.targets = NULL;
}

static void widen_range(byte_range *bytes, uint64_t low, uint64_t high) {
  if (!bytes->high || low < bytes->low)
    bytes->low = low;
  if (high > bytes->high)
    bytes->high = high;
}

/* A fence completes gets as well. Operations of an earlier turn are not counted when they
 * leave. What another thread is issuing may come after the fence. */
static int make_room(int target, pending_access *pending) {
  ARMCI_Fence(target);
  pending->turn++;
  pending->under_way = pending->issuing;
  return rgi_armci_window_error("ARMCI_Fence");
}

static int fence_locked(int target) {
  pending_access *p = &order.of[target];
  if (!p->listed)
    return RG_SUCCESS;
  int error = make_room(target, p);
  p->put = p->acc = (byte_range){0, 0};
  p->listed = 0;
  int i = 0;
  while (order.targets[i] != target)
    i++;
  order.targets[i] = order.targets[--order.n];
  return error;
}

/* Waits for operations of this process, of other threads too. */
static int enter(int target, pending_access *pending, rgi_rma_room *room) {
  while (pending->under_way + room->ops > order.most) {
    RGI_TRY(make_room(target, pending));
    if (pending->under_way == 0)
      break;
    pthread_mutex_unlock(&order.lock);
    sched_yield();
    pthread_mutex_lock(&order.lock);
  }
  if (order.gated && !room->word)
    RGI_TRY(rgi_rma_gate_enter(target, rgi_rma_bearable));
  room->turn = pending->turn;
  pending->under_way += room->ops;
  pending->issuing += room->ops;
  return RG_SUCCESS;
}

#define OVERLAPS(range, from, to) ((from) < (range).high && (range).low < (to))

int rgi_rma_before(int target, rgi_access_kind kind, uint64_t low, uint64_t high,
                   rgi_rma_room *room) {
  int error = RG_SUCCESS;
  pthread_mutex_lock(&order.lock);
  pending_access *p = &order.of[target];
  if (OVERLAPS(p->put, low, high) || (kind != RGI_ACCESS_KIND_ACC && OVERLAPS(p->acc, low, high)))
    error = fence_locked(target);
  if (room && !error)
    error = enter(target, p, room);
  pthread_mutex_unlock(&order.lock);
  return error;
}

static void widen_ranges(int target, rgi_access_kind kind, uint64_t low, uint64_t high) {
  pending_access *p = &order.of[target];
  widen_range(kind == RGI_ACCESS_KIND_PUT ? &p->put : &p->acc, low, high);
  if (!p->listed)
    order.targets[order.n++] = target;
  p->listed = 1;
}

int rgi_rma_started(int target, rgi_access_kind kind, uint64_t low, uint64_t high,
                    const rgi_rma_room *room) {
  int error = RG_SUCCESS;
  pthread_mutex_lock(&order.lock);
  pending_access *p = &order.of[target];
  p->issuing -= room->ops;
  if (kind == RGI_ACCESS_KIND_PUT || kind == RGI_ACCESS_KIND_ACC)
    widen_ranges(target, kind, low, high);
  if (order.gated && !room->word) {
    error = make_room(target, p);
    int failed = rgi_rma_gate_leave(target);
    error = error ? error : failed;
  }
  pthread_mutex_unlock(&order.lock);
  return error;
}

void rgi_rma_left(int target, const rgi_rma_room *room) {
  pthread_mutex_lock(&order.lock);
  if (order.of && order.of[target].turn == room->turn)
    order.of[target].under_way -= room->ops;
  pthread_mutex_unlock(&order.lock);
}

int rgi_rma_room_most(void) {
  return order.most;
}

int rgi_rma_settle(int target, uint64_t low, uint64_t high) {
  return rgi_rma_before(target, RGI_ACCESS_KIND_GET, low, high, NULL);
}

int rgi_rma_fence(int target) {
  int error = RG_SUCCESS;
  pthread_mutex_lock(&order.lock);
  if (target >= 0)
    error = fence_locked(target);
  while (target < 0 && order.n > 0) {
    int failed = fence_locked(order.targets[order.n - 1]);
    error = error ? error : failed;
  }
  pthread_mutex_unlock(&order.lock);
  return error;
}

int rgi_rma_finish(void) {
  int error = rgi_rma_fence(-1);
  pthread_mutex_lock(&order.lock);
  for (int t = 0; t < order.all; t++)
    if (order.of[t].under_way > 0) {
      int failed = make_room(t, &order.of[t]);
      error = error ? error : failed;
    }
  pthread_mutex_unlock(&order.lock);
  return error;
}
