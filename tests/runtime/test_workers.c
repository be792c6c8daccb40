/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * During MPI_Finalize a thread of the library polls the workers of UCX that MPI has made for a
 * single thread (mpich/polite_end.c): they are made for threads that use them one at a time. */
#include <stddef.h>

#include "tests/check/check.h"

#if __has_include(<ucp/api/ucp.h>) && !defined RG_NO_MPICH
#include <dlfcn.h>
#include <pthread.h>
#include <ucp/api/ucp.h>

#define FIND(name) __typeof__(name) *const p_##name = (__typeof__(name) *)dlsym(RTLD_DEFAULT, #name)

static void *poll_worker(void *worker) {
  FIND(ucp_worker_progress);
  for (int i = 0; i < 100; i++)
    p_ucp_worker_progress(worker);
  return NULL;
}

/* The mode of a worker that is made with these parameters; -1: it is not made. The thread that
 * calls and another one poll it. */
static int mode_of(ucp_context_h context, const ucp_worker_params_t *params) {
  FIND(ucp_worker_create);
  FIND(ucp_worker_query);
  FIND(ucp_worker_destroy);
  ucp_worker_params_t given = *params;
  ucp_worker_attr_t is = {.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE, .thread_mode = -1};
  ucp_worker_h worker;
  pthread_t other;
  if (p_ucp_worker_create(context, &given, &worker) != UCS_OK)
    return -1;
  RGT_INT(given.field_mask, params->field_mask);
  RGT_INT(given.thread_mode, params->thread_mode);
  p_ucp_worker_query(worker, &is);
  poll_worker(worker);
  RGT_INT(pthread_create(&other, NULL, poll_worker, worker), 0);
  pthread_join(other, NULL);
  p_ucp_worker_destroy(worker);
  return is.thread_mode;
}

static void check_modes(ucp_context_h context) {
  ucp_worker_params_t p = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                           .thread_mode = UCS_THREAD_MODE_SINGLE};
  RGT_INT(mode_of(context, &p), UCS_THREAD_MODE_SERIALIZED);
  p.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  RGT_INT(mode_of(context, &p), UCS_THREAD_MODE_SERIALIZED);
  p.thread_mode = UCS_THREAD_MODE_MULTI;
  RGT_INT(mode_of(context, &p), UCS_THREAD_MODE_MULTI);
  p.field_mask = 0; /* UCX takes a single thread then */
  RGT_INT(mode_of(context, &p), UCS_THREAD_MODE_SERIALIZED);
}

static void test_modes(void) {
  FIND(ucp_init_version);
  FIND(ucp_cleanup);
  ucp_params_t asked = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  ucp_context_h context;
  if (!p_ucp_init_version) /* this MPI has no UCX */
    return;
  RGT_INT(p_ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &asked, NULL, &context), UCS_OK);
  check_modes(context);
  p_ucp_cleanup(context);
}

/* polite_end.c has these declarations of its own. */
static void test_declarations(void) {
  RGT_INT(offsetof(ucp_worker_params_t, field_mask), 0);
  RGT_INT(offsetof(ucp_worker_params_t, thread_mode), 8);
  RGT_INT(sizeof(ucs_thread_mode_t), sizeof(int));
  RGT_INT(UCP_WORKER_PARAM_FIELD_THREAD_MODE, 1);
  RGT_INT(UCS_THREAD_MODE_SINGLE, 0);
  RGT_INT(UCS_THREAD_MODE_SERIALIZED, 1);
  RGT_INT(UCS_ERR_UNSUPPORTED, -22);
}

#else
static void test_modes(void) {
}

static void test_declarations(void) {
}
#endif

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"modes", test_modes}, {"declarations", test_declarations}, {NULL, NULL}};
  return rgt_main(argc, argv, "workers", tests);
}
