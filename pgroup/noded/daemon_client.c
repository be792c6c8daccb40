/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in ranks. Queries are sent in the order of their queue, each straight from where it lies
 * (sendmsg with its parts), as far as the socket takes them now; answers come in the same order and
 * go straight to where the caller wants them. Nothing waits but rgi_daemon_client_open. A
 * connection that breaks stays broken: whether the node is lost, or only its daemon's connection,
 * the caller finds out by rgi_daemon_client_node_dead. */
#include "noded/daemon_client.h"

#include <poll.h>

#include "base/clock.h"
#include "noded/dial.h"
#include "noded/overlay_client.h"
#include "shm/node.h"
#include "shm/process.h"

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

/* --- connecting ------------------------------------------------------------------------- */

/* Looks at the deaths every 10 ms. */
int rgi_daemon_client_open(rgi_daemon_client *l) {
  rgi_overlay *m = rgi_overlay_get();
  rgi_dial d = {.node = &rgi_overlay_nodes(m)[l->node],
                .key = m->key,
                .from = RGI_OVERLAY_CLIENT,
                .to = l->node};
  if (l->tcp.fd >= 0)
    return 1;
  for (double end = rgi_clock_now() + RGI_DIAL_SECONDS;
       !l->broken && !rgi_daemon_client_node_dead(l) && rgi_clock_now() < end;) {
    if (rgi_dial_step(&d, &l->tcp))
      return 1;
    struct pollfd p = {l->tcp.fd, rgi_dial_awaits(&d), 0};
    poll(&p, 1, 10);
  }
  rgi_tcp_free(&l->tcp);
  l->broken = l->broken > 0 ? l->broken : rgi_clock_now();
  return 0;
}

void rgi_daemon_client_close(rgi_daemon_client *l) {
  rgi_tcp_free(&l->tcp);
}

static void break_connection(rgi_daemon_client *l) {
  rgi_daemon_client_close(l);
  l->broken = rgi_clock_now();
}

/* --- sending ------------------------------------------------------------------------------ */

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

static int send_pending(rgi_daemon_client *l) {
  while (l->sending) {
    struct iovec parts[4];
    int n = remaining_parts(l, l->sending, parts);
    ssize_t k = rgi_tcp_push_parts(&l->tcp, parts, n);
    if (k <= 0)
      return k == 0;
    l->sent += (size_t)k;
    if (!remaining_parts(l, l->sending, parts)) {
      l->sending->sent = 1;
      l->sending = l->sending->next;
      l->sent = 0;
    }
  }
  return 1;
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
  if (o)
    l->first = o->next;
  return o;
}

rgi_daemon_client_query *rgi_daemon_client_step(rgi_daemon_client *l) {
  if (l->tcp.fd < 0)
    return NULL;
  int heard = send_pending(l) ? receive_answer(l) : -1;
  if (heard < 0)
    break_connection(l);
  return heard > 0 ? pop_query(l) : NULL;
}

rgi_daemon_client_query *rgi_daemon_client_give_up(rgi_daemon_client *l) {
  if (l->tcp.fd >= 0)
    break_connection(l);
  l->sending = NULL;
  return pop_query(l);
}

void rgi_daemon_client_send(rgi_daemon_client *l, rgi_daemon_client_query *o) {
  static char padding[8];
  o->next = NULL;
  if (l->first)
    l->last->next = o;
  else
    l->first = o;
  l->last = o;
  if (l->sending)
    return;
  l->sending = o;
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
