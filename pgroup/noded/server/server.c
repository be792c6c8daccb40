/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards, in a thread of its own: the daemon's main loop hands connections over and goes
 * on, so that long transfers do not delay news of deaths. The thread sleeps in epoll. A client is
 * readable as long as none of its answers waits to be sent, else only writable: a client that does
 * not read its answers cannot make the server queue more of them.
 *
 * A session outlives its connections: how many of its queries have been executed, and the words
 * that its client may not have (query.h). A new connection of a session ends the one before, and
 * what had come by that one and is not executed never is. A session of a dead rank has no
 * connection any more. */
#include "noded/server/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/server/query.h"
#include "noded/wire/descriptors.h"
#include "noded/wire/tcp.h"
#include "shm/arena.h"

#define READ_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((uint64_t)1 << 32)
#define MOST_WORDS 65536 /* a client has not so many threads */
#define CLOSED_AT_ONCE 16

typedef struct client client;

/* Of a client: a use by a rank of the world. */
typedef struct {
  client *client;    /* its connection; NULL: none */
  uint64_t attempt;  /* the newest connection's */
  int refused;       /* it has had an invalid query */
  uint64_t executed; /* queries */
  rgi_buffer words;  /* rgi_query_word, of queries whose answers the client may not have */
} session;

struct client {
  client *next;
  rgi_tcp tcp;  /* closed: freed after this round of events */
  session *of;  /* NULL: not known yet */
  double since; /* when it was last of use */
};

static struct {
  const rgi_process_table *table;
  session *sessions; /* for each rank of the world, one for each use */
  pthread_t thread;
  int runs, poll, bell;
  int deaths;           /* that have been looked at */
  _Atomic int stops;    /* the thread is to end */
  _Atomic int crowded;  /* it is to close connections that are not in use */
  pthread_mutex_t lock; /* of first, which only the main thread adds to */
  client *first;
} memory_server = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- sessions ----------------------------------------------------------------------------- */

static void close_client(client *g) {
  if (g->of && g->of->client == g)
    g->of->client = NULL;
  g->of = NULL;
  rgi_tcp_free(&g->tcp); /* tells the client that no answer will come here */
}

static void forget_words(session *s, uint64_t received) {
  rgi_query_word w;
  for (; rgi_buffer_pending(&s->words); rgi_buffer_take(&s->words, sizeof w)) {
    memcpy(&w, s->words.data + s->words.begin, sizeof w);
    if (w.number > received)
      return;
  }
}

/* Room for the word of that query. NULL: there is none. */
static rgi_query_word *keep_word(session *s, uint64_t number) {
  size_t bytes = sizeof(rgi_query_word);
  void *at =
      rgi_buffer_pending(&s->words) < MOST_WORDS * bytes ? rgi_buffer_room(&s->words, bytes) : NULL;
  rgi_query_word *w = at;
  if (!w)
    return NULL;
  *w = (rgi_query_word){.number = number};
  s->words.end += bytes;
  return w;
}

/* Where the session goes on. */
static int send_state(client *g, session *s) {
  rgi_query_state now = {.executed = s->refused ? RGI_QUERY_REFUSED : s->executed};
  size_t bytes = s->refused ? 0 : rgi_buffer_pending(&s->words);
  now.words = bytes / sizeof(rgi_query_word);
  return rgi_tcp_queue(&g->tcp, &now, sizeof now) &&
         rgi_tcp_queue(&g->tcp, s->words.data + s->words.begin, bytes);
}

/* A connection that is older than one that has come is closed by its client. */
static int begin_session(client *g) {
  rgi_query_session q;
  memcpy(&q, g->tcp.in.data + g->tcp.in.begin, sizeof q);
  if (q.rank < 0 || q.rank >= memory_server.table->world || q.use < 0 || q.use >= RGI_QUERY_USES ||
      rgi_process_table_is_dead(memory_server.table, q.rank))
    return 0;
  session *s = &memory_server.sessions[q.rank * RGI_QUERY_USES + q.use];
  if (q.attempt <= s->attempt || q.received > s->executed)
    return 0;
  if (s->client)
    close_client(s->client);
  s->attempt = q.attempt;
  s->client = g;
  g->of = s;
  forget_words(s, q.received);
  return send_state(g, s);
}

/* --- a client ------------------------------------------------------------------------------ */

/* How long the first message is; of a query whose head is not there yet: how long the head is. */
static uint64_t message_length(const client *g, rgi_query *q) {
  size_t have = rgi_buffer_pending(&g->tcp.in);
  if (!g->of)
    return sizeof(rgi_query_session);
  if (have < sizeof *q)
    return sizeof *q;
  memcpy(q, g->tcp.in.data + g->tcp.in.begin, sizeof *q);
  if (q->bytes > MOST_BYTES)
    return q->bytes;
  return sizeof *q + ((uint64_t)q->dims + q->runs) * sizeof(rgi_query_entry) +
         rgi_query_data_bytes(q);
}

/* Executes a query that is there as a whole: the next one of the session, or a get again. 0: it is
 * not valid, or there is no memory. */
static int answer_query(client *g, const rgi_query *q) {
  const rgi_query_entry *entries = (const void *)(g->tcp.in.data + g->tcp.in.begin + sizeof *q);
  uint64_t bytes = rgi_query_answer_bytes(q);
  session *s = g->of;
  int again = q->kind == RGI_ACCESS_KIND_GET && q->number <= s->executed;
  s->refused |= (!again && q->number != s->executed + 1) ||
                !rgi_query_is_valid(q, entries, rgi_arena_heap_size());
  char *to = s->refused ? NULL : rgi_buffer_room(&g->tcp.out, bytes);
  forget_words(s, q->received);
  rgi_query_word *w = to && rgi_query_is_atomic(q) ? keep_word(s, q->number) : NULL;
  if (!to || (rgi_query_is_atomic(q) && !w))
    return 0;
  rgi_query_execute(q, entries, rgi_arena_heap(), (const char *)(entries + q->dims + q->runs), to);
  if (w)
    memcpy(&w->value, to, sizeof w->value);
  s->executed += !again;
  g->tcp.out.end += bytes;
  return 1;
}

/* Stops where the client does not read its answers. 0: the connection is to be closed. */
static int answer_all(client *g) {
  rgi_query q;
  uint64_t n;
  while ((n = message_length(g, &q)) <= rgi_buffer_pending(&g->tcp.in)) {
    if (rgi_buffer_pending(&g->tcp.out) > READ_BYTES && !rgi_tcp_push(&g->tcp))
      return 0;
    if (rgi_buffer_pending(&g->tcp.out) > READ_BYTES)
      return 1;
    if (g->of ? !answer_query(g, &q) : !begin_session(g))
      return 0;
    rgi_buffer_take(&g->tcp.in, n);
  }
  if (n > MOST_BYTES)
    g->of->refused = 1;
  return n <= MOST_BYTES && rgi_tcp_push(&g->tcp);
}

static int receive_queries(client *g) {
  rgi_query q;
  uint64_t missing = message_length(g, &q) - rgi_buffer_pending(&g->tcp.in);
  size_t bytes = missing > READ_BYTES ? missing : READ_BYTES;
  return rgi_tcp_pull(&g->tcp, bytes) >= 0;
}

static int is_dead(const client *g) {
  return g->of &&
         rgi_process_table_is_dead(memory_server.table,
                                   (int)((g->of - memory_server.sessions) / RGI_QUERY_USES));
}

/* Of a client that is readable while no answer waits to be sent, or writable. */
static void serve_client(client *g) {
  if (g->tcp.fd < 0)
    return;
  g->since = rgi_clock_now();
  int fine = !is_dead(g) && (rgi_buffer_pending(&g->tcp.out) || receive_queries(g));
  if (!fine || !answer_all(g)) {
    close_client(g);
    return;
  }
  struct epoll_event e = {.events = rgi_buffer_pending(&g->tcp.out) ? EPOLLOUT : EPOLLIN,
                          .data.ptr = g};
  epoll_ctl(memory_server.poll, EPOLL_CTL_MOD, g->tcp.fd, &e);
}

/* --- all ------------------------------------------------------------------------------------ */

/* With the lock. A query that has come in part keeps its connection. */
static client *longest_unused(void) {
  client *found = NULL;
  for (client *g = memory_server.first; g; g = g->next)
    if (g->of && g->tcp.fd >= 0 && !rgi_buffer_pending(&g->tcp.in) &&
        !rgi_buffer_pending(&g->tcp.out) && (!found || g->since < found->since))
      found = g;
  return found;
}

static void close_unused(void) {
  client *g;
  for (int i = 0; i < CLOSED_AT_ONCE && (g = longest_unused()); i++)
    close_client(g);
}

/* With the lock. */
static void close_dead(void) {
  int deaths = rgi_process_table_deaths(memory_server.table);
  if (deaths == memory_server.deaths)
    return;
  memory_server.deaths = deaths;
  for (client *g = memory_server.first; g; g = g->next)
    if (is_dead(g)) {
      rgi_buffer_free(&g->of->words);
      close_client(g);
    }
}

/* With the lock. Events of this round may still name a client that has been closed, but those of
 * the next one do not. */
static void free_closed(void) {
  for (client **at = &memory_server.first; *at;) {
    client *g = *at;
    if (g->tcp.fd >= 0) {
      at = &g->next;
      continue;
    }
    *at = g->next;
    free(g);
  }
}

static void hear_bell(void) {
  uint64_t rung;
  if (read(memory_server.bell, &rung, sizeof rung) == (ssize_t)sizeof rung &&
      atomic_exchange(&memory_server.crowded, 0)) {
    pthread_mutex_lock(&memory_server.lock);
    close_unused();
    pthread_mutex_unlock(&memory_server.lock);
  }
}

static void *serve_clients(void *unused) {
  struct epoll_event events[32];
  while (!atomic_load(&memory_server.stops)) {
    int closed = 0, n = epoll_wait(memory_server.poll, events, 32, -1);
    for (int i = 0; i < n; i++) {
      client *g = events[i].data.ptr;
      if (g)
        serve_client(g);
      else
        hear_bell();
      closed |= !g || g->tcp.fd < 0;
    }
    closed |= memory_server.deaths != rgi_process_table_deaths(memory_server.table);
    if (!closed)
      continue;
    pthread_mutex_lock(&memory_server.lock);
    close_dead();
    free_closed();
    pthread_mutex_unlock(&memory_server.lock);
  }
  return unused;
}

static void ring(void) {
  const uint64_t one = 1;
  ssize_t n = write(memory_server.bell, &one, sizeof one);
  (void)n; /* it is full only where it has been rung */
}

int rgi_server_open(const rgi_process_table *table) {
  rgi_descriptors_raise();
  memory_server.table = table;
  memory_server.deaths = 0;
  memory_server.sessions =
      calloc((size_t)table->world * RGI_QUERY_USES, sizeof *memory_server.sessions);
  return memory_server.sessions != NULL;
}

static int start_server(void) {
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
  if (memory_server.runs)
    return 1;
  memory_server.poll = epoll_create1(EPOLL_CLOEXEC);
  memory_server.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  atomic_store(&memory_server.stops, 0);
  memory_server.runs = memory_server.sessions && memory_server.poll >= 0 &&
                       memory_server.bell >= 0 &&
                       epoll_ctl(memory_server.poll, EPOLL_CTL_ADD, memory_server.bell, &e) == 0 &&
                       pthread_create(&memory_server.thread, NULL, serve_clients, NULL) == 0;
  if (!memory_server.runs) {
    close(memory_server.poll);
    close(memory_server.bell);
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
  *g = (client){.tcp = {.fd = fd}, .since = rgi_clock_now()};
  pthread_mutex_lock(&memory_server.lock);
  g->next = memory_server.first;
  memory_server.first = g;
  epoll_ctl(memory_server.poll, EPOLL_CTL_ADD, fd, &e);
  pthread_mutex_unlock(&memory_server.lock);
}

void rgi_server_close_unused(void) {
  atomic_store(&memory_server.crowded, 1);
  if (memory_server.runs)
    ring();
}

void rgi_server_close(void) {
  if (memory_server.runs) {
    atomic_store(&memory_server.stops, 1);
    ring();
    pthread_join(memory_server.thread, NULL);
    for (client *g = memory_server.first; g; g = g->next)
      close_client(g);
    free_closed();
    close(memory_server.poll);
    close(memory_server.bell);
  }
  for (int i = 0; memory_server.sessions && i < memory_server.table->world * RGI_QUERY_USES; i++)
    rgi_buffer_free(&memory_server.sessions[i].words);
  free(memory_server.sessions);
  memory_server.sessions = NULL;
  memory_server.runs = 0;
}
