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
 * it keeps the CACHE_IDLE_MAX used last, if their slots have no more than CACHE_IDLE_BYTES
 * together. A slot is kept as long as one process keeps it: so the slots that all processes of a
 * node keep have no more than CACHE_IDLE_BYTES for each of them, also where each keeps others.
 * When the arena is full, buffers and slots that no group of any process uses are given back.
 *
 * A group has a state of its own, found by its context, in three cases: where a process
 * has MPI_THREAD_MULTIPLE (several threads may use groups of the same members at once), after an
 * error (the steps of the members may differ), and for survivors of a death (which it may
 * have interrupted at different steps).
 *
 * After an error the members of a group take the same state or get an error, although each decides
 * by itself, at the group's first operation (rgi_shared_state_cache_join) and its first step
 * (join_group in shm_step.c). A member that finds the state unbroken writes the group into the
 * `joined` of its step, and looks again whether the state is broken, behind a fence. A member that
 * finds it broken looks, behind a fence, whether a member has written the group there. So one of
 * the two sees the other:
 * - A member has begun on the state: one that finds it broken sees that, stays too, and gets the
 *   error.
 * - No member has: each one takes the state of the group's own.
 * - A member that finds the state broken after it has written the group does not know whether
 * others have seen that: it breaks the group's own state, and all get an error. `joined` holds the
 * groups of the last `depth` steps. That suffices: a member that is ahead by so many waits for
 * the others, so those that may still come to a group come to one of these. */
#include "collectives/shared_state_cache.h"

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "runtime/runtime.h"

#define CACHE_BUCKETS 256
#define CACHE_IDLE_MAX 256 /* cached states that no group uses */
#define CACHE_IDLE_BYTES RGI_SHARED_STATE_CACHE_IDLE

static struct {
  unsigned long epoch, clock;
  int idle;
  size_t idle_bytes; /* of their slots */
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

/* It attaches no memory while it is idle. */
static void count_idle(const rgi_shared_state *l, int more) {
  size_t bytes = l->memory ? rgi_shared_state_bytes(l->n, l->depth) : 0;
  cached.idle += more;
  cached.idle_bytes += more > 0 ? bytes : -bytes;
}

static void drop_entry(rgi_shared_state *l) {
  remove_from_cache(l);
  count_idle(l, -1);
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
  cached.idle_bytes = 0;
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
  if (rgi_runtime.threads_of_any || g->diverged)
    return make_uncached(g, local);
  clear_old_epoch();
  uint64_t key = salted_key(rgi_members_hash(g->members));
  rgi_shared_state *l = find_cached(g, key);
  if (!l) {
    RGI_TRY(rgi_shared_state_make(g, key, &l));
    l->in_cache = 1;
    l->next = *bucket_of(key);
    *bucket_of(key) = l;
  } else if (l->groups == 0) {
    count_idle(l, -1);
    rgi_shared_state_resume(l);
  }
  l->groups++;
  *local = l;
  return RG_SUCCESS;
}

void rgi_shared_state_cache_invalidate(rg_group g) {
  if (rgi_runtime.threads_of_any || g->diverged)
    return; /* no other group shares it */
  rgi_shared_state *l = find_cached(g, salted_key(rgi_members_hash(g->members)));
  if (l && l->epoch == rgi_runtime.epoch)
    rgi_shared_state_break(l, RG_ERR_REVOKED);
}

/* Whether the next group with these members can use it; what the arena had set aside for other
 * needs is given back. */
static int is_worth_keeping(const rgi_shared_state *l) {
  if (!l->in_cache || l->epoch != rgi_runtime.epoch || !rgi_runtime.started)
    return 0;
  return !l->memory || (!atomic_load_explicit(&l->memory->broken, memory_order_relaxed) &&
                        !rgi_arena_is_aside(l->slot));
}

void rgi_shared_state_cache_detach(rgi_shared_state *l) {
  if (!l || --l->groups > 0)
    return;
  if (!is_worth_keeping(l)) {
    if (l->in_cache)
      remove_from_cache(l);
    rgi_shared_state_free(l);
    return;
  }
  rgi_shared_state_detach_buffer(l);
  l->idle_since = ++cached.clock;
  rgi_shared_state_suspend(l);
  count_idle(l, 1);
  while (cached.idle > CACHE_IDLE_MAX || (cached.idle > 1 && cached.idle_bytes > CACHE_IDLE_BYTES))
    drop_oldest();
}

/* Whether a member has begun the group's first step on this state, which is broken. */
static int has_begun(const rgi_shared_state *l, uint64_t group) {
  atomic_thread_fence(memory_order_seq_cst);
  for (int i = 0; i < l->n; i++)
    for (uint32_t k = 0; k < l->depth; k++)
      if (atomic_load_explicit(&rgi_shared_state_member_at(l, i)->joined[k],
                               memory_order_relaxed) == group)
        return 1;
  return 0;
}

static int replace_state(uint64_t group, rgi_shared_state **local) {
  rgi_shared_state *own;
  RGI_TRY(rgi_shared_state_copy(*local, salted_key(group), &own));
  own->groups = 1;
  rgi_shared_state_cache_detach(*local);
  *local = own;
  return RG_SUCCESS;
}

/* All members on the node get RG_ERR_NOMEM if one does. */
static int attach_for(uint64_t group, rgi_shared_state *l) {
  if (l->memory)
    return RG_SUCCESS;
  l->wanting = group;
  int error = rgi_shared_state_attach(l);
  l->wanting = 0;
  return error;
}

int rgi_shared_state_cache_join(uint64_t group, rgi_shared_state **local) {
  rgi_shared_state *l = *local;
  if (l->n == 1)
    return RG_SUCCESS;
  RGI_TRY(attach_for(group, l));
  if (!l->in_cache)
    return RG_SUCCESS;
  if (!atomic_load_explicit(&l->memory->broken, memory_order_relaxed))
    l->joining = group;
  else if (!has_begun(l, group)) {
    RGI_TRY(replace_state(group, local));
    return attach_for(group, *local);
  }
  return RG_SUCCESS;
}

void rgi_shared_state_cache_break(const rgi_shared_state *l, uint64_t group, int error) {
  rgi_shared_state *own;
  uint16_t none = 0;
  if (rgi_shared_state_copy(l, salted_key(group), &own))
    return;
  if (rgi_shared_state_attach(own) == RG_SUCCESS) {
    atomic_compare_exchange_strong(&own->memory->broken, &none, (uint16_t)error);
    atomic_store(&rgi_shared_state_member_at(own, own->me)->done, own->step + 1);
  }
  rgi_shared_state_free(own);
}
