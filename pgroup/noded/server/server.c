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

typedef struct server_client server_client;

/* Of a client: a use by a rank of the world. */
typedef struct {
  server_client *client; /* its connection; NULL: none */
  uint64_t attempt;      /* the newest connection's */
  int refused;           /* it has had an invalid query */
  uint64_t executed;     /* queries */
  rgi_buffer words;      /* rgi_query_word, of queries whose answers the client may not have */
} client_session;

struct server_client {
  server_client *next;
  rgi_tcp tcp;        /* closed: freed after this round of events */
  client_session *of; /* NULL: not known yet */
  double since;       /* when it was last of use */
};

static struct {
  const rgi_process_table *table;
  client_session *sessions; /* for each rank of the world, one for each use */
  pthread_t thread;
  int runs, poll, bell;
  int deaths;           /* that have been looked at */
  _Atomic int stops;    /* the thread is to end */
  _Atomic int crowded;  /* it is to close connections that are not in use */
  pthread_mutex_t lock; /* of first, which only the main thread adds to */
  server_client *first;
} memory_server = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- sessions ----------------------------------------------------------------------------- */

static void close_client(server_client *client) {
  if (client->of && client->of->client == client)
    client->of->client = NULL;
  client->of = NULL;
  rgi_tcp_free(&client->tcp); /* tells the client that no answer will come here */
}

static void forget_words(client_session *session, uint64_t received) {
  rgi_query_word word;
  for (; rgi_buffer_pending(&session->words); rgi_buffer_take(&session->words, sizeof word)) {
    memcpy(&word, session->words.data + session->words.begin, sizeof word);
    if (word.number > received)
      return;
  }
}

/* Room for the word of that query. NULL: there is none. */
static rgi_query_word *keep_word(client_session *session, uint64_t number) {
  size_t bytes = sizeof(rgi_query_word);
  void *at = rgi_buffer_pending(&session->words) < MOST_WORDS * bytes
                 ? rgi_buffer_room(&session->words, bytes)
                 : NULL;
  rgi_query_word *word = at;
  if (!word)
    return NULL;
  *word = (rgi_query_word){.number = number};
  session->words.end += bytes;
  return word;
}

/* Where the session goes on. */
static int send_state(server_client *client, client_session *session) {
  rgi_query_state now = {.executed = session->refused ? RGI_QUERY_REFUSED : session->executed};
  size_t bytes = session->refused ? 0 : rgi_buffer_pending(&session->words);
  now.words = bytes / sizeof(rgi_query_word);
  return rgi_tcp_queue(&client->tcp, &now, sizeof now) &&
         rgi_tcp_queue(&client->tcp, session->words.data + session->words.begin, bytes);
}

/* A connection that is older than one that has come is closed by its client. */
static int begin_session(server_client *client) {
  rgi_query_session opening;
  memcpy(&opening, client->tcp.in.data + client->tcp.in.begin, sizeof opening);
  if (opening.rank < 0 || opening.rank >= memory_server.table->world || opening.use < 0 ||
      opening.use >= RGI_QUERY_USES || rgi_process_table_is_dead(memory_server.table, opening.rank))
    return 0;
  client_session *session = &memory_server.sessions[opening.rank * RGI_QUERY_USES + opening.use];
  if (opening.attempt <= session->attempt || opening.received > session->executed)
    return 0;
  if (session->client)
    close_client(session->client);
  session->attempt = opening.attempt;
  session->client = client;
  client->of = session;
  forget_words(session, opening.received);
  return send_state(client, session);
}

/* --- a client ------------------------------------------------------------------------------ */

/* How long the first message is; of a query whose head is not there yet: how long the head is. */
static uint64_t message_length(const server_client *client, rgi_query *query) {
  size_t have = rgi_buffer_pending(&client->tcp.in);
  if (!client->of)
    return sizeof(rgi_query_session);
  if (have < sizeof *query)
    return sizeof *query;
  memcpy(query, client->tcp.in.data + client->tcp.in.begin, sizeof *query);
  if (query->bytes > MOST_BYTES)
    return query->bytes;
  return sizeof *query + ((uint64_t)query->dims + query->runs) * sizeof(rgi_query_entry) +
         rgi_query_data_bytes(query);
}

/* Executes a query that is there as a whole: the next one of the session, or a get again. 0: it is
 * not valid, or there is no memory. */
static int answer_query(server_client *client, const rgi_query *query) {
  const rgi_query_entry *entries =
      (const void *)(client->tcp.in.data + client->tcp.in.begin + sizeof *query);
  uint64_t bytes = rgi_query_answer_bytes(query);
  client_session *session = client->of;
  int again = query->kind == RGI_ACCESS_KIND_GET && query->number <= session->executed;
  session->refused |= (!again && query->number != session->executed + 1) ||
                      !rgi_query_is_valid(query, entries, rgi_arena_heap_size());
  char *to = session->refused ? NULL : rgi_buffer_room(&client->tcp.out, bytes);
  forget_words(session, query->received);
  rgi_query_word *word =
      to && rgi_query_is_atomic(query) ? keep_word(session, query->number) : NULL;
  if (!to || (rgi_query_is_atomic(query) && !word))
    return 0;
  rgi_query_execute(query, entries, rgi_arena_heap(),
                    (const char *)(entries + query->dims + query->runs), to);
  if (word)
    memcpy(&word->value, to, sizeof word->value);
  session->executed += !again;
  client->tcp.out.end += bytes;
  return 1;
}

/* Stops where the client does not read its answers. 0: the connection is to be closed. */
static int answer_all(server_client *client) {
  rgi_query query;
  uint64_t n;
  while ((n = message_length(client, &query)) <= rgi_buffer_pending(&client->tcp.in)) {
    if (rgi_buffer_pending(&client->tcp.out) > READ_BYTES && !rgi_tcp_push(&client->tcp))
      return 0;
    if (rgi_buffer_pending(&client->tcp.out) > READ_BYTES)
      return 1;
    if (client->of ? !answer_query(client, &query) : !begin_session(client))
      return 0;
    rgi_buffer_take(&client->tcp.in, n);
  }
  if (n > MOST_BYTES)
    client->of->refused = 1;
  return n <= MOST_BYTES && rgi_tcp_push(&client->tcp);
}

static int receive_queries(server_client *client) {
  rgi_query query;
  uint64_t missing = message_length(client, &query) - rgi_buffer_pending(&client->tcp.in);
  size_t bytes = missing > READ_BYTES ? missing : READ_BYTES;
  return rgi_tcp_pull(&client->tcp, bytes) >= 0;
}

static int is_dead(const server_client *client) {
  return client->of &&
         rgi_process_table_is_dead(memory_server.table,
                                   (int)((client->of - memory_server.sessions) / RGI_QUERY_USES));
}

/* Of a client that is readable while no answer waits to be sent, or writable. */
static void serve_client(server_client *client) {
  if (client->tcp.fd < 0)
    return;
  client->since = rgi_clock_now();
  int fine = !is_dead(client) && (rgi_buffer_pending(&client->tcp.out) || receive_queries(client));
  if (!fine || !answer_all(client)) {
    close_client(client);
    return;
  }
  struct epoll_event event = {.events = rgi_buffer_pending(&client->tcp.out) ? EPOLLOUT : EPOLLIN,
                              .data.ptr = client};
  epoll_ctl(memory_server.poll, EPOLL_CTL_MOD, client->tcp.fd, &event);
}

/* --- all ------------------------------------------------------------------------------------ */

/* With the lock. A query that has come in part keeps its connection. */
static server_client *longest_unused(void) {
  server_client *found = NULL;
  for (server_client *client = memory_server.first; client; client = client->next)
    if (client->of && client->tcp.fd >= 0 && !rgi_buffer_pending(&client->tcp.in) &&
        !rgi_buffer_pending(&client->tcp.out) && (!found || client->since < found->since))
      found = client;
  return found;
}

static void close_unused(void) {
  server_client *client;
  for (int i = 0; i < CLOSED_AT_ONCE && (client = longest_unused()); i++)
    close_client(client);
}

/* With the lock. */
static void close_dead(void) {
  int deaths = rgi_process_table_deaths(memory_server.table);
  if (deaths == memory_server.deaths)
    return;
  memory_server.deaths = deaths;
  for (server_client *client = memory_server.first; client; client = client->next)
    if (is_dead(client)) {
      rgi_buffer_free(&client->of->words);
      close_client(client);
    }
}

/* With the lock. Events of this round may still name a client that has been closed, but those of
 * the next one do not. */
static void free_closed(void) {
  for (server_client **at = &memory_server.first; *at;) {
    server_client *client = *at;
    if (client->tcp.fd >= 0) {
      at = &client->next;
      continue;
    }
    *at = client->next;
    free(client);
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
      server_client *client = events[i].data.ptr;
      if (client)
        serve_client(client);
      else
        hear_bell();
      closed |= !client || client->tcp.fd < 0;
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
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  if (memory_server.runs)
    return 1;
  memory_server.poll = epoll_create1(EPOLL_CLOEXEC);
  memory_server.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  atomic_store(&memory_server.stops, 0);
  memory_server.runs =
      memory_server.sessions && memory_server.poll >= 0 && memory_server.bell >= 0 &&
      epoll_ctl(memory_server.poll, EPOLL_CTL_ADD, memory_server.bell, &event) == 0 &&
      pthread_create(&memory_server.thread, NULL, serve_clients, NULL) == 0;
  if (!memory_server.runs) {
    close(memory_server.poll);
    close(memory_server.bell);
  }
  return memory_server.runs;
}

void rgi_server_add_client(int fd) {
  server_client *client = start_server() ? calloc(1, sizeof *client) : NULL;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
  if (!client) {
    close(fd);
    return;
  }
  *client = (server_client){.tcp = {.fd = fd}, .since = rgi_clock_now()};
  pthread_mutex_lock(&memory_server.lock);
  client->next = memory_server.first;
  memory_server.first = client;
  epoll_ctl(memory_server.poll, EPOLL_CTL_ADD, fd, &event);
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
    for (server_client *client = memory_server.first; client; client = client->next)
      close_client(client);
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
