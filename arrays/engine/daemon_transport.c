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
 * A connection that breaks is made again, and what was under way goes on, for as long as the node
 * lives. So data are kept until they have been written: where a put or an accumulate is to leave
 * earlier, a copy is kept (leave_early).
 *
 * An operation that its caller has dropped stays in the queue until it is answered or lost. Its
 * error is noted for the node (transport.lost). The next fence returns it, or, if the node has
 * died, take_lost tells of it. */
#include "engine/transport.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pause.h"
#include "engine/heap.h"
#include "engine/scalar.h"
#include "noded/client/daemon_client.h"
#include "noded/client/overlay_client.h"
#include "progress/request.h"
#include "runtime/runtime.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "shm/process.h"

#define LOOKS 100 /* before the first sleep, where every process has a processor */
/* A caller may leave with more bytes only when they have been written. */
#define COPIED_BYTES ((uint64_t)64 << 10)

typedef struct {
  rgi_transport_op op; /* first */
  rgi_daemon_client_query request;
  int done, error, dropped;
  int64_t word;    /* a short answer */
  char *copy;      /* data that are not sent from, or read to, the caller's buffer; or NULL */
  char small[8];   /* instead of copy, for so few bytes */
  rgi_transfer to; /* of a get into a copy: where its data go in the end, with */
  rgi_strided_run *runs;
  rgi_query_entry entries[];
} daemon_op;

/* Where a rank of the world is. */
typedef struct {
  int node, place; /* of the overlay; among its node's processes */
  int here;        /* it is the caller's node */
} rank_place;

static struct {
  pthread_mutex_t lock;       /* of clients and lost */
  rgi_daemon_client *clients; /* to each node of the overlay */
  int *lost;                  /* for each: the error of an operation that had been dropped */
  rank_place *ranks;          /* of the world */
  int nodes;
} transport = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- start and stop --------------------------------------------------------------------- */

static void find_places(void) {
  for (int i = 0; i < rgi_runtime.size; i++) {
    int node = rgi_node_of(i);
    transport.ranks[i] = (rank_place){node, transport.lost[node]++, rgi_node_find(i) >= 0};
  }
  memset(transport.lost, 0, (size_t)transport.nodes * sizeof *transport.lost);
}

static void close_transport(void) {
  free(transport.clients);
  free(transport.lost);
  free(transport.ranks);
  transport.clients = NULL;
  transport.lost = NULL;
  transport.ranks = NULL;
}

/* After an error it is to be closed, too. */
static int open_transport(void) {
  transport.nodes = rgi_overlay_get()->nodes;
  transport.clients = calloc((size_t)transport.nodes, sizeof *transport.clients);
  transport.lost = calloc((size_t)transport.nodes, sizeof *transport.lost);
  transport.ranks = calloc((size_t)rgi_runtime.size, sizeof *transport.ranks);
  if (!transport.clients || !transport.lost || !transport.ranks)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for %d connections", rgi_node.count);
  for (int i = 0; i < transport.nodes; i++)
    transport.clients[i] = (rgi_daemon_client){.node = i, .tcp = {.fd = -1}};
  find_places();
  return RG_SUCCESS;
}

static int start_transport(void) {
  return RG_SUCCESS;
}

static daemon_op *op_of(rgi_daemon_client_query *query) {
  return (daemon_op *)(void *)((char *)query - offsetof(daemon_op, request));
}

static void destroy_op(daemon_op *op) {
  free(op->runs);
  free(op->copy);
  free(op);
}

static void stop_transport(int mpi) {
  (void)mpi;
  for (int i = 0; i < transport.nodes; i++) {
    rgi_daemon_client *client = &transport.clients[i];
    rgi_daemon_client_close(client);
    for (rgi_daemon_client_query *q; (q = rgi_daemon_client_give_up(client));)
      destroy_op(op_of(q));
  }
}

/* --- the origin side of an operation -------------------------------------------------- */

/* A get needs the transfer and its runs at the end. */
static int keep_transfer(daemon_op *op, const rgi_transfer *transfer) {
  size_t bytes = transfer->runs ? (size_t)transfer->n * sizeof *transfer->runs : 0;
  op->to = *transfer;
  if (!bytes)
    return 1;
  op->runs = malloc(bytes);
  if (!op->runs)
    return 0;
  memcpy(op->runs, transfer->runs, bytes);
  op->to.runs = op->runs;
  return 1;
}

/* For data that are not contiguous in the caller's buffer, or are to be scaled. NULL: no memory. */
static char *make_copy(daemon_op *op, const rgi_transfer *transfer) {
  op->copy = malloc((size_t)transfer->bytes);
  if (!op->copy || (transfer->kind == RGI_ACCESS_KIND_GET && !keep_transfer(op, transfer)))
    return NULL;
  if (transfer->alpha)
    rgi_transfer_pack_scaled(transfer, op->copy);
  else if (transfer->kind != RGI_ACCESS_KIND_GET)
    rgi_transfer_pack(transfer, op->copy, 1);
  return op->copy;
}

static void finish_op(daemon_op *op, int error) {
  if (!error && op->copy && op->request.query.kind == RGI_ACCESS_KIND_GET)
    rgi_transfer_pack(&op->to, op->copy, 0);
  op->error = error;
  op->done = 1;
}

/* --- operations under way ---------------------------------------------------------------- */

static rgi_daemon_client *client_of(int target) {
  return &transport.clients[transport.ranks[target].node];
}

/* Of a dropped operation only the error is kept. */
static void end_op(rgi_daemon_client *client, daemon_op *op, int error) {
  finish_op(op, error);
  if (error && op->dropped)
    transport.lost[client->node] = error;
  if (op->dropped)
    destroy_op(op);
}

/* When no descriptor is left: closes a connection that is not in use. */
static int close_unused(void) {
  for (int i = 0; i < transport.nodes; i++)
    if (transport.clients[i].tcp.fd >= 0 && !transport.clients[i].first) {
      rgi_daemon_client_close(&transport.clients[i]);
      return 1;
    }
  return 0;
}

/* Why what waits will not be answered. RG_SUCCESS: it will be, as far as this process knows. */
static int why_unanswered(rgi_daemon_client *client) {
  if (rgi_daemon_client_node_dead(client))
    return RG_ERR_PROC_FAILED;
  return rgi_daemon_client_is_stuck(client) && !(client->starved && close_unused()) ? RG_ERR_SYSTEM
                                                                                    : RG_SUCCESS;
}

static void advance_client(rgi_daemon_client *client) {
  for (rgi_daemon_client_query *q; (q = rgi_daemon_client_step(client));)
    end_op(client, op_of(q), RG_SUCCESS);
  int error = client->first ? why_unanswered(client) : RG_SUCCESS;
  for (rgi_daemon_client_query *q; error && (q = rgi_daemon_client_give_up(client));)
    end_op(client, op_of(q), error);
}

/* On the caller's node the query is executed at once. After an error the operation is destroyed. */
static int submit_op(daemon_op *op) {
  rgi_daemon_client_query *q = &op->request;
  const rank_place *target = &transport.ranks[op->op.target];
  rgi_daemon_client *client = &transport.clients[target->node];
  int error = RG_SUCCESS;
  if (target->here) {
    rgi_query_execute(&q->query, q->entries, rgi_arena_heap(), q->data, q->answer);
    finish_op(op, RG_SUCCESS);
    return RG_SUCCESS;
  }
  pthread_mutex_lock(&transport.lock);
  if (client->gone || client->deaths != rgi_process_deaths())
    error = rgi_daemon_client_node_dead(client) ? RG_ERR_PROC_FAILED : RG_SUCCESS;
  if (!error)
    rgi_daemon_client_send(client, q);
  pthread_mutex_unlock(&transport.lock);
  if (error) {
    error = rgi_daemon_client_report(client, error, op->op.call);
    destroy_op(op);
  }
  return error;
}

/* --- the engine's calls --------------------------------------------------------------------- */

static const uint32_t element_types[] = {
    [RG_TYPE_INT32] = RGI_ELEMENT_INT32,         [RG_TYPE_INT64] = RGI_ELEMENT_INT64,
    [RG_TYPE_FLOAT] = RGI_ELEMENT_FLOAT,         [RG_TYPE_DOUBLE] = RGI_ELEMENT_DOUBLE,
    [RG_TYPE_FLOAT_COMPLEX] = RGI_ELEMENT_FLOAT, [RG_TYPE_DOUBLE_COMPLEX] = RGI_ELEMENT_DOUBLE,
    [RG_TYPE_OPAQUE] = RGI_ELEMENT_DOUBLE};

_Static_assert(RGI_STRIDED_DIMS == RGI_QUERY_DIMS, "a node daemon takes every patch");

/* A query has its dimensions from the outermost one inwards. */
static int begin_op(const rgi_transfer *transfer, rgi_transport_op **op) {
  const char *call = rgi_transfer_calls[transfer->kind];
  const rgi_strided *p = &transfer->patch;
  int entries = transfer->runs ? transfer->n : p->dims, get = transfer->kind == RGI_ACCESS_KIND_GET;
  daemon_op *o = malloc(sizeof *o + (size_t)entries * sizeof *o->entries);
  char *data = NULL;
  if (o) {
    o->op = (rgi_transport_op){NULL, call, transfer->target};
    o->done = o->error = o->dropped = 0;
    o->copy = NULL;
    o->runs = NULL;
    data = transfer->flat && !transfer->alpha
               ? transfer->origin + (transfer->runs ? transfer->runs[0].origin : 0)
               : make_copy(o, transfer);
  }
  if (!data) {
    if (o)
      destroy_op(o);
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld bytes", call,
                     (long long)transfer->bytes);
  }
  for (int i = 0; i < entries; i++)
    o->entries[i] =
        transfer->runs
            ? (rgi_query_entry){transfer->runs[i].target, transfer->runs[i].bytes}
            : (rgi_query_entry){p->target_stride[entries - 1 - i], p->extent[entries - 1 - i]};
  o->request = (rgi_daemon_client_query){
      .query = {.kind = transfer->kind,
                .element_type = element_types[transfer->type],
                .dims = transfer->runs ? 0 : (uint32_t)entries,
                .runs = transfer->runs ? (uint32_t)entries : 0,
                .offset = (uint64_t)transport.ranks[transfer->target].place * rgi_heap.size +
                          transfer->offset,
                .bytes = (uint64_t)transfer->bytes},
      .entries = o->entries,
      .data = get ? NULL : data,
      .answer = get ? data : (char *)&o->word};
  RGI_TRY(submit_op(o));
  *op = &o->op;
  return RG_SUCCESS;
}

/* Whether the caller may use its buffer again before the answer: the query is sent, and its data,
 * to be sent again if the connection breaks, are kept in a copy. */
static int leave_early(daemon_op *op) {
  rgi_daemon_client_query *q = &op->request;
  if (!q->sent || (q->query.kind != RGI_ACCESS_KIND_PUT && q->query.kind != RGI_ACCESS_KIND_ACC))
    return 0;
  if (q->data == op->copy || q->data == op->small)
    return 1;
  if (q->query.bytes > COPIED_BYTES)
    return 0;
  char *to = q->query.bytes <= sizeof op->small ? op->small : malloc(q->query.bytes);
  if (!to)
    return 0;
  op->copy = to == op->small ? NULL : to;
  q->data = memcpy(to, q->data, q->query.bytes);
  return 1;
}

static int test_op(rgi_transport_op *op, int *done) {
  daemon_op *o = (daemon_op *)op;
  rgi_daemon_client *client = client_of(op->target);
  pthread_mutex_lock(&transport.lock);
  if (!o->done)
    advance_client(client);
  *done = o->done || leave_early(o);
  int error = o->error;
  pthread_mutex_unlock(&transport.lock);
  return error ? rgi_daemon_client_report(client, error, op->call) : RG_SUCCESS;
}

static void drop_op(rgi_transport_op *op) {
  daemon_op *o = (daemon_op *)op;
  pthread_mutex_lock(&transport.lock);
  o->dropped = 1;
  if (o->done)
    destroy_op(o);
  pthread_mutex_unlock(&transport.lock);
}

/* Data on the socket end the sleep. Other requests of this process are moved on from time to
 * time. */
static int pause_once(rgi_wait *wait, int target) {
  if (!rgi_node.oversubscribed && wait->pause.looks++ < LOOKS) {
    rgi_pause_spin();
    return RG_SUCCESS;
  }
  pthread_mutex_lock(&transport.lock);
  const rgi_daemon_client *client = client_of(target);
  struct pollfd p = {client->tcp.fd, rgi_daemon_client_awaits(client), 0};
  pthread_mutex_unlock(&transport.lock);
  if (poll(&p, 1, rgi_wait_meanwhile ? 0 : 1) == 0)
    RGI_TRY(rgi_requests_progress_all());
  return rgi_wait_check(wait);
}

static int wait_for(rgi_transport_op *op, rgi_wait *wait) {
  int done;
  for (;;) {
    RGI_TRY(test_op(op, &done));
    if (done)
      return RG_SUCCESS;
    RGI_TRY(pause_once(wait, op->target));
  }
}

static int move_word(const rgi_transfer_word *word, int64_t *before) {
  rgi_wait wait;
  daemon_op *o = calloc(1, sizeof *o);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", rgi_transfer_calls[word->kind]);
  o->op = (rgi_transport_op){NULL, rgi_transfer_calls[word->kind], word->target};
  o->request.query = (rgi_query){
      .kind = word->kind,
      .element_type = element_types[word->type],
      .offset = (uint64_t)transport.ranks[word->target].place * rgi_heap.size + word->offset,
      .bytes = word->type == RG_TYPE_INT32 ? 4 : 8,
      .a = word->a,
      .b = word->b};
  o->request.entries = o->entries;
  o->request.answer = (char *)&o->word;
  RGI_TRY(submit_op(o));
  rgi_wait_start_unscoped(&wait, o->op.call, o->op.target);
  int error = wait_for(&o->op, &wait);
  if (!error)
    *before = o->word;
  drop_op(&o->op);
  return error;
}

/* As runs of one element each, from the lowest address on. */
static int move_elements(const rgi_transfer_elements *elements) {
  rgi_strided_run *runs = malloc((size_t)elements->n * sizeof *runs);
  rgi_transport_op *op;
  rgi_wait wait;
  uintptr_t base = UINTPTR_MAX;
  if (!runs)
    return rgi_error(RG_ERR_NOMEM, "no memory for %lld elements", (long long)elements->n);
  for (int64_t i = 0; i < elements->n; i++)
    base = (uintptr_t)elements->origin[i] < base ? (uintptr_t)elements->origin[i] : base;
  for (int64_t i = 0; i < elements->n; i++)
    runs[i] = (rgi_strided_run){(int64_t)((uintptr_t)elements->origin[i] - base),
                                (int64_t)elements->offsets[i], (int64_t)elements->element};
  int acc =
      elements->kind == RGI_ACCESS_KIND_ACC && !rgi_scalar_is_one(elements->type, elements->alpha);
  rgi_transfer transfer = {.kind = elements->kind,
                           .target = elements->target,
                           .origin = (char *)base,
                           .type = elements->type,
                           .alpha = acc ? elements->alpha : NULL,
                           .runs = runs,
                           .n = (int)elements->n};
  rgi_transfer_measure_runs(&transfer);
  int error = begin_op(&transfer, &op);
  free(runs);
  if (error)
    return error;
  rgi_wait_start_unscoped(&wait, op->call, op->target);
  error = wait_for(op, &wait);
  drop_op(op);
  return error;
}

/* --- completion ----------------------------------------------------------------------------- */

/* Whether all queries to the node have been answered, or are lost. */
static int is_empty(rgi_daemon_client *client, int *error) {
  pthread_mutex_lock(&transport.lock);
  advance_client(client);
  int empty = !client->first;
  *error = empty && transport.lost[client->node] == RG_ERR_SYSTEM ? RG_ERR_SYSTEM : RG_SUCCESS;
  if (*error)
    transport.lost[client->node] = RG_SUCCESS;
  pthread_mutex_unlock(&transport.lock);
  return empty;
}

static int fence_one(int node) {
  rgi_wait wait;
  int error, target = rgi_overlay_nodes(rgi_overlay_get())[node].first;
  rgi_wait_start_unscoped(&wait, "rg_array_fence", target);
  while (!is_empty(&transport.clients[node], &error))
    RGI_TRY(pause_once(&wait, target));
  return error ? rgi_daemon_client_report(&transport.clients[node], error, "rg_array_fence")
               : RG_SUCCESS;
}

static int fence_target(int target) {
  int error = RG_SUCCESS;
  if (target >= 0)
    return fence_one(transport.ranks[target].node);
  for (int i = 0; i < transport.nodes; i++) {
    int failed = fence_one(i);
    error = error ? error : failed;
  }
  return error;
}

/* A fence of this transport waits for the answers to all queries. */
static int finish_all(void) {
  return fence_target(-1);
}

static int take_lost(int target) {
  int node = transport.ranks[target].node;
  pthread_mutex_lock(&transport.lock);
  int lost = transport.lost[node] == RG_ERR_PROC_FAILED;
  if (lost)
    transport.lost[node] = RG_SUCCESS;
  pthread_mutex_unlock(&transport.lock);
  return lost;
}

static void advance_all(void) {
  if (pthread_mutex_trylock(&transport.lock) != 0)
    return;
  for (int i = 0; i < transport.nodes; i++)
    if (transport.clients[i].first)
      advance_client(&transport.clients[i]);
  pthread_mutex_unlock(&transport.lock);
}

/* Operations on memory of this node are complete when they return. */
static int settle_nothing(int target, uint64_t low, uint64_t high) {
  (void)target;
  (void)low;
  (void)high;
  return RG_SUCCESS;
}

/* A node daemon keeps `most` bytes for each process. */
const rgi_transport rgi_transport_daemon = {.most = (int64_t)1 << 20,
                                            .open = open_transport,
                                            .start = start_transport,
                                            .stop = stop_transport,
                                            .close = close_transport,
                                            .begin = begin_op,
                                            .test = test_op,
                                            .wait = wait_for,
                                            .drop = drop_op,
                                            .elements = move_elements,
                                            .word = move_word,
                                            .settle = settle_nothing,
                                            .fence = fence_target,
                                            .finish = finish_all,
                                            .lost = take_lost,
                                            .progress = advance_all};
