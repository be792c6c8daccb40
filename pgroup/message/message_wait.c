/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Testing and waiting for messages, and the texts of their errors. */
#include "base/error.h"
#include "message/message.h"
#include "message/message_mpi.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"

/* The node's processes ring this process's bell for all that they do for it. MPI does not: with
 * other nodes the sleep is short. */
static int sleep_on_bell(rgi_wait *wait, uint32_t old) {
  return rgi_wait_bell(wait, rgi_node_bell(), old,
                       !rgi_message_mpi_in_use() && !rgi_requests_busy());
}

static uint32_t read_bell(void) {
  return atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
}

static int is_done(const rgi_message *message) {
  return atomic_load_explicit(&message->done, memory_order_acquire);
}

int rgi_message_explain(const rgi_message *message, const char *call) {
  switch (message->error) {
  case RG_SUCCESS:
    return RG_SUCCESS;
  case RG_ERR_TRUNCATE:
    return rgi_error(message->error,
                     "%s: a message of %zu bytes with tag %d from rank %d of the world is longer "
                     "than the buffer of %zu bytes",
                     call, message->bytes, message->tag, message->source, message->room);
  case RG_ERR_NOMEM:
    return rgi_error(message->error,
                     "%s: the node's arena has no room for a message of %zu bytes: set "
                     "RG_ARENA_SIZE higher, or free groups and arrays",
                     call, message->bytes);
  case RG_ERR_TIMEOUT:
    return rgi_error(message->error, "%s: the other process gave up a message of %zu bytes", call,
                     message->bytes);
  default:
    return rgi_error(message->error, "%s: MPI failed to move a message of %zu bytes", call,
                     message->bytes);
  }
}

static int wait_until_done(rgi_message *message, const char *call) {
  rgi_wait wait;
  rgi_wait_start(&wait, call, message->source);
  wait.watched = message->source;
  wait.alone = 1;
  while (!is_done(message)) {
    uint32_t bell = read_bell();
    RGI_TRY(rgi_requests_progress_all());
    if (!is_done(message))
      RGI_TRY(sleep_on_bell(&wait, bell));
  }
  return RG_SUCCESS;
}

int rgi_message_wait(rgi_message *message, const char *call) {
  int error = is_done(message) ? RG_SUCCESS : wait_until_done(message, call);
  if (!error)
    return rgi_failure_cause(&rgi_failure_scope_now, rgi_message_explain(message, call), call);
  rgi_message_abandon(message);
  return error;
}

int rgi_message_send_surely(const rgi_message_envelope *to, const void *data,
                            rgi_message *message) {
  rgi_arena_purpose before = rgi_arena_get_purpose();
  if (!before)
    rgi_arena_set_purpose(RGI_ARENA_TELL);
  int error = rgi_message_send(to, data, message);
  rgi_arena_set_purpose(before);
  return error;
}

int rgi_message_deliver(const rgi_message_envelope *to, const void *data, const char *call) {
  rgi_message message;
  RGI_TRY(rgi_message_send_surely(to, data, &message));
  return rgi_message_wait(&message, call);
}

static int await_one(const rgi_message_envelope wanted[], int n, const char *call,
                     rgi_message_envelope *found, rgi_message_cell **taken) {
  rgi_wait wait;
  rgi_wait_start(&wait, call, wanted->peer);
  wait.watched = wanted->peer;
  wait.alone = 1;
  for (;;) {
    int there = 0;
    uint32_t bell = read_bell();
    for (int i = 0; i < n && !there; i++)
      RGI_TRY(rgi_message_probe(&wanted[i], &there, found, taken));
    if (there)
      return RG_SUCCESS;
    rgi_requests_progress();
    RGI_TRY(sleep_on_bell(&wait, bell));
  }
}

int rgi_message_await(const rgi_message_envelope *wanted, const char *call,
                      rgi_message_envelope *found, rgi_message_cell **taken) {
  return await_one(wanted, 1, call, found, taken);
}

int rgi_message_await_any(const rgi_message_envelope wanted[], int n, const char *call,
                          rgi_message_envelope *found) {
  return await_one(wanted, n, call, found, NULL);
}
