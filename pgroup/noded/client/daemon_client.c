/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in ranks. Queries are sent in the order of their queue, each straight from where it lies
 * (sendmsg with its parts), as far as the socket takes them now; answers come in the same order and
 * go straight to where the caller wants them.
 *
 * A connection that breaks is no death: it is made again for as long as the caller wants answers.
 * The server then tells how many queries it has executed, and the words that may be lost
 * (take_state). Queries that it has executed are answered by that, except gets: these are sent
 * again, as are queries that it has not executed. A get that is executed again must not see what
 * the same client has written after it: so a query that writes is held back while a get before it
 * that overlaps has no answer (must_wait). */
#include "noded/client/daemon_client.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "noded/client/overlay_client.h"
#include "noded/wire/descriptors.h"
#include "shm/node.h"
#include "shm/process.h"

/* The kernel breaks a connection that is silent for so long; then it is made again. A third of the
 * time after which the node is given up, but enough for a server that has much to do. */
#define LEAST_SILENT_SECONDS 5.0
#define SILENT_SECONDS 20.0 /* where no node is given up */
#define PULL_BYTES ((size_t)512)
#define MOST_WORDS ((uint64_t)1 << 20)

int rgi_daemon_client_node_dead(rgi_daemon_client *client) {
  rgi_overlay *overlay = rgi_overlay_get();
  int deaths = rgi_process_deaths();
  if (deaths == client->deaths)
    return client->gone;
  client->deaths = deaths;
  for (int i = 0; i < overlay->world; i++)
    if (rgi_node_of(i) == client->node && !rgi_process_is_dead(i))
      return 0;
  return client->gone = 1;
}

void rgi_daemon_client_close(rgi_daemon_client *client) {
  rgi_tcp_free(&client->tcp);
  client->state = RGI_DAEMON_CLIENT_AWAY;
  client->dial.node = NULL;
}

/* --- connecting ------------------------------------------------------------------------- */

/* The first connection is dialled at once, a later one after the dial's pause. */
static void start_dial(rgi_daemon_client *client) {
  rgi_overlay *overlay = rgi_overlay_get();
  double third = overlay->limit > 0 ? overlay->limit / 3 : SILENT_SECONDS;
  client->dial = (rgi_dial){.node = &rgi_overlay_nodes(overlay)[client->node],
                            .key = overlay->key,
                            .from = RGI_OVERLAY_CLIENT,
                            .to = client->node,
                            .limit = third > LEAST_SILENT_SECONDS ? third : LEAST_SILENT_SECONDS,
                            .tried = client->attempt ? rgi_clock_now() : 0};
}

static void advance_dial(rgi_daemon_client *client) {
  if (!client->dial.node)
    start_dial(client);
  client->tcp.error = 0; /* of an attempt before */
  if (rgi_dial_step(&client->dial, &client->tcp)) {
    client->attempt = (uint64_t)(1e9 * rgi_clock_now()); /* also after those of a client before */
    const rgi_query_session opening = {.rank = rgi_node.rank,
                                       .use = (int32_t)client->use,
                                       .attempt = client->attempt,
                                       .received = client->received};
    struct iovec part = {(void *)(uintptr_t)&opening, sizeof opening};
    client->state = RGI_DAEMON_CLIENT_RESUMING;
    if (rgi_tcp_push_parts(&client->tcp, &part, 1) !=
        (ssize_t)sizeof opening) /* a new socket has room */
      rgi_daemon_client_close(client);
  }
  client->starved =
      client->tcp.fd < 0 && rgi_descriptors_ran_out(client->tcp.error) && !rgi_descriptors_raise();
}

/* Gives a query its number, or its answer, by what the server has executed. 0: a word is missing.
 */
static int resume_query(rgi_daemon_client_query *request, uint64_t executed, const char **words,
                        const char *end) {
  rgi_query_word word = {0};
  request->got = 0;
  request->sent = 0;
  if (request->query.number > executed)
    request->query.number = 0;
  request->executed = request->query.number && request->query.kind != RGI_ACCESS_KIND_GET;
  if (!request->executed || !rgi_query_is_atomic(&request->query))
    return 1;
  for (; word.number < request->query.number && *words < end; *words += sizeof word)
    memcpy(&word, *words, sizeof word);
  memcpy(request->answer, &word.value, sizeof word.value);
  return word.number == request->query.number;
}

/* How long the server's state is, with its words; before its head is there: how long the head is.
 */
static size_t state_length(const rgi_buffer *in, rgi_query_state *state) {
  *state = (rgi_query_state){0};
  if (rgi_buffer_pending(in) >= sizeof *state)
    memcpy(state, in->data + in->begin, sizeof *state);
  return state->words > MOST_WORDS ? 0 : sizeof *state + state->words * sizeof(rgi_query_word);
}

/* Where the session goes on, by what the server tells. 0: not all of it has come; -1: the
 * connection is broken. */
static int take_state(rgi_daemon_client *client) {
  rgi_query_state state;
  rgi_buffer *in = &client->tcp.in;
  size_t wanted;
  while ((wanted = state_length(in, &state)) > rgi_buffer_pending(in)) {
    ssize_t n = rgi_tcp_pull(&client->tcp, PULL_BYTES);
    if (n <= 0)
      return (int)n;
  }
  client->refused = state.executed == RGI_QUERY_REFUSED;
  if (client->refused || !wanted)
    return -1;
  const char *words = in->data + in->begin + sizeof state, *end = in->data + in->begin + wanted;
  for (rgi_daemon_client_query *request = client->first; request; request = request->next)
    if (!resume_query(request, state.executed, &words, end))
      return -1;
  rgi_buffer_take(in, wanted);
  client->numbered = state.executed;
  client->sending = client->first;
  client->sent = 0;
  client->state = RGI_DAEMON_CLIENT_UP;
  return 1;
}

/* Connects, and resumes the session, as far as possible now. */
static void connect_more(rgi_daemon_client *client) {
  if (client->state == RGI_DAEMON_CLIENT_AWAY)
    advance_dial(client);
  if (client->state == RGI_DAEMON_CLIENT_RESUMING && take_state(client) < 0)
    rgi_daemon_client_close(client);
}

/* --- sending ------------------------------------------------------------------------------ */

/* Whether a get that is not answered yet, of what the query changes, was queued before it. */
static int must_wait(const rgi_daemon_client *client, const rgi_daemon_client_query *request) {
  uint64_t begin = request->query.offset,
           end = begin + rgi_query_reach(&request->query, request->entries);
  if (request->query.kind == RGI_ACCESS_KIND_GET)
    return 0;
  for (const rgi_daemon_client_query *earlier = client->first; earlier != request;
       earlier = earlier->next)
    if (earlier->query.kind == RGI_ACCESS_KIND_GET && earlier->query.offset < end &&
        begin < earlier->query.offset + rgi_query_reach(&earlier->query, earlier->entries))
      return 1;
  return 0;
}

/* The parts of a query that are not sent yet. */
static int remaining_parts(const rgi_daemon_client *client, const rgi_daemon_client_query *request,
                           struct iovec parts[4]) {
  static char padding[8];
  uint64_t data = rgi_query_data_bytes(&request->query), bytes = data ? request->query.bytes : 0;
  const struct iovec all[4] = {
      {(void *)(uintptr_t)&request->query, sizeof request->query},
      {(void *)(uintptr_t)request->entries,
       ((size_t)request->query.dims + request->query.runs) * sizeof *request->entries},
      {(void *)(uintptr_t)request->data, bytes},
      {padding, data - bytes}};
  size_t skip = client->sent;
  int n = 0;
  for (int i = 0; i < 4; i++) {
    size_t gone = skip < all[i].iov_len ? skip : all[i].iov_len;
    skip -= gone;
    if (all[i].iov_len > gone)
      parts[n++] = (struct iovec){(char *)all[i].iov_base + gone, all[i].iov_len - gone};
  }
  return n;
}

/* Of the query that is being sent. 1: all of it is; 0: the socket takes no more now; -1: the
 * connection is broken. */
static int send_rest(rgi_daemon_client *client, rgi_daemon_client_query *request) {
  struct iovec parts[4];
  for (int n; (n = remaining_parts(client, request, parts)) > 0;) {
    ssize_t k = rgi_tcp_push_parts(&client->tcp, parts, n);
    if (k <= 0)
      return (int)k;
    client->sent += (size_t)k;
  }
  request->sent = 1;
  return 1;
}

static int send_pending(rgi_daemon_client *client) {
  for (rgi_daemon_client_query *request; (request = client->sending);
       client->sending = request->next, client->sent = 0) {
    if (request->executed)
      continue;
    if (!client->sent) {
      client->held = client->gets && must_wait(client, request);
      if (client->held)
        return 1;
      request->query.number = request->query.number ? request->query.number : ++client->numbered;
      request->query.received = client->received;
    }
    int sent = send_rest(client, request);
    if (sent <= 0)
      return sent == 0;
  }
  return 1;
}

void rgi_daemon_client_send(rgi_daemon_client *client, rgi_daemon_client_query *request) {
  static char padding[8];
  request->next = NULL;
  if (client->first)
    client->last->next = request;
  else
    client->first = request;
  client->last = request;
  client->gets += request->query.kind == RGI_ACCESS_KIND_GET;
  if (client->state != RGI_DAEMON_CLIENT_UP)
    connect_more(client);
  if (client->sending || client->state != RGI_DAEMON_CLIENT_UP)
    return;
  client->sending = request;
  client->held = client->gets && must_wait(client, request);
  if (client->held)
    return;
  request->query.number = ++client->numbered;
  request->query.received = client->received;
  size_t data = request->data ? request->query.bytes : 0;
  struct iovec parts[4] = {
      {(void *)(uintptr_t)&request->query, sizeof request->query},
      {(void *)(uintptr_t)request->entries,
       ((size_t)request->query.dims + request->query.runs) * sizeof *request->entries},
      {(void *)(uintptr_t)request->data, data},
      {padding, -data % sizeof padding}};
  ssize_t k = rgi_tcp_push_parts(&client->tcp, parts, 4);
  client->sent = k > 0 ? (size_t)k : 0;
  if (client->sent == sizeof request->query + parts[1].iov_len + data + parts[3].iov_len) {
    request->sent = 1;
    client->sending = NULL;
    client->sent = 0;
  }
}

/* --- receiving ------------------------------------------------------------------------------ */

/* Whether the oldest query has its answer; -1: the connection is broken. */
static int receive_answer(rgi_daemon_client *client) {
  rgi_daemon_client_query *request = client->first;
  uint64_t wanted = request ? rgi_query_answer_bytes(&request->query) : 0;
  if (!request || !request->sent)
    return 0;
  while (request->got < wanted) {
    ssize_t n =
        rgi_tcp_pull_to(&client->tcp, request->answer + request->got, wanted - request->got);
    if (n <= 0)
      return (int)n;
    request->got += (uint64_t)n;
  }
  return 1;
}

static rgi_daemon_client_query *pop_query(rgi_daemon_client *client) {
  rgi_daemon_client_query *request = client->first;
  if (!request)
    return NULL;
  client->first = request->next;
  if (client->sending == request) /* it had been executed before */
    client->sending = request->next;
  client->gets -= request->query.kind == RGI_ACCESS_KIND_GET;
  return request;
}

static rgi_daemon_client_query *pop_answered(rgi_daemon_client *client) {
  client->received = client->first->query.number;
  return pop_query(client);
}

rgi_daemon_client_query *rgi_daemon_client_step(rgi_daemon_client *client) {
  if (client->first && client->first->executed)
    return pop_answered(client);
  if (client->state != RGI_DAEMON_CLIENT_UP && client->first)
    connect_more(client);
  if (client->state != RGI_DAEMON_CLIENT_UP)
    return NULL;
  int heard = send_pending(client) ? receive_answer(client) : -1;
  if (heard < 0)
    rgi_daemon_client_close(client);
  return heard > 0 ? pop_answered(client) : NULL;
}

int rgi_daemon_client_is_stuck(const rgi_daemon_client *client) {
  return client->starved || client->refused;
}

int rgi_daemon_client_report(const rgi_daemon_client *client, int error, const char *call) {
  int first = rgi_overlay_nodes(rgi_overlay_get())[client->node].first;
  if (error == RG_ERR_PROC_FAILED)
    return rgi_error(error, "%s: all processes of the node of rank %d of the world have died", call,
                     first);
  if (client->refused)
    return rgi_error(error,
                     "%s: the daemon of the node of rank %d of the world refuses its queries", call,
                     first);
  return rgi_error(error,
                   "%s: no descriptor is left for a connection with the node of rank %d of the "
                   "world: the limit (RLIMIT_NOFILE) is %lld",
                   call, first, rgi_descriptors_limit());
}

short rgi_daemon_client_awaits(const rgi_daemon_client *client) {
  if (client->state == RGI_DAEMON_CLIENT_AWAY)
    return rgi_dial_awaits(&client->dial);
  return (short)(POLLIN | (client->state == RGI_DAEMON_CLIENT_UP && client->sending && !client->held
                               ? POLLOUT
                               : 0));
}

rgi_daemon_client_query *rgi_daemon_client_give_up(rgi_daemon_client *client) {
  rgi_daemon_client_close(client);
  client->sending = NULL;
  return pop_query(client);
}
