/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A message is sent from a copy that is freed when the send is complete (reap). It is received only
 * after a probe has found it, so that no process ever waits for a message that does not come. */
#include <regroup/p2p.h>
#include <regroup/request.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/wire.h"

/* A message that is being sent. */
typedef struct rgi_wire_message {
  struct rgi_wire_message *next;
  rg_request request;
  int64_t words[];
} rgi_wire_message;

int rgi_wire_reap(rgi_wire *w) {
  for (rgi_wire_message **p = &w->out; *p;) {
    rgi_wire_message *m = *p;
    int done = 0;
    RGI_TRY(rg_test(&m->request, &done, NULL));
    if (done) {
      *p = m->next;
      free(m);
    } else {
      p = &m->next;
    }
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

int rgi_wire_take(const rgi_wire *w, int tag, rgi_wire_received *m) {
  int there;
  rg_status status;
  rg_group group = w->members->group;
  *m = (rgi_wire_received){.from = -1};
  RGI_TRY(rg_iprobe(group, RG_ANY_SOURCE, tag, &there, &status));
  if (!there)
    return RG_SUCCESS;
  m->from = status.source;
  m->count = status.bytes / (MPI_Count)sizeof *m->words;
  m->words = malloc((size_t)status.bytes + sizeof *m->words);
  if (!m->words)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message of %lld numbers", (long long)m->count);
  int error = rg_recv(group, m->words, m->count, MPI_INT64_T, m->from, tag, NULL);
  if (error) {
    free(m->words);
    m->words = NULL;
  }
  return error;
}
