/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A message is sent from a copy that is freed when the send is complete (reap). It is received only
 * after a probe has found it, so that no process ever waits for a message that does not come. */
#include <regroup/p2p.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/balancer_state.h"
#include "walkers/wire.h"

/* A message that is being sent. */
typedef struct rgi_wire_message {
  struct rgi_wire_message *next;
  rg_request request;
  int64_t words[];
} rgi_wire_message;

int rgi_wire_reap(rg_balancer b) {
  for (rgi_wire_message **p = &b->out; *p;) {
    rgi_wire_message *l = *p;
    int done = 0;
    RGI_TRY(rg_test(&l->request, &done, NULL));
    if (done) {
      *p = l->next;
      free(l);
    } else {
      p = &l->next;
    }
  }
  return RG_SUCCESS;
}

int rgi_wire_flush(rg_balancer b) {
  int error = RG_SUCCESS;
  while (b->out) {
    rgi_wire_message *l = b->out;
    int one = rg_wait(&l->request, NULL);
    error = error ? error : one;
    b->out = l->next;
    free(l);
  }
  return error;
}

int rgi_wire_send(rg_balancer b, int to, int tag, int count, const int64_t words[]) {
  rgi_wire_message *l = malloc(sizeof *l + (size_t)count * sizeof *words);
  if (!l)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message of %d numbers", count);
  memcpy(l->words, words, (size_t)count * sizeof *words);
  int error = rg_isend(b->all, l->words, count, MPI_INT64_T, to, tag, &l->request);
  if (error) {
    free(l);
    return error;
  }
  l->next = b->out;
  b->out = l;
  return rgi_wire_reap(b);
}

int rgi_wire_take(rg_balancer b, int tag, int *from, int *count, int64_t **words) {
  int there;
  rg_status status;
  *words = NULL;
  RGI_TRY(rg_iprobe(b->all, RG_ANY_SOURCE, tag, &there, &status));
  if (!there)
    return RG_SUCCESS;
  *from = status.source;
  *count = (int)(status.bytes / (MPI_Count)sizeof **words);
  *words = malloc((size_t)status.bytes + sizeof **words);
  if (!*words)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message of %d numbers", *count);
  int error = rg_recv(b->all, *words, *count, MPI_INT64_T, *from, tag, NULL);
  if (error) {
    free(*words);
    *words = NULL;
  }
  return error;
}
