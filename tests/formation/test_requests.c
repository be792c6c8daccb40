/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Completing one, any, some or all of several requests, and freeing them. test_requests_far.c runs
 * the same between nodes. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"
#include "tests/check/check.h"

#ifndef SUITE
#define SUITE "requests"
#endif

enum { LONG = 50000 };

static rg_group world;

/* Sends a number to this process. */
static void give(int tag, int value) {
  RGT_OK(rg_send(world, &value, 1, MPI_INT, rgt_rank, tag));
}

static void expect(int n, int got[], rg_request requests[]) {
  for (int i = 0; i < n; i++) {
    got[i] = -1;
    RGT_OK(rg_irecv(world, &got[i], 1, MPI_INT, rgt_rank, i, &requests[i]));
  }
}

static void check_empty(const rg_status *status) {
  RGT_INT(status->source, RG_UNDEFINED);
  RGT_INT(status->tag, RG_UNDEFINED);
  RGT_INT(status->bytes, 0);
  RGT_INT(status->reserved[0], 0);
}

static void test_any(void) {
  int got[4], done = -1;
  int64_t index = -5;
  rg_request r[4];
  rg_status status;
  expect(3, got, r);
  r[3] = NULL;
  RGT_OK(rg_test_any(4, r, &index, &done, &status));
  RGT_INT(done, 0);
  RGT_INT(index, RG_UNDEFINED);
  give(2, 12);
  RGT_OK(rg_wait_any(4, r, &index, &status));
  RGT_INT(index, 2);
  RGT_PTR_NULL(r[2]);
  RGT_INT(status.source, rgt_rank);
  RGT_INT(status.tag, 2);
  RGT_INT(status.bytes, sizeof(int));
  give(1, 11);
  give(0, 10);
  RGT_OK(rg_wait_any(4, r, &index, NULL));
  RGT_INT(index, 0); /* both are complete: the first of the array */
  RGT_OK(rg_test_any(4, r, &index, &done, &status));
  RGT_INT(done, 1);
  RGT_INT(index, 1);
  for (int i = 0; i < 3; i++)
    RGT_INT(got[i], 10 + i);
  RGT_OK(rg_wait_any(4, r, &index, &status));
  RGT_INT(index, RG_UNDEFINED);
  check_empty(&status);
  done = 0;
  RGT_OK(rg_test_any(0, NULL, &index, &done, &status));
  RGT_INT(done, 1);
  RGT_INT(index, RG_UNDEFINED);
}

static void test_some(void) {
  int got[5];
  int64_t count = -5, at[5];
  rg_request r[5];
  rg_status status[5];
  expect(5, got, r);
  RGT_OK(rg_test_some(5, r, &count, at, status));
  RGT_INT(count, 0);
  give(3, 13);
  give(1, 11);
  RGT_OK(rg_wait_some(5, r, &count, at, status));
  RGT_INT(count, 2);
  RGT_INT(at[0], 1);
  RGT_INT(at[1], 3);
  RGT_INT(status[0].tag, 1);
  RGT_INT(status[1].tag, 3);
  RGT_PTR_NULL(r[1]);
  RGT_PTR_NOT_NULL(r[2]);
  RGT_PTR_NULL(r[3]);
  for (int i = 0; i < 5; i += 2)
    give(i, 10 + i);
  RGT_OK(rg_test_some(5, r, &count, at, NULL));
  RGT_INT(count, 3);
  for (int i = 0; i < 5; i++)
    RGT_INT(got[i], 10 + i);
  RGT_OK(rg_wait_some(5, r, &count, at, status));
  RGT_INT(count, RG_UNDEFINED);
  RGT_OK(rg_test_some(0, NULL, &count, NULL, NULL));
  RGT_INT(count, RG_UNDEFINED);
}

static void test_all(void) {
  int got[3], done = -1;
  rg_request r[4];
  rg_status status[4];
  expect(3, got, r);
  r[3] = NULL;
  give(0, 10);
  give(2, 12);
  RGT_OK(rg_test_all(4, r, &done, status));
  RGT_INT(done, 0);
  for (int i = 0; i < 3; i++)
    RGT_PTR_NOT_NULL(r[i]); /* also those that are complete */
  give(1, 11);
  RGT_OK(rg_test_all(4, r, &done, status));
  RGT_INT(done, 1);
  for (int i = 0; i < 3; i++) {
    RGT_PTR_NULL(r[i]);
    RGT_INT(got[i], 10 + i);
    RGT_INT(status[i].tag, i);
  }
  check_empty(&status[3]);
  done = 0;
  RGT_OK(rg_test_all(4, r, &done, NULL));
  RGT_INT(done, 1);
  RGT_OK(rg_test_all(0, NULL, &done, NULL));
  RGT_OK(rg_wait_all(0, NULL, NULL));
  RGT_OK(rg_wait_all(4, r, status));
  check_empty(&status[0]);
}

/* Too long for the receives: these fail. */
static void give_long(int tag) {
  static const int two[2] = {1, 2};
  RGT_OK(rg_send(world, two, 2, MPI_INT, rgt_rank, tag));
}

static void check_text(const char *text) {
  RGT_TRUE(strstr(rg_error_detail(), text) != NULL);
}

static void test_failed(void) {
  int got[4], done = -5;
  int64_t index = -5, count = -5, at[4];
  rg_request r[4];
  rg_status status[4] = {{.source = -5}};
  expect(4, got, r);
  give_long(1);
  RGT_FAILS(rg_wait_any(4, r, &index, status), RG_ERR_TRUNCATE);
  check_text("rg_wait_any: requests[1]: rg_irecv");
  RGT_INT(index, -5); /* outputs are set only on success */
  RGT_INT(status[0].source, -5);
  RGT_PTR_NULL(r[1]);
  give(0, 10);
  give_long(2);
  give_long(3);
  RGT_FAILS(rg_wait_some(4, r, &count, at, status), RG_ERR_TRUNCATE);
  check_text("rg_wait_some: requests[2]: ");
  RGT_INT(count, -5);
  RGT_PTR_NOT_NULL(r[0]);
  RGT_PTR_NULL(r[2]);
  RGT_FAILS(rg_test_some(4, r, &count, at, status), RG_ERR_TRUNCATE);
  check_text("requests[3]: ");
  RGT_OK(rg_test_some(4, r, &count, at, status));
  RGT_INT(count, 1);
  RGT_INT(at[0], 0);
  RGT_INT(got[0], 10);
  expect(3, got, r);
  give(0, 10);
  give_long(1);
  RGT_OK(rg_test_all(3, r, &done, status));
  RGT_INT(done, 0); /* it has failed, but not all are complete */
  give_long(2);
  RGT_FAILS(rg_test_all(3, r, &done, status), RG_ERR_TRUNCATE);
  check_text("rg_test_all: requests[1]: ");
  RGT_INT(done, 0);
  for (int i = 0; i < 3; i++)
    RGT_PTR_NULL(r[i]);
  RGT_INT(got[0], 10);
}

static void test_misuse(void) {
  int done, junk[32] = {0};
  int64_t index, count, at[1];
  rg_request none = NULL, wrong = (rg_request)(void *)junk;
  RGT_FAILS(rg_wait_all(-1, &none, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_wait_any(-1, &none, &index, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_wait_any(1, NULL, &index, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_wait_any(1, &none, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_wait_any(1, &wrong, &index, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_wait_some(1, &none, NULL, at, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_wait_some(1, &none, &count, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_test_some(-1, &none, &count, at, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_test_all(1, NULL, &done, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_test_all(1, &none, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_test_any(1, &none, NULL, &done, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_test_any(1, &none, &index, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_request_free(NULL), RG_ERR_ARG);
  RGT_FAILS(rg_request_free(&wrong), RG_ERR_ARG);
  RGT_OK(rg_request_free(&none));
}

/* --- random traffic --------------------------------------------------------------------- */

enum { EACH = 6 };

static uint64_t draw(int round, int from, int to, int i) {
  uint64_t x = rgt_seed() + (uint64_t)round * 1000003 + (uint64_t)from * 10007 +
               (uint64_t)to * 101 + (uint64_t)i;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static int length_of(int round, int from, int to, int i) {
  uint64_t x = draw(round, from, to, i);
  return 1 + (int)(x % 4 == 0 ? x / 4 % LONG : x / 4 % 300);
}

typedef struct {
  int n, left; /* requests: the receives, then the sends; how many have not been reported */
  int **data;
  rg_request *open;
  char *reported;
} traffic;

static void start_traffic(int round, traffic *t) {
  int each = rgt_size * EACH;
  t->n = t->left = 2 * each;
  t->data = malloc((size_t)t->n * sizeof *t->data);
  t->open = malloc((size_t)t->n * sizeof(rg_request));
  t->reported = calloc((size_t)t->n, 1);
  for (int k = 0; k < each; k++) {
    int peer = k / EACH, i = k % EACH;
    int in = length_of(round, peer, rgt_rank, i), out = length_of(round, rgt_rank, peer, i);
    t->data[k] = calloc((size_t)in, sizeof(int));
    t->data[each + k] = malloc((size_t)out * sizeof(int));
    for (int j = 0; j < out; j++)
      t->data[each + k][j] = (int)draw(round, rgt_rank, peer, i) + j;
    RGT_OK(rg_irecv(world, t->data[k], in, MPI_INT, peer, i, &t->open[k]));
    RGT_OK(rg_isend(world, t->data[each + k], out, MPI_INT, peer, i, &t->open[each + k]));
  }
}

/* The plain reference: each request is reported once, and then its data are there. */
static void check_reported(int round, traffic *t, int64_t k, const rg_status *status) {
  int peer = (int)(k % (t->n / 2)) / EACH, i = (int)k % EACH, wrong = 0;
  if (!RGT_TRUE(k >= 0 && k < t->n && !t->reported[k]))
    return;
  RGT_PTR_NULL(t->open[k]);
  t->reported[k] = 1;
  t->left--;
  if (k >= t->n / 2) {
    RGT_INT(status->source, RG_UNDEFINED);
    return;
  }
  int n = length_of(round, peer, rgt_rank, i);
  for (int j = 0; j < n; j++)
    wrong += t->data[k][j] != (int)draw(round, peer, rgt_rank, i) + j;
  RGT_INT(wrong, 0);
  RGT_INT(status->source, peer);
  RGT_INT(status->tag, i);
  RGT_INT(status->bytes, 4 * n);
}

static void check_some(int round, traffic *t, int64_t count, const int64_t at[],
                       const rg_status status[]) {
  for (int64_t i = 0; i < count; i++)
    check_reported(round, t, at[i], &status[i]);
}

/* One call of a random kind. */
static void complete(int round, traffic *t, int64_t at[], rg_status status[]) {
  int64_t count = -1;
  int done = -1;
  switch (random() % 5) {
  case 0:
    RGT_OK(rg_wait_any(t->n, t->open, &at[0], status));
    check_reported(round, t, at[0], status);
    break;
  case 1:
    RGT_OK(rg_wait_some(t->n, t->open, &count, at, status));
    RGT_TRUE(count > 0);
    check_some(round, t, count, at, status);
    break;
  case 2:
    RGT_OK(rg_test_any(t->n, t->open, &at[0], &done, status));
    if (done)
      check_reported(round, t, at[0], status);
    break;
  case 3:
    RGT_OK(rg_test_some(t->n, t->open, &count, at, status));
    check_some(round, t, count, at, status);
    break;
  default:
    RGT_OK(rg_test_all(t->n, t->open, &done, status));
    for (int k = 0; done && k < t->n; k++)
      if (!t->reported[k])
        check_reported(round, t, k, &status[k]);
  }
  for (int k = 0; k < t->n; k++)
    if (t->reported[k] != (t->open[k] == NULL))
      RGT_TRUE(!"an entry that was reported, and no other, is NULL");
}

static void test_traffic(void) {
  srandom((unsigned)rgt_seed() + (unsigned)rgt_rank);
  for (int round = 0; round < 8; round++) {
    traffic t;
    start_traffic(round, &t);
    int64_t *at = malloc((size_t)t.n * sizeof *at);
    rg_status *status = malloc((size_t)t.n * sizeof *status);
    while (t.left > 0)
      complete(round, &t, at, status);
    RGT_OK(rg_wait_any(t.n, t.open, &at[0], status));
    RGT_INT(at[0], RG_UNDEFINED);
    for (int k = 0; k < t.n; k++)
      free(t.data[k]);
    free(t.data);
    free(t.open);
    free(t.reported);
    free(at);
    free(status);
  }
}

/* Collectives and messages in one array. */
static void test_mixed(void) {
  int one = 1, sum = 0, got = -1, value = rgt_rank;
  int64_t index;
  rg_request r[4];
  RGT_OK(rg_irecv(world, &got, 1, MPI_INT, rank_before(), 1, &r[0]));
  RGT_OK(rg_iallreduce(world, &one, &sum, 1, MPI_INT, MPI_SUM, &r[1]));
  RGT_OK(rg_isend(world, &value, 1, MPI_INT, next_rank(), 1, &r[2]));
  RGT_OK(rg_ibarrier(world, &r[3]));
  for (int i = 0; i < 4; i++) {
    RGT_OK(rg_wait_any(4, r, &index, NULL));
    RGT_TRUE(index >= 0 && index < 4);
  }
  RGT_INT(got, rank_before());
  RGT_INT(sum, rgt_size);
}

/* --- freeing --------------------------------------------------------------------------- */

/* Long sends whose requests are freed arrive. */
static void test_free_sends(void) {
  enum { N = 5 };
  int *data = malloc(LONG * sizeof *data), *got = malloc(LONG * sizeof *got), wrong = 0;
  rg_request r;
  for (int i = 0; i < LONG; i++)
    data[i] = rgt_rank + i;
  for (int k = 0; k < N; k++) {
    RGT_OK(rg_isend(world, data, LONG, MPI_INT, next_rank(), k, &r));
    RGT_OK(rg_request_free(&r));
    RGT_PTR_NULL(r);
  }
  for (int k = N - 1; k >= 0; k--) {
    memset(got, 0, LONG * sizeof *got);
    RGT_OK(rg_recv(world, got, LONG, MPI_INT, rank_before(), k, NULL));
    for (int i = 0; i < LONG; i++)
      wrong += got[i] != rank_before() + i;
  }
  RGT_INT(wrong, 0);
  RGT_OK(rg_barrier(world)); /* all have been received */
  free(data);
  free(got);
}

/* Freed receives, also one whose data are unpacked, and one that fails. */
static void test_free_receives(void) {
  static int got[3];
  int data[2] = {rgt_rank, 5}, dummy, done = 0, cancelled;
  rg_request r, open;
  MPI_Datatype swapped;
  const int ones[2] = {1, 1}, at[2] = {1, 0};
  MPI_Type_indexed(2, ones, at, MPI_INT, &swapped);
  MPI_Type_commit(&swapped);
  got[0] = got[1] = got[2] = -1;
  RGT_OK(rg_irecv(world, got, 1, swapped, rank_before(), 1, &r));
  RGT_OK(rg_request_free(&r));
  MPI_Type_free(&swapped);
  RGT_OK(rg_irecv(world, &got[2], 1, MPI_INT, rank_before(), 2, &r));
  RGT_OK(rg_request_free(&r));
  RGT_OK(rg_send(world, data, 2, MPI_INT, next_rank(), 1));
  RGT_OK(rg_send(world, data, 2, MPI_INT, next_rank(), 2));
  RGT_OK(rg_irecv(world, &dummy, 1, MPI_INT, rgt_rank, 3, &open));
  while (got[0] != 5 || got[2] == -1)
    RGT_OK(rg_test(&open, &done, NULL));
  RGT_INT(got[1], rank_before());
  RGT_INT(got[2], rank_before());
  RGT_OK(rg_request_cancel(&open, &cancelled));
}

static void test_free_collective(void) {
  static int sum, one = 1;
  int dummy, done, cancelled;
  rg_request r, open;
  sum = 0;
  RGT_OK(rg_iallreduce(world, &one, &sum, 1, MPI_INT, MPI_SUM, &r));
  RGT_OK(rg_request_free(&r));
  RGT_OK(rg_irecv(world, &dummy, 1, MPI_INT, rgt_rank, 3, &open));
  while (sum != rgt_size)
    RGT_OK(rg_test(&open, &done, NULL));
  RGT_OK(rg_request_cancel(&open, &cancelled));
}

/* --- a time limit ------------------------------------------------------------------------- */

static void test_time_limit(void) {
  int got[3];
  int64_t index, count, at[3];
  rg_request r[3];
  expect(3, got, r);
  RGT_FAILS(rg_wait_any(3, r, &index, NULL), RG_ERR_TIMEOUT);
  RGT_FAILS(rg_wait_some(3, r, &count, at, NULL), RG_ERR_TIMEOUT);
  give(0, 10);
  RGT_FAILS(rg_wait_all(3, r, NULL), RG_ERR_TIMEOUT);
  for (int i = 0; i < 3; i++)
    RGT_PTR_NOT_NULL(r[i]);
  give(1, 11);
  give(2, 12);
  RGT_OK(rg_wait_all(3, r, NULL));
  for (int i = 0; i < 3; i++)
    RGT_INT(got[i], 10 + i);
}

static void start_with(const char *options) {
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
  RGT_OK(rg_group_world(&world));
}

static void test_start(void) {
  start_with(NULL);
}

static void test_start_limited(void) {
  start_with("timeout=0.3");
}

static void test_stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* Rank 0 is in rg_finalize while its neighbour receives what it has sent, and never receives
 * itself. */
static void test_stop_early(void) {
  static int data[LONG], got[LONG];
  int wrong = 0;
  rg_request r;
  for (int i = 0; i < LONG; i++)
    data[i] = rgt_rank + i;
  RGT_OK(rg_isend(world, data, LONG, MPI_INT, next_rank(), 9, &r));
  RGT_OK(rg_request_free(&r));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank > 0) {
    RGT_OK(rg_recv(world, got, LONG, MPI_INT, rank_before(), 9, NULL));
    for (int i = 0; i < LONG; i++)
      wrong += got[i] != rank_before() + i;
    RGT_INT(wrong, 0);
  }
  test_stop();
}

/* Without an open request the calls need no library. */
static void test_outside(void) {
  rg_request none[2] = {NULL, NULL};
  int64_t index = 0, count = 5, at[2];
  rg_status status;
  RGT_OK(rg_wait_any(2, none, &index, &status));
  RGT_INT(index, RG_UNDEFINED);
  check_empty(&status);
  RGT_OK(rg_wait_any(0, NULL, &index, NULL));
  RGT_INT(index, RG_UNDEFINED);
  RGT_OK(rg_wait_some(2, none, &count, at, NULL));
  RGT_INT(count, RG_UNDEFINED);
  RGT_OK(rg_wait_all(2, none, NULL));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"outside", test_outside},
                                   {"start", test_start},
                                   {"any", test_any},
                                   {"some", test_some},
                                   {"all", test_all},
                                   {"failed", test_failed},
                                   {"misuse", test_misuse},
                                   {"traffic", test_traffic},
                                   {"mixed", test_mixed},
                                   {"free sends", test_free_sends},
                                   {"free receives", test_free_receives},
                                   {"free collective", test_free_collective},
                                   {"stop early", test_stop_early},
                                   {"start again", test_start_limited},
                                   {"time limit", test_time_limit},
                                   {"stop", test_stop},
                                   {"outside again", test_outside},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, SUITE, tests);
}
