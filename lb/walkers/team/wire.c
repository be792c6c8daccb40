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
#include "walkers/team/wire.h"

/* A message that is being sent. */
typedef struct rgi_wire_message {
  struct rgi_wire_message *next;
  rg_request request;
  int64_t words[];
} rgi_wire_message;

int rgi_wire_reap(rgi_wire *w) {
  for (rgi_wire_message **p = &w->out; *p;) {
    rgi_wire_message *m = *p;
    int done = 0, error = rg_test(&m->request, &done, NULL);
    if (!m->request) {
      *p = m->next;
      free(m);
    } else {
      p = &m->next;
    }
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

int rgi_wire_flush(rgi_wire *w) {
  int error = RG_SUCCESS;
  while (w->out) {
    rgi_wire_message *m = w->out;
    int one = rg_wait(&m->request, NULL);
    error = error ? error : one;
    w->out = m->next;
    if (!m->request)
      free(m);
  }
  return error;
}

int rgi_wire_send(rgi_wire *w, int to, int tag, int64_t count, const int64_t words[]) {
  rgi_wire_message *m = malloc(sizeof *m + (size_t)count * sizeof *words);
  if (!m)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message of %lld numbers", (long long)count);
  memcpy(m->words, words, (size_t)count * sizeof *words);
  int error = rg_isend(w->members->group, m->words, count, MPI_INT64_T, to, tag, &m->request);
  if (error) {
    free(m);
    return error;
  }
  m->next = w->out;
  w->out = m;
  return rgi_wire_reap(w);
}

/* Receives the message that a probe has found. */
static int receive_found(const rgi_wire *w, int tag, const rg_status *status,
                         rgi_wire_received *m) {
  m->from = status->source;
  m->count = status->bytes / (MPI_Count)sizeof *m->words;
  m->words = malloc((size_t)status->bytes + sizeof *m->words);
  if (!m->words)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message of %lld numbers", (long long)m->count);
  int error = rg_recv(w->members->group, m->words, m->count, MPI_INT64_T, m->from, tag, NULL);
  if (error) {
    free(m->words);
    m->words = NULL;
  }
  return error;
}

int rgi_wire_take(const rgi_wire *w, int tag, rgi_wire_received *m) {
  int there;
  rg_status status;
  *m = (rgi_wire_received){.from = -1};
  RGI_TRY(rg_iprobe(w->members->group, RG_ANY_SOURCE, tag, &there, &status));
  return there ? receive_found(w, tag, &status, m) : RG_SUCCESS;
}

int rgi_wire_await(const rgi_wire *w, int from, int tag, rgi_wire_received *m) {
  rg_status status;
  *m = (rgi_wire_received){.from = -1};
  RGI_TRY(rg_probe(w->members->group, from, tag, &status));
  return receive_found(w, tag, &status, m);
}
