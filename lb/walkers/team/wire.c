/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A message is sent from a copy that is freed when the send is complete (reap). It is received only
 * after a probe has found it. A process waits for a message only where all processes know that it
 * comes. */
#include <regroup/p2p.h>
#include <regroup/request.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "walkers/team/wire.h"

/* A message that is being sent. */
typedef struct rgi_wire_message {
  struct rgi_wire_message *next;
  rg_request request;
  int64_t words[];
} rgi_wire_message;

int rgi_wire_reap(rgi_wire *wire) {
  for (rgi_wire_message **p = &wire->out; *p;) {
    rgi_wire_message *m = *p;
    int done = 0, error = rg_test(&m->request, &done, NULL);
    if (!m->request) {
      *p = m->next;
      rgi_spare_free(m);
    } else {
      p = &m->next;
    }
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

int rgi_wire_flush(rgi_wire *wire) {
  int error = RG_SUCCESS;
  while (wire->out) {
    rgi_wire_message *message = wire->out;
    int one = rg_wait(&message->request, NULL);
    error = error ? error : one;
    wire->out = message->next;
    if (!message->request)
      rgi_spare_free(message);
  }
  return error;
}

int rgi_wire_send(rgi_wire *wire, int to, int tag, int64_t count, const int64_t words[]) {
  rgi_wire_message *message = rgi_spare_alloc(sizeof *message + (size_t)count * sizeof *words);
  if (!message)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message of %lld numbers", (long long)count);
  memcpy(message->words, words, (size_t)count * sizeof *words);
  int error = rg_isend(wire->members->group, message->words, count, MPI_INT64_T, to, tag,
                       &message->request);
  if (error) {
    rgi_spare_free(message);
    return error;
  }
  message->next = wire->out;
  wire->out = message;
  return rgi_wire_reap(wire);
}

/* Receives the message that a probe has found. */
static int receive_found(const rgi_wire *wire, int tag, const rg_status *status,
                         rgi_wire_received *received) {
  received->from = status->source;
  received->count = status->bytes / (MPI_Count)sizeof *received->words;
  received->words = rgi_spare_alloc((size_t)status->bytes + sizeof *received->words);
  if (!received->words)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message of %lld numbers",
                     (long long)received->count);
  int error = rg_recv(wire->members->group, received->words, received->count, MPI_INT64_T,
                      received->from, tag, NULL);
  if (error) {
    rgi_spare_free(received->words);
    received->words = NULL;
  }
  return error;
}

int rgi_wire_take(const rgi_wire *wire, int tag, rgi_wire_received *received) {
  int there;
  rg_status status;
  *received = (rgi_wire_received){.from = -1};
  RGI_TRY(rg_iprobe(wire->members->group, RG_ANY_SOURCE, tag, &there, &status));
  return there ? receive_found(wire, tag, &status, received) : RG_SUCCESS;
}

int rgi_wire_await(const rgi_wire *wire, int from, int tag, rgi_wire_received *received) {
  rg_status status;
  *received = (rgi_wire_received){.from = -1};
  RGI_TRY(rg_probe(wire->members->group, from, tag, &status));
  return receive_found(wire, tag, &status, received);
}
