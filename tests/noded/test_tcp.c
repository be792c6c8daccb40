/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * A TCP connection of the node daemon from both of its sides: data that the kernel takes and gives
 * in pieces, the other side's end, a port at which nobody listens, short messages in
 * pieces; and dialling, where strangers may answer. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "noded/wire/dial.h"
#include "noded/wire/tcp.h"
#include "tests/check/check.h"

enum { MANY = 12 << 20, TURNS = 2000, CALLER = 3, CALLED = 5 };

static const unsigned char key[RGI_OVERLAY_KEY_BYTES] = "one key",
                           wrong[RGI_OVERLAY_KEY_BYTES] = "another key";

/* --- two sides -------------------------------------------------------------------------- */

static uint32_t loopback(void) {
  return htonl(INADDR_LOOPBACK);
}

static int open_listener(uint16_t *port) {
  int listener = rgi_tcp_listen(0, port);
  RGT_TRUE(listener >= 0 && *port != 0);
  fcntl(listener, F_SETFL, O_NONBLOCK);
  return listener;
}

static void wait_readable(int fd) {
  struct pollfd p = {fd, POLLIN, 0};
  RGT_INT(poll(&p, 1, 10000), 1);
}

/* A connection: both of its sides. */
static void open_both(rgi_tcp *a, rgi_tcp *b) {
  uint16_t port;
  int listener = open_listener(&port), connected = 0;
  *a = (rgi_tcp){.fd = -1};
  RGT_INT(rgi_tcp_accept(b, listener), 0);
  RGT_INT(rgi_tcp_dial(a, loopback(), port, 0), 1);
  wait_readable(listener);
  RGT_INT(rgi_tcp_accept(b, listener), 1);
  for (int i = 0; i < TURNS && !connected; i++)
    connected = rgi_tcp_dialed(a);
  RGT_INT(connected, 1);
  close(listener);
}

static void free_both(rgi_tcp *a, rgi_tcp *b) {
  rgi_tcp_free(a);
  rgi_tcp_free(b);
  RGT_INT(a->fd, -1);
}

static char *pattern(size_t bytes) {
  char *p = malloc(bytes);
  for (size_t i = 0; i < bytes; i++)
    p[i] = (char)(i * 7 + i / 251);
  return p;
}

/* --- data in pieces --------------------------------------------------------------------- */

/* More than the kernel holds: what it does not take stays queued. */
static void test_queue(void) {
  rgi_tcp a, b;
  char *data = pattern(MANY);
  size_t got = 0, right = 0;
  open_both(&a, &b);
  RGT_INT(rgi_tcp_pull(&b, 100), 0);
  RGT_INT(rgi_tcp_queue(&a, data, MANY / 3), 1);
  RGT_INT(rgi_tcp_queue(&a, data + MANY / 3, MANY - MANY / 3), 1);
  RGT_INT(rgi_tcp_push(&a), 1);
  RGT_TRUE(rgi_buffer_pending(&a.out) > 0);
  for (ssize_t n = 1; got < MANY && n >= 0;) {
    n = rgi_tcp_pull(&b, 99991);
    size_t here = rgi_buffer_pending(&b.in);
    right += here && memcmp(b.in.data + b.in.begin, data + got, here) == 0 ? here : 0;
    got += here;
    rgi_buffer_take(&b.in, here);
    RGT_INT(rgi_tcp_push(&a), 1);
  }
  RGT_INT(got, MANY);
  RGT_INT(right, MANY);
  RGT_INT(rgi_buffer_pending(&a.out), 0);
  free(data);
  free_both(&a, &b);
}

/* Sent from where they lie, received where they are wanted: few bytes and many at a time. */
static void test_parts(void) {
  static const size_t wanted[] = {1, 7, 600, 3, 511, 512, 100000, 40};
  enum { KINDS = sizeof wanted / sizeof *wanted };
  rgi_tcp a, b;
  char *data = pattern(MANY), *copy = calloc(1, MANY);
  size_t sent = 0, got = 0;
  open_both(&a, &b);
  for (int i = 0; got < MANY; i++) {
    size_t end = got + wanted[i % KINDS] < MANY ? got + wanted[i % KINDS] : MANY;
    while (got < end) {
      size_t first = (MANY - sent) / 2;
      struct iovec parts[2] = {{data + sent, first}, {data + sent + first, MANY - sent - first}};
      ssize_t n = sent < MANY ? rgi_tcp_push_parts(&a, parts, 2) : 0,
              k = rgi_tcp_pull_to(&b, copy + got, end - got);
      if (n < 0 || k < 0)
        break;
      sent += (size_t)n;
      got += (size_t)k;
    }
    if (!RGT_INT(got, end))
      break;
  }
  RGT_INT(memcmp(data, copy, MANY), 0);
  free(data);
  free(copy);
  free_both(&a, &b);
}

/* --- ends --------------------------------------------------------------------------------- */

/* What was sent before the end still comes. */
static void test_closed(void) {
  rgi_tcp a, b;
  char byte = 0;
  int fine = 1;
  open_both(&a, &b);
  RGT_INT(rgi_tcp_queue(&a, "x", 1), 1);
  RGT_INT(rgi_tcp_push(&a), 1);
  rgi_tcp_close(&a);
  wait_readable(b.fd);
  RGT_INT(rgi_tcp_pull_to(&b, &byte, 1), 1);
  RGT_INT(byte, 'x');
  wait_readable(b.fd);
  RGT_INT(rgi_tcp_pull(&b, 1), -1);
  RGT_INT(b.error, 0); /* it has closed the connection */
  for (int i = 0; i < TURNS && fine; i++) {
    RGT_INT(rgi_tcp_queue(&b, "y", 1), 1);
    fine = rgi_tcp_push(&b);
  }
  RGT_INT(fine, 0);
  RGT_TRUE(b.error == EPIPE || b.error == ECONNRESET);
  free_both(&a, &b);
}

static void test_refused(void) {
  rgi_tcp a = {.fd = -1};
  uint16_t port;
  int connected = 0;
  close(open_listener(&port));
  if (rgi_tcp_dial(&a, loopback(), port, 0))
    for (int i = 0; i < TURNS && !connected; i++)
      connected = rgi_tcp_dialed(&a);
  RGT_TRUE(a.fd < 0 || connected < 0);
  RGT_INT(a.error, ECONNREFUSED);
  rgi_tcp_free(&a);
}

/* At one address of the machine only. */
static void test_bound(void) {
  uint32_t bound = htonl(INADDR_LOOPBACK + 1);
  rgi_tcp a = {.fd = -1}, b = {.fd = -1};
  uint16_t port;
  int listener = rgi_tcp_listen(bound, &port), connected = 0;
  RGT_TRUE(listener >= 0);
  fcntl(listener, F_SETFL, O_NONBLOCK);
  if (rgi_tcp_dial(&a, loopback(), port, 0))
    for (int i = 0; i < TURNS && !connected; i++)
      connected = rgi_tcp_dialed(&a);
  RGT_TRUE(a.fd < 0 || connected < 0);
  RGT_INT(rgi_tcp_dial(&a, bound, port, 0), 1);
  wait_readable(listener);
  RGT_INT(rgi_tcp_accept(&b, listener), 1);
  RGT_TRUE(rgi_tcp_own(&b) == bound && rgi_tcp_peer(&a) == bound);
  RGT_TRUE(rgi_tcp_own(&a) == rgi_tcp_peer(&b));
  close(listener);
  free_both(&a, &b);
}

static int option(const rgi_tcp *t, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  getsockopt(t->fd, level, name, &value, &size);
  return value;
}

static void test_options(void) {
  rgi_tcp a, b;
  open_both(&a, &b);
  RGT_TRUE(option(&a, IPPROTO_TCP, TCP_NODELAY) && option(&b, IPPROTO_TCP, TCP_NODELAY));
  rgi_tcp_limit(&a, 0);
  RGT_INT(option(&a, SOL_SOCKET, SO_KEEPALIVE), 0);
  rgi_tcp_limit(&a, 12);
  RGT_TRUE(option(&a, SOL_SOCKET, SO_KEEPALIVE) != 0);
  RGT_INT(option(&a, IPPROTO_TCP, TCP_KEEPIDLE), 4);
  RGT_INT(option(&a, IPPROTO_TCP, TCP_KEEPINTVL), 4);
  RGT_INT(option(&a, IPPROTO_TCP, TCP_USER_TIMEOUT), 12000);
  rgi_tcp_allow_unread(&a);
  RGT_INT(option(&a, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
  RGT_TRUE(option(&a, SOL_SOCKET, SO_KEEPALIVE) != 0);
  free_both(&a, &b);
}

/* --- short messages --------------------------------------------------------------------- */

/* Byte by byte; what comes behind it stays. */
static void test_message(void) {
  static const char message[16] = "a short message";
  rgi_tcp a, b;
  char got[16] = "", behind[4] = "";
  open_both(&a, &b);
  for (size_t i = 0; i < sizeof message; i++) {
    RGT_INT(rgi_tcp_take(&b, got, sizeof got), 0);
    RGT_INT(rgi_tcp_queue(&a, message + i, 1), 1);
    RGT_INT(rgi_tcp_push(&a), 1);
    wait_readable(b.fd);
  }
  RGT_INT(rgi_tcp_queue(&a, "abc", 4), 1);
  RGT_INT(rgi_tcp_push(&a), 1);
  RGT_INT(rgi_tcp_take(&b, got, sizeof got), 1);
  RGT_STR(got, message);
  wait_readable(b.fd);
  RGT_INT(rgi_tcp_pull_to(&b, behind, 4), 4);
  RGT_STR(behind, "abc");
  RGT_INT(rgi_tcp_queue(&a, "def", 4), 1);
  RGT_INT(rgi_tcp_push_first(&a, message, sizeof message), 1);
  RGT_INT(rgi_tcp_push(&a), 1);
  wait_readable(b.fd);
  RGT_INT(rgi_tcp_take(&b, got, sizeof got), 1);
  RGT_STR(got, message);
  wait_readable(b.fd);
  RGT_INT(rgi_tcp_pull_to(&b, behind, 4), 4);
  RGT_INT(rgi_tcp_take(&b, got, sizeof got), 0);
  rgi_tcp_close(&a);
  wait_readable(b.fd);
  RGT_INT(rgi_tcp_take(&b, got, sizeof got), -1);
  free_both(&a, &b);
}

/* --- dialling --------------------------------------------------------------------------- */

/* What the one who is called does: accepts and takes the greeting as far as possible without the
 * caller. */
static void begin_answer(rgi_tcp *b, rgi_greeting *h, int listener, const unsigned char with[]) {
  RGT_INT(rgi_tcp_accept(b, listener), 1);
  rgi_greeting_answer(h, with, CALLED, CALLED + 1);
  wait_readable(b->fd);
  RGT_INT(rgi_greeting_step(h, b), 0);
}

/* Steps until another call waits at the listener, or the call is answered. */
static int step_call(rgi_dial *d, rgi_tcp *a, int listener) {
  struct pollfd p = {listener, POLLIN, 0};
  for (int i = 0; i < TURNS; i++) {
    if (rgi_dial_step(d, a))
      return 1;
    if (d->greets && poll(&p, 1, 0) > 0)
      return 0;
    struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
  }
  RGT_TRUE(0);
  return 0;
}

/* A stranger answers, and one that closes the connection; then the daemon itself. What was queued
 * before the call goes to the daemon, behind the greeting. */
static void test_call(void) {
  uint16_t port;
  int listener = open_listener(&port);
  rgi_overlay_node node = {.port = port, .n = 2, .address = {loopback(), loopback()}};
  rgi_dial d = {.node = &node, .key = key, .from = CALLER, .to = CALLED};
  rgi_tcp a = {.fd = -1}, b = {.fd = -1};
  rgi_greeting h;
  char got[6] = "";
  RGT_INT(rgi_tcp_queue(&a, "hello", 6), 1);
  RGT_INT(step_call(&d, &a, listener), 0);
  begin_answer(&b, &h, listener, wrong);
  RGT_INT(step_call(&d, &a, listener), 0);
  RGT_INT(rgi_greeting_step(&h, &b), -1);
  rgi_tcp_free(&b);
  RGT_INT(rgi_tcp_accept(&b, listener), 1);
  rgi_tcp_free(&b);
  RGT_INT(step_call(&d, &a, listener), 0);
  begin_answer(&b, &h, listener, key);
  RGT_INT(step_call(&d, &a, listener), 1);
  RGT_INT(d.next, 3);
  RGT_INT(rgi_tcp_push(&a), 1);
  wait_readable(b.fd);
  RGT_INT(rgi_greeting_step(&h, &b), 1);
  RGT_INT(h.from, CALLER);
  wait_readable(b.fd);
  RGT_INT(rgi_tcp_pull_to(&b, got, 6), 6);
  RGT_STR(got, "hello");
  close(listener);
  free_both(&a, &b);
}

/* Nobody listens: the call goes on until its caller gives up. */
static void test_nobody(void) {
  uint16_t port;
  close(open_listener(&port));
  rgi_overlay_node node = {.port = port, .n = 1, .address = {loopback()}}, none = {.port = port};
  rgi_dial d = {.node = &node, .key = key, .to = CALLED},
           to_none = {.node = &none, .key = key, .to = CALLED};
  rgi_tcp a = {.fd = -1}, b = {.fd = -1};
  for (int i = 0; i < TURNS && d.next < 3; i++) {
    struct timespec moment = {0, 1000000};
    RGT_INT(rgi_dial_step(&d, &a), 0);
    RGT_INT(rgi_dial_step(&to_none, &b), 0);
    nanosleep(&moment, NULL);
  }
  RGT_INT(d.next, 3);
  RGT_INT(b.fd, -1);
  free_both(&a, &b);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"queue", test_queue},     {"parts", test_parts},
                                   {"closed", test_closed},   {"refused", test_refused},
                                   {"bound", test_bound},     {"options", test_options},
                                   {"message", test_message}, {"call", test_call},
                                   {"nobody", test_nobody},   {NULL, NULL}};
  return rgt_main(argc, argv, "tcp", tests);
}
