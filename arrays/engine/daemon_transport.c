/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One connection to each node daemon, made when it is first needed. An operation is one query: its
 * header, for a patch or runs one entry each, and the data. Data that are not contiguous at the
 * origin, or are scaled, are packed into a copy first.
 *
 * transport.lock guards the connections, their queues and every operation in them. A thread holds
 * it while it moves a connection on (advance_client), but not while it waits for an answer. Any
 * thread that tests or waits moves its connection on, so it may complete operations of other
 * threads.
 *
 * An operation that its caller has dropped stays in the queue until it is answered or lost. Its
 * error is noted for the node (transport.lost). The next fence returns it, or, if the node has
 * died, rgi_daemon_transport_lost tells of it. */
#include "engine/daemon_transport.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pause.h"
#include "engine/heap.h"
#include "noded/daemon_client.h"
#include "noded/overlay_client.h"
#include "progress/request.h"
#include "runtime/runtime.h"
#include "shm/arena.h"
#include "shm/node.h"

/* A broken connection comes from the loss of the node, which is known soon after. */
#define DEATH_SECONDS 5.0
#define LOOKS 100 /* before the first sleep, where every process has a processor */

struct rgi_daemon_transport_op {
  rgi_daemon_client_query request; /* first */
  rgi_transfer transfer;
  rgi_strided_run *runs; /* the transfer's, where they are needed at the end */
  char *copy;            /* data that are not sent from, or read to, the caller's buffer */
  int64_t word;          /* a short answer */
  int done, error, dropped;
  rgi_query_entry entries[];
};

typedef struct rgi_daemon_transport_op daemon_op;

static struct {
  pthread_mutex_t lock;       /* of all below */
  rgi_daemon_client *clients; /* to each node of the overlay */
  int *lost;                  /* for each: the error of an operation that had been dropped */
  int *place;                 /* of each rank of the world among its node's */
  int nodes;
} transport = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- start and stop --------------------------------------------------------------------- */

int rgi_daemon_transport_is_used(void) {
  return transport.clients != NULL;
}

static void find_places(void) {
  for (int i = 0; i < rgi_runtime.size; i++)
    transport.place[i] = transport.lost[rgi_node_of(i)]++;
  memset(transport.lost, 0, (size_t)transport.nodes * sizeof *transport.lost);
}

int rgi_daemon_transport_open(void) {
  transport.nodes = rgi_overlay_get()->nodes;
  transport.clients = calloc((size_t)transport.nodes, sizeof *transport.clients);
  transport.lost = calloc((size_t)transport.nodes, sizeof *transport.lost);
  transport.place = calloc((size_t)rgi_runtime.size, sizeof *transport.place);
  if (!transport.clients || !transport.lost || !transport.place) {
    rgi_daemon_transport_close();
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for %d connections", rgi_node.count);
  }
  for (int i = 0; i < transport.nodes; i++)
    transport.clients[i] = (rgi_daemon_client){.node = i, .tcp = {.fd = -1}};
  find_places();
  return RG_SUCCESS;
}

static void destroy_op(daemon_op *o) {
  free(o->runs);
  free(o->copy);
  free(o);
}

void rgi_daemon_transport_close(void) {
  for (int i = 0; transport.clients && i < transport.nodes; i++) {
    rgi_daemon_client *l = &transport.clients[i];
    rgi_daemon_client_close(l);
    for (rgi_daemon_client_query *o; (o = rgi_daemon_client_give_up(l));)
      destroy_op((daemon_op *)o);
  }
  free(transport.clients);
  free(transport.lost);
  free(transport.place);
  transport.clients = NULL;
  transport.lost = transport.place = NULL;
}

/* --- the origin side of an operation -------------------------------------------------- */

/* The caller's buffer if its bytes are contiguous and to be sent as they are, else NULL. */
static char *contiguous_data(const rgi_transfer *t) {
  if (t->alpha)
    return NULL;
  if (t->runs)
    return t->n == 1 ? t->origin + t->runs[0].origin : NULL;
  return rgi_strided_is_contiguous(&t->patch, t->patch.origin_stride) ? t->origin : NULL;
}

static int copy_runs(daemon_op *o) {
  size_t bytes = (size_t)o->transfer.n * sizeof *o->runs;
  if (!o->transfer.runs || o->transfer.kind != RGI_TRANSFER_GET)
    return 1;
  o->runs = malloc(bytes);
  if (!o->runs)
    return 0;
  memcpy(o->runs, o->transfer.runs, bytes);
  o->transfer.runs = o->runs;
  return 1;
}

/* Sets the memory that a query is sent from, or that its answer is read into. */
static int set_op_data(daemon_op *o, int64_t bytes) {
  int get = o->transfer.kind == RGI_TRANSFER_GET;
  char *data = contiguous_data(&o->transfer);
  if (!data) {
    data = o->copy = malloc((size_t)bytes + 1);
    if (!data || !copy_runs(o))
      return 0;
    if (!get && o->transfer.alpha)
      rgi_transfer_pack_scaled(&o->transfer, data);
    else if (!get)
      rgi_transfer_pack(&o->transfer, data, 1);
  }
  o->request.data = data;
  o->request.answer = get ? data : (char *)&o->word;
  return 1;
}

static void finish_op(daemon_op *o, int error) {
  if (!error && o->transfer.kind == RGI_TRANSFER_GET && o->copy)
    rgi_transfer_pack(&o->transfer, o->copy, 0);
  o->error = error;
  o->done = 1;
}

/* --- queries ---------------------------------------------------------------------------- */

static uint32_t element_type(rg_array_type type) {
  switch (type) {
  case RG_TYPE_INT32:
    return RGI_ELEMENT_INT32;
  case RG_TYPE_INT64:
    return RGI_ELEMENT_INT64;
  case RG_TYPE_FLOAT:
  case RG_TYPE_FLOAT_COMPLEX:
    return RGI_ELEMENT_FLOAT;
  default:
    return RGI_ELEMENT_DOUBLE;
  }
}

static uint64_t in_heap(int target, uint64_t offset) {
  return (uint64_t)transport.place[target] * rgi_heap.size + offset;
}

static daemon_op *make_op(const rgi_transfer *t, int entries) {
  daemon_op *o = calloc(1, sizeof *o + (size_t)entries * sizeof *o->entries);
  if (!o)
    return NULL;
  o->transfer = *t;
  o->request.entries = o->entries;
  o->request.query =
      (rgi_query){.element_type = element_type(t->type), .offset = in_heap(t->target, t->offset)};
  return o;
}

_Static_assert(RG_ARRAY_MAX_DIMS + 1 == RGI_QUERY_DIMS, "a node daemon takes every patch");

static daemon_op *make_transfer_op(const rgi_transfer *t, int64_t bytes) {
  static const uint32_t kinds[] = {[RGI_TRANSFER_GET] = RGI_QUERY_GET,
                                   [RGI_TRANSFER_PUT] = RGI_QUERY_PUT,
                                   [RGI_TRANSFER_ACC] = RGI_QUERY_ACCUMULATE};
  int entries = t->runs ? t->n : t->patch.dims;
  daemon_op *o = make_op(t, entries);
  if (!o)
    return NULL;
  for (int i = 0; i < entries; i++)
    o->entries[i] = t->runs ? (rgi_query_entry){t->runs[i].target, t->runs[i].bytes}
                            : (rgi_query_entry){t->patch.target_stride[i], t->patch.extent[i]};
  o->request.query.kind = kinds[t->kind];
  o->request.query.bytes = (uint64_t)bytes;
  *(t->runs ? &o->request.query.runs : &o->request.query.dims) = (uint32_t)entries;
  if (set_op_data(o, bytes))
    return o;
  destroy_op(o);
  return NULL;
}

/* --- operations under way
 * --------------------------------------------------------------------------- */

static rgi_daemon_client *client_of(int target) {
  return &transport.clients[rgi_node_of(target)];
}

/* Of a dropped operation only the error is kept. */
static void end_op(rgi_daemon_client *l, daemon_op *o, int error) {
  finish_op(o, error);
  if (error && o->dropped)
    transport.lost[l->node] = error;
  if (o->dropped)
    destroy_op(o);
}

/* The error for a broken connection: whether its node died or not. RG_SUCCESS: not known yet. */
static int why_broken(rgi_daemon_client *l) {
  if (rgi_daemon_client_node_dead(l))
    return RG_ERR_PROC_FAILED;
  return l->tcp.fd < 0 && l->broken && rgi_clock_now() - l->broken > DEATH_SECONDS ? RG_ERR_SYSTEM
                                                                                   : RG_SUCCESS;
}

static void advance_client(rgi_daemon_client *l) {
  for (rgi_daemon_client_query *o; (o = rgi_daemon_client_step(l));)
    end_op(l, (daemon_op *)o, RG_SUCCESS);
  int error = l->first ? why_broken(l) : RG_SUCCESS;
  for (rgi_daemon_client_query *o; error && (o = rgi_daemon_client_give_up(l));)
    end_op(l, (daemon_op *)o, error);
}

static int connection_error(int error, const char *call, int node) {
  int first = rgi_overlay_nodes(rgi_overlay_get())[node].first;
  if (error == RG_ERR_PROC_FAILED)
    return rgi_error(error, "%s: all processes of the node of rank %d of the world have died", call,
                     first);
  return rgi_error(error, "%s: the connection with the node of rank %d of the world is broken",
                   call, first);
}

/* With the lock, also while it waits until it is known why a connection has broken: that takes a
 * moment. */
static int submit_locked(daemon_op *o, rgi_daemon_client *l, const char *call) {
  int error = rgi_daemon_client_node_dead(l) ? RG_ERR_PROC_FAILED : RG_SUCCESS;
  while (!error && !rgi_daemon_client_open(l)) {
    error = why_broken(l);
    if (!error)
      rgi_clock_sleep(1e-3);
  }
  if (error)
    return connection_error(error, call, l->node);
  rgi_daemon_client_queue(l, &o->request);
  advance_client(l);
  return RG_SUCCESS;
}

/* After an error the operation is destroyed. */
static int submit_op(daemon_op *o, const char *call) {
  int target = o->transfer.target;
  if (rgi_node_find(target) >= 0) {
    rgi_daemon_client_query *request = &o->request;
    rgi_query_execute(&request->query, request->entries, rgi_arena_heap(), request->data,
                      request->answer);
    finish_op(o, RG_SUCCESS);
    return RG_SUCCESS;
  }
  pthread_mutex_lock(&transport.lock);
  int error = submit_locked(o, client_of(target), call);
  pthread_mutex_unlock(&transport.lock);
  if (error)
    destroy_op(o);
  return error;
}

/* --- for the engine --------------------------------------------------------------------------- */

int rgi_daemon_transport_start(const rgi_transfer *t, int64_t bytes,
                               rgi_daemon_transport_handle *op) {
  const char *call = rgi_transfer_calls[t->kind];
  daemon_op *o = make_transfer_op(t, bytes);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld bytes", call, (long long)bytes);
  RGI_TRY(submit_op(o, call));
  *op = o;
  return RG_SUCCESS;
}

/* Whether the caller may use its buffer again as soon as the query is sent. */
static int may_leave(const daemon_op *o) {
  return o->request.query.kind == RGI_QUERY_PUT || o->request.query.kind == RGI_QUERY_ACCUMULATE;
}

int rgi_daemon_transport_test(rgi_daemon_transport_handle o, const char *call, int *done) {
  int node = rgi_node_of(o->transfer.target);
  pthread_mutex_lock(&transport.lock);
  if (!o->done)
    advance_client(&transport.clients[node]);
  *done = o->done || (o->request.sent && may_leave(o));
  int error = o->error;
  pthread_mutex_unlock(&transport.lock);
  return error ? connection_error(error, call, node) : RG_SUCCESS;
}

void rgi_daemon_transport_drop(rgi_daemon_transport_handle o) {
  pthread_mutex_lock(&transport.lock);
  o->dropped = 1;
  if (o->done)
    destroy_op(o);
  pthread_mutex_unlock(&transport.lock);
}

/* Data on the socket end the sleep. Other requests of this process are moved on from time to
 * time. */
int rgi_daemon_transport_pause(rgi_wait *w, int target) {
  if (!rgi_node.oversubscribed && w->pause.looks++ < LOOKS) {
    rgi_pause_spin();
    return RG_SUCCESS;
  }
  pthread_mutex_lock(&transport.lock);
  const rgi_daemon_client *l = client_of(target);
  struct pollfd p = {l->tcp.fd, (short)(POLLIN | (l->sending ? POLLOUT : 0)), 0};
  pthread_mutex_unlock(&transport.lock);
  if (poll(&p, 1, rgi_wait_meanwhile ? 0 : 1) == 0)
    RGI_TRY(rgi_requests_progress_all());
  return rgi_wait_check(w);
}

static int wait_for(daemon_op *o, const char *call) {
  rgi_wait w;
  int done;
  rgi_wait_start_unscoped(&w, call, o->transfer.target);
  for (;;) {
    RGI_TRY(rgi_daemon_transport_test(o, call, &done));
    if (done)
      return RG_SUCCESS;
    RGI_TRY(rgi_daemon_transport_pause(&w, o->transfer.target));
  }
}

int rgi_daemon_transport_word(const char *call, int kind, int target, uint64_t offset,
                              rg_array_type type, int64_t a, int64_t b, int64_t *before) {
  const rgi_transfer t = {
      .kind = RGI_TRANSFER_ACC, .target = target, .offset = offset, .type = type};
  daemon_op *o = make_op(&t, 0);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  o->request.query.kind = (uint32_t)kind;
  o->request.query.bytes = type == RG_TYPE_INT32 ? 4 : 8;
  o->request.query.a = a;
  o->request.query.b = b;
  o->request.answer = (char *)&o->word;
  RGI_TRY(submit_op(o, call));
  int error = wait_for(o, call);
  if (!error)
    *before = o->word;
  rgi_daemon_transport_drop(o);
  return error;
}

/* Whether all queries to the node have been answered, or are lost. */
static int is_empty(rgi_daemon_client *l, int *error) {
  pthread_mutex_lock(&transport.lock);
  advance_client(l);
  int empty = !l->first;
  *error = empty && transport.lost[l->node] == RG_ERR_SYSTEM ? RG_ERR_SYSTEM : RG_SUCCESS;
  if (*error)
    transport.lost[l->node] = RG_SUCCESS;
  pthread_mutex_unlock(&transport.lock);
  return empty;
}

static int fence_one(int node) {
  rgi_wait w;
  int error, target = rgi_overlay_nodes(rgi_overlay_get())[node].first;
  rgi_wait_start_unscoped(&w, "rg_array_fence", target);
  while (!is_empty(&transport.clients[node], &error))
    RGI_TRY(rgi_daemon_transport_pause(&w, target));
  return error ? connection_error(error, "rg_array_fence", node) : RG_SUCCESS;
}

int rgi_daemon_transport_fence(int target) {
  int error = RG_SUCCESS;
  if (target >= 0)
    return fence_one(rgi_node_of(target));
  for (int i = 0; i < transport.nodes; i++) {
    int failed = fence_one(i);
    error = error ? error : failed;
  }
  return error;
}

int rgi_daemon_transport_lost(int target) {
  int node = rgi_node_of(target);
  pthread_mutex_lock(&transport.lock);
  int lost = transport.lost[node] == RG_ERR_PROC_FAILED;
  if (lost)
    transport.lost[node] = RG_SUCCESS;
  pthread_mutex_unlock(&transport.lock);
  return lost;
}

void rgi_daemon_transport_progress(void) {
  if (pthread_mutex_trylock(&transport.lock) != 0)
    return;
  for (int i = 0; i < transport.nodes; i++)
    if (transport.clients[i].first)
      advance_client(&transport.clients[i]);
  pthread_mutex_unlock(&transport.lock);
}
