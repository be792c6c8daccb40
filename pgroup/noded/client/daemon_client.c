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

int rgi_daemon_client_node_dead(rgi_daemon_client *l) {
  rgi_overlay *m = rgi_overlay_get();
  int deaths = rgi_process_deaths();
  if (deaths == l->deaths)
    return l->gone;
  l->deaths = deaths;
  for (int i = 0; i < m->world; i++)
    if (rgi_node_of(i) == l->node && !rgi_process_is_dead(i))
      return 0;
  return l->gone = 1;
}

void rgi_daemon_client_close(rgi_daemon_client *l) {
  rgi_tcp_free(&l->tcp);
  l->state = RGI_DAEMON_CLIENT_AWAY;
  l->dial.node = NULL;
}

/* --- connecting ------------------------------------------------------------------------- */

/* The first connection is dialled at once, a later one after the dial's pause. */
static void start_dial(rgi_daemon_client *l) {
  rgi_overlay *m = rgi_overlay_get();
  double third = m->limit > 0 ? m->limit / 3 : SILENT_SECONDS;
  l->dial = (rgi_dial){.node = &rgi_overlay_nodes(m)[l->node],
                       .key = m->key,
                       .from = RGI_OVERLAY_CLIENT,
                       .to = l->node,
                       .limit = third > LEAST_SILENT_SECONDS ? third : LEAST_SILENT_SECONDS,
                       .tried = l->attempt ? rgi_clock_now() : 0};
}

static void advance_dial(rgi_daemon_client *l) {
  if (!l->dial.node)
    start_dial(l);
  l->tcp.error = 0; /* of an attempt before */
  if (rgi_dial_step(&l->dial, &l->tcp)) {
    l->attempt = (uint64_t)(1e9 * rgi_clock_now()); /* also after those of a client before */
    const rgi_query_session s = {rgi_node.rank, (int32_t)l->use, l->attempt, l->received};
    struct iovec part = {(void *)(uintptr_t)&s, sizeof s};
    l->state = RGI_DAEMON_CLIENT_RESUMING;
    if (rgi_tcp_push_parts(&l->tcp, &part, 1) != (ssize_t)sizeof s) /* a new socket has room */
      rgi_daemon_client_close(l);
  }
  l->starved = l->tcp.fd < 0 && rgi_descriptors_ran_out(l->tcp.error) && !rgi_descriptors_raise();
}

/* Gives a query its number, or its answer, by what the server has executed. 0: a word is missing.
 */
static int resume_query(rgi_daemon_client_query *o, uint64_t executed, const char **words,
                        const char *end) {
  rgi_query_word w = {0};
  o->got = 0;
  o->sent = 0;
  if (o->query.number > executed)
    o->query.number = 0;
  o->executed = o->query.number && o->query.kind != RGI_ACCESS_KIND_GET;
  if (!o->executed || !rgi_query_is_atomic(&o->query))
    return 1;
  for (; w.number < o->query.number && *words < end; *words += sizeof w)
    memcpy(&w, *words, sizeof w);
  memcpy(o->answer, &w.value, sizeof w.value);
  return w.number == o->query.number;
}

/* How long the server's state is, with its words; before its head is there: how long the head is.
 */
static size_t state_length(const rgi_buffer *in, rgi_query_state *s) {
  *s = (rgi_query_state){0};
  if (rgi_buffer_pending(in) >= sizeof *s)
    memcpy(s, in->data + in->begin, sizeof *s);
  return s->words > MOST_WORDS ? 0 : sizeof *s + s->words * sizeof(rgi_query_word);
}

/* Where the session goes on, by what the server tells. 0: not all of it has come; -1: the
 * connection is broken. */
static int take_state(rgi_daemon_client *l) {
  rgi_query_state s;
  rgi_buffer *in = &l->tcp.in;
  size_t wanted;
  while ((wanted = state_length(in, &s)) > rgi_buffer_pending(in)) {
    ssize_t n = rgi_tcp_pull(&l->tcp, PULL_BYTES);
    if (n <= 0)
      return (int)n;
  }
  l->refused = s.executed == RGI_QUERY_REFUSED;
  if (l->refused || !wanted)
    return -1;
  const char *words = in->data + in->begin + sizeof s, *end = in->data + in->begin + wanted;
  for (rgi_daemon_client_query *o = l->first; o; o = o->next)
    if (!resume_query(o, s.executed, &words, end))
      return -1;
  rgi_buffer_take(in, wanted);
  l->numbered = s.executed;
  l->sending = l->first;
  l->sent = 0;
  l->state = RGI_DAEMON_CLIENT_UP;
  return 1;
}

/* Connects, and resumes the session, as far as possible now. */
static void connect_more(rgi_daemon_client *l) {
  if (l->state == RGI_DAEMON_CLIENT_AWAY)
    advance_dial(l);
  if (l->state == RGI_DAEMON_CLIENT_RESUMING && take_state(l) < 0)
    rgi_daemon_client_close(l);
}

/* --- sending ------------------------------------------------------------------------------ */

/* Whether a get that is not answered yet, of what the query changes, was queued before it. */
static int must_wait(const rgi_daemon_client *l, const rgi_daemon_client_query *o) {
  uint64_t begin = o->query.offset, end = begin + rgi_query_reach(&o->query, o->entries);
  if (o->query.kind == RGI_ACCESS_KIND_GET)
    return 0;
  for (const rgi_daemon_client_query *p = l->first; p != o; p = p->next)
    if (p->query.kind == RGI_ACCESS_KIND_GET && p->query.offset < end &&
        begin < p->query.offset + rgi_query_reach(&p->query, p->entries))
      return 1;
  return 0;
}

/* The parts of a query that are not sent yet. */
static int remaining_parts(const rgi_daemon_client *l, const rgi_daemon_client_query *o,
                           struct iovec parts[4]) {
  static char padding[8];
  uint64_t data = rgi_query_data_bytes(&o->query), bytes = data ? o->query.bytes : 0;
  const struct iovec all[4] = {
      {(void *)(uintptr_t)&o->query, sizeof o->query},
      {(void *)(uintptr_t)o->entries, ((size_t)o->query.dims + o->query.runs) * sizeof *o->entries},
      {(void *)(uintptr_t)o->data, bytes},
      {padding, data - bytes}};
  size_t skip = l->sent;
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
static int send_rest(rgi_daemon_client *l, rgi_daemon_client_query *o) {
  struct iovec parts[4];
  for (int n; (n = remaining_parts(l, o, parts)) > 0;) {
    ssize_t k = rgi_tcp_push_parts(&l->tcp, parts, n);
    if (k <= 0)
      return (int)k;
    l->sent += (size_t)k;
  }
  o->sent = 1;
  return 1;
}

static int send_pending(rgi_daemon_client *l) {
  for (rgi_daemon_client_query *o; (o = l->sending); l->sending = o->next, l->sent = 0) {
    if (o->executed)
      continue;
    if (!l->sent) {
      l->held = l->gets && must_wait(l, o);
      if (l->held)
        return 1;
      o->query.number = o->query.number ? o->query.number : ++l->numbered;
      o->query.received = l->received;
    }
    int sent = send_rest(l, o);
    if (sent <= 0)
      return sent == 0;
  }
  return 1;
}

void rgi_daemon_client_send(rgi_daemon_client *l, rgi_daemon_client_query *o) {
  static char padding[8];
  o->next = NULL;
  if (l->first)
    l->last->next = o;
  else
    l->first = o;
  l->last = o;
  l->gets += o->query.kind == RGI_ACCESS_KIND_GET;
  if (l->state != RGI_DAEMON_CLIENT_UP)
    connect_more(l);
  if (l->sending || l->state != RGI_DAEMON_CLIENT_UP)
    return;
  l->sending = o;
  l->held = l->gets && must_wait(l, o);
  if (l->held)
    return;
  o->query.number = ++l->numbered;
  o->query.received = l->received;
  size_t data = o->data ? o->query.bytes : 0;
  struct iovec parts[4] = {
      {(void *)(uintptr_t)&o->query, sizeof o->query},
      {(void *)(uintptr_t)o->entries, ((size_t)o->query.dims + o->query.runs) * sizeof *o->entries},
      {(void *)(uintptr_t)o->data, data},
      {padding, -data % sizeof padding}};
  ssize_t k = rgi_tcp_push_parts(&l->tcp, parts, 4);
  l->sent = k > 0 ? (size_t)k : 0;
  if (l->sent == sizeof o->query + parts[1].iov_len + data + parts[3].iov_len) {
    o->sent = 1;
    l->sending = NULL;
    l->sent = 0;
  }
}

/* --- receiving ------------------------------------------------------------------------------ */

/* Whether the oldest query has its answer; -1: the connection is broken. */
static int receive_answer(rgi_daemon_client *l) {
  rgi_daemon_client_query *o = l->first;
  uint64_t wanted = o ? rgi_query_answer_bytes(&o->query) : 0;
  if (!o || !o->sent)
    return 0;
  while (o->got < wanted) {
    ssize_t n = rgi_tcp_pull_to(&l->tcp, o->answer + o->got, wanted - o->got);
    if (n <= 0)
      return (int)n;
    o->got += (uint64_t)n;
  }
  return 1;
}

static rgi_daemon_client_query *pop_query(rgi_daemon_client *l) {
  rgi_daemon_client_query *o = l->first;
  if (!o)
    return NULL;
  l->first = o->next;
  if (l->sending == o) /* it had been executed before */
    l->sending = o->next;
  l->gets -= o->query.kind == RGI_ACCESS_KIND_GET;
  return o;
}

static rgi_daemon_client_query *pop_answered(rgi_daemon_client *l) {
  l->received = l->first->query.number;
  return pop_query(l);
}

rgi_daemon_client_query *rgi_daemon_client_step(rgi_daemon_client *l) {
  if (l->first && l->first->executed)
    return pop_answered(l);
  if (l->state != RGI_DAEMON_CLIENT_UP && l->first)
    connect_more(l);
  if (l->state != RGI_DAEMON_CLIENT_UP)
    return NULL;
  int heard = send_pending(l) ? receive_answer(l) : -1;
  if (heard < 0)
    rgi_daemon_client_close(l);
  return heard > 0 ? pop_answered(l) : NULL;
}

int rgi_daemon_client_is_stuck(const rgi_daemon_client *l) {
  return l->starved || l->refused;
}

int rgi_daemon_client_report(const rgi_daemon_client *l, int error, const char *call) {
  int first = rgi_overlay_nodes(rgi_overlay_get())[l->node].first;
  if (error == RG_ERR_PROC_FAILED)
    return rgi_error(error, "%s: all processes of the node of rank %d of the world have died", call,
                     first);
  if (l->refused)
    return rgi_error(error,
                     "%s: the daemon of the node of rank %d of the world refuses its queries", call,
                     first);
  return rgi_error(error,
                   "%s: no descriptor is left for a connection with the node of rank %d of the "
                   "world: the limit (RLIMIT_NOFILE) is %lld",
                   call, first, rgi_descriptors_limit());
}

short rgi_daemon_client_awaits(const rgi_daemon_client *l) {
  if (l->state == RGI_DAEMON_CLIENT_AWAY)
    return rgi_dial_awaits(&l->dial);
  return (short)(POLLIN |
                 (l->state == RGI_DAEMON_CLIENT_UP && l->sending && !l->held ? POLLOUT : 0));
}

rgi_daemon_client_query *rgi_daemon_client_give_up(rgi_daemon_client *l) {
  rgi_daemon_client_close(l);
  l->sending = NULL;
  return pop_query(l);
}
