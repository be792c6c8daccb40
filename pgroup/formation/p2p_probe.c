/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Probes, and matched messages. A matched message is a message that the room message/ has taken out
 * of the unexpected ones; its handle is in the list `matched` until it is received, so that a wrong
 * handle is noticed. The handle has what the receive needs of the group, which may be freed before.
 * rg_finalize discards messages: then a handle that is left is not valid any more. */
#include <pthread.h>
#include <regroup/p2p.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/p2p_transfer.h"
#include "progress/wait.h"
#include "runtime/runtime.h"

struct rg_message_s {
  rgi_message_cell *cell;
  unsigned long epoch;     /* the start of the library to which cell belongs */
  rgi_members *members;    /* of the group */
  rgi_failure_scope scope; /* of the probe: ends also the waits of the receive */
  rg_message next;
};

static struct {
  pthread_mutex_t lock;
  rg_message first;
} matched = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- probing ---------------------------------------------------------------------- */

int rg_probe(rg_group g, int source, int tag, rg_status *status) {
  rgi_p2p_transfer_args args = {.call = __func__, .group = g, .peer = source, .tag = tag};
  rgi_message_envelope wanted, found;
  int none;
  RGI_TRY(rgi_p2p_transfer_wanted(&args, &wanted, &none));
  if (!none)
    RGI_TRY(rgi_message_await(&wanted, __func__, &found, NULL));
  if (status)
    *status = rgi_p2p_transfer_status(g->members, none ? NULL : &found);
  return RG_SUCCESS;
}

int rg_iprobe(rg_group g, int source, int tag, int *there, rg_status *status) {
  rgi_p2p_transfer_args args = {.call = __func__, .group = g, .peer = source, .tag = tag};
  rgi_message_envelope wanted, found;
  int none, arrived = 0;
  RGI_REQUIRE(there);
  RGI_TRY(rgi_p2p_transfer_wanted(&args, &wanted, &none));
  if (!none)
    RGI_TRY(rgi_message_probe(&wanted, &arrived, &found, NULL));
  if ((none || arrived) && status)
    *status = rgi_p2p_transfer_status(g->members, none ? NULL : &found);
  *there = none || arrived;
  rgi_wait_looked(!*there);
  return RG_SUCCESS;
}

/* --- matching ----------------------------------------------------------------------- */

static int make_handle(const char *call, rg_group g, rg_message *made) {
  rg_message m = rgi_spare_alloc(sizeof *m);
  if (!m)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a message", call);
  *m = (struct rg_message_s){
      .epoch = rgi_runtime.epoch, .members = g->members, .scope = rgi_failure_scope_now};
  *made = m;
  return RG_SUCCESS;
}

static void list_handle(rg_message message) {
  pthread_mutex_lock(&matched.lock);
  message->next = matched.first;
  matched.first = message;
  pthread_mutex_unlock(&matched.lock);
}

/* Returns 0 if message is no handle of a matched message. */
static int unlist_handle(rg_message message) {
  pthread_mutex_lock(&matched.lock);
  rg_message *at = &matched.first;
  while (*at && *at != message)
    at = &(*at)->next;
  int found = *at != NULL;
  if (found)
    *at = message->next;
  pthread_mutex_unlock(&matched.lock);
  return found;
}

static void free_handle(rg_message message) {
  if (rgi_failure_scope_now.members == message->members)
    rgi_failure_scope_now = (rgi_failure_scope){0};
  rgi_members_drop(message->members);
  rgi_spare_free(message);
}

/* *message is NULL if no message has arrived; then wait is 0. */
static int match_message(const rgi_p2p_transfer_args *args, int wait, rg_message *message,
                         rg_status *status) {
  rgi_message_envelope wanted, found;
  rg_message m = NULL;
  int none, there = 1;
  RGI_TRY(rgi_p2p_transfer_wanted(args, &wanted, &none));
  if (none) {
    *message = RG_MESSAGE_NO_PROC;
    *status = rgi_p2p_transfer_status(NULL, NULL);
    return RG_SUCCESS;
  }
  RGI_TRY(make_handle(args->call, args->group, &m));
  int error = wait ? rgi_message_await(&wanted, args->call, &found, &m->cell)
                   : rgi_message_probe(&wanted, &there, &found, &m->cell);
  if (error || !there) {
    rgi_spare_free(m);
    *message = NULL;
    return error;
  }
  rgi_members_share(m->members);
  list_handle(m);
  *message = m;
  *status = rgi_p2p_transfer_status(m->members, &found);
  return RG_SUCCESS;
}

int rg_mprobe(rg_group g, int source, int tag, rg_message *message, rg_status *status) {
  rgi_p2p_transfer_args args = {.call = __func__, .group = g, .peer = source, .tag = tag};
  rg_message m;
  rg_status found;
  RGI_REQUIRE(message);
  RGI_TRY(match_message(&args, 1, &m, &found));
  *message = m;
  if (status)
    *status = found;
  return RG_SUCCESS;
}

int rg_improbe(rg_group g, int source, int tag, int *there, rg_message *message,
               rg_status *status) {
  rgi_p2p_transfer_args args = {.call = __func__, .group = g, .peer = source, .tag = tag};
  rg_message m;
  rg_status found;
  RGI_REQUIRE(there);
  RGI_REQUIRE(message);
  RGI_TRY(match_message(&args, 0, &m, &found));
  *there = m != NULL;
  rgi_wait_looked(!m);
  if (m)
    *message = m;
  if (m && status)
    *status = found;
  return RG_SUCCESS;
}

/* --- receiving a matched message -------------------------------------------------------- */

/* Takes the message out of the list. RG_ERR_ARG. */
static int claim_handle(const char *call, rg_message message) {
  if (!unlist_handle(message))
    return rgi_error(RG_ERR_ARG, "%s: not a matched message, or received already", call);
  if (message->epoch != rgi_runtime.epoch) {
    free_handle(message);
    return rgi_error(RG_ERR_ARG, "%s: the message was matched before the last rg_finalize", call);
  }
  rgi_failure_scope_now = message->scope;
  return RG_SUCCESS;
}

/* Starts transfer with *message, which is NULL then; *taken: its handle, to be freed by the caller
 * when the members are not needed any more, or NULL. */
static int accept_message(const rgi_p2p_transfer_args *args, void *buf, rg_message *message,
                          rgi_p2p_transfer *transfer, rg_message *taken) {
  rg_message m = message ? *message : NULL;
  RGI_TRY(rgi_runtime_check(args->call));
  if (m == RG_MESSAGE_NO_PROC)
    m = NULL;
  else
    RGI_TRY(claim_handle(args->call, m));
  int error =
      rgi_p2p_transfer_accept(args, buf, m ? m->cell : NULL, m ? m->members : NULL, transfer);
  if (error && m)
    list_handle(m);
  if (error)
    return error;
  *taken = m;
  *message = NULL;
  return RG_SUCCESS;
}

int rg_mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, rg_message *message,
             rg_status *status) {
  rgi_p2p_transfer_args args = {.call = __func__, .count = count, .type = datatype};
  rgi_p2p_transfer transfer;
  rg_message m;
  RGI_TRY(accept_message(&args, buf, message, &transfer, &m));
  int error = rgi_p2p_transfer_wait(&transfer, __func__, status);
  if (m)
    free_handle(m);
  return error;
}

int rg_imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, rg_message *message,
              rg_request *request) {
  rgi_p2p_transfer_args args = {.call = __func__, .count = count, .type = datatype};
  rgi_p2p_request *r;
  rg_message m = NULL;
  RGI_REQUIRE(request);
  RGI_TRY(rgi_p2p_request_make(__func__, &r));
  int error = accept_message(&args, buf, message, &r->transfer, &m);
  error = rgi_p2p_request_open(r, error, request);
  if (m)
    free_handle(m);
  return error;
}
