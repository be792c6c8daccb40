/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * Start and stop, versions, errors. */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "runtime/gather.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "tests/check/check.h"

static void test_version(void) {
  int major = -1, minor = -1, patch = -1;
  RGT_OK(rg_version(&major, &minor, &patch));
  RGT_INT(major, RG_VERSION_MAJOR);
  RGT_INT(minor, RG_VERSION_MINOR);
  RGT_INT(patch, RG_VERSION_PATCH);
  RGT_OK(rg_version(NULL, NULL, NULL));
  RGT_INT(RG_VERSION_NUMBER, major * 10000 + minor * 100 + patch);
  RGT_TRUE(RG_VERSION_AT_LEAST(0, 0, 0) && RG_VERSION_AT_LEAST(0, 2, 0));
  RGT_TRUE(RG_VERSION_AT_LEAST(RG_VERSION_MAJOR, RG_VERSION_MINOR, RG_VERSION_PATCH));
  RGT_TRUE(!RG_VERSION_AT_LEAST(RG_VERSION_MAJOR, RG_VERSION_MINOR, RG_VERSION_PATCH + 1));
  RGT_TRUE(!RG_VERSION_AT_LEAST(1, 0, 0));
}

static void test_error_texts(void) {
  for (int code = 0; code <= RG_ERR_NUMERIC; code++) {
    RGT_TRUE(strlen(rg_error_string(code)) > 5);
    RGT_TRUE(strncmp(rg_error_name(code), code ? "RG_ERR_" : "RG_SUCCESS", 7) == 0);
    for (int other = 0; other < code; other++) {
      RGT_TRUE(strcmp(rg_error_string(code), rg_error_string(other)) != 0);
      RGT_TRUE(strcmp(rg_error_name(code), rg_error_name(other)) != 0);
    }
  }
  for (int code = RG_ERR_NUMERIC + 1; code < RG_ERR_USER; code++)
    RGT_STR(rg_error_name(code), "unknown error code");
  RGT_STR(rg_error_string(-1), "unknown error code");
  RGT_STR(rg_error_name(INT_MIN), "unknown error code");
  RGT_STR(rg_error_name(RG_ERR_USER), "RG_ERR_USER");
  RGT_STR(rg_error_name(INT_MAX), "RG_ERR_USER");
  RGT_STR(rg_error_name(RG_ERR_PROC_FAILED), "RG_ERR_PROC_FAILED");
}

/* Programs and other languages may rely on these numbers. */
static void test_error_numbers(void) {
  RGT_INT(RG_ERR_ARG, 1);
  RGT_INT(RG_ERR_MISMATCH, 11);
  RGT_INT(RG_ERR_TIMEOUT, 12);
  RGT_INT(RG_ERR_PROC_FAILED, 17);
  RGT_INT(RG_ERR_REVOKED, 18);
  RGT_INT(RG_ERR_INTERNAL, 23);
  RGT_INT(RG_ERR_NUMERIC, 24);
  RGT_INT(RG_ERR_USER, 64);
}

static void test_error_set(void) {
  char more[1000];
  RGT_INT(rg_error_set(77, "step %d: %s", 3, "diverged"), 77);
  RGT_STR(rg_error_detail(), "step 3: diverged");
  RGT_INT(rg_error_set(78, "outer: %s", rg_error_detail()), 78);
  RGT_STR(rg_error_detail(), "outer: step 3: diverged");
  memset(more, 'x', sizeof more);
  more[sizeof more - 1] = 0;
  RGT_INT(rg_error_set(77, "%s", more), 77);
  RGT_INT(strlen(rg_error_detail()), 767);
}

static void test_error_of_callback(void) {
  unsigned mark = rgi_error_mark();
  RGT_INT(rgi_error_of_callback("unit", RG_SUCCESS, mark), RG_SUCCESS);
  RGT_INT(rgi_error_of_callback("unit", 77, mark), 77);
  RGT_STR(rg_error_detail(), "unit returned 77 (an error of the application's own)");
  mark = rgi_error_mark();
  rg_error_set(77, "too cold");
  RGT_INT(rgi_error_of_callback("unit", 77, mark), 77);
  RGT_STR(rg_error_detail(), "too cold");
  mark = rgi_error_mark();
  rg_error_set(RG_ERR_NOMEM, "too large");
  RGT_INT(rgi_error_of_callback("unit", RG_ERR_NOMEM, mark), RG_ERR_NOMEM);
  RGT_STR(rg_error_detail(), "unit: too large");
  RGT_INT(rgi_error_of_callback("unit", -1, rgi_error_mark()), RG_ERR_ARG);
  RGT_INT(rgi_error_of_callback("unit", RG_ERR_USER - 1, rgi_error_mark()), RG_ERR_ARG);
  RGT_INT(rgi_error_of_callback("unit", RG_ERR_NOMEM, rgi_error_mark()), RG_ERR_NOMEM);
}

/* A text is no format. */
static void test_error_set_text(void) {
  RGT_INT(rg_error_set_text(77, "50 %s and %n"), 77);
  RGT_STR(rg_error_detail(), "50 %s and %n");
  RGT_INT(rg_error_set_text(78, rg_error_detail() + 3), 78);
  RGT_STR(rg_error_detail(), "%s and %n");
  RGT_INT(rg_error_set_text(77, NULL), 77);
  RGT_STR(rg_error_detail(), "");
}

static void *failing_thread(void *detail) {
  *(int *)detail = strlen(rg_error_detail()) == 0; /* another thread's error is not ours */
  rg_initialized(NULL);
  *(int *)detail += strstr(rg_error_detail(), "rg_initialized") != NULL;
  return NULL;
}

static void test_detail_per_thread(void) {
  pthread_t thread;
  int good = 0;
  RGT_FAILS(rg_group_size(NULL, NULL), RG_ERR_ARG);
  pthread_create(&thread, NULL, failing_thread, &good);
  pthread_join(thread, NULL);
  RGT_INT(good, 2);
  RGT_TRUE(strstr(rg_error_detail(), "rg_group_size") != NULL);
}

static void expect_state(int on) {
  int flag = -1;
  RGT_OK(rg_initialized(&flag));
  RGT_INT(flag, on);
}

static void test_counted(void) {
  MPI_Comm again;
  expect_state(0);
  RGT_FAILS(rg_finalize(), RG_ERR_NOT_INIT);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  MPI_Comm_dup(MPI_COMM_WORLD, &again);
  RGT_OK(rg_init(again, NULL)); /* the same processes in the same order */
  MPI_Comm_free(&again);
  RGT_OK(rg_finalize());
  RGT_OK(rg_finalize());
  expect_state(1);
  RGT_OK(rg_finalize());
  expect_state(0);
}

/* Over parts of the world, each for itself, many times. */
static void test_over_parts(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rgt_rank % 2, -rgt_rank, &half);
  for (int turn = 0; turn < 50; turn++) {
    rg_group world;
    int size = 0, rank = -1, want_size, want_rank;
    RGT_OK(rg_init(half, NULL));
    RGT_OK(rg_group_world(&world));
    RGT_OK(rg_group_size(world, &size));
    RGT_OK(rg_group_rank(world, &rank));
    MPI_Comm_size(half, &want_size);
    MPI_Comm_rank(half, &want_rank);
    RGT_INT(size, want_size);
    RGT_INT(rank, want_rank);
    RGT_OK(rg_group_free(&world));
    RGT_OK(rg_finalize());
  }
  MPI_Comm_free(&half);
}

static void test_over_others(void) {
  if (rgt_size < 2)
    return;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_FAILS(rg_init(MPI_COMM_SELF, NULL), RG_ERR_INIT);
  RGT_OK(rg_finalize());
  expect_state(0);
  /* Running on rank 0 alone: all are told. */
  if (rgt_rank == 0)
    RGT_OK(rg_init(MPI_COMM_SELF, NULL));
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_INIT);
  if (rgt_rank == 0)
    RGT_OK(rg_finalize());
  expect_state(0);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_finalize());
}

static void test_bad_communicators(void) {
  RGT_FAILS(rg_init(MPI_COMM_NULL, NULL), RG_ERR_COMM);
  if (rgt_size > 1) {
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rgt_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rgt_rank % 2, 3, &inter);
    RGT_FAILS(rg_init(inter, NULL), RG_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
  expect_state(0);
}

static void test_node(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_INT(rgi_runtime.size, rgt_size);
  RGT_TRUE(rgi_node.n >= 1 && rgi_node.n <= rgt_size);
  RGT_TRUE(rgi_node.processors >= 1);
  RGT_INT(rgi_node.oversubscribed, rgi_node.n > rgi_node.processors);
  RGT_OK(rg_finalize());
  RGT_OK(rg_init(MPI_COMM_WORLD, "oversubscribed=yes"));
  RGT_INT(rgi_node.oversubscribed, 1);
  RGT_OK(rg_finalize());
  RGT_OK(rg_init(MPI_COMM_WORLD, "oversubscribed=no"));
  RGT_INT(rgi_node.oversubscribed, 0);
  RGT_OK(rg_finalize());
}

/* The sanitizer refuses as the system does. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1";
}

/* The last process asks for more memory than there is. */
static void test_gather(void) {
  int64_t mine = 7 * rgt_rank + 1, *all = NULL;
  size_t bytes = rgt_rank < rgt_size - 1 ? sizeof mine : (size_t)PTRDIFF_MAX / (size_t)rgt_size;
  RGT_OK(rgi_gather(MPI_COMM_WORLD, rgt_size, "numbers", &mine, sizeof mine, &all));
  for (int i = 0; i < rgt_size; i++)
    RGT_INT(all[i], 7 * i + 1);
  free(all);
  all = NULL;
  RGT_FAILS(rgi_gather(MPI_COMM_WORLD, rgt_size, "numbers", &mine, bytes, &all), RG_ERR_NOMEM);
  RGT_TRUE(all == NULL);
}

/* What a child of fork gets: 0 if it is all as documented, otherwise the number of a call. */
static int call_in_child(rg_group world) {
  int flag = -1, one = 1, sum;
  rg_request request;
  rg_group made;
  if (rg_initialized(&flag) || flag)
    return 1;
  if (rg_barrier(world) != RG_ERR_NOT_INIT)
    return 2;
  if (rg_allreduce(world, &one, &sum, 1, MPI_INT, MPI_SUM) != RG_ERR_NOT_INIT)
    return 3;
  if (rg_irecv(world, &one, 1, MPI_INT, 0, 0, &request) != RG_ERR_NOT_INIT)
    return 4;
  if (rg_group_world(&made) != RG_ERR_NOT_INIT)
    return 5;
  if (rg_finalize() != RG_ERR_NOT_INIT)
    return 6;
  return rg_group_free(&world) ? 7 : 0;
}

/* Every process counts on in the steps of its group, whatever its child has called. */
static void test_fork(void) {
  rg_group world;
  int status = -1, one = 1, sum = 0;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_barrier(world));
  pid_t child = fork();
  if (child == 0)
    _exit(call_in_child(world));
  RGT_INT(waitpid(child, &status, 0), child);
  RGT_INT(status, 0);
  RGT_OK(rg_allreduce(world, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"version", test_version},
                                   {"error texts", test_error_texts},
                                   {"error numbers", test_error_numbers},
                                   {"error set", test_error_set},
                                   {"error set text", test_error_set_text},
                                   {"error of callback", test_error_of_callback},
                                   {"detail belongs to a thread", test_detail_per_thread},
                                   {"counted", test_counted},
                                   {"over parts of the world", test_over_parts},
                                   {"over other processes", test_over_others},
                                   {"bad communicators", test_bad_communicators},
                                   {"node", test_node},
                                   {"gather", test_gather},
                                   {"a child of fork", test_fork},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "runtime", tests);
}
