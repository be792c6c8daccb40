/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages and requests. All ranks make the same calls: each sends to the one some ranks further
 * and receives from the one as far before it. */
#include <mpi.h>

#include "draw.h"
#include "fuzz.h"
#include "tests/check/check.h"
#include "types.h"

typedef struct {
  rg_group g;
  void *out, *in;
  MPI_Count count, room;
  MPI_Datatype type;
  int dest, source, tag, from_tag;
} message;

static void *draw_buffer(MPI_Datatype type) {
  int absent = types_may_be_null(type) && draw_chance(24);
  return absent ? NULL : types_buffer(fuzz_in(TYPES_BUFFER));
}

static int draw_tag(void) {
  static const int wrong[] = {-1, -2, 1 << 28, 0x7fffffff};
  return draw_chance(16) ? wrong[draw_below(4)] : draw_below(1 << 28);
}

/* wrong: values that no call takes. */
static message draw_message(void) {
  int shift = draw_below(rgt_size), wrong = draw_chance(16);
  message m = {.g = draw_chance(32) ? NULL : fuzz.g, .type = types_draw(), .tag = draw_tag()};
  m.out = draw_buffer(m.type);
  m.in = draw_buffer(m.type);
  m.count = types_draw_count(m.type);
  m.room = draw_chance(4) ? types_draw_count(m.type) : m.count;
  m.dest = (rgt_rank + shift) % rgt_size;
  m.source = (rgt_rank + rgt_size - shift) % rgt_size;
  if (wrong)
    m.dest = draw_chance(2) ? rgt_size : -3;
  else if (draw_chance(8))
    m.dest = m.source = RG_PROC_NULL;
  if (draw_chance(16))
    m.source = draw_chance(2) ? 1 << 30 : -100;
  m.from_tag = m.tag < 0 || !draw_chance(8) ? m.tag : RG_ANY_TAG;
  return m;
}

static void sendrecv(void) {
  message m = draw_message();
  rg_status *status = draw_chance(2) ? NULL : fuzz_out_some(sizeof *status);
  int error = FUZZ(rg_sendrecv(m.g, m.out, m.count, m.type, m.dest, m.tag, m.in, m.room, m.type,
                               m.source, m.from_tag, status));
  if (!error && status && m.type != MPI_DATATYPE_NULL)
    FUZZ(rg_status_count(status, m.type, fuzz_out(sizeof(MPI_Count))));
}

static void cancel(rg_request *request) {
  int cancelled = 0;
  if (!*request)
    return;
  FUZZ(rg_request_cancel(request, &cancelled));
  if (!cancelled)
    FUZZ(rg_wait(request, NULL));
}

static void wait_for(rg_request requests[2]) {
  enum { ROOM = 2 };
  int64_t count, indices[ROOM], index;
  int done = 0;
  switch (draw_below(6)) {
  case 0:
    FUZZ(rg_wait_all(ROOM, requests, draw_chance(2) ? NULL : fuzz_in(ROOM * sizeof(rg_status))));
    break;
  case 1:
    FUZZ(rg_wait_any(ROOM, requests, &index, NULL));
    break;
  case 2:
    FUZZ(rg_wait_some(ROOM, requests, &count, indices, NULL));
    break;
  case 3:
    FUZZ(rg_test_all(ROOM, requests, &done, NULL));
    break;
  case 4:
    FUZZ(rg_test_some(ROOM, requests, &count, indices, NULL));
    break;
  default:
    FUZZ(rg_test_any(ROOM, requests, &index, &done, NULL));
  }
  FUZZ(rg_wait(&requests[0], NULL));
  FUZZ(rg_wait(&requests[1], NULL));
}

/* A send is only made where the receive of the same arguments was possible, on all ranks alike. */
static void started(void) {
  message m = draw_message();
  rg_request r[2] = {NULL, NULL}, *in = fuzz_out(sizeof *in), *out;
  if (FUZZ(rg_irecv(m.g, m.in, m.room, m.type, m.source, m.from_tag, in)))
    return;
  r[0] = *in;
  out = fuzz_out_some(sizeof *out);
  if (FUZZ(rg_isend(m.g, m.out, m.count, m.type, m.dest, m.tag, out))) {
    cancel(&r[0]);
    return;
  }
  r[1] = *out;
  wait_for(r);
}

static void wrong_requests(void) {
  static const int64_t wrong[] = {-1, INT64_MIN, 0};
  int64_t n = wrong[draw_below(3)], *at = fuzz_out(sizeof *at);
  rg_request none[2] = {NULL, NULL};
  int *done = fuzz_out(sizeof *done);
  rg_request *list = draw_chance(3) ? NULL : none;
  FUZZ(rg_wait_all(n, list, NULL));
  FUZZ(rg_test_all(n, list, done, NULL));
  FUZZ(rg_wait_any(n, list, at, NULL));
  FUZZ(rg_test_any(n, list, at, done, NULL));
  FUZZ(rg_wait_some(n, list, at, at, NULL));
  FUZZ(rg_test_some(n, list, at, at, NULL));
  FUZZ(rg_wait(list, NULL));
  FUZZ(rg_test(list, done, NULL));
  FUZZ(rg_request_free(list));
  FUZZ(rg_request_cancel(list, done));
}

/* Of a group of its own: those of others would be found before they are received. */
static void probes(void) {
  rg_group own = NULL, g;
  RGT_OK(rg_group_dup(fuzz.g, &own));
  g = draw_chance(8) ? NULL : own;
  int source = draw_near(rgt_size), tag = draw_int(), *there = fuzz_out(sizeof *there);
  rg_message *m = fuzz_out(sizeof *m);
  rg_status *status = fuzz_out(sizeof *status);
  FUZZ(rg_iprobe(g, source, tag, there, draw_chance(2) ? NULL : status));
  if (!FUZZ(rg_improbe(g, source, tag, there, m, NULL)) && *there)
    FUZZ_TRUE(*m == RG_MESSAGE_NO_PROC);
  int wrong = draw_chance(2) ? rgt_size : -50;
  FUZZ(rg_probe(g, wrong, 0, status));
  FUZZ(rg_mprobe(g, wrong, 0, m, NULL));
  FUZZ(rg_probe(g, RG_PROC_NULL, 0, NULL));
  FUZZ(rg_group_free(&own));
}

static void matched(void) {
  message m = draw_message();
  rg_message found = NULL, *none = draw_chance(2) ? NULL : fuzz_in(sizeof *none);
  if (none)
    *none = draw_chance(2) ? NULL : RG_MESSAGE_NO_PROC;
  FUZZ(rg_mrecv(m.in, m.room, m.type, none, NULL));
  rg_request *r = fuzz_out(sizeof *r), sent = NULL;
  if (!FUZZ(rg_imrecv(m.in, m.room, m.type, none, r)))
    FUZZ(rg_wait(r, NULL));
  int peer = rgt_rank, error;
  RGT_OK(rg_isend(fuzz.g, types_buffer(fuzz_in(TYPES_BUFFER)), 7, MPI_INT, peer, 5, &sent));
  RGT_OK(rg_mprobe(fuzz.g, peer, 5, &found, NULL));
  error = FUZZ(rg_mrecv(m.in, m.room, m.type, &found, NULL));
  if (error && found)
    RGT_OK(rg_mrecv(types_buffer(fuzz_in(TYPES_BUFFER)), 7, MPI_INT, &found, NULL));
  FUZZ(rg_wait(&sent, NULL));
}

/* Of a status that the caller has made. */
static void status_count(void) {
  rg_status *status = fuzz_in(sizeof *status);
  status->bytes = draw_int64();
  FUZZ(rg_status_count(draw_chance(8) ? NULL : status, types_draw(), fuzz_out(sizeof(MPI_Count))));
}

static void to_nobody(void) {
  message m = draw_message();
  FUZZ(rg_send(m.g, m.out, m.count, m.type, RG_PROC_NULL, m.tag));
  FUZZ(rg_recv(m.g, m.in, m.count, m.type, RG_PROC_NULL, m.from_tag, NULL));
  FUZZ(rg_send(m.g, m.out, m.count, m.type, rgt_size, m.tag));
}

const fuzz_case fuzz_p2p_cases[] = {{"p2p_sendrecv", sendrecv, FUZZ_ANY},
                                    {"p2p_started", started, FUZZ_SAME},
                                    {"p2p_wrong_requests", wrong_requests, FUZZ_LOCAL},
                                    {"p2p_probes", probes, FUZZ_LOCAL},
                                    {"p2p_matched", matched, FUZZ_LOCAL},
                                    {"p2p_status_count", status_count, FUZZ_LOCAL},
                                    {"p2p_to_nobody", to_nobody, FUZZ_LOCAL},
                                    {0}};
