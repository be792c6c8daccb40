/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays that span nodes and that the caller has freed: other members may still
 * use its memory. A barrier that nobody waits for tells when all have freed. */
#include <pthread.h>
#include <regroup/collectives.h>

#include "base/error.h"
#include "engine/engine.h"
#include "object/array.h"
#include "progress/wait.h"
#include "runtime/extension.h"
#include "shm/node.h"

/* So long the last rg_finalize waits for arrays that all have freed. One that some
 * member never frees must not keep it. */
#define PATIENCE 0.5

static struct {
  pthread_mutex_t lock;
  rg_array first;
} leaving = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void give_memory(rg_array a) {
  if (!a->torn)
    rgi_engine_give(a->shares[a->me], a->mine);
}

void rgi_array_drop(rg_array *a) {
  give_memory(*a);
  rgi_array_forget(*a);
  *a = NULL;
}

int rgi_array_leave(rg_array a) {
  RGI_TRY(rgi_engine_fence(-1));
  int error = rg_ibarrier(a->group, &a->leaving);
  if (error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED) {
    rgi_array_forget(a); /* who still uses the memory cannot be found out: it is not reused */
    return RG_SUCCESS;
  }
  RGI_TRY(error);
  a->magic = 0;
  pthread_mutex_lock(&leaving.lock);
  a->next = leaving.first;
  leaving.first = a;
  pthread_mutex_unlock(&leaving.lock);
  return RG_SUCCESS;
}

/* Whether it can go now. An array of an earlier start of the library has no memory
 * any more. */
static int has_left(rg_array a) {
  int done = 0;
  if (a->epoch != rgi_rt.epoch || !rgi_rt.started)
    return 1;
  if (rg_test(&a->leaving, &done, NULL) || !done)
    return 0;
  give_memory(a);
  return 1;
}

void rgi_array_look_after_leaving(void) {
  if (!leaving.first)
    return;
  pthread_mutex_lock(&leaving.lock);
  for (rg_array *link = &leaving.first, a; (a = *link);) {
    if (has_left(a)) {
      *link = a->next;
      rgi_array_forget(a);
    } else {
      link = &a->next;
    }
  }
  pthread_mutex_unlock(&leaving.lock);
}

static int nothing_to_open(void) {
  return RG_SUCCESS;
}

static void finish(int mpi) {
  rgi_pause pause = {0};
  for (double end = rgi_now() + PATIENCE; mpi && leaving.first && rgi_now() < end;) {
    rgi_array_look_after_leaving();
    rgi_pause_step(&pause, RGI_WAIT_AUTO, !rgi_node.oversubscribed);
  }
}

__attribute__((constructor)) static void extend(void) {
  static rgi_extension objects = {
      .name = "array objects", .open = nothing_to_open, .close = finish};
  rgi_extend(&objects);
}
