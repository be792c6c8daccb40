/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The order of a process's operations on the same bytes. MPI keeps it among
 * accumulates only. So for each target there are two ranges of its heap part: one covers all
 * puts, one all accumulates since the last fence. An operation that overlaps a range, and might
 * overtake what made it, first waits for a fence. With one range for each kind a program that
 * puts to distant places and reads between them pays for a fence that it did not need.
 *
 * order.lock guards all of it, and is held during a fence: what a thread finds fenced is
 * complete. */
#include <armci.h>
#include <pthread.h>
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
} pending;

/* Operations that all processes together may have under way at one target. From about a
 * thousand on MPICH 4.0 ends with an assertion (mpidig_rma_callbacks.c). */
#define BEARABLE 256

static struct {
  pthread_mutex_t lock;
  pending *of;
  int *targets, n; /* which have something pending */
  int all;         /* targets */
  int most;        /* operations under way to one target */
} order = {.lock = PTHREAD_MUTEX_INITIALIZER};

int rgi_rma_order_open(int targets) {
  order.of = calloc((size_t)targets, sizeof *order.of);
  order.targets = malloc((size_t)targets * sizeof *order.targets);
  order.n = 0;
  order.all = targets;
  order.most = targets < BEARABLE / 4 ? BEARABLE / targets : 4;
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

static void widen_range(byte_range *s, uint64_t low, uint64_t high) {
  if (!s->high || low < s->low)
    s->low = low;
  if (high > s->high)
    s->high = high;
}

static int fence_locked(int target) {
  pending *p = &order.of[target];
  if (!p->listed)
    return RG_SUCCESS;
  ARMCI_Fence(target);
  p->put = p->acc = (byte_range){0, 0};
  p->listed = 0;
  int i = 0;
  while (order.targets[i] != target)
    i++;
  order.targets[i] = order.targets[--order.n];
  return rgi_armci_window_error("ARMCI_Fence");
}

/* A fence completes gets as well. Operations of an earlier turn are not counted when they
 * leave. */
static int make_room(int target, pending *p) {
  ARMCI_Fence(target);
  p->turn++;
  p->under_way = 0;
  return rgi_armci_window_error("ARMCI_Fence");
}

#define OVERLAPS(range, from, to) ((from) < (range).high && (range).low < (to))

int rgi_rma_before(int target, rgi_access_kind kind, uint64_t low, uint64_t high, unsigned *turn) {
  int error = RG_SUCCESS;
  pthread_mutex_lock(&order.lock);
  pending *p = &order.of[target];
  if (OVERLAPS(p->put, low, high) || (kind != RGI_ACCESS_KIND_ACC && OVERLAPS(p->acc, low, high)))
    error = fence_locked(target);
  if (turn && !error && p->under_way >= order.most)
    error = make_room(target, p);
  if (turn && !error) {
    *turn = p->turn;
    p->under_way++;
  }
  pthread_mutex_unlock(&order.lock);
  return error;
}

void rgi_rma_started(int target, rgi_access_kind kind, uint64_t low, uint64_t high) {
  if (kind == RGI_ACCESS_KIND_GET)
    return;
  pthread_mutex_lock(&order.lock);
  pending *p = &order.of[target];
  widen_range(kind == RGI_ACCESS_KIND_PUT ? &p->put : &p->acc, low, high);
  if (!p->listed)
    order.targets[order.n++] = target;
  p->listed = 1;
  pthread_mutex_unlock(&order.lock);
}

void rgi_rma_left(int target, unsigned turn) {
  pthread_mutex_lock(&order.lock);
  if (order.of && order.of[target].turn == turn)
    order.of[target].under_way--;
  pthread_mutex_unlock(&order.lock);
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
