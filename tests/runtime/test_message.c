/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * Messages: random traffic of all sizes against what was sent, floods, giving up,
 * threads. test_message_far.c runs the same between nodes. */
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "message/message.h"
#include "progress/progress.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "tests/check/check.h"

#ifndef SUITE
#define SUITE "message"
#endif

#define EACH 12 /* messages of a pair in a round */
#define TAGS 3
#define RANKS_MOST 16
#define MOST ((size_t)1 << 20)

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* A number that sender and receiver draw alike. */
static uint64_t draw(int round, int source, int dest, int i, int what) {
  uint64_t key = mix(rgt_seed() + (uint64_t)round * 1000003u);
  key = mix(key + ((uint64_t)source << 40) + ((uint64_t)dest << 20) + (uint64_t)i);
  return mix(key + (uint64_t)what);
}

/* Lengths around everything that is a limit somewhere, up to `most`. */
static size_t draw_length(uint64_t number, size_t most) {
  static const size_t near[] = {1,         24,        152,        472,          2008,
                                8152,      8192,      32728,      64 << 10,     256 << 10,
                                320 << 10, 512 << 10, 1000 << 10, (1 << 20) - 1};
  size_t kinds = sizeof near / sizeof *near, n;
  if (number % 8 == 0)
    n = (size_t)(number >> 8) % (most + 1);
  else
    n = near[(number >> 8) % kinds] + (size_t)(number >> 20) % 3 - 1;
  return n <= most ? n : n % 4096;
}

typedef struct {
  rgi_message request;
  int i; /* which of the pair's messages; for receives only where it is known */
  int peer, tag, context;
  size_t bytes;
  unsigned char *data;
} message;

static size_t most_of(int context) {
  return context == 0 ? MOST : (size_t)70 << 10;
}

static message describe(int round, int source, int dest, int i) {
  message m = {.i = i,
               .peer = dest,
               .tag = (int)(draw(round, source, dest, i, 1) % TAGS),
               .context = (int)(draw(round, source, dest, i, 2) % 3)};
  m.bytes = draw_length(draw(round, source, dest, i, 3), most_of(m.context));
  return m;
}

static unsigned char byte_of(uint64_t key, size_t at) {
  return (unsigned char)(key + at * 31 + (at >> 8));
}

static void fill(unsigned char *data, size_t bytes, uint64_t key) {
  for (size_t k = 0; k < bytes; k++)
    data[k] = byte_of(key, k);
}

static size_t wrong_bytes(const unsigned char *data, size_t bytes, uint64_t key) {
  size_t wrong = 0;
  for (size_t k = 0; k < bytes; k++)
    wrong += data[k] != byte_of(key, k);
  return wrong;
}

/* Contexts of a round: 0: receives name source and tag; 1: the tag; 2: nothing. */
static uint64_t context_of(int round, int context) {
  return mix((uint64_t)round * 3 + (uint64_t)context + 77);
}

static void start_send(int round, message *m) {
  m->data = malloc(m->bytes + 1);
  fill(m->data, m->bytes, draw(round, rgt_rank, m->peer, m->i, 4));
  RGT_OK(rgi_message_send(
      &(rgi_message_envelope){context_of(round, m->context), m->peer, m->tag, m->bytes}, m->data,
      &m->request));
}

static void start_receive(int round, message *m) {
  size_t room = m->context == 0 ? m->bytes : most_of(m->context);
  m->data = malloc(room + 1);
  m->data[room] = 99;
  RGT_OK(rgi_message_receive(&(rgi_message_envelope){context_of(round, m->context),
                                                     m->context ? RGI_ANY : m->peer,
                                                     m->context == 2 ? RGI_ANY : m->tag, room},
                             m->data, &m->request));
}

/* What has come is the next message from its source that the receive could match. */
static void check_received(int round, const message *m, int next[3][TAGS][RANKS_MOST]) {
  const rgi_message *r = &m->request;
  int kind = m->context == 2 ? 0 : r->tag, i = next[m->context][kind][r->source];
  message sent;
  for (;; i++) {
    sent = describe(round, r->source, rgt_rank, i);
    if (i == EACH || (sent.context == m->context && (m->context == 2 || sent.tag == r->tag)))
      break;
  }
  next[m->context][kind][r->source] = i + 1;
  if (!RGT_TRUE(i < EACH))
    return;
  RGT_INT(r->tag, sent.tag);
  RGT_INT(r->bytes, sent.bytes);
  RGT_INT(wrong_bytes(m->data, sent.bytes, draw(round, r->source, rgt_rank, i, 4)), 0);
}

static int count_all(void) {
  return rgt_size * EACH;
}

/* Sends and receives are started in a random order, but those of a pair in turn. */
static void start_all(int round, message *out, message *in) {
  int sent[RANKS_MOST] = {0}, asked[RANKS_MOST] = {0}, o = 0, n = 0;
  while (o < count_all() || n < count_all()) {
    int peer = (int)(random() % rgt_size);
    if (random() % 2 && sent[peer] < EACH) {
      out[o] = describe(round, rgt_rank, peer, sent[peer]++);
      start_send(round, &out[o++]);
    } else if (asked[peer] < EACH) {
      in[n] = describe(round, peer, rgt_rank, asked[peer]++);
      in[n].peer = peer;
      start_receive(round, &in[n++]);
    }
    if (random() % 8 == 0)
      RGT_OK(rgi_progress());
  }
}

static void one_round(int round) {
  message *out = calloc((size_t)count_all(), sizeof *out);
  message *in = calloc((size_t)count_all(), sizeof *in);
  int next[3][TAGS][RANKS_MOST] = {{{0}}};
  start_all(round, out, in);
  for (int i = count_all() - 1; i >= 0; i--)
    RGT_OK(rgi_message_wait(&in[i].request, "test"));
  for (int i = 0; i < count_all(); i++)
    check_received(round, &in[i], next);
  for (int i = 0; i < count_all(); i++) {
    RGT_OK(rgi_message_wait(&out[i].request, "test"));
    free(out[i].data);
    free(in[i].data);
  }
  free(out);
  free(in);
}

static void test_traffic(void) {
  const char *more = getenv("RGT_ROUNDS"); /* test_arena.py kills a long run */
  int rounds = more ? atoi(more) : 6;
  srandom((unsigned)rgt_seed() + (unsigned)rgt_rank);
  for (int round = 0; round < rounds; round++)
    one_round(round);
}

/* The next process gets more than its inbox takes before it looks: nothing is
 * lost, the order stays, and the arena does not fill. */
static void test_flood(void) {
  enum { COUNT = 10000, BYTES = 200 };
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size, wrong = 0;
  rgi_message *out = calloc(COUNT, sizeof *out), in;
  int(*data)[BYTES / sizeof(int)] = calloc(COUNT, BYTES), got[BYTES / sizeof(int)], late = 0;
  rgi_arena_usage usage;
  for (int i = 0; i < COUNT; i++) {
    data[i][0] = i;
    RGT_OK(rgi_message_send(&(rgi_message_envelope){5, next, 0, BYTES}, data[i], &out[i]));
    late += !out[i].done;
  }
  if (rgi_node_find(next) >= 0)
    RGT_TRUE(late > 0);
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_arena_get_usage(&usage);
  RGT_TRUE(usage.used < (size_t)(rgt_size + 1) * 3 << 20);
  for (int i = 0; i < COUNT; i++) {
    int error = rgi_message_receive(&(rgi_message_envelope){5, before, 0, sizeof got}, got, &in);
    if (!error)
      error = rgi_message_wait(&in, "test");
    wrong += error || got[0] != i || in.bytes != BYTES;
  }
  RGT_INT(wrong, 0);
  for (int i = 0; i < COUNT; i++)
    wrong += rgi_message_wait(&out[i], "test") != RG_SUCCESS;
  RGT_INT(wrong, 0);
  free(data);
  free(out);
}

/* Unexpected messages leave the arena. */
static void test_unexpected(void) {
  enum { COUNT = 200, BYTES = 20000 };
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size, wrong = 0;
  static char data[BYTES];
  rgi_message out[COUNT], in, last;
  rgi_arena_usage usage;
  for (int i = 0; i < COUNT; i++) {
    RGT_OK(rgi_message_send(&(rgi_message_envelope){6, next, i, BYTES}, data, &out[i]));
    RGT_OK(rgi_progress());
  }
  RGT_OK(rgi_message_send(&(rgi_message_envelope){6, next, COUNT, 0}, NULL, &last));
  RGT_OK(rgi_message_receive(&(rgi_message_envelope){6, before, COUNT, 0}, NULL, &in));
  RGT_OK(rgi_message_wait(&in, "test")); /* all of them have come */
  RGT_OK(rgi_message_wait(&last, "test"));
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_arena_get_usage(&usage);
  RGT_TRUE(usage.used < (size_t)(rgt_size + 1) * 3 << 20);
  for (int i = COUNT - 1; i >= 0; i--) {
    char got[BYTES];
    int error = rgi_message_receive(&(rgi_message_envelope){6, RGI_ANY, i, BYTES}, got, &in);
    if (!error)
      error = rgi_message_wait(&in, "test");
    wrong += error || in.bytes != BYTES;
    wrong += rgi_message_wait(&out[i], "test") != RG_SUCCESS;
  }
  RGT_INT(wrong, 0);
}

static void test_truncation(void) {
  static const size_t lengths[] = {2, 100, 5000, 9000, 40000, 700000};
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size;
  for (int k = 0; k < 6; k++)
    for (size_t room = 0; room < lengths[k]; room = room * 3 + 1) {
      unsigned char *data = malloc(lengths[k]), *got = malloc(room + 1);
      rgi_message out, small, in, one;
      int mark = 7, seen = 0;
      fill(data, lengths[k], 11);
      got[room] = 99;
      RGT_OK(rgi_message_send(&(rgi_message_envelope){8, next, 1, lengths[k]}, data, &out));
      RGT_OK(rgi_message_send(&(rgi_message_envelope){8, next, 1, sizeof mark}, &mark, &small));
      RGT_OK(rgi_message_receive(&(rgi_message_envelope){8, before, 1, room}, got, &in));
      RGT_FAILS(rgi_message_wait(&in, "test"), RG_ERR_TRUNCATE);
      RGT_INT(in.bytes, lengths[k]);
      RGT_INT(wrong_bytes(got, room, 11), 0);
      RGT_INT(got[room], 99);
      RGT_OK(rgi_message_receive(&(rgi_message_envelope){8, before, 1, sizeof seen}, &seen, &one));
      RGT_OK(rgi_message_wait(&one, "test"));
      RGT_INT(seen, mark);
      RGT_OK(rgi_message_wait(&out, "test"));
      RGT_OK(rgi_message_wait(&small, "test"));
      free(data);
      free(got);
    }
}

static void test_cancel(void) {
  rgi_message a, b, out;
  int cancelled = 0, x = 0, y = 0, sent = 5;
  RGT_OK(rgi_message_receive(&(rgi_message_envelope){9, RGI_ANY, 1, sizeof x}, &x, &a));
  RGT_OK(rgi_message_receive(&(rgi_message_envelope){9, rgt_rank, 1, sizeof y}, &y, &b));
  rgi_message_cancel(&a, &cancelled);
  RGT_INT(cancelled, 1);
  RGT_OK(rgi_message_send(&(rgi_message_envelope){9, rgt_rank, 1, sizeof sent}, &sent, &out));
  RGT_OK(rgi_progress());
  RGT_INT(atomic_load(&b.done), 1); /* after one look */
  RGT_INT(y, 5);
  rgi_message_cancel(&b, &cancelled);
  RGT_INT(cancelled, 0);
  rgi_message_abandon(&b); /* no effect on a message that is done */
  RGT_OK(rgi_message_wait(&b, "test"));
}

/* Partners at an even and the next odd place of a node. */
static int partner(void) {
  int other = rgt_rank ^ 1;
  return other < rgt_size && rgi_node_find(other) >= 0 ? other : -1;
}

typedef struct {
  int other, number;
  char *data; /* MOST */
  rgi_message out, in, last;
} quitter;

/* A long message that is withdrawn before a receive has matched it was never sent. */
static void quit_early(quitter *q, int sender) {
  int got = 0;
  if (sender) {
    RGT_OK(rgi_message_send(&(rgi_message_envelope){10, q->other, 1, MOST}, q->data, &q->out));
    rgi_message_abandon(&q->out);
    RGT_OK(rgi_message_send(&(rgi_message_envelope){10, q->other, 1, sizeof q->number}, &q->number,
                            &q->in));
    RGT_OK(rgi_message_send(&(rgi_message_envelope){10, q->other, 2, 0}, NULL, &q->last));
    RGT_OK(rgi_message_wait(&q->in, "test"));
  } else {
    RGT_OK(rgi_message_receive(&(rgi_message_envelope){10, q->other, 2, 0}, NULL, &q->last));
    RGT_OK(rgi_message_wait(&q->last, "test"));
    RGT_OK(rgi_message_receive(&(rgi_message_envelope){10, q->other, 1, sizeof got}, &got, &q->in));
    RGT_OK(rgi_message_wait(&q->in, "test"));
    RGT_INT(got, q->number);
  }
}

/* One that is under way ends with an error on the other side. */
static void quit_late(quitter *q, int sender, int sender_quits) {
  rgi_message *mine = sender ? &q->out : &q->in;
  if (sender)
    RGT_OK(rgi_message_send(&(rgi_message_envelope){10, q->other, 1, MOST}, q->data, mine));
  else
    RGT_OK(rgi_message_receive(&(rgi_message_envelope){10, q->other, 1, MOST}, q->data, mine));
  if (sender == sender_quits) {
    while (sender ? mine->moved == 0 : !mine->rts) /* until they have met */
      RGT_OK(rgi_progress());
    RGT_INT(mine->done, 0);
    rgi_message_abandon(mine);
  }
  RGT_FAILS(rgi_message_wait(mine, "test"), RG_ERR_TIMEOUT);
}

static void test_abandon(void) {
  quitter q = {.other = partner(), .number = 3, .data = calloc(1, MOST)};
  for (int turn = 0; q.other >= 0 && turn < 60; turn++) {
    int sender = rgt_rank % 2 == turn % 2;
    if (turn % 6 < 2)
      quit_early(&q, sender);
    else
      quit_late(&q, sender, turn % 6 < 4);
  }
  free(q.data);
}

/* Threads that each keep to a context of their own, and one number from any. */
static void *work(void *argument) {
  uint64_t context = 100 + *(uint64_t *)argument;
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size;
  size_t wrong = 0;
  for (int turn = 0; turn < 60; turn++) {
    size_t n = draw_length(draw(turn, 0, 0, (int)context, 9), MOST);
    unsigned char *data = malloc(n + 1), *got = malloc(n + 1);
    rgi_message in, out;
    fill(data, n, (uint64_t)rgt_rank + context);
    wrong +=
        rgi_message_receive(&(rgi_message_envelope){context, turn % 2 ? RGI_ANY : before, turn, n},
                            got, &in) != 0;
    wrong += rgi_message_send(&(rgi_message_envelope){context, next, turn, n}, data, &out) != 0;
    wrong += rgi_message_wait(&in, "test") != 0;
    wrong += in.source != before || in.bytes != n;
    wrong += wrong_bytes(got, n, (uint64_t)before + context);
    wrong += rgi_message_wait(&out, "test") != 0;
    free(data);
    free(got);
  }
  *(uint64_t *)argument = wrong;
  return NULL;
}

static void test_threads(void) {
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  uint64_t number[THREADS];
  int level;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE)
    return;
  for (int i = 0; i < THREADS; i++) {
    number[i] = (uint64_t)i;
    pthread_create(&thread[i], NULL, work, &number[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    RGT_INT(number[i], 0);
  }
}

static void test_probe(void) {
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size;
  int there = -1, seen = 0;
  rgi_message_envelope wanted = {12, before, 4, 0}, any = {12, RGI_ANY, RGI_ANY, 0}, found;
  rgi_message out, in;
  char *data = calloc(1, 50000);
  RGT_OK(rgi_message_probe(&wanted, &there, &found, NULL));
  RGT_INT(there, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int n = 0; n <= 50000; n += 25000) {
    RGT_OK(rgi_message_send(&(rgi_message_envelope){12, next, 4, (size_t)n}, data, &out));
    RGT_OK(rgi_message_await(&any, "test", &found, NULL));
    RGT_INT(found.peer, before);
    RGT_INT(found.tag, 4);
    RGT_INT(found.bytes, n);
    RGT_OK(rgi_message_receive(&found, data, &in));
    RGT_OK(rgi_message_wait(&in, "test"));
    RGT_OK(rgi_message_wait(&out, "test"));
    seen++;
  }
  RGT_INT(seen, 3);
  free(data);
}

/* A message that was taken is seen by no probe and no receive; one that is taken later may be
 * received first. */
static void test_take(void) {
  enum { N = 3 };
  static const size_t lengths[N] = {12, 50000, 1000};
  int next = (rgt_rank + 1) % rgt_size, there = -1;
  rgi_message_envelope any = {13, RGI_ANY, RGI_ANY, 0}, found;
  rgi_message_cell *taken[N];
  rgi_message out[N], in;
  unsigned char *data[N], *got = calloc(1, MOST);
  for (int i = 0; i < N; i++) {
    data[i] = malloc(lengths[i]);
    fill(data[i], lengths[i], (uint64_t)i);
    RGT_OK(rgi_message_send(&(rgi_message_envelope){13, next, i, lengths[i]}, data[i], &out[i]));
  }
  for (int i = 0; i < N; i++) {
    RGT_OK(rgi_message_await(&any, "test", &found, &taken[i]));
    RGT_INT(found.tag, i);
    RGT_INT(found.bytes, lengths[i]);
  }
  RGT_OK(rgi_message_probe(&any, &there, &found, NULL));
  RGT_INT(there, 0);
  for (int i = N - 1; i >= 0; i--) {
    rgi_message_accept(taken[i], got, MOST, &in);
    RGT_OK(rgi_message_wait(&in, "test"));
    RGT_INT(in.bytes, lengths[i]);
    RGT_INT(wrong_bytes(got, lengths[i], (uint64_t)i), 0);
  }
  for (int i = 0; i < N; i++) {
    RGT_OK(rgi_message_wait(&out[i], "test"));
    free(data[i]);
  }
  free(got);
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
}

/* At the end all memory but what processes keep has come back. */
static void test_stop(void) {
  rgi_arena_usage usage;
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_arena_get_usage(&usage);
  RGT_TRUE(usage.used < (size_t)rgi_node.n * 3 << 20);
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"traffic", test_traffic},
                                   {"flood", test_flood},
                                   {"unexpected", test_unexpected},
                                   {"truncation", test_truncation},
                                   {"cancel", test_cancel},
                                   {"abandon", test_abandon},
                                   {"probe", test_probe},
                                   {"take", test_take},
                                   {"threads", test_threads},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, SUITE, tests);
}
