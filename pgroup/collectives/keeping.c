/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Keeping seats from one group to the next.
 *
 * Groups with the same members may sit on the same seats: whoever calls their
 * collectives must do so in an order that all members keep, so that to the seats
 * they are one sequence of operations. Seats are therefore kept by their members,
 * also for a while after the last such group is gone, and the first collective of
 * a fresh group finds everything ready.
 *
 * With MPI_THREAD_MULTIPLE groups may be used by several threads at once, after an
 * error the members may be out of step, and survivors of a death may have been
 * interrupted at different places: then a group has seats of its own. */
#include "base/error.h"
#include "collectives/seats.h"
#include "formation/context.h"
#include "formation/group.h"
#include "runtime/runtime.h"

#define BUCKETS 256
#define IDLE_MOST 256 /* sets of seats kept that no group uses */

static struct {
  unsigned long epoch, clock;
  int idle;
  rgi_local *bucket[BUCKETS];
} kept;

static uint64_t salted(uint64_t x) {
  return rgi_mix(x + 0x7365617473u);
}

static rgi_local **place_of(uint64_t key) {
  return &kept.bucket[key % BUCKETS];
}

static void take_out(rgi_local *l) {
  rgi_local **at = place_of(l->key);
  while (*at != l)
    at = &(*at)->next;
  *at = l->next;
  l->shared = 0;
}

static void forget(rgi_local *l) {
  take_out(l);
  kept.idle--;
  rgi_seats_free(l);
}

/* Seats of an earlier start of the library are nowhere any more. */
static void begin_epoch(void) {
  if (kept.epoch == rgi_rt.epoch)
    return;
  for (int i = 0; i < BUCKETS; i++)
    for (rgi_local *l = kept.bucket[i], *next; l; l = next) {
      next = l->next;
      take_out(l);
      if (l->groups == 0)
        rgi_seats_free(l);
    }
  kept.idle = 0;
  kept.epoch = rgi_rt.epoch;
}

static void forget_oldest(void) {
  rgi_local *oldest = NULL;
  for (int i = 0; i < BUCKETS; i++)
    for (rgi_local *l = kept.bucket[i]; l; l = l->next)
      if (l->groups == 0 && (!oldest || l->idle_since < oldest->idle_since))
        oldest = l;
  if (oldest)
    forget(oldest);
}

static rgi_local *find(rg_group g, uint64_t key) {
  for (rgi_local *l = *place_of(key); l; l = l->next)
    if (l->key == key && rgi_members_equal(l->members, g->members))
      return l;
  return NULL;
}

static int own_seats(rg_group g, rgi_local **l) {
  RGI_TRY(rgi_seats_make(g, salted(g->context), l));
  (*l)->groups = 1;
  return RG_SUCCESS;
}

int rgi_local_attach(rg_group g, rgi_local **local) {
  if (rgi_rt.threads || g->apart)
    return own_seats(g, local);
  begin_epoch();
  uint64_t key = salted(rgi_members_hash(g->members));
  rgi_local *l = find(g, key);
  if (!l) {
    RGI_TRY(rgi_seats_make(g, key, &l));
    l->shared = 1;
    l->next = *place_of(key);
    *place_of(key) = l;
  } else if (l->seats && atomic_load_explicit(&l->seats->broken, memory_order_relaxed)) {
    return own_seats(g, local);
  } else if (l->groups == 0) {
    kept.idle--;
  }
  l->groups++;
  *local = l;
  return RG_SUCCESS;
}

void rgi_local_break(rg_group g) {
  if (rgi_rt.threads || g->apart)
    return; /* nobody else sits there */
  rgi_local *l = find(g, salted(rgi_members_hash(g->members)));
  if (l && l->seats && l->epoch == rgi_rt.epoch)
    atomic_store(&l->seats->broken, 1);
}

void rgi_local_free(rgi_local *l) {
  if (!l || --l->groups > 0)
    return;
  if (!l->shared || l->epoch != rgi_rt.epoch || !rgi_rt.started) {
    if (l->shared)
      take_out(l);
    rgi_seats_free(l);
    return;
  }
  l->idle_since = ++kept.clock;
  if (++kept.idle > IDLE_MOST)
    forget_oldest();
}
