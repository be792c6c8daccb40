/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * MPICH releases a variable on the stack as if it were a request of UCX's: UCX gets only what is
 * its own (mpich/polite.c). */
#include <stddef.h>

#include "tests/check/check.h"

#if __has_include(<ucp/api/ucp.h>) && !defined RG_NO_MPICH
#include <dlfcn.h>
#include <string.h>
#include <ucp/api/ucp.h>

#define FIND(name) __typeof__(name) *const p_##name = (__typeof__(name) *)dlsym(RTLD_DEFAULT, #name)

/* UCX keeps what it knows of a request in front of it. */
enum { BEFORE = 640, BYTES = 704, FILLED = 0x5a };

static void release(void *request) {
  FIND(ucp_request_release);
  if (p_ucp_request_release) /* otherwise this MPI has no UCX */
    p_ucp_request_release(request);
}

static void test_variable(void) {
  char variable[BYTES];
  static char filled[BYTES]; /* not between the variable and the call */
  memset(variable, FILLED, BYTES);
  memset(filled, FILLED, BYTES);
  release(variable + BEFORE);
  RGT_INT(memcmp(variable, filled, BYTES), 0);
}

static void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                        void *done) {
  (void)request, (void)info;
  *(int *)done += status == UCS_ERR_CANCELED;
}

/* A receive that is cancelled and released. UCX uses a request that is released for the next. */
static void *receive_and_release(ucp_worker_h worker) {
  FIND(ucp_tag_recv_nbx);
  FIND(ucp_request_cancel);
  char byte;
  int done = 0;
  ucp_request_param_t param = {.op_attr_mask =
                                   UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                               .cb.recv = on_received,
                               .user_data = &done};
  void *request = p_ucp_tag_recv_nbx(worker, &byte, 1, 1, UINT64_MAX, &param);
  RGT_TRUE(UCS_PTR_IS_PTR(request));
  p_ucp_request_cancel(worker, request);
  RGT_INT(done, 1);
  release(request);
  return request;
}

static void test_request(void) {
  FIND(ucp_init_version);
  FIND(ucp_worker_create);
  FIND(ucp_worker_destroy);
  FIND(ucp_cleanup);
  ucp_params_t asked = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  ucp_worker_params_t params = {.field_mask = 0};
  ucp_context_h context;
  ucp_worker_h worker;
  if (!p_ucp_init_version)
    return;
  RGT_INT(p_ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &asked, NULL, &context), UCS_OK);
  RGT_INT(p_ucp_worker_create(context, &params, &worker), UCS_OK);
  void *first = receive_and_release(worker);
  RGT_TRUE(receive_and_release(worker) == first);
  p_ucp_worker_destroy(worker);
  p_ucp_cleanup(context);
}

#else
static void test_variable(void) {
}

static void test_request(void) {
}
#endif

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"variable", test_variable}, {"request", test_request}, {NULL, NULL}};
  return rgt_main(argc, argv, "release", tests);
}
