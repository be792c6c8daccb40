/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The server of a node's memory, from a client's side: queries in one piece and byte by byte,
 * answers that the client does not read for a while, sessions that go on by other connections, and
 * wrong queries. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "noded/server/query.h"
#include "noded/server/server.h"
#include "runtime/module.h"
#include "shm/arena.h"
#include "shm/process_table.h"
#include "tests/check/check.h"

enum { HEAP = 1 << 20, LONG = 70000, SECONDS = 20, WORLD = 2000 };

typedef struct {
  rgi_query ask;
  rgi_query_entry entries[9];
} question;

/* --- the heap -------------------------------------------------------------------------- */

static size_t heap(void) {
  return HEAP;
}

static _Atomic unsigned char states[WORLD];
static rgi_process_table_journal journal;
static rgi_process_table table;

/* Of a larger world than this job's: each client is another rank. */
static int open_server(void) {
  table = (rgi_process_table){.journal = &journal, .state = states, .world = WORLD};
  return rgi_server_open(&table) ? RG_SUCCESS : RG_ERR_NOMEM;
}

static void stop(int mpi) {
  (void)mpi;
  rgi_server_close();
}

__attribute__((constructor)) static void extend(void) {
  static rgi_module memory = {
      .name = "heap of a test", .heap = heap, .open = open_server, .close = stop};
  rgi_module_register(&memory);
}

static unsigned char value(size_t at) {
  return (unsigned char)(at * 7 + at / 256);
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_TRUE(rgi_arena_heap_size() >= HEAP);
  RGT_OK(rgi_arena_heap_commit("a test", 0, HEAP));
  unsigned char *to = rgi_arena_heap();
  for (size_t i = 0; i < HEAP; i++)
    to[i] = value(i);
}

static void test_stop(void) {
  RGT_OK(rg_finalize());
}

/* --- a client ------------------------------------------------------------------------------ */

static int next_rank;

/* A connection that is not answered fails instead of waiting. */
static int connect_as(rgi_query_session session, rgi_query_state *state) {
  const struct timeval limit = {SECONDS, 0};
  int ends[2] = {-1, -1};
  RGT_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  rgi_server_add_client(ends[1]);
  *state = (rgi_query_state){0};
  RGT_INT(send(ends[0], &session, sizeof session, MSG_NOSIGNAL), sizeof session);
  if (recv(ends[0], state, sizeof *state, MSG_WAITALL) != (ssize_t)sizeof *state) {
    close(ends[0]);
    return -1;
  }
  return ends[0];
}

static int connect_client(void) {
  rgi_query_state state;
  int fd = connect_as((rgi_query_session){.rank = next_rank++, .attempt = 1}, &state);
  RGT_TRUE(fd >= 0);
  RGT_INT(state.executed, 0);
  RGT_INT(state.words, 0);
  return fd;
}

static size_t length(const question *q) {
  return sizeof q->ask + ((size_t)q->ask.dims + q->ask.runs) * sizeof *q->entries;
}

static question get(uint64_t offset, uint64_t bytes) {
  return (question){{.kind = RGI_ACCESS_KIND_GET, .runs = 1, .offset = offset, .bytes = bytes},
                    {{0, (int64_t)bytes}}};
}

/* The question with a number in its session. */
static question numbered(uint64_t number, question q) {
  q.ask.number = number;
  return q;
}

static int say(int fd, const void *data, size_t bytes) {
  return send(fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static int hears(int fd, uint64_t offset, uint64_t bytes) {
  unsigned char *data = malloc(bytes);
  int right = recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
  for (uint64_t i = 0; i < bytes && right; i++)
    right = data[i] == value(offset + i);
  free(data);
  return right;
}

static int is_served(int fd, uint64_t number) {
  question q = numbered(number, get(123, 45));
  return say(fd, &q, length(&q)) && hears(fd, 123, 45);
}

/* --- right queries --------------------------------------------------------------------- */

/* All of them come at once, and no more that could wake the server. */
static void test_together(void) {
  enum { MANY = 5 };
  char all[MANY * sizeof(question)];
  size_t n = 0;
  int fd = connect_client();
  for (uint64_t i = 0; i < MANY; i++) {
    question q = numbered(i + 1, get(i, LONG + i));
    memcpy(all + n, &q, length(&q));
    n += length(&q);
  }
  RGT_TRUE(say(fd, all, n));
  for (uint64_t i = 0; i < MANY; i++)
    RGT_TRUE(hears(fd, i, LONG + i));
  close(fd);
}

static void test_bytes(void) {
  int fd = connect_client(), fine = 1;
  question q = numbered(1, get(3, 1000));
  for (size_t i = 0; i < length(&q); i++)
    fine &= say(fd, (char *)&q + i, 1);
  RGT_TRUE(fine && hears(fd, 3, 1000));
  close(fd);
}

/* More than the connection holds. */
static void test_late(void) {
  enum { MANY = 40 };
  int fd = connect_client(), fine = 1;
  question q = get(0, HEAP);
  for (uint64_t i = 1; i <= MANY; i++) {
    q = numbered(i, q);
    fine &= say(fd, &q, length(&q));
  }
  for (int i = 0; i < MANY; i++)
    fine &= hears(fd, 0, HEAP);
  RGT_TRUE(fine);
  RGT_TRUE(is_served(fd, MANY + 1));
  close(fd);
}

/* --- sessions -------------------------------------------------------------------------- */

static int is_closed(int fd) {
  char answer;
  int closed = recv(fd, &answer, 1, 0) <= 0;
  close(fd);
  return closed;
}

/* A connection of a session that has so many answers; the words that may be lost follow. */
static int resume(int rank, uint64_t attempt, uint64_t received, rgi_query_state *state) {
  return connect_as((rgi_query_session){rank, RGI_QUERY_ARRAYS, attempt, received}, state);
}

static int is_away(int rank, uint64_t attempt) {
  rgi_query_state state;
  return resume(rank, attempt, 0, &state) < 0;
}

static question add(uint64_t number, int64_t a) {
  return (question){{.kind = RGI_ACCESS_KIND_FETCH_ADD,
                     .element_type = RGI_ELEMENT_INT64,
                     .bytes = 8,
                     .a = a,
                     .number = number},
                    {{0}}};
}

static int64_t asks(int fd, question q) {
  int64_t word = -1;
  return say(fd, &q, length(&q)) && recv(fd, &word, sizeof word, MSG_WAITALL) == sizeof word ? word
                                                                                             : -1;
}

static int64_t *first_element(void) {
  return rgi_arena_heap();
}

/* Its answer is lost; it is not executed again, and its word is there until it is received. */
static void test_resumed(void) {
  rgi_query_state state;
  rgi_query_word word = {0};
  int rank = next_rank, fd = connect_client();
  *first_element() = 10;
  RGT_INT(asks(fd, add(1, 5)), 10);
  RGT_INT(asks(fd, add(2, 7)), 15);
  close(fd);
  fd = resume(rank, 2, 1, &state);
  RGT_INT(state.executed, 2);
  RGT_INT(state.words, 1);
  RGT_INT(recv(fd, &word, sizeof word, MSG_WAITALL), sizeof word);
  RGT_TRUE(word.number == 2 && word.value == 15);
  question next = add(3, 1);
  next.ask.received = 2;
  RGT_INT(asks(fd, next), 22);
  RGT_TRUE(is_served(fd, 1)); /* a get may be executed again */
  fd = resume(rank, 3, 3, &state);
  RGT_TRUE(state.executed == 3 && state.words == 0);
  RGT_INT(asks(fd, add(3, 1)), -1);
  RGT_INT(*first_element(), 23);
  close(fd);
}

/* The connection before it is closed, and what it has sent in part is not executed. */
static void test_taken_over(void) {
  rgi_query_state state;
  question q = add(1, 5);
  int rank = next_rank, old = connect_client();
  *first_element() = 10;
  RGT_TRUE(say(old, &q, length(&q) - 1));
  int fd = resume(rank, 3, 0, &state);
  RGT_INT(state.executed, 0);
  say(old, (char *)&q + length(&q) - 1, 1);
  RGT_TRUE(is_closed(old));
  RGT_TRUE(is_away(rank, 3) && is_away(rank, 2));
  RGT_INT(asks(fd, add(1, 7)), 10);
  RGT_INT(*first_element(), 17);
  close(fd);
}

/* A number is missing: this client is answered no more. */
static void test_gap(void) {
  rgi_query_state state;
  int rank = next_rank, fd = connect_client();
  RGT_INT(asks(fd, add(2, 5)), -1);
  close(fd);
  fd = resume(rank, 2, 0, &state);
  RGT_TRUE(state.executed == RGI_QUERY_REFUSED && state.words == 0);
  close(fd);
}

static void test_dead(void) {
  int rank = next_rank, fd = connect_client();
  states[rank] = RGI_PROCESS_DEAD;
  *first_element() = 10;
  RGT_INT(asks(fd, add(1, 5)), -1);
  RGT_TRUE(is_away(rank, 2) && is_away(WORLD, 1) && is_away(-1, 1));
  RGT_INT(*first_element(), 10);
  close(fd);
}

/* The one that has sent a part of a query is in use. */
static void test_unused(void) {
  rgi_query_state state;
  question q = numbered(1, get(123, 45));
  int busy = connect_client(), rank = next_rank, fd = connect_client();
  RGT_TRUE(say(busy, &q, 1) && is_served(fd, 1));
  rgi_server_close_unused();
  RGT_TRUE(is_closed(fd));
  fd = resume(rank, 2, 1, &state);
  RGT_INT(state.executed, 1);
  RGT_TRUE(is_served(fd, 2));
  RGT_TRUE(say(busy, (char *)&q + 1, length(&q) - 1) && hears(busy, 123, 45));
  close(fd);
  close(busy);
}

/* --- wrong queries ------------------------------------------------------------------------ */

/* The connection is closed, and others' are not. */
static void is_refused(question q) {
  static const char more[64];
  char answer;
  int other = connect_client(), fd = connect_client();
  q.ask.number = 1;
  say(fd, &q, length(&q));
  say(fd, more, sizeof more);
  RGT_TRUE(recv(fd, &answer, 1, 0) <= 0);
  RGT_TRUE(is_served(other, 1));
  close(fd);
  close(other);
}

static void test_beyond(void) {
  size_t end = rgi_arena_heap_size();
  is_refused(get(end - 4, 5));
  is_refused(get(end + 1, 0));
  is_refused(get(UINT64_MAX - 4, 8));
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .runs = 1, .bytes = 8}, {{-8, 8}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .runs = 1, .bytes = 8}, {{INT64_MAX, 8}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .runs = 1, .bytes = 9}, {{0, 8}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_FETCH_ADD,
                         .offset = end - 4,
                         .bytes = 8,
                         .element_type = RGI_ELEMENT_INT64},
                        {{0}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_FETCH_ADD,
                         .offset = end - 4,
                         .bytes = 4,
                         .element_type = RGI_ELEMENT_FLOAT},
                        {{0}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_ACC, .runs = 1, .bytes = 8, .element_type = 4},
                        {{0, 8}}});
  is_refused((question){{.kind = 5, .bytes = 8}, {{0}}});
}

/* Products and sums that would be small again. */
static void test_overflow(void) {
  const int64_t large = (int64_t)1 << 32;
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .dims = 3, .bytes = 0},
                        {{0, large}, {0, large}, {0, 8}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .dims = 2, .bytes = 80},
                        {{large << 30, 5}, {0, 16}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .runs = 4, .bytes = 0},
                        {{0, large << 30}, {0, large << 30}, {0, large << 30}, {0, large << 30}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_PUT, .runs = 1, .bytes = UINT64_MAX}, {{0, 8}}});
  is_refused(
      (question){{.kind = RGI_ACCESS_KIND_PUT, .runs = 1, .bytes = UINT64_MAX - 100}, {{0, 8}}});
}

/* Rows of questions that have none, of both kinds, and of more dimensions than there are. */
static void test_rows(void) {
  is_refused((question){
      {.kind = RGI_ACCESS_KIND_FETCH_ADD, .element_type = RGI_ELEMENT_INT64, .dims = 1, .bytes = 8},
      {{0, HEAP}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_COMPARE_SWAP,
                         .element_type = RGI_ELEMENT_INT64,
                         .runs = 1,
                         .bytes = 8},
                        {{0, HEAP}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .runs = 1, .dims = 1, .bytes = 16},
                        {{0, 8}, {0, 8}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .dims = 9, .bytes = 1},
                        {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}});
  is_refused((question){{.kind = RGI_ACCESS_KIND_GET, .dims = 2, .bytes = 0}, {{0, 0}, {0, 8}}});
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"together", test_together},
                                   {"byte by byte", test_bytes},
                                   {"late", test_late},
                                   {"resumed", test_resumed},
                                   {"taken over", test_taken_over},
                                   {"gap", test_gap},
                                   {"dead", test_dead},
                                   {"unused", test_unused},
                                   {"beyond", test_beyond},
                                   {"overflow", test_overflow},
                                   {"entries", test_rows},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "server", tests);
}
