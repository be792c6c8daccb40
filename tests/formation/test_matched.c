/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Matched probes. test_matched_far.c runs the same between nodes. */
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <stdlib.h>

#include "ring.h"
#include "tests/check/check.h"

#ifndef SUITE
#define SUITE "matched"
#endif

static rg_group world;

/* Matched in the order of sending, received in the opposite one, with every protocol. */
static void test_lengths(void) {
  enum { N = 6 };
  static const int lengths[N] = {0, 1, 3000, 9000, 200000, 2};
  int *data[N], there = -1;
  rg_request out[N], in;
  rg_message m[N], none = NULL;
  rg_status status;
  for (int k = 0; k < N; k++) {
    data[k] = malloc(((size_t)lengths[k] + 1) * sizeof(int));
    fill(data[k], lengths[k], rgt_rank + k);
    RGT_OK(rg_isend(world, data[k], lengths[k], MPI_INT, next_rank(), k, &out[k]));
  }
  for (int k = 0; k < N; k++) {
    RGT_OK(rg_mprobe(world, k % 2 ? RG_ANY_SOURCE : rank_before(), RG_ANY_TAG, &m[k], &status));
    RGT_INT(status.source, rank_before());
    RGT_INT(status.tag, k);
    RGT_INT(status.bytes, 4 * lengths[k]);
  }
  RGT_OK(rg_iprobe(world, RG_ANY_SOURCE, RG_ANY_TAG, &there, NULL));
  RGT_INT(there, 0);
  RGT_OK(rg_improbe(world, RG_ANY_SOURCE, RG_ANY_TAG, &there, &none, NULL));
  RGT_INT(there, 0);
  RGT_PTR_NULL(none);
  for (int k = N - 1; k >= 0; k--) {
    int *got = calloc((size_t)lengths[k] + 1, sizeof *got);
    if (k % 2) {
      RGT_OK(rg_mrecv(got, lengths[k], MPI_INT, &m[k], &status));
    } else {
      RGT_OK(rg_imrecv(got, lengths[k], MPI_INT, &m[k], &in));
      RGT_PTR_NULL(m[k]);
      RGT_OK(rg_wait(&in, &status));
    }
    RGT_PTR_NULL(m[k]);
    RGT_INT(wrong(got, lengths[k], rank_before() + k), 0);
    RGT_INT(status.source, rank_before());
    RGT_INT(status.tag, k);
    RGT_INT(status.bytes, 4 * lengths[k]);
    free(got);
  }
  RGT_OK(rg_wait_all(N, out, NULL));
  for (int k = 0; k < N; k++)
    free(data[k]);
}

/* A receive from anybody gets the message after the matched one. */
static void test_not_stolen(void) {
  int first = 1, second = 2, got = 0, later = 0;
  rg_message m;
  rg_request in;
  RGT_OK(rg_send(world, &first, 1, MPI_INT, next_rank(), 5));
  RGT_OK(rg_mprobe(world, rank_before(), 5, &m, NULL));
  RGT_OK(rg_irecv(world, &later, 1, MPI_INT, RG_ANY_SOURCE, RG_ANY_TAG, &in));
  RGT_OK(rg_send(world, &second, 1, MPI_INT, next_rank(), 5));
  RGT_OK(rg_wait(&in, NULL));
  RGT_INT(later, 2);
  RGT_OK(rg_mrecv(&got, 1, MPI_INT, &m, NULL));
  RGT_INT(got, 1);
}

/* The group is freed between the probe and the receive; its ranks are the opposite of the
 * world's. */
static void test_freed_group(void) {
  int *reverse = malloc((size_t)rgt_size * sizeof *reverse), me, got[2] = {0}, out[2];
  rg_group g;
  rg_message m;
  rg_status status;
  MPI_Datatype swapped;
  const int ones[2] = {1, 1}, at[2] = {1, 0};
  for (int i = 0; i < rgt_size; i++)
    reverse[i] = rgt_size - 1 - i;
  MPI_Type_indexed(2, ones, at, MPI_INT, &swapped);
  MPI_Type_commit(&swapped);
  RGT_OK(rg_group_create(world, rgt_size, reverse, 0, &g));
  RGT_OK(rg_group_rank(g, &me));
  int before = (me + rgt_size - 1) % rgt_size;
  fill(out, 2, me);
  RGT_OK(rg_send(g, out, 2, MPI_INT, (me + 1) % rgt_size, 3));
  RGT_OK(rg_mprobe(g, before, 3, &m, NULL));
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_mrecv(got, 1, swapped, &m, &status));
  RGT_INT(status.source, before);
  RGT_INT(got[1], before);
  RGT_INT(got[0], before + 7);
  MPI_Type_free(&swapped);
  free(reverse);
}

static void test_no_process(void) {
  int x = 3, there = 0;
  rg_message m = NULL;
  rg_request r;
  rg_status status = {.source = -7};
  RGT_OK(rg_mprobe(world, RG_PROC_NULL, 1, &m, &status));
  RGT_TRUE(m == RG_MESSAGE_NO_PROC);
  RGT_INT(status.source, RG_PROC_NULL);
  RGT_INT(status.tag, RG_ANY_TAG);
  RGT_INT(status.bytes, 0);
  status.source = -7;
  RGT_OK(rg_mrecv(&x, 1, MPI_INT, &m, &status));
  RGT_PTR_NULL(m);
  RGT_INT(status.source, RG_PROC_NULL);
  RGT_OK(rg_improbe(world, RG_PROC_NULL, 1, &there, &m, NULL));
  RGT_INT(there, 1);
  RGT_OK(rg_imrecv(&x, 1, MPI_INT, &m, &r));
  RGT_OK(rg_wait(&r, &status));
  RGT_INT(status.source, RG_PROC_NULL);
  RGT_INT(x, 3);
}

static void test_errors(void) {
  int data[3] = {1, 2, 3}, got[3] = {0};
  rg_message m = NULL, same;
  rg_request r = NULL;
  rg_status status = {.source = -7};
  RGT_FAILS(rg_mprobe(NULL, 0, 0, &m, NULL), RG_ERR_GROUP);
  RGT_FAILS(rg_mprobe(world, rgt_size, 0, &m, NULL), RG_ERR_RANK);
  RGT_FAILS(rg_mprobe(world, 0, -100, &m, NULL), RG_ERR_TAG);
  RGT_FAILS(rg_mprobe(world, 0, 0, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_improbe(world, 0, 0, NULL, &m, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_mrecv(got, 3, MPI_INT, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_mrecv(got, 3, MPI_INT, &m, NULL), RG_ERR_ARG);
  RGT_OK(rg_send(world, data, 3, MPI_INT, rgt_rank, 1));
  RGT_OK(rg_mprobe(world, rgt_rank, 1, &m, NULL));
  same = m;
  RGT_FAILS(rg_mrecv(got, -1, MPI_INT, &m, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_mrecv(NULL, 3, MPI_INT, &m, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_mrecv(got, 3, MPI_DATATYPE_NULL, &m, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_imrecv(got, 3, MPI_INT, &m, NULL), RG_ERR_ARG);
  RGT_TRUE(m == same);
  RGT_OK(rg_mrecv(got, 3, MPI_INT, &m, NULL));
  RGT_INT(got[2], 3);
  RGT_FAILS(rg_mrecv(got, 3, MPI_INT, &same, NULL), RG_ERR_ARG); /* received already */
  RGT_FAILS(rg_imrecv(got, 3, MPI_INT, &same, &r), RG_ERR_ARG);
  RGT_PTR_NULL(r);
  RGT_OK(rg_send(world, data, 3, MPI_INT, rgt_rank, 1));
  RGT_OK(rg_mprobe(world, rgt_rank, 1, &m, NULL));
  got[0] = got[1] = 0;
  RGT_FAILS(rg_mrecv(got, 1, MPI_INT, &m, &status), RG_ERR_TRUNCATE);
  RGT_PTR_NULL(m);
  RGT_INT(status.source, -7);
  RGT_INT(got[0], 1);
  RGT_INT(got[1], 0);
}

/* --- threads: each message is matched by one of them -------------------------------------- */

enum { THREADS = 4, EACH = 60 };

typedef struct {
  int n, bad;
  long sum;
} share;

/* The number of elements says what they are. The last message, of length 0, is for one thread. */
static void *receive_share(void *argument) {
  share *s = argument;
  for (;;) {
    rg_message m;
    rg_status status;
    MPI_Count n = -1;
    if (rg_mprobe(world, RG_ANY_SOURCE, RG_ANY_TAG, &m, &status) ||
        rg_status_count(&status, MPI_INT, &n)) {
      s->bad++;
      return NULL;
    }
    int *got = malloc(((size_t)n + 1) * sizeof *got);
    s->bad += rg_mrecv(got, n, MPI_INT, &m, &status) != RG_SUCCESS;
    s->bad += wrong(got, (int)n, (int)n + status.source);
    free(got);
    if (n == 0)
      return NULL;
    s->n++;
    s->sum += (long)n;
  }
}

static int length_of(int i) {
  return 1 + i * i * 7;
}

static void send_all(void) {
  for (int i = 0; i < EACH; i++) {
    int n = length_of(i), *data = malloc((size_t)n * sizeof *data);
    fill(data, n, n + rgt_rank);
    RGT_OK(rg_send(world, data, n, MPI_INT, next_rank(), i));
    free(data);
  }
  for (int k = 0; k < THREADS; k++)
    RGT_OK(rg_send(world, NULL, 0, MPI_INT, next_rank(), 0));
}

static void test_threads(void) {
  pthread_t thread[THREADS];
  share s[THREADS] = {{0}};
  int level, n = 0;
  long sum = 0, expected = 0;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE)
    return;
  for (int k = 0; k < THREADS; k++)
    pthread_create(&thread[k], NULL, receive_share, &s[k]);
  send_all();
  for (int k = 0; k < THREADS; k++) {
    pthread_join(thread[k], NULL);
    RGT_INT(s[k].bad, 0);
    n += s[k].n;
    sum += s[k].sum;
  }
  for (int i = 0; i < EACH; i++)
    expected += length_of(i);
  RGT_INT(n, EACH);
  RGT_INT(sum, expected);
}

/* --- starting and stopping ------------------------------------------------------------------ */

static rg_message left[2]; /* short, long */

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

/* rg_finalize discards matched messages. */
static void test_stop(void) {
  static int data[50000];
  rg_request out[2];
  for (int k = 0; k < 2; k++) {
    RGT_OK(rg_isend(world, data, k ? 50000 : 1, MPI_INT, next_rank(), k, &out[k]));
    RGT_OK(rg_mprobe(world, rank_before(), k, &left[k], NULL));
    RGT_OK(rg_request_free(&out[k]));
  }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  RGT_FAILS(rg_mrecv(data, 1, MPI_INT, &left[0], NULL), RG_ERR_NOT_INIT);
}

static void test_stale(void) {
  int x;
  for (int k = 0; k < 2; k++)
    RGT_FAILS(rg_mrecv(&x, 1, MPI_INT, &left[k], NULL), RG_ERR_ARG);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_start},           {"lengths", test_lengths},
      {"not stolen", test_not_stolen}, {"freed group", test_freed_group},
      {"no process", test_no_process}, {"errors", test_errors},
      {"threads", test_threads},       {"stop", test_stop},
      {"start again", test_start},     {"stale", test_stale},
      {"stop again", test_stop},       {NULL, NULL}};
  return rgt_main(argc, argv, SUITE, tests);
}
