/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Mutexes of a group. One node: locks in the node's arena. Several nodes: an array of integers,
 * changed by compare-and-swap. A word is 0 or names the process that has the lock, so that the
 * wait for it ends when that process dies. */
#include <regroup/collectives.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "distribution/distribution_owner.h"
#include "engine/engine.h"
#include "formation/group.h"
#include "object/array.h"
#include "progress/wait.h"
#include "shm/process.h"

#define MAGIC 0x6d757465u

struct rg_mutexes_s {
  unsigned magic;
  unsigned long epoch;
  rg_group group; /* its own */
  int64_t n;
  rgi_shared_block shared;
  rgi_lock *locks;         /* one node */
  rg_array words;          /* several nodes: 0, or the owner's rank in the world + 1 */
  _Atomic uint64_t have[]; /* the thread of this process that has each; 0: none */
};

/* A number for the calling thread, which no later thread gets. */
static uint64_t this_thread(void) {
  static _Atomic uint64_t threads;
  static _Thread_local uint64_t number;
  if (!number)
    number = atomic_fetch_add(&threads, 1) + 1;
  return number;
}

static int check_mutexes(const char *call, rg_mutexes mutexes) {
  RGI_TRY(rgi_runtime_check(call));
  if (!mutexes || mutexes->magic != MAGIC || mutexes->epoch != rgi_runtime.epoch)
    return rgi_error(RG_ERR_ARRAY, "%s: the mutexes are NULL, freed, or of an earlier rg_init",
                     call);
  return RG_SUCCESS;
}

static int check_number(const char *call, rg_mutexes mutexes, int64_t i) {
  RGI_TRY(check_mutexes(call, mutexes));
  if (i < 0 || i >= mutexes->n)
    return rgi_error(RG_ERR_ARG, "%s: mutex %lld; they go from 0 to %lld", call, (long long)i,
                     (long long)mutexes->n - 1);
  return RG_SUCCESS;
}

/* --- creation ------------------------------------------------------------------------ */

static int bytes_of(void *context, size_t *bytes) {
  rg_mutexes m = context;
  *bytes = (size_t)m->n * sizeof(rgi_lock);
  return RG_SUCCESS;
}

static void fill_locks(void *context, char *base) {
  rg_mutexes m = context;
  memset(base, 0, (size_t)m->n * sizeof(rgi_lock));
}

static const char *number(uint64_t mine, uint64_t theirs) {
  (void)mine;
  (void)theirs;
  return "number of mutexes";
}

/* wrong: the caller's own error, which the other members return, too. */
static int make_locks(const char *call, rg_mutexes mutexes, int wrong) {
  rgi_shared_block_maker maker = {.what = "mutexes",
                                  .bytes = bytes_of,
                                  .fill = fill_locks,
                                  .context = mutexes,
                                  .hash = rgi_mix_bits((uint64_t)mutexes->n),
                                  .difference = number};
  RGI_TRY(rgi_shared_block_open(call, mutexes->group, &maker, wrong, &mutexes->shared));
  mutexes->locks = (void *)mutexes->shared.base;
  return RG_SUCCESS;
}

static int make_words(rg_mutexes mutexes) {
  RGI_TRY(rg_array_create_simple(mutexes->group, RG_TYPE_INT64, 1, &mutexes->n, &mutexes->words));
  int64_t mine = rgi_distribution_extent(&mutexes->words->d, mutexes->group->me);
  if (mine > 0)
    memset(rgi_array_mine(mutexes->words), 0, (size_t)mine * sizeof(int64_t));
  int error = rg_array_sync(mutexes->words);
  if (error)
    rg_array_free(&mutexes->words);
  return error;
}

static int check_count(const char *call, int64_t n) {
  if (n < 1)
    return rgi_error(RG_ERR_ARG, "%s: %lld mutexes", call, (long long)n);
  if (n > INT64_MAX / (int64_t)sizeof(rgi_lock))
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld mutexes", call, (long long)n);
  return RG_SUCCESS;
}

/* With a wrong number, which is then -1, the caller goes on until the other members know of it. */
static int make_mutexes(const char *call, rg_group g, rg_mutexes mutexes, int wrong) {
  RGI_TRY(rgi_group_derive(g, &mutexes->group));
  return rgi_shared_block_possible(g) ? make_locks(call, mutexes, wrong) : make_words(mutexes);
}

int rg_mutexes_create(rg_group g, int64_t n, rg_mutexes *mutexes) {
  RGI_REQUIRE(mutexes);
  RGI_TRY(rgi_group_check_member(__func__, g));
  int wrong = check_count(__func__, n);
  int64_t room = wrong ? 0 : n;
  rg_mutexes made = rgi_spare_alloc_zeroed(1, sizeof *made + (size_t)room * sizeof *made->have);
  if (!made)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld mutexes", __func__, (long long)n);
  made->n = wrong ? -1 : n;
  made->epoch = rgi_runtime.epoch;
  int error = make_mutexes(__func__, g, made, wrong);
  if (wrong)
    error = check_count(__func__, n);
  if (error) {
    rg_group_free(&made->group);
    rgi_spare_free(made);
    return error;
  }
  made->magic = MAGIC;
  *mutexes = made;
  return RG_SUCCESS;
}

/* Another member may wait for a mutex that a thread of the caller has. */
static int check_unlocked(const char *call, rg_mutexes mutexes) {
  for (int64_t i = 0; i < mutexes->n; i++)
    if (atomic_load_explicit(&mutexes->have[i], memory_order_relaxed))
      return rgi_error(RG_ERR_ARG, "%s: the caller has mutex %lld: unlock it first", call,
                       (long long)i);
  return RG_SUCCESS;
}

int rg_mutexes_free(rg_mutexes *mutexes) {
  RGI_REQUIRE(mutexes);
  if (!*mutexes)
    return RG_SUCCESS;
  if ((*mutexes)->magic != MAGIC)
    return rgi_error(RG_ERR_ARRAY, "%s: not mutexes, or freed already", __func__);
  if (rgi_runtime.started && (*mutexes)->epoch == rgi_runtime.epoch)
    RGI_TRY(check_unlocked(__func__, *mutexes));
  RGI_TRY(rg_array_free(&(*mutexes)->words));
  rgi_shared_block_close((*mutexes)->group, &(*mutexes)->shared);
  rg_group_free(&(*mutexes)->group);
  (*mutexes)->magic = 0;
  rgi_spare_free(*mutexes);
  *mutexes = NULL;
  return RG_SUCCESS;
}

/* --- locking ----------------------------------------------------------------------- */

/* *owner: the word before; 0: the caller has the lock now. */
static int try_word(rg_mutexes mutexes, int64_t i, int64_t *owner) {
  return rg_array_compare_and_swap(mutexes->words, &i, 0, rgi_runtime.rank + 1, owner);
}

static int lock_word(const char *call, rg_mutexes mutexes, int64_t i) {
  rgi_wait wait;
  int64_t owner;
  rgi_wait_start_unscoped(&wait, call, -1);
  for (;;) {
    RGI_TRY(try_word(mutexes, i, &owner));
    if (owner == 0)
      return RG_SUCCESS;
    wait.peer = wait.watched = (int)owner - 1;
    RGI_TRY(rg_progress());
    RGI_TRY(rgi_wait_more(&wait));
  }
}

int rg_mutexes_lock(rg_mutexes mutexes, int64_t i) {
  RGI_TRY(check_number(__func__, mutexes, i));
  if (atomic_load_explicit(&mutexes->have[i], memory_order_relaxed) == this_thread())
    return rgi_error(RG_ERR_ARG, "%s: the caller has mutex %lld already", __func__, (long long)i);
  RGI_TRY(mutexes->locks ? rgi_lock_acquire(&mutexes->locks[i], __func__)
                         : lock_word(__func__, mutexes, i));
  atomic_store_explicit(&mutexes->have[i], this_thread(), memory_order_relaxed);
  return RG_SUCCESS;
}

/* A mutex whose owner is dead stays locked: to try again is in vain. */
static int check_owner(const char *call, int64_t i, int64_t owner) {
  int rank = (int)owner - 1;
  if (rank < 0 || rank == rgi_runtime.rank)
    return RG_SUCCESS;
  rgi_process_check(rgi_clock_now());
  return rgi_process_is_dead(rank)
             ? rgi_error(RG_ERR_PROC_FAILED, "%s: rank %d of the world died with mutex %lld", call,
                         rank, (long long)i)
             : RG_SUCCESS;
}

/* *owner: 0: the caller has the lock now. */
static int try_lock(rg_mutexes mutexes, int64_t i, int64_t *owner) {
  if (!mutexes->locks)
    return try_word(mutexes, i, owner);
  *owner = rgi_lock_try(&mutexes->locks[i]) ? 0 : atomic_load(&mutexes->locks[i].owner.value);
  return RG_SUCCESS;
}

int rg_mutexes_try(rg_mutexes mutexes, int64_t i, int *locked) {
  int64_t owner;
  RGI_REQUIRE(locked);
  RGI_TRY(check_number(__func__, mutexes, i));
  RGI_TRY(try_lock(mutexes, i, &owner));
  RGI_TRY(check_owner(__func__, i, owner));
  if (owner == 0)
    atomic_store_explicit(&mutexes->have[i], this_thread(), memory_order_relaxed);
  *locked = owner == 0;
  rgi_wait_looked(!*locked);
  return RG_SUCCESS;
}

static int release_mutex(rg_mutexes mutexes, int64_t i) {
  int64_t before;
  if (!mutexes->locks)
    return rg_array_compare_and_swap(mutexes->words, &i, rgi_runtime.rank + 1, 0, &before);
  rgi_lock_release(&mutexes->locks[i]);
  return RG_SUCCESS;
}

/* What the caller put while it had the lock is complete before another process gets it: also where
 * the mutexes are on one node, since an array may be on several. */
int rg_mutexes_unlock(rg_mutexes mutexes, int64_t i) {
  RGI_TRY(check_number(__func__, mutexes, i));
  if (atomic_load_explicit(&mutexes->have[i], memory_order_relaxed) != this_thread())
    return rgi_error(RG_ERR_ARG, "%s: the caller does not have mutex %lld", __func__, (long long)i);
  int incomplete = rgi_engine_fence(-1);
  atomic_store_explicit(&mutexes->have[i], 0, memory_order_relaxed);
  int held = release_mutex(mutexes, i);
  return incomplete ? incomplete : held;
}
