/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * What a node daemon does with facts, whichever connection brings them and in which order. The
 * daemon of node 3 of 4 runs in this process; the test plays nodes 0 and 1. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/daemon/daemon.h"
#include "noded/daemon/facts.h"
#include "noded/wire/greeting.h"
#include "noded/wire/overlay.h"
#include "noded/wire/tcp.h"
#include "shm/process_table.h"
#include "tests/check/check.h"

enum { NODES = 4, MINE = 3, FACT = 1, DECISION = 4, TIMES = 1000 };

typedef struct {
  uint32_t bytes, kind;
} frame;

static rgi_overlay *overlay;
static rgi_process_table table;
static int listener[NODES];
static rgi_tcp dialled[NODES]; /* by the daemon, for good */

static void step(void) {
  struct pollfd p = {rgi_daemon_fd(), POLLIN, 0};
  poll(&p, 1, 2);
  rgi_daemon_step();
}

static void steps(int n) {
  for (int i = 0; i < n; i++)
    step();
}

/* --- connections --------------------------------------------------------------------------- */

static void greet(rgi_greeting *greeting, rgi_tcp *tcp) {
  int done = 0;
  for (int i = 0; i < TIMES && !done; i++) {
    done = rgi_greeting_step(greeting, tcp);
    step();
  }
  RGT_INT(done, 1);
}

static rgi_tcp call_daemon(int from) {
  rgi_tcp tcp = {.fd = -1};
  rgi_greeting greeting;
  rgi_tcp_dial(&tcp, htonl(INADDR_LOOPBACK), rgi_overlay_nodes(overlay)[MINE].port, 0);
  for (int i = 0; i < TIMES && rgi_tcp_dialed(&tcp) == 0; i++)
    step();
  rgi_greeting_call(&greeting, overlay->key, from, MINE);
  greet(&greeting, &tcp);
  return tcp;
}

/* The daemon has dialled its neighbour. */
static rgi_tcp answer_daemon(int to) {
  rgi_tcp tcp = {.fd = -1};
  rgi_greeting greeting;
  for (int i = 0; i < TIMES && !rgi_tcp_accept(&tcp, listener[to]); i++)
    step();
  rgi_greeting_answer(&greeting, overlay->key, to, NODES);
  greet(&greeting, &tcp);
  return tcp;
}

static void send_message(rgi_tcp *tcp, uint32_t kind, const void *data, size_t bytes) {
  frame f = {(uint32_t)bytes, kind};
  RGT_TRUE(rgi_tcp_queue(tcp, &f, sizeof f) && rgi_tcp_queue(tcp, data, bytes) &&
           rgi_tcp_push(tcp));
}

static void decide(rgi_tcp *tcp, uint32_t number, unsigned set) {
  char bytes[sizeof(rgi_facts_decided) + NODES];
  rgi_facts_decided *decision = (void *)bytes;
  *decision = (rgi_facts_decided){.number = number, .nodes = NODES};
  for (int i = 0; i < NODES; i++)
    decision->set[i] = set >> i & 1;
  send_message(tcp, DECISION, bytes, sizeof bytes);
  steps(5);
}

static void stall(rgi_tcp *tcp, uint64_t node, uint64_t k) {
  rgi_overlay_fact fact = {RGI_FACT_STALLED, node + NODES * k};
  send_message(tcp, FACT, &fact, sizeof fact);
}

/* What has come from the daemon: the decisions as a set of their numbers; how many facts, and the
 * last one. 0: the connection is closed. */
static int receive_all(rgi_tcp *tcp, unsigned *decisions, int *facts, rgi_overlay_fact *last) {
  ssize_t n;
  *decisions = 0;
  *facts = 0;
  steps(5);
  while ((n = rgi_tcp_pull(tcp, 65536)) > 0)
    ;
  for (frame f; rgi_buffer_pending(&tcp->in) >= sizeof f;) {
    const char *at = tcp->in.data + tcp->in.begin;
    memcpy(&f, at, sizeof f);
    if (rgi_buffer_pending(&tcp->in) < sizeof f + f.bytes)
      break;
    if (f.kind == FACT)
      memcpy(last, at + sizeof f, sizeof *last);
    *facts += f.kind == FACT;
    uint32_t number = 0;
    if (f.kind == DECISION)
      memcpy(&number, at + sizeof f, sizeof number);
    *decisions |= number ? 1u << number : 0;
    rgi_buffer_take(&tcp->in, sizeof f + f.bytes);
  }
  return n == 0;
}

static unsigned dead_set(void) {
  unsigned set = 0;
  for (int i = 0; i < NODES; i++)
    set |= (unsigned)rgi_process_table_is_dead(&table, i) << i;
  return set;
}

/* --- tests --------------------------------------------------------------------------------- */

static void make_overlay(void) {
  overlay = calloc(1, sizeof *overlay + NODES * sizeof(rgi_overlay_node) + 4 * NODES);
  *overlay = (rgi_overlay){.limit = 60, .nodes = NODES, .world = NODES, .mine = MINE};
  for (int i = 0; i < NODES; i++) {
    rgi_overlay_node *node = &rgi_overlay_nodes(overlay)[i];
    *node = (rgi_overlay_node){.first = i, .n = 1, .address = {htonl(INADDR_LOOPBACK)}};
    listener[i] = rgi_tcp_listen(htonl(INADDR_LOOPBACK), &node->port);
    fcntl(listener[i], F_SETFL, O_NONBLOCK);
    rgi_overlay_rank_nodes(overlay)[i] = i;
  }
}

static void test_start(void) {
  static _Alignas(64) char memory[1 << 20];
  static rgi_node_process members[1];
  int pipes[2];
  make_overlay();
  table = (rgi_process_table){.members = members, .n = 1, .me = -1};
  rgi_process_table_attach(&table, memory, NODES);
  table.entry[0].rank = MINE;
  atomic_store(&table.entry[0].pid, getpid());
  rgi_process_table_raise(&table, 0, RGI_PROCESS_STARTED);
  rgi_process_table_raise(&table, 0, RGI_PROCESS_READY);
  RGT_INT(pipe2(pipes, O_CLOEXEC), 0);
  RGT_TRUE(rgi_daemon_open(overlay, &table, listener[MINE], pipes[0]));
  for (int i = 0; i < 2; i++)
    dialled[i] = answer_daemon(i);
  steps(5);
  RGT_INT(atomic_load(&overlay->joined), 1);
}

/* The connection that the lower node has made stays, the daemon closes its own. */
static void test_one_connection(void) {
  unsigned decisions;
  int facts;
  rgi_overlay_fact last;
  RGT_TRUE(receive_all(&dialled[0], &decisions, &facts, &last));
  rgi_tcp called = call_daemon(0);
  RGT_TRUE(receive_all(&called, &decisions, &facts, &last));
  RGT_TRUE(!receive_all(&dialled[0], &decisions, &facts, &last));
  rgi_tcp_free(&dialled[0]);
  dialled[0] = called;
}

/* Of what changes again and again the last word is kept. */
static void test_stalled(void) {
  unsigned decisions;
  int facts;
  rgi_overlay_fact last;
  for (uint64_t k = 1; k <= 100; k++)
    stall(&dialled[1], 1, k);
  stall(&dialled[1], 1, 50);
  receive_all(&dialled[0], &decisions, &facts, &last);
  RGT_INT(facts, 100);
  rgi_tcp_free(&dialled[0]);
  dialled[0] = call_daemon(0);
  receive_all(&dialled[0], &decisions, &facts, &last);
  RGT_INT(facts, 1);
  RGT_INT(last.value, 1 + NODES * 100);
}

/* A decision is told with its nodes, and is applied when those before it have been. */
static void test_decisions(void) {
  unsigned decisions;
  int facts;
  rgi_overlay_fact last;
  decide(&dialled[1], 2, 1);
  RGT_INT(dead_set(), 0);
  decide(&dialled[1], NODES + 1, 4);
  decide(&dialled[1], 1, 0);
  RGT_INT(dead_set(), 0);
  decide(&dialled[1], 1, 4);
  RGT_INT(dead_set(), 4 | 1);
  receive_all(&dialled[0], &decisions, &facts, &last);
  RGT_INT(decisions, 4 | 2);
  rgi_tcp_free(&dialled[1]);
  dialled[1] = answer_daemon(1);
  receive_all(&dialled[1], &decisions, &facts, &last);
  RGT_INT(decisions, 4 | 2);
}

static void test_stop(void) {
  rgi_daemon_close();
  for (int i = 0; i < 2; i++)
    rgi_tcp_free(&dialled[i]);
  for (int i = 0; i < MINE; i++)
    close(listener[i]);
  free(overlay);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"one connection", test_one_connection},
                                   {"a stalled node", test_stalled},
                                   {"decisions", test_decisions},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "facts", tests);
}
