/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays that span nodes and that the caller has freed: other members may still access its
 * memory. So the caller starts a barrier and does not wait for it. When it is complete, all
 * members have freed the array, and the memory is given back. Later creations and frees test the
 * barriers, and so does the last rg_finalize, for a moment. */
#include <pthread.h>
#include <regroup/collectives.h>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "object/array_create.h"
#include "progress/wait.h"
#include "runtime/module.h"
#include "shm/node.h"

/* Seconds that the last rg_finalize waits for the barriers. An array that some member never frees
 * must not hold it up for longer. */
#define PATIENCE 0.5

static struct {
  pthread_mutex_t lock;
  rg_array first;
} deferred = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void give_memory(rg_array a) {
  if (!a->replica_failed)
    rgi_heap_give(a->heap_offsets[a->me], a->mine);
}

void rgi_array_drop(rg_array *a) {
  give_memory(*a);
  rgi_array_forget(*a);
  *a = NULL;
}

int rgi_array_defer_free(rg_array a) {
  RGI_TRY(rgi_engine_finish());
  int error = rg_ibarrier(a->group, &a->free_barrier);
  if (error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED) {
    rgi_array_forget(a); /* other members may use the memory for ever: it is not reused */
    return RG_SUCCESS;
  }
  RGI_TRY(error);
  a->magic = 0;
  pthread_mutex_lock(&deferred.lock);
  a->next = deferred.first;
  deferred.first = a;
  pthread_mutex_unlock(&deferred.lock);
  return RG_SUCCESS;
}

/* Whether the array has to wait no longer. When the barrier has ended with an error, a death or a
 * revocation, it never will be known whether all members have freed the array: then its memory is
 * not reused. An array of an earlier rg_init has no memory any more. */
static int is_over(rg_array a) {
  int done = 0;
  if (a->epoch != rgi_runtime.epoch || !rgi_runtime.started)
    return 1;
  if (rg_test(&a->free_barrier, &done, NULL))
    return !a->free_barrier;
  if (done)
    give_memory(a);
  return done;
}

void rgi_array_free_deferred(void) {
  if (!deferred.first)
    return;
  pthread_mutex_lock(&deferred.lock);
  for (rg_array *link = &deferred.first, a; (a = *link);) {
    if (is_over(a)) {
      *link = a->next;
      rgi_array_forget(a);
    } else {
      link = &a->next;
    }
  }
  pthread_mutex_unlock(&deferred.lock);
}

static void finish_deferred(int mpi) {
  rgi_pause pause = {0};
  for (double end = rgi_clock_now() + PATIENCE; mpi && deferred.first && rgi_clock_now() < end;) {
    rgi_array_free_deferred();
    rgi_pause_step(&pause, RGI_PAUSE_AUTO, !rgi_node.oversubscribed);
  }
}

__attribute__((constructor)) static void register_deferred(void) {
  static rgi_module objects = {
      .name = "array objects", .stage = RGI_MODULE_OBJECTS, .close = finish_deferred};
  rgi_module_register(&objects);
}
