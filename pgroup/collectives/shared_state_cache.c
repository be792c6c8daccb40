/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The cache of shared state, which outlives a group.
 *
 * Groups with the same members may use the same shared state: a program must call their
 * collectives in the same order on all members, so that to the state they are one sequence
 * of operations. The state is therefore cached by the list of members, also for a while
 * after the last such group is freed, and the first collective of a new group finds
 * everything ready. The cache is a hash table with chains; of the states that no group uses
 * it keeps the CACHE_IDLE_MAX used last.
 *
 * A group has a state of its own, found by its context, in three cases: with
 * MPI_THREAD_MULTIPLE (several threads may use groups of the same members at once), after an
 * error (the steps of the members may differ), and for survivors of a death (which it may
 * have interrupted at different steps). */
#include "collectives/shared_state_cache.h"

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "runtime/runtime.h"

#define CACHE_BUCKETS 256
#define CACHE_IDLE_MAX 256 /* cached states that no group uses */

static struct {
  unsigned long epoch, clock;
  int idle;
  rgi_shared_state *bucket[CACHE_BUCKETS];
} cached;

static uint64_t salted_key(uint64_t x) {
  return rgi_mix_bits(x + 0x7365617473u);
}

static rgi_shared_state **bucket_of(uint64_t key) {
  return &cached.bucket[key % CACHE_BUCKETS];
}

static void remove_from_cache(rgi_shared_state *l) {
  rgi_shared_state **at = bucket_of(l->key);
  while (*at != l)
    at = &(*at)->next;
  *at = l->next;
  l->in_cache = 0;
}

static void drop_entry(rgi_shared_state *l) {
  remove_from_cache(l);
  cached.idle--;
  rgi_shared_state_free(l);
}

/* After another rg_init the arena is a new one: the cached states are stale. */
static void clear_old_epoch(void) {
  if (cached.epoch == rgi_runtime.epoch)
    return;
  for (int i = 0; i < CACHE_BUCKETS; i++)
    for (rgi_shared_state *l = cached.bucket[i], *next; l; l = next) {
      next = l->next;
      remove_from_cache(l);
      if (l->groups == 0)
        rgi_shared_state_free(l);
    }
  cached.idle = 0;
  cached.epoch = rgi_runtime.epoch;
}

static void drop_oldest(void) {
  rgi_shared_state *oldest = NULL;
  for (int i = 0; i < CACHE_BUCKETS; i++)
    for (rgi_shared_state *l = cached.bucket[i]; l; l = l->next)
      if (l->groups == 0 && (!oldest || l->idle_since < oldest->idle_since))
        oldest = l;
  if (oldest)
    drop_entry(oldest);
}

static rgi_shared_state *find_cached(rg_group g, uint64_t key) {
  for (rgi_shared_state *l = *bucket_of(key); l; l = l->next)
    if (l->key == key && rgi_members_equal(l->members, g->members))
      return l;
  return NULL;
}

static int make_uncached(rg_group g, rgi_shared_state **l) {
  RGI_TRY(rgi_shared_state_make(g, salted_key(g->context), l));
  (*l)->groups = 1;
  return RG_SUCCESS;
}

int rgi_shared_state_cache_attach(rg_group g, rgi_shared_state **local) {
  if (rgi_runtime.threads || g->diverged)
    return make_uncached(g, local);
  clear_old_epoch();
  uint64_t key = salted_key(rgi_members_hash(g->members));
  rgi_shared_state *l = find_cached(g, key);
  if (!l) {
    RGI_TRY(rgi_shared_state_make(g, key, &l));
    l->in_cache = 1;
    l->next = *bucket_of(key);
    *bucket_of(key) = l;
  } else if (l->memory && atomic_load_explicit(&l->memory->broken, memory_order_relaxed)) {
    return make_uncached(g, local);
  } else if (l->groups == 0) {
    cached.idle--;
  }
  l->groups++;
  *local = l;
  return RG_SUCCESS;
}

void rgi_shared_state_cache_invalidate(rg_group g) {
  if (rgi_runtime.threads || g->diverged)
    return; /* no other group shares it */
  rgi_shared_state *l = find_cached(g, salted_key(rgi_members_hash(g->members)));
  if (l && l->memory && l->epoch == rgi_runtime.epoch)
    atomic_store(&l->memory->broken, RG_ERR_REVOKED);
}

void rgi_shared_state_cache_detach(rgi_shared_state *l) {
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
