/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * Messages between the members of groups. test_p2p_far.c runs the same between
 * nodes. */
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <regroup/p2p.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ring.h"
#include "tests/check/check.h"

#ifndef SUITE
#define SUITE "p2p"
#endif

#define TAG_MOST ((1 << 28) - 1)

static rg_group world;

/* A ring of every length around the limits, blocking. */
static void test_lengths(void) {
  static const int around[] = {0, 1, 6, 38, 2038, 2048, 8181, 8182, 16384, 65536, 262143, 600000};
  for (int k = 0; k < 36; k++) {
    int n = around[k / 3] + k % 3 - 1;
    if (n < 0)
      continue;
    int *data = malloc(((size_t)n + 1) * sizeof *data), *got = calloc((size_t)n + 1, sizeof *got);
    rg_status status;
    MPI_Count count = -5;
    fill(data, n, rgt_rank);
    RGT_OK(rg_sendrecv(world, data, n, MPI_INT, next_rank(), k, got, n + 1, MPI_INT, rank_before(),
                       k, &status));
    RGT_INT(wrong(got, n, rank_before()), 0);
    RGT_INT(got[n], 0);
    RGT_INT(status.source, rank_before());
    RGT_INT(status.tag, k);
    RGT_INT(status.bytes, 4 * n);
    RGT_OK(rg_status_count(&status, MPI_INT, &count));
    RGT_INT(count, n);
    RGT_OK(rg_status_count(&status, MPI_DOUBLE, &count));
    RGT_INT(count, n % 2 ? RG_UNDEFINED : n / 2);
    free(data);
    free(got);
  }
}

/* All ranks send to rank 0, blocking; it receives from any source. */
static void test_any(void) {
  enum { EACH = 20 };
  int last[64] = {0}, got = -1;
  rg_status status;
  if (rgt_rank > 0) {
    for (int i = 0; i < EACH; i++)
      RGT_OK(rg_send(world, &i, 1, MPI_INT, 0, i % 3));
    return;
  }
  for (int i = 0; i < EACH * (rgt_size - 1); i++) {
    RGT_OK(rg_recv(world, &got, 1, MPI_INT, RG_ANY_SOURCE, RG_ANY_TAG, &status));
    RGT_INT(got, last[status.source]++); /* in order */
    RGT_INT(status.tag, got % 3);
  }
}

/* Groups with the same members, and the world: each message stays in its group.
 * Ranks are those of the group. */
static void test_groups(void) {
  enum { GROUPS = 5 };
  rg_group g[GROUPS];
  rg_request out[GROUPS], in[GROUPS];
  rg_status status[GROUPS];
  int sent[GROUPS], got[GROUPS], me, to, from;
  int *reverse = malloc((size_t)rgt_size * sizeof *reverse);
  for (int i = 0; i < rgt_size; i++)
    reverse[i] = rgt_size - 1 - i;
  for (int k = 0; k < GROUPS; k++)
    RGT_OK(rg_group_create(world, rgt_size, reverse, k / 2, &g[k]));
  RGT_OK(rg_group_rank(g[0], &me));
  to = (me + 1) % rgt_size;
  from = (me + rgt_size - 1) % rgt_size;
  for (int k = GROUPS - 1; k >= 0; k--) {
    sent[k] = 10 * k + me;
    RGT_OK(rg_isend(g[k], &sent[k], 1, MPI_INT, to, 0, &out[k]));
  }
  for (int k = 0; k < GROUPS; k++) {
    got[k] = -1;
    RGT_OK(rg_irecv(g[k], &got[k], 1, MPI_INT, k % 2 ? RG_ANY_SOURCE : from, RG_ANY_TAG, &in[k]));
    RGT_OK(rg_group_free(&g[k])); /* messages under way do not need the handle */
  }
  RGT_OK(rg_wait_all(GROUPS, in, status));
  RGT_OK(rg_wait_all(GROUPS, out, NULL));
  for (int k = 0; k < GROUPS; k++) {
    RGT_INT(got[k], 10 * k + from);
    RGT_INT(status[k].source, from);
    RGT_PTR_NULL(in[k]);
  }
  free(reverse);
}

static void test_myself(void) {
  int data[30000], got[30000], there = -1, done = 0;
  rg_request in, out;
  rg_status status;
  for (int n = 0; n <= 30000; n += 10000) {
    fill(data, n, 3);
    RGT_OK(rg_isend(world, data, n, MPI_INT, rgt_rank, 8, &out));
    RGT_OK(rg_probe(world, rgt_rank, RG_ANY_TAG, &status));
    RGT_INT(status.bytes, 4 * n);
    RGT_OK(rg_iprobe(world, rgt_rank, 9, &there, NULL));
    RGT_INT(there, 0);
    RGT_OK(rg_recv(world, got, n, MPI_INT, rgt_rank, 8, NULL));
    RGT_INT(wrong(got, n, 3), 0);
    RGT_OK(rg_test(&out, &done, NULL));
    RGT_INT(done, 1);
    RGT_PTR_NULL(out);
    RGT_OK(rg_irecv(world, got, n, MPI_INT, rgt_rank, 8, &in));
    RGT_OK(rg_send(world, data, n, MPI_INT, rgt_rank, 8)); /* also long: it has met */
    RGT_OK(rg_wait(&in, &status));
    RGT_INT(status.source, rgt_rank);
  }
}

/* Types with gaps on either side, out of order, of size 0, and parts of one. */
static void test_types(void) {
  enum { N = 3000 };
  int *sparse = malloc(3 * N * sizeof *sparse), *got = malloc(3 * N * sizeof *got);
  int two[] = {1, 1}, swapped[] = {1, 0};
  MPI_Datatype third, pair, none;
  rg_status status;
  rg_request out;
  MPI_Count count;
  MPI_Type_vector(1, 1, 1, MPI_INT, &none);
  MPI_Type_create_resized(none, 0, 3 * sizeof(int), &third);
  MPI_Type_free(&none);
  MPI_Type_indexed(2, two, swapped, MPI_INT, &pair);
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_commit(&third);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&none);
  fill(sparse, 3 * N, rgt_rank);
  memset(got, 0, 3 * N * sizeof *got);
  for (int n = 1; n <= N; n = n * 5 + 2) { /* every third to dense */
    RGT_OK(rg_isend(world, sparse, n, third, next_rank(), 1, &out));
    RGT_OK(rg_recv(world, got, n, MPI_INT, rank_before(), 1, &status));
    RGT_INT(status.bytes, 4 * n);
    for (int i = 0; i < n; i++)
      RGT_INT(got[i], rank_before() + 21 * i);
    RGT_OK(rg_wait(&out, NULL));
  }
  memset(got, 0, 3 * N * sizeof *got); /* dense to every third */
  RGT_OK(rg_isend(world, sparse, N, MPI_INT, next_rank(), 2, &out));
  RGT_OK(rg_recv(world, got, N, third, rank_before(), 2, NULL));
  RGT_OK(rg_wait(&out, NULL));
  for (int i = 0; i < 3 * N; i++)
    RGT_INT(got[i], i % 3 ? 0 : rank_before() + 7 * (i / 3));
  /* Pairs the wrong way round, and a half one. */
  RGT_OK(rg_isend(world, sparse, 3, MPI_INT, next_rank(), 3, &out));
  memset(got, 0, 4 * sizeof *got);
  RGT_OK(rg_recv(world, got, 2, pair, rank_before(), 3, &status));
  RGT_INT(got[1], rank_before());
  RGT_INT(got[0], rank_before() + 7);
  RGT_INT(got[3], rank_before() + 14);
  RGT_INT(got[2], 0);
  RGT_OK(rg_status_count(&status, pair, &count));
  RGT_INT(count, RG_UNDEFINED);
  RGT_OK(rg_wait(&out, NULL));
  RGT_OK(rg_sendrecv(world, NULL, 5, none, next_rank(), 4, NULL, 5, none, rank_before(), 4, NULL));
  MPI_Type_free(&none);
  MPI_Type_free(&pair);
  MPI_Type_free(&third);
  free(sparse);
  free(got);
}

static void test_truncation(void) {
  static const int lengths[] = {2, 300, 3000, 20000, 100000};
  for (int k = 0; k < 5; k++) {
    int n = lengths[k], mark = 0, *data = malloc((size_t)n * sizeof *data), got[3] = {0};
    rg_request out, small, in;
    rg_status status = {.source = -7};
    fill(data, n, 1);
    RGT_OK(rg_isend(world, data, n, MPI_INT, next_rank(), 1, &out));
    RGT_OK(rg_isend(world, &n, 1, MPI_INT, next_rank(), 1, &small));
    RGT_FAILS(rg_recv(world, got, 1, MPI_INT, rank_before(), 1, &status), RG_ERR_TRUNCATE);
    RGT_INT(got[0], 1);
    RGT_INT(got[1], 0);
    RGT_INT(status.source, -7); /* outputs are set only on success */
    RGT_OK(rg_recv(world, &mark, 1, MPI_INT, rank_before(), 1, &status));
    RGT_INT(mark, n);
    RGT_OK(rg_wait(&out, NULL));
    RGT_OK(rg_wait(&small, NULL));
    RGT_OK(rg_irecv(world, got, 1, MPI_INT, RG_ANY_SOURCE, 1, &in));
    RGT_OK(rg_isend(world, data, n, MPI_INT, next_rank(), 1, &out));
    RGT_FAILS(rg_wait(&in, &status), RG_ERR_TRUNCATE);
    RGT_PTR_NULL(in);
    RGT_OK(rg_wait(&out, NULL));
    free(data);
  }
}

static void test_cancel(void) {
  int x = 0, y = 0, seven = 7, cancelled = -1;
  rg_request first, second, out;
  RGT_OK(rg_irecv(world, &x, 1, MPI_INT, rgt_rank, 5, &first));
  RGT_OK(rg_irecv(world, &y, 1, MPI_INT, RG_ANY_SOURCE, 5, &second));
  RGT_OK(rg_request_cancel(&first, &cancelled));
  RGT_INT(cancelled, 1);
  RGT_PTR_NULL(first);
  RGT_OK(rg_isend(world, &seven, 1, MPI_INT, rgt_rank, 5, &out));
  RGT_FAILS(rg_request_cancel(&out, &cancelled), RG_ERR_ARG);
  RGT_OK(rg_wait(&out, NULL));
  RGT_FAILS(rg_probe(world, rgt_rank, 6, NULL), RG_ERR_TIMEOUT);
  RGT_OK(rg_request_cancel(&second, &cancelled));
  RGT_INT(cancelled, 0); /* it has come */
  RGT_OK(rg_wait(&second, NULL));
  RGT_INT(y, 7);
  RGT_INT(x, 0);
  RGT_FAILS(rg_request_cancel(&second, &cancelled), RG_ERR_ARG);
  RGT_FAILS(rg_request_cancel(NULL, &cancelled), RG_ERR_ARG);
}

/* A time limit ends a wait and nothing is left of it. */
static void test_time_limit(void) {
  static char data[200000];
  int got = 3;
  rg_request in;
  RGT_FAILS(rg_recv(world, &got, 1, MPI_INT, rgt_rank, 1, NULL), RG_ERR_TIMEOUT);
  RGT_FAILS(rg_send(world, data, sizeof data, MPI_BYTE, rgt_rank, 1), RG_ERR_TIMEOUT);
  RGT_OK(rg_irecv(world, &got, 1, MPI_INT, rgt_rank, 1, &in));
  RGT_FAILS(rg_wait(&in, NULL), RG_ERR_TIMEOUT);
  RGT_PTR_NOT_NULL(in);
  RGT_OK(rg_send(world, &rgt_rank, 1, MPI_INT, rgt_rank, 1));
  RGT_OK(rg_wait(&in, NULL));
  RGT_INT(got, rgt_rank);
}

static void test_errors(void) {
  rg_group none = NULL, pair = NULL, empty = NULL;
  rg_request r = NULL;
  rg_status status;
  MPI_Count count;
  int x = 0, there;
  RGT_FAILS(rg_send(none, &x, 1, MPI_INT, 0, 0), RG_ERR_GROUP);
  RGT_FAILS(rg_recv(none, &x, 1, MPI_INT, 0, 0, NULL), RG_ERR_GROUP);
  RGT_FAILS(rg_send(world, &x, 1, MPI_INT, rgt_size, 0), RG_ERR_RANK);
  RGT_FAILS(rg_send(world, &x, 1, MPI_INT, RG_ANY_SOURCE, 0), RG_ERR_RANK);
  RGT_FAILS(rg_send(world, &x, 1, MPI_INT, RG_UNDEFINED, 0), RG_ERR_RANK);
  RGT_FAILS(rg_send(world, &x, 1, MPI_INT, RG_PROC_NULL, -1), RG_ERR_TAG);
  RGT_FAILS(rg_send(world, &x, -1, MPI_INT, RG_PROC_NULL, 0), RG_ERR_ARG);
  RGT_FAILS(rg_recv(world, &x, 1, MPI_INT, rgt_size, 0, NULL), RG_ERR_RANK);
  RGT_FAILS(rg_isend(world, &x, 1, MPI_INT, -5, 0, &r), RG_ERR_RANK);
  RGT_FAILS(rg_probe(world, rgt_size, 0, NULL), RG_ERR_RANK);
  RGT_FAILS(rg_send(world, &x, 1, MPI_INT, 0, -1), RG_ERR_TAG);
  RGT_FAILS(rg_send(world, &x, 1, MPI_INT, 0, TAG_MOST + 1), RG_ERR_TAG);
  RGT_FAILS(rg_send(world, &x, 1, MPI_INT, 0, RG_ANY_TAG), RG_ERR_TAG);
  RGT_FAILS(rg_irecv(world, &x, 1, MPI_INT, 0, -100, &r), RG_ERR_TAG);
  RGT_FAILS(rg_send(world, &x, -1, MPI_INT, 0, 0), RG_ERR_ARG);
  RGT_FAILS(rg_send(world, NULL, 1, MPI_INT, 0, 0), RG_ERR_ARG);
  RGT_FAILS(rg_recv(world, NULL, 1, MPI_INT, 0, 0, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_send(world, &x, 1, MPI_DATATYPE_NULL, 0, 0), RG_ERR_ARG);
  RGT_FAILS(rg_send(world, &x, (MPI_Count)1 << 62, MPI_INT, 0, 0), RG_ERR_ARG);
  RGT_FAILS(rg_isend(world, &x, 1, MPI_INT, 0, 0, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_irecv(world, &x, 1, MPI_INT, 0, 0, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_iprobe(world, 0, 0, NULL, &status), RG_ERR_ARG);
  RGT_FAILS(rg_status_count(NULL, MPI_INT, &count), RG_ERR_ARG);
  RGT_PTR_NULL(r);
  /* A group that the caller only knows of. */
  RGT_OK(rg_group_create_range(world, rgt_rank, rgt_rank, 1, 0, &pair));
  RGT_OK(rg_group_difference(world, pair, &empty));
  if (empty) {
    RGT_FAILS(rg_send(empty, &x, 1, MPI_INT, 0, 0), RG_ERR_GROUP);
    RGT_FAILS(rg_iprobe(empty, 0, 0, &there, NULL), RG_ERR_GROUP);
    RGT_OK(rg_group_free(&empty));
  }
  RGT_OK(rg_group_free(&pair));
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_iprobe(world, RG_ANY_SOURCE, RG_ANY_TAG, &there, NULL));
  RGT_INT(there, 0); /* nothing was sent */
}

static void check_none(const rg_status *status) {
  RGT_INT(status->source, RG_PROC_NULL);
  RGT_INT(status->tag, RG_ANY_TAG);
  RGT_INT(status->bytes, 0);
}

/* MPI_PROC_NULL is as good as any rank, and nothing is moved. */
static void test_no_process(void) {
  int x = 5, y = 6, there = 0, cancelled = -1;
  rg_status status = {.source = -7};
  rg_request in, out;
  RGT_OK(rg_send(world, &x, 1, MPI_INT, MPI_PROC_NULL, 3));
  RGT_OK(rg_recv(world, &y, 1, MPI_INT, MPI_PROC_NULL, 3, &status));
  check_none(&status);
  RGT_OK(rg_probe(world, RG_PROC_NULL, RG_ANY_TAG, &status));
  check_none(&status);
  status.source = -7;
  RGT_OK(rg_iprobe(world, RG_PROC_NULL, 4, &there, &status));
  RGT_INT(there, 1);
  check_none(&status);
  RGT_OK(rg_isend(world, NULL, 0, MPI_INT, RG_PROC_NULL, 3, &out));
  RGT_OK(rg_irecv(world, &y, 1, MPI_INT, RG_PROC_NULL, RG_ANY_TAG, &in));
  RGT_OK(rg_request_cancel(&in, &cancelled));
  RGT_INT(cancelled, 0);
  RGT_OK(rg_wait(&in, &status));
  check_none(&status);
  RGT_OK(rg_wait(&out, &status));
  RGT_INT(status.source, RG_UNDEFINED);
  RGT_INT(y, 6);
}

/* A line without ends: the outer neighbours are no process. */
static void test_line(void) {
  int left = rgt_rank > 0 ? rgt_rank - 1 : RG_PROC_NULL, got = -1;
  int right = rgt_rank < rgt_size - 1 ? rgt_rank + 1 : RG_PROC_NULL;
  rg_status status;
  RGT_OK(rg_sendrecv(world, &rgt_rank, 1, MPI_INT, right, 2, &got, 1, MPI_INT, left, 2, &status));
  RGT_INT(got, rgt_rank - 1);
  RGT_INT(status.source, left);
  RGT_INT(status.bytes, left == RG_PROC_NULL ? 0 : sizeof got);
}

/* The constants are MPI's. */
static void test_values(void) {
  RGT_INT(RG_ANY_SOURCE, MPI_ANY_SOURCE);
  RGT_INT(RG_ANY_TAG, MPI_ANY_TAG);
  RGT_INT(RG_PROC_NULL, MPI_PROC_NULL);
  RGT_INT(RG_UNDEFINED, MPI_UNDEFINED);
}

/* Long messages, dense and with gaps, of a group that is freed while they are under way. */
static void test_freed_group(void) {
  enum { N = 40000 };
  int *data = malloc(2 * N * sizeof *data), *dense = calloc(N, sizeof *dense);
  int *sparse = calloc(2 * N, sizeof *sparse), bad = 0;
  rg_request r[4] = {NULL};
  rg_status status[4];
  MPI_Datatype second, one;
  rg_group g;
  fill(data, 2 * N, rgt_rank);
  MPI_Type_vector(1, 1, 1, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, 2 * sizeof(int), &second);
  MPI_Type_commit(&second);
  MPI_Type_free(&one);
  RGT_OK(rg_group_dup(world, &g));
  RGT_OK(rg_isend(g, data, N, MPI_INT, next_rank(), 1, &r[0]));
  RGT_OK(rg_isend(g, data, N, second, next_rank(), 2, &r[1]));
  RGT_OK(rg_irecv(g, sparse, N, second, RG_ANY_SOURCE, 1, &r[2]));
  RGT_OK(rg_irecv(g, dense, N, MPI_INT, rank_before(), 2, &r[3]));
  RGT_OK(rg_group_free(&g));
  MPI_Type_free(&second);
  RGT_OK(rg_wait_all(4, r, status));
  for (int i = 0; i < N; i++)
    bad += sparse[2 * i] != rank_before() + 7 * i || dense[i] != rank_before() + 14 * i ||
           sparse[2 * i + 1] != 0;
  RGT_INT(bad, 0);
  RGT_INT(status[2].source, rank_before());
  RGT_INT(status[3].source, rank_before());
  free(data);
  free(dense);
  free(sparse);
}

/* Threads on one group: each has a tag of its own. */
static void *work(void *argument) {
  int tag = *(int *)argument, bad = 0;
  for (int turn = 0; turn < 50; turn++) {
    int n = 1 + turn * turn * 20, *data = malloc((size_t)n * sizeof *data);
    int *got = calloc((size_t)n, sizeof *got);
    rg_status status = {0};
    fill(data, n, tag + rgt_rank);
    bad += rg_sendrecv(world, data, n, MPI_INT, next_rank(), tag, got, n, MPI_INT,
                       turn % 2 ? RG_ANY_SOURCE : rank_before(), tag, &status) != RG_SUCCESS;
    bad += status.source != rank_before() || wrong(got, n, tag + rank_before());
    free(data);
    free(got);
  }
  *(int *)argument = bad;
  return NULL;
}

static void test_threads(void) {
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  int number[THREADS], level;
  MPI_Query_thread(&level);
  for (int i = 0; i < THREADS && level == MPI_THREAD_MULTIPLE; i++) {
    number[i] = 1000 * (i + 1);
    pthread_create(&thread[i], NULL, work, &number[i]);
  }
  for (int i = 0; i < THREADS && level == MPI_THREAD_MULTIPLE; i++) {
    pthread_join(thread[i], NULL);
    RGT_INT(number[i], 0);
  }
}

/* The waits of other calls move messages on: rank 1 comes to the call when it has all of a long
 * message of rank 0, which is in the call already. */
enum { VIA_COMM, VIA_TOPOLOGY, VIA_SPLIT, VIAS };

static void make_by(int via, rg_group g) {
  MPI_Comm comm = MPI_COMM_NULL;
  rg_group part = NULL;
  if (via == VIA_COMM)
    RGT_OK(rg_group_comm(g, &comm));
  else if (via == VIA_TOPOLOGY)
    RGT_OK(rg_comm_split_topology(MPI_COMM_WORLD, RG_LEVEL_ALL, 0, &comm));
  else
    RGT_OK(rg_group_split(g, 0, 0, &part));
  if (via == VIA_TOPOLOGY && comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  RGT_OK(rg_group_free(&part));
}

static void test_meanwhile(void) {
  enum { N = 300000 };
  int *data = malloc(N * sizeof *data), there = rgt_rank != 1;
  for (int via = 0; via < VIAS && rgt_size > 1; via++) {
    rg_request out = NULL;
    rg_group g;
    fill(data, N, via);
    RGT_OK(rg_group_dup(world, &g));
    if (rgt_rank == 0)
      RGT_OK(rg_isend(world, data, N, MPI_INT, 1, via, &out));
    if (rgt_rank == 1) {
      fill(data, N, -1);
      RGT_OK(rg_recv(world, data, N, MPI_INT, 0, via, NULL));
      there = wrong(data, N, via) == 0;
    }
    make_by(via, g);
    RGT_TRUE(there);
    RGT_OK(rg_wait(&out, NULL));
    RGT_OK(rg_group_free(&g));
  }
  free(data);
}

/* Rank 1 has begun long messages and waits outside the library: rank 2's must pass them. */
static void test_busy_sender(void) {
  enum { MANY = 9, N = 100000 };
  static int data[MANY + 1][N];
  rg_request r[MANY] = {NULL};
  int go = 0, peer = 1 - rgt_rank;
  if (rgt_size < 3 || rgt_rank > 2)
    return;
  for (int i = 0; i < MANY; i++)
    fill(data[i], N, rgt_rank == 1 ? i : -1);
  for (int i = 0; i < MANY && rgt_rank == 1; i++)
    RGT_OK(rg_isend(world, data[i], N, MPI_INT, peer, i, &r[i]));
  for (int i = 0; i < MANY && rgt_rank == 0; i++)
    RGT_OK(rg_irecv(world, data[i], N, MPI_INT, peer, i, &r[i]));
  if (rgt_rank == 1) {
    RGT_OK(rg_send(world, &go, 1, MPI_INT, 0, MANY)); /* behind the others */
    MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rgt_rank == 0) {
    RGT_OK(rg_recv(world, &go, 1, MPI_INT, 1, MANY, NULL));
    RGT_OK(rg_recv(world, data[MANY], N, MPI_INT, 2, 0, NULL));
    RGT_INT(wrong(data[MANY], N, 2), 0);
    MPI_Send(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    fill(data[0], N, 2);
    RGT_OK(rg_send(world, data[0], N, MPI_INT, 0, 0));
  }
  RGT_OK(rg_wait_all(MANY, r, NULL));
  for (int i = 0; i < MANY && rgt_rank == 0; i++)
    RGT_INT(wrong(data[i], N, i), 0);
}

enum { FLOOD = 600, FLOOD_INTS = 2000 };

static void receive_flood(int source, int got[]) {
  for (int i = 0; i < FLOOD; i++) {
    RGT_OK(rg_recv(world, got, FLOOD_INTS, MPI_INT, source, 1, NULL));
    RGT_INT(wrong(got, FLOOD_INTS, i), 0);
  }
}

/* Short messages to a process that is in no call until the file is gone: the sender keeps no
 * copies. */
static void test_flood(void) {
  int *data = malloc(FLOOD * sizeof(int[FLOOD_INTS]));
  rg_request *r = calloc(FLOOD, sizeof *r);
  char path[RGT_PATH] = "";
  if (rgt_rank == 0) {
    rgt_temporary(path);
    close(mkstemp(path));
  }
  MPI_Bcast(path, RGT_PATH, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < FLOOD; i++)
    fill(data + i * FLOOD_INTS, FLOOD_INTS, i);
  if (rgt_rank == 0 && rgt_size == 1)
    unlink(path);
  if (rgt_rank == 0 && rgt_size > 1) {
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < FLOOD; i++)
      RGT_OK(rg_isend(world, data + i * FLOOD_INTS, FLOOD_INTS, MPI_INT, 1, 1, &r[i]));
    RGT_TRUE(mallinfo2().uordblks < before + FLOOD * sizeof(int[FLOOD_INTS]) / 2);
    unlink(path);
  } else if (rgt_rank == 1) {
    while (access(path, F_OK) == 0)
      usleep(1000);
    receive_flood(0, data);
  }
  RGT_OK(rg_wait_all(FLOOD, r, NULL));
  free(data);
  free(r);
}

/* Both send first, more than is under way at a time. */
static void test_both_first(void) {
  int *data = malloc(sizeof(int[FLOOD_INTS]));
  for (int i = 0; i < FLOOD; i++) {
    fill(data, FLOOD_INTS, i);
    RGT_OK(rg_send(world, data, FLOOD_INTS, MPI_INT, next_rank(), 1));
  }
  receive_flood(rank_before(), data);
  free(data);
}

static void start_with(const char *options) {
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
  RGT_OK(rg_group_world(&world));
}

static void test_start(void) {
  int x = 0;
  RGT_FAILS(rg_send(world, &x, 1, MPI_INT, 0, 0), RG_ERR_NOT_INIT);
  start_with(NULL);
}

static void test_stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

static void test_start_limited(void) {
  start_with("timeout=0.3");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"lengths", test_lengths},
                                   {"any", test_any},
                                   {"groups", test_groups},
                                   {"myself", test_myself},
                                   {"types", test_types},
                                   {"truncation", test_truncation},
                                   {"values", test_values},
                                   {"no process", test_no_process},
                                   {"line", test_line},
                                   {"freed group", test_freed_group},
                                   {"errors", test_errors},
                                   {"meanwhile", test_meanwhile},
                                   {"busy sender", test_busy_sender},
                                   {"flood", test_flood},
                                   {"both first", test_both_first},
                                   {"threads", test_threads},
                                   {"stop", test_stop},
                                   {"start again", test_start_limited},
                                   {"cancel", test_cancel},
                                   {"time limit", test_time_limit},
                                   {"stop again", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, SUITE, tests);
}
