/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages: sending, progress, and the interface. */
#include "message/message.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "message/message_parts.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "runtime/extension.h"
#include "runtime/runtime.h"
#include "shm/node.h"

/* Up to here a message inside a node is one cell, copied in and out. */
#define SHORT_BYTES (((size_t)32 << 10) - sizeof(rgi_cell))

static struct {
  pthread_mutex_t lock;
  rgi_request *active;  /* long messages inside the node */
  atomic_int under_way; /* how many are active or delayed */
  rgi_request *delayed, **delayed_end;
  char *blocked; /* for each place: an earlier message to it is delayed */
  unsigned long inside, between;
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void) {
  if (rgi_rt.threads)
    pthread_mutex_lock(&messages.lock);
}

static void unlock(void) {
  if (rgi_rt.threads)
    pthread_mutex_unlock(&messages.lock);
}

/* --- lists of requests --------------------------------------------------------- */

static void count_under_way(int more) {
  int now = atomic_load_explicit(&messages.under_way, memory_order_relaxed);
  atomic_store_explicit(&messages.under_way, now + more, memory_order_relaxed);
}

void rgi_activate(rgi_request *r) {
  r->next = messages.active;
  r->link = &messages.active;
  if (r->next)
    r->next->link = &r->next;
  messages.active = r;
  r->state = RGI_ACTIVE;
  count_under_way(1);
}

void rgi_deactivate(rgi_request *r) {
  rgi_take_out(r, NULL);
  count_under_way(-1);
}

void rgi_finish(rgi_request *r, int error) {
  free(r->own);
  r->own = NULL;
  if (error)
    r->error = error;
  atomic_store_explicit(&r->done, 1, memory_order_release);
  if (rgi_rt.threads) /* another one may be asleep for it */
    rgi_ring(rgi_node.me);
}

static void look_into_inbox(void) {
  for (rgi_cell *c = rgi_cells_collect(), *next; c; c = next) {
    next = c->next;
    rgi_arrived(c);
  }
}

/* --- sending inside the node ------------------------------------------------------ */

/* *posted is 0 when the receiver's inbox is too full. */
static int post(rgi_request *r, int *posted) {
  rgi_envelope e = {r->context, r->bytes, rgi_rt.rank, r->tag};
  rgi_cell *c;
  if (r->bytes > SHORT_BYTES) {
    RGI_TRY(rgi_pipe_write(r, &e, &c));
  } else {
    RGI_TRY(rgi_cell_take(r->bytes, &c));
    c->kind = RGI_SHORT;
    c->envelope = e;
    if (r->bytes)
      memcpy(rgi_cell_data(c), r->data, r->bytes);
  }
  *posted = rgi_cell_post(r->place, c);
  if (!*posted)
    rgi_cell_give(c);
  return RG_SUCCESS;
}

/* Messages to one place keep their order. */
static int must_wait(int place) {
  for (rgi_request *r = messages.delayed; r; r = r->next)
    if (r->place == place)
      return 1;
  return 0;
}

static void delay(rgi_request *r) {
  rgi_append(r, &messages.delayed_end, RGI_DELAYED);
  count_under_way(1);
}

static void undelay(rgi_request *r) {
  rgi_take_out(r, &messages.delayed_end);
  count_under_way(-1);
}

static void post_delayed(void) {
  if (messages.delayed)
    memset(messages.blocked, 0, (size_t)rgi_node.n);
  for (rgi_request *r = messages.delayed, *next; r; r = next) {
    int posted = 0, error = RG_SUCCESS;
    next = r->next;
    if (!messages.blocked[r->place])
      error = post(r, &posted);
    if (!posted && !error) {
      messages.blocked[r->place] = 1;
      continue;
    }
    undelay(r);
    if (r->letter)
      rgi_activate(r);
    else
      rgi_finish(r, error);
  }
}

static int send_inside(rgi_request *r) {
  int posted = 0;
  messages.inside++;
  if (!must_wait(r->place))
    RGI_TRY(post(r, &posted));
  if (!posted)
    delay(r);
  else if (r->letter)
    rgi_activate(r);
  else
    atomic_store_explicit(&r->done, 1, memory_order_release);
  return RG_SUCCESS;
}

/* --- what the others call ------------------------------------------------------------ */

int rgi_message_send(uint64_t context, int dest, int tag, const void *data, size_t bytes,
                     rgi_request *r) {
  int place = rgi_node_find(dest), error;
  *r = (rgi_request){.sending = 1,
                     .context = context,
                     .tag = tag,
                     .bytes = bytes,
                     .place = place,
                     .mpi = MPI_REQUEST_NULL};
  memcpy(&r->data, &data, sizeof data); /* only read: no const there */
  lock();
  if (place >= 0) {
    error = send_inside(r);
  } else {
    rgi_envelope e = {context, bytes, rgi_rt.rank, tag};
    error = rgi_far_send(r, dest, &e);
    messages.between++;
  }
  unlock();
  return error;
}

int rgi_message_receive(uint64_t context, int source, int tag, void *data, size_t room,
                        rgi_request *r) {
  *r = (rgi_request){.context = context,
                     .source = source,
                     .tag = tag,
                     .data = data,
                     .room = room,
                     .mpi = MPI_REQUEST_NULL};
  lock();
  look_into_inbox();
  rgi_ask(r);
  unlock();
  return RG_SUCCESS;
}

static int progress(void) {
  look_into_inbox();
  int error = rgi_far_look();
  post_delayed();
  for (rgi_request *r = messages.active, *next; r; r = next) {
    next = r->next;
    rgi_pipe_push_on(r);
  }
  return error;
}

static int is_busy(void) {
  return atomic_load_explicit(&messages.under_way, memory_order_relaxed) > 0 || rgi_far_there() ||
         rgi_cells_there();
}

static int make_progress(void) {
  if (!is_busy())
    return RG_SUCCESS;
  lock();
  int error = progress();
  unlock();
  return error;
}

static const rgi_progress_source own = {make_progress, is_busy};

static int open_messages(void) {
  messages.active = messages.delayed = NULL;
  messages.delayed_end = &messages.delayed;
  atomic_store(&messages.under_way, 0);
  messages.blocked = calloc((size_t)rgi_node.n, 1);
  if (!messages.blocked)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for a table of %d processes", rgi_node.n);
  rgi_match_open();
  rgi_cells_open();
  rgi_pipes_open();
  RGI_TRY(rgi_far_open(rgi_rt.comm));
  rgi_progress_use(&own);
  return RG_SUCCESS;
}

static void close_messages(int mpi) {
  rgi_requests_stop();
  rgi_progress_use(NULL);
  rgi_match_close();
  free(messages.blocked);
  messages.blocked = NULL;
  rgi_cells_close();
  if (mpi)
    rgi_far_close();
}

__attribute__((constructor)) static void add_module(void) {
  static rgi_extension module = {
      .name = "messages", .first = 1, .open = open_messages, .close = close_messages};
  rgi_extend(&module);
}

void rgi_message_cancel(rgi_request *r, int *cancelled) {
  lock();
  *cancelled = r->state == RGI_ASKED;
  if (*cancelled)
    rgi_unask(r);
  unlock();
}

void rgi_message_abandon(rgi_request *r) {
  lock();
  if (r->state == RGI_ACTIVE) {
    if (r->letter)
      rgi_pipe_abandon(r);
    else
      rgi_far_abandon(r);
  } else if (r->state != RGI_FRESH) {
    if (r->state == RGI_ASKED)
      rgi_unask(r);
    else
      undelay(r);
    rgi_finish(r, RG_ERR_TIMEOUT);
  }
  unlock();
}

int rgi_message_probe(uint64_t context, int source, int tag, int *there, int *from, int *its_tag,
                      size_t *bytes) {
  rgi_request wanted = {.context = context, .source = source, .tag = tag};
  const rgi_cell *c = NULL;
  lock();
  int error = progress();
  if (!error)
    c = rgi_look_for(&wanted);
  if (c) {
    *from = c->envelope.source;
    *its_tag = c->envelope.tag;
    *bytes = c->envelope.bytes;
  }
  unlock();
  *there = c != NULL;
  return error;
}

void rgi_message_count(unsigned long *inside, unsigned long *between) {
  *inside = messages.inside;
  *between = messages.between;
}
