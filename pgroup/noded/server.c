/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards, in a thread of its own: the daemon's main loop hands connections over and goes
 * on, so that long transfers do not delay news of deaths. The thread sleeps in epoll. A client is
 * readable as long as none of its answers waits to be sent, else only writable: a client that does
 * not read its answers cannot make the server queue more of them. */
#include "noded/server.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "noded/query.h"
#include "noded/tcp.h"
#include "shm/arena.h"

#define READ_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((uint64_t)1 << 32)

typedef struct client {
  struct client *next;
  rgi_tcp tcp; /* closed: gone */
} client;

static struct {
  pthread_t thread;
  int runs, poll, stop;
  client *first; /* only the main thread uses it */
} memory_server;

/* --- a client ------------------------------------------------------------------------------ */

/* How long the first query is; before its head is there: how long the head is. */
static uint64_t query_length(const client *g, rgi_query *q) {
  size_t have = rgi_buffer_pending(&g->tcp.in);
  if (have < sizeof *q)
    return sizeof *q;
  memcpy(q, g->tcp.in.data + g->tcp.in.begin, sizeof *q);
  if (q->bytes > MOST_BYTES)
    return q->bytes;
  return sizeof *q + ((uint64_t)q->dims + q->runs) * sizeof(rgi_query_entry) +
         rgi_query_data_bytes(q);
}

/* Executes a query that is there as a whole. 0: it is not valid. */
static int answer_query(client *g, const rgi_query *q) {
  const rgi_query_entry *entries = (const void *)(g->tcp.in.data + g->tcp.in.begin + sizeof *q);
  uint64_t bytes = rgi_query_answer_bytes(q);
  if (!rgi_query_is_valid(q, entries, rgi_arena_heap_size()))
    return 0;
  char *to = rgi_buffer_room(&g->tcp.out, bytes);
  if (!to)
    return 0;
  rgi_query_execute(q, entries, rgi_arena_heap(), (const char *)(entries + q->dims + q->runs), to);
  g->tcp.out.end += bytes;
  return 1;
}

/* Stops where the client does not read its answers. 0: the client is to be dropped. */
static int answer_all(client *g) {
  rgi_query q;
  uint64_t n;
  for (; (n = query_length(g, &q)) <= rgi_buffer_pending(&g->tcp.in);
       rgi_buffer_take(&g->tcp.in, n)) {
    if (rgi_buffer_pending(&g->tcp.out) > READ_BYTES && !rgi_tcp_push(&g->tcp))
      return 0;
    if (rgi_buffer_pending(&g->tcp.out) > READ_BYTES)
      return 1;
    if (!answer_query(g, &q))
      return 0;
  }
  return n <= MOST_BYTES && rgi_tcp_push(&g->tcp);
}

static int receive_queries(client *g) {
  rgi_query q;
  uint64_t missing = query_length(g, &q) - rgi_buffer_pending(&g->tcp.in);
  size_t bytes = missing > READ_BYTES ? missing : READ_BYTES;
  return rgi_tcp_pull(&g->tcp, bytes) >= 0;
}

/* Of a client that is readable while no answer waits to be sent, or writable. */
static void serve_client(client *g) {
  int fine = rgi_buffer_pending(&g->tcp.out) || receive_queries(g);
  if (!fine || !answer_all(g)) {
    rgi_tcp_free(&g->tcp); /* tells the client that no answer will come */
    return;
  }
  struct epoll_event e = {.events = rgi_buffer_pending(&g->tcp.out) ? EPOLLOUT : EPOLLIN,
                          .data.ptr = g};
  epoll_ctl(memory_server.poll, EPOLL_CTL_MOD, g->tcp.fd, &e);
}

/* --- all ------------------------------------------------------------------------------------ */

static void *serve_clients(void *unused) {
  struct epoll_event events[32];
  for (;;) {
    int n = epoll_wait(memory_server.poll, events, 32, -1);
    for (int i = 0; i < n; i++) {
      if (!events[i].data.ptr) /* to stop */
        return unused;
      serve_client(events[i].data.ptr);
    }
  }
}

/* There is a connection for each process of the other nodes. */
static void allow_many(void) {
  struct rlimit l;
  if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
    l.rlim_cur = l.rlim_max;
    setrlimit(RLIMIT_NOFILE, &l);
  }
}

static int start_server(void) {
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
  if (memory_server.runs)
    return 1;
  allow_many();
  memory_server.poll = epoll_create1(EPOLL_CLOEXEC);
  memory_server.stop = eventfd(0, EFD_CLOEXEC);
  memory_server.runs = memory_server.poll >= 0 && memory_server.stop >= 0 &&
                       epoll_ctl(memory_server.poll, EPOLL_CTL_ADD, memory_server.stop, &e) == 0 &&
                       pthread_create(&memory_server.thread, NULL, serve_clients, NULL) == 0;
  if (!memory_server.runs) {
    close(memory_server.poll);
    close(memory_server.stop);
  }
  return memory_server.runs;
}

void rgi_server_add_client(int fd) {
  client *g = start_server() ? calloc(1, sizeof *g) : NULL;
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = g};
  if (!g) {
    close(fd);
    return;
  }
  *g = (client){.next = memory_server.first, .tcp = {.fd = fd}};
  memory_server.first = g;
  epoll_ctl(memory_server.poll, EPOLL_CTL_ADD, fd, &e);
}

void rgi_server_close(void) {
  const uint64_t one = 1;
  if (!memory_server.runs)
    return;
  if (write(memory_server.stop, &one, sizeof one) == (ssize_t)sizeof one)
    pthread_join(memory_server.thread, NULL);
  for (client *g = memory_server.first, *next; g; g = next) {
    next = g->next;
    rgi_tcp_free(&g->tcp);
    free(g);
  }
  close(memory_server.poll);
  close(memory_server.stop);
  memory_server.first = NULL;
  memory_server.runs = 0;
}
