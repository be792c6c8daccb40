/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The greeting with a node daemon: both sides prove themselves; no other key, node, old
 * connection, message sent back to its sender or changed byte passes; and the key is not sent. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "noded/wire/greeting.h"
#include "tests/check/check.h"

enum { NODES = 7, CALL = 48, ANSWER = 64, PROOF = 32 };

static const unsigned char key[RGI_OVERLAY_KEY_BYTES] = "the key of a job, of 32 bytes..",
                           other_key[RGI_OVERLAY_KEY_BYTES] = "the key of a job, of 32 bytes./";

/* --- two sides and what lies between them --------------------------------------------------- */

typedef struct {
  rgi_greeting greeting;
  rgi_tcp tcp;
  int wire; /* the other end of its connection */
  int state;
} side;

static side open_side(void) {
  int ends[2] = {-1, -1};
  RGT_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  return (side){.tcp = {.fd = ends[0]}, .wire = ends[1]};
}

static side open_caller(const unsigned char *with, int from, int to) {
  side s = open_side();
  rgi_greeting_call(&s.greeting, with, from, to);
  return s;
}

static side open_daemon(const unsigned char *with, int mine) {
  side s = open_side();
  rgi_greeting_answer(&s.greeting, with, mine, NODES);
  return s;
}

static void close_side(side *s) {
  rgi_tcp_free(&s->tcp);
  close(s->wire);
}

static void step_side(side *s) {
  if (s->state == 0)
    s->state = rgi_greeting_step(&s->greeting, &s->tcp);
}

/* What a side has sent. */
static size_t take_sent(side *s, char *data, size_t room) {
  ssize_t n = recv(s->wire, data, room, 0);
  return n > 0 ? (size_t)n : 0;
}

static void give(side *s, const char *data, size_t bytes) {
  RGT_INT(send(s->wire, data, bytes, MSG_NOSIGNAL), bytes);
  step_side(s);
}

/* The messages of both sides in their order. */
typedef struct {
  char data[CALL + ANSWER + PROOF];
  size_t bytes;
} record;

/* Carries messages until nothing more comes; changed: this byte of all is another one; -1: none. */
static record carry(side *a, side *b, int changed) {
  record r = {.bytes = 0};
  step_side(a);
  for (int turn = 0, idle = 0; idle < 2; turn++) {
    side *from = turn % 2 ? b : a, *to = turn % 2 ? a : b;
    char *at = r.data + r.bytes;
    size_t n = take_sent(from, at, sizeof r.data - r.bytes);
    if (changed >= (int)r.bytes && changed < (int)(r.bytes + n))
      r.data[changed] ^= 1;
    r.bytes += n;
    idle = n ? 0 : idle + 1;
    if (n)
      give(to, at, n);
  }
  return r;
}

static void check_pair(side a, side b, int caller, int daemon) {
  carry(&a, &b, -1);
  RGT_INT(a.state, caller);
  RGT_INT(b.state, daemon);
  close_side(&a);
  close_side(&b);
}

/* --- those who belong together ------------------------------------------------------------- */

static void test_done(void) {
  static const int callers[] = {0, 6, RGI_OVERLAY_CLIENT};
  for (int i = 0; i < 3; i++) {
    side a = open_caller(key, callers[i], 3), b = open_daemon(key, 3);
    record r = carry(&a, &b, -1);
    RGT_INT(r.bytes, CALL + ANSWER + PROOF);
    RGT_INT(a.state, 1);
    RGT_INT(b.state, 1);
    RGT_INT(b.greeting.from, callers[i]);
    RGT_INT(b.greeting.to, 3);
    for (size_t at = 0; at + 4 <= r.bytes; at++)
      for (size_t part = 0; part + 4 <= sizeof key; part += 4)
        RGT_TRUE(memcmp(r.data + at, key + part, 4) != 0);
    close_side(&a);
    close_side(&b);
  }
}

/* Byte by byte; and what is sent right behind the greeting stays for its receiver. */
static void test_pieces(void) {
  side a = open_caller(key, 1, 2), b = open_daemon(key, 2);
  char data[ANSWER], behind[6] = "";
  step_side(&a);
  RGT_INT(take_sent(&a, data, sizeof data), CALL);
  for (int i = 0; i < CALL; i++) {
    RGT_INT(b.state, 0);
    give(&b, data + i, 1);
  }
  RGT_INT(take_sent(&b, data, sizeof data), ANSWER);
  for (int i = 0; i < ANSWER; i++) {
    RGT_INT(a.state, 0);
    give(&a, data + i, 1);
  }
  RGT_INT(a.state, 1);
  RGT_INT(take_sent(&a, data, sizeof data), PROOF);
  memcpy(data + PROOF, "hello", 6);
  give(&b, data, PROOF + 6);
  RGT_INT(b.state, 1);
  RGT_INT(rgi_tcp_pull_to(&b.tcp, behind, 6), 6);
  RGT_STR(behind, "hello");
  close_side(&a);
  close_side(&b);
}

/* --- strangers ------------------------------------------------------------------------------ */

/* A caller that does not know the key sees that first: the daemon's MAC. */
static void test_wrong(void) {
  check_pair(open_caller(other_key, 1, 2), open_daemon(key, 2), -1, 0);
  check_pair(open_caller(key, 1, 2), open_daemon(other_key, 2), -1, 0);
  check_pair(open_caller(key, 1, 2), open_daemon(key, 3), 0, -1);
  check_pair(open_caller(key, 2, 2), open_daemon(key, 2), 0, -1);
  check_pair(open_caller(key, -1, 2), open_daemon(key, 2), 0, -1);
  check_pair(open_caller(key, NODES, 2), open_daemon(key, 2), 0, -1);
}

/* No side comes to the end after any byte of what it has got was changed. */
static void test_changed(void) {
  for (int i = 0; i < CALL + ANSWER + PROOF; i++) {
    side a = open_caller(key, 1, 2), b = open_daemon(key, 2);
    carry(&a, &b, i);
    RGT_TRUE(b.state != 1);
    RGT_TRUE(i >= CALL + ANSWER || a.state != 1);
    close_side(&a);
    close_side(&b);
  }
}

/* Both sides of an old connection, played again to new ones. */
static void test_replay(void) {
  side a = open_caller(key, 1, 2), b = open_daemon(key, 2);
  record r = carry(&a, &b, -1);
  RGT_TRUE(a.state == 1 && b.state == 1);
  close_side(&a);
  close_side(&b);
  a = open_caller(key, 1, 2);
  b = open_daemon(key, 2);
  step_side(&a);
  give(&a, r.data + CALL, ANSWER);
  RGT_INT(a.state, -1);
  give(&b, r.data, CALL);
  RGT_INT(b.state, 0);
  give(&b, r.data + CALL + ANSWER, PROOF);
  RGT_INT(b.state, -1);
  close_side(&a);
  close_side(&b);
}

/* What a side has said is said back to it. */
static void test_reflection(void) {
  side a = open_caller(key, 2, 2), b = open_daemon(key, 2);
  char call[CALL], answer[ANSWER];
  step_side(&a);
  RGT_INT(take_sent(&a, call, sizeof call), CALL);
  give(&a, call, CALL);
  give(&a, call, ANSWER - CALL);
  RGT_INT(a.state, -1);
  close_side(&a);
  a = open_caller(key, 1, 2);
  step_side(&a);
  RGT_INT(take_sent(&a, call, sizeof call), CALL);
  give(&b, call, CALL);
  RGT_INT(take_sent(&b, answer, sizeof answer), ANSWER);
  give(&b, answer + RGI_GREETING_NONCE_BYTES, PROOF);
  RGT_INT(b.state, -1);
  close_side(&a);
  close_side(&b);
}

static void test_left(void) {
  side a = open_caller(key, 1, 2), b = open_daemon(key, 2);
  step_side(&a);
  shutdown(a.wire, SHUT_RDWR);
  step_side(&a);
  RGT_INT(a.state, -1);
  shutdown(b.wire, SHUT_RDWR);
  step_side(&b);
  RGT_INT(b.state, -1);
  close_side(&a);
  close_side(&b);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"done", test_done},
                                   {"in pieces", test_pieces},
                                   {"wrong key or node", test_wrong},
                                   {"changed", test_changed},
                                   {"replay", test_replay},
                                   {"reflection", test_reflection},
                                   {"left", test_left},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "greeting", tests);
}
