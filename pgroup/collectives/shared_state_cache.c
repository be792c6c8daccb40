/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The cache of shared state, which outlives a group.
 *
 * Groups with the same members may use the same shared state: whoever calls their
 * collectives must do so in an order that all members keep, so that to the state
 * they are one sequence of operations. The state is therefore cached by their members,
 * also for a while after the last such group is gone, and the first collective of
 * a fresh group finds everything ready.
 *
 * With MPI_THREAD_MULTIPLE groups may be used by several threads at once, after an
 * error the members may be out of step, and survivors of a death may have been
 * interrupted at different places: then a group has state of its own. */
#include "base/error.h"
#include "collectives/shared_state.h"
#include "formation/context.h"
#include "formation/group.h"
#include "runtime/runtime.h"

#define CACHE_BUCKETS 256
#define CACHE_IDLE_MAX 256 /* cached states that no group uses */

static struct {
  unsigned long epoch, clock;
  int idle;
  rgi_shm_coll *bucket[CACHE_BUCKETS];
} cached;

static uint64_t salted_key(uint64_t x) {
  return rgi_context_mix(x + 0x7365617473u);
}

static rgi_shm_coll **bucket_of(uint64_t key) {
  return &cached.bucket[key % CACHE_BUCKETS];
}

static void remove_from_cache(rgi_shm_coll *l) {
  rgi_shm_coll **at = bucket_of(l->key);
  while (*at != l)
    at = &(*at)->next;
  *at = l->next;
  l->in_cache = 0;
}

static void drop_entry(rgi_shm_coll *l) {
  remove_from_cache(l);
  cached.idle--;
  rgi_shared_state_free(l);
}

/* The state of an earlier start of the library is nowhere any more. */
static void clear_old_epoch(void) {
  if (cached.epoch == rgi_runtime.epoch)
    return;
  for (int i = 0; i < CACHE_BUCKETS; i++)
    for (rgi_shm_coll *l = cached.bucket[i], *next; l; l = next) {
      next = l->next;
      remove_from_cache(l);
      if (l->groups == 0)
        rgi_shared_state_free(l);
    }
  cached.idle = 0;
  cached.epoch = rgi_runtime.epoch;
}

static void drop_oldest(void) {
  rgi_shm_coll *oldest = NULL;
  for (int i = 0; i < CACHE_BUCKETS; i++)
    for (rgi_shm_coll *l = cached.bucket[i]; l; l = l->next)
      if (l->groups == 0 && (!oldest || l->idle_since < oldest->idle_since))
        oldest = l;
  if (oldest)
    drop_entry(oldest);
}

static rgi_shm_coll *find_cached(rg_group g, uint64_t key) {
  for (rgi_shm_coll *l = *bucket_of(key); l; l = l->next)
    if (l->key == key && rgi_members_equal(l->members, g->members))
      return l;
  return NULL;
}

static int make_uncached(rg_group g, rgi_shm_coll **l) {
  RGI_TRY(rgi_shared_state_make(g, salted_key(g->context), l));
  (*l)->groups = 1;
  return RG_SUCCESS;
}

int rgi_shm_coll_attach(rg_group g, rgi_shm_coll **local) {
  if (rgi_runtime.threads || g->diverged)
    return make_uncached(g, local);
  clear_old_epoch();
  uint64_t key = salted_key(rgi_members_hash(g->members));
  rgi_shm_coll *l = find_cached(g, key);
  if (!l) {
    RGI_TRY(rgi_shared_state_make(g, key, &l));
    l->in_cache = 1;
    l->next = *bucket_of(key);
    *bucket_of(key) = l;
  } else if (l->state && atomic_load_explicit(&l->state->broken, memory_order_relaxed)) {
    return make_uncached(g, local);
  } else if (l->groups == 0) {
    cached.idle--;
  }
  l->groups++;
  *local = l;
  return RG_SUCCESS;
}

void rgi_shm_coll_invalidate(rg_group g) {
  if (rgi_runtime.threads || g->diverged)
    return; /* nobody shares it */
  rgi_shm_coll *l = find_cached(g, salted_key(rgi_members_hash(g->members)));
  if (l && l->state && l->epoch == rgi_runtime.epoch)
    atomic_store(&l->state->broken, 1);
}

void rgi_shm_coll_free(rgi_shm_coll *l) {
  if (!l || --l->groups > 0)
    return;
  if (!l->in_cache || l->epoch != rgi_runtime.epoch || !rgi_runtime.started) {
    if (l->in_cache)
      remove_from_cache(l);
    rgi_shared_state_free(l);
    return;
  }
  l->idle_since = ++cached.clock;
  if (++cached.idle > CACHE_IDLE_MAX)
    drop_oldest();
}
