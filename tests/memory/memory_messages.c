/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Messages around a ring while a process lacks memory: test_memory.py. The process makes a call
 * that has failed again, and its neighbours wait. */
#include <mpi.h>
#include <regroup.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { SHORT = 50, LONG = 30000 };

static int n, failed;
static double in[2 * LONG], out[2 * LONG];
static rg_request requests[2];
static rg_message message;
static MPI_Datatype gaps = MPI_DATATYPE_NULL;

static int next(void) {
  return (rgt_rank + 1) % rgt_size;
}

static int previous(void) {
  return (rgt_rank + rgt_size - 1) % rgt_size;
}

static int set_up(int length) {
  n = length;
  failed = RG_SUCCESS;
  message = NULL;
  for (int i = 0; i < 2 * n; i++) {
    in[i] = rgt_rank + i;
    out[i] = -1;
  }
  return RG_SUCCESS;
}

static int short_ones(void) {
  return set_up(SHORT);
}

static int long_ones(void) {
  return set_up(LONG);
}

/* Every second number. */
static int with_gaps(void) {
  MPI_Type_vector(SHORT, 1, 2, MPI_DOUBLE, &gaps);
  MPI_Type_commit(&gaps);
  return set_up(SHORT);
}

static int free_gaps(void) {
  return MPI_Type_free(&gaps) ? RG_ERR_MPI : RG_SUCCESS;
}

static int received(void) {
  return out[0] == previous() && out[n - 1] == previous() + n - 1;
}

static int received_gaps(void) {
  return out[0] == previous() && out[1] == -1 && out[2 * n - 2] == previous() + 2 * n - 2;
}

/* Another error than a lack of memory, which is noted, ends the ring. */
#define AGAIN(code_of_call)                                                                        \
  do {                                                                                             \
    int code = (code_of_call);                                                                     \
    if (code == RG_ERR_NOMEM) {                                                                    \
      failed = code;                                                                               \
      shortage_over();                                                                             \
      code = (code_of_call);                                                                       \
    }                                                                                              \
    if (code)                                                                                      \
      return RG_ERR_INTERNAL;                                                                      \
  } while (0)

#define G shortage_group
#define D MPI_DOUBLE

static int send_recv(void) {
  AGAIN(rg_send(G, in, n, D, next(), 1));
  AGAIN(rg_recv(G, out, n, D, previous(), 1, NULL));
  return failed;
}

static int send_recv_gaps(void) {
  AGAIN(rg_send(G, in, 1, gaps, next(), 1));
  AGAIN(rg_recv(G, out, 1, gaps, previous(), 1, NULL));
  return failed;
}

static int started(void) {
  AGAIN(rg_irecv(G, out, n, D, previous(), 1, &requests[0]));
  AGAIN(rg_isend(G, in, n, D, next(), 1, &requests[1]));
  AGAIN(rg_wait_all(2, requests, NULL));
  return failed;
}

static int started_gaps(void) {
  AGAIN(rg_irecv(G, out, 1, gaps, previous(), 1, &requests[0]));
  AGAIN(rg_isend(G, in, 1, gaps, next(), 1, &requests[1]));
  AGAIN(rg_wait_all(2, requests, NULL));
  return failed;
}

static int waited_singly(void) {
  int64_t at, count, indices[2];
  AGAIN(rg_irecv(G, out, n, D, previous(), 1, &requests[0]));
  AGAIN(rg_isend(G, in, n, D, next(), 1, &requests[1]));
  AGAIN(rg_wait_any(2, requests, &at, NULL));
  for (count = 1; count != RG_UNDEFINED;)
    AGAIN(rg_wait_some(2, requests, &count, indices, NULL));
  return failed;
}

static int tested(void) {
  int done = 0;
  AGAIN(rg_irecv(G, out, n, D, previous(), 1, &requests[0]));
  AGAIN(rg_isend(G, in, n, D, next(), 1, &requests[1]));
  while (!done)
    AGAIN(rg_test_all(2, requests, &done, NULL));
  return failed;
}

static int send_and_receive(void) {
  AGAIN(rg_sendrecv(G, in, n, D, next(), 1, out, n, D, previous(), 1, NULL));
  return failed;
}

static int probed(void) {
  int there = 0;
  rg_status status;
  AGAIN(rg_send(G, in, n, D, next(), 1));
  AGAIN(rg_probe(G, previous(), 1, &status));
  while (!there)
    AGAIN(rg_iprobe(G, previous(), 1, &there, &status));
  AGAIN(rg_recv(G, out, n, D, previous(), 1, NULL));
  return failed;
}

static int matched(void) {
  AGAIN(rg_send(G, in, n, D, next(), 1));
  AGAIN(rg_mprobe(G, RG_ANY_SOURCE, RG_ANY_TAG, &message, NULL));
  AGAIN(rg_mrecv(out, n, D, &message, NULL));
  return failed;
}

static int matched_started(void) {
  int there = 0;
  AGAIN(rg_send(G, in, n, D, next(), 1));
  while (!there)
    AGAIN(rg_improbe(G, RG_ANY_SOURCE, RG_ANY_TAG, &there, &message, NULL));
  AGAIN(rg_imrecv(out, n, D, &message, &requests[0]));
  AGAIN(rg_wait(&requests[0], NULL));
  return failed;
}

static int cancelled(void) {
  int gone = 0;
  AGAIN(rg_irecv(G, out, n, D, previous(), 2, &requests[0]));
  AGAIN(rg_request_cancel(&requests[0], &gone));
  return gone ? failed : RG_ERR_INTERNAL;
}

static int given_up(void) {
  AGAIN(rg_isend(G, in, n, D, next(), 1, &requests[0]));
  AGAIN(rg_request_free(&requests[0]));
  AGAIN(rg_recv(G, out, n, D, previous(), 1, NULL));
  return failed;
}

static const shortage_call calls[] = {
    {"rg_send, rg_recv", SHORTAGE_ONE, short_ones, send_recv, received, NULL},
    {"rg_send, rg_recv of a type with gaps", SHORTAGE_ONE, with_gaps, send_recv_gaps, received_gaps,
     free_gaps},
    {"rg_isend, rg_irecv", SHORTAGE_ONE, short_ones, started, received, NULL},
    {"rg_isend, rg_irecv of a type with gaps", SHORTAGE_ONE, with_gaps, started_gaps, received_gaps,
     free_gaps},
    {"rg_wait_any, rg_wait_some", SHORTAGE_ONE, short_ones, waited_singly, received, NULL},
    {"rg_test_all", SHORTAGE_ONE, short_ones, tested, received, NULL},
    {"rg_sendrecv", SHORTAGE_ONE, short_ones, send_and_receive, received, NULL},
    {"rg_probe, rg_iprobe", SHORTAGE_ONE, short_ones, probed, received, NULL},
    {"rg_mprobe, rg_mrecv", SHORTAGE_ONE, short_ones, matched, received, NULL},
    {"rg_improbe, rg_imrecv", SHORTAGE_ONE, short_ones, matched_started, received, NULL},
    {"rg_request_cancel", SHORTAGE_ONE, short_ones, cancelled, NULL, NULL},
    {"rg_request_free", SHORTAGE_ONE, short_ones, given_up, received, NULL},
    {"rg_isend, rg_irecv of long messages", SHORTAGE_ONE, long_ones, started, received, NULL},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_messages", calls);
}
