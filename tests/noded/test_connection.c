/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Connections of a daemon with another node, which this program plays by TCP. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/network/connection.h"
#include "noded/wire/dial.h"
#include "tests/check/check.h"

static rgi_overlay *overlay; /* node 0 is the daemon, node 1 the other one */
static int listeners[2], came_up;

static void on_up(int node) {
  came_up += node == 1;
}

static void on_message(int from, uint32_t kind, const void *data, size_t bytes) {
  (void)from;
  (void)kind;
  (void)data;
  (void)bytes;
}

static void on_node(int node) {
  (void)node;
}

static void open_daemon(void) {
  static const rgi_connection_events events = {
      .up = on_up, .received = on_message, .broken = on_node, .refused = on_node};
  overlay = calloc(1, sizeof *overlay + 2 * (sizeof(rgi_overlay_node) + sizeof(int32_t)));
  overlay->nodes = overlay->world = 2;
  overlay->limit = 1;
  for (int i = 0; i < 2; i++) {
    rgi_overlay_node *node = &rgi_overlay_nodes(overlay)[i];
    node->n = 1;
    node->address[0] = htonl(INADDR_LOOPBACK);
    listeners[i] = rgi_tcp_listen(node->address[0], &node->port);
  }
  RGT_TRUE(rgi_connections_open(overlay, listeners[0], &events));
}

static void close_daemon(void) {
  rgi_connections_close();
  close(listeners[1]);
  free(overlay);
}

static void step_daemon(void) {
  rgi_connection_make(1);
  rgi_connections_step();
  usleep(5000);
}

/* The other node answers no dial, calls, and falls silent: its connection is down then, although
 * the dial has been under way all the time. Before that nothing would be relayed. */
static void test_silent_call(void) {
  rgi_tcp tcp = {.fd = -1};
  open_daemon();
  step_daemon();
  rgi_dial call = {
      .node = rgi_overlay_nodes(overlay), .key = overlay->key, .from = 1, .to = 0, .limit = 1};
  double begun = rgi_clock_now();
  for (int made = 0; !came_up && rgi_clock_now() - begun < 20;) {
    made = made || rgi_dial_step(&call, &tcp);
    step_daemon();
  }
  RGT_INT(came_up, 1);
  begun = rgi_clock_now();
  while (rgi_connection_down_since(1) == 0 && rgi_clock_now() - begun < 5)
    step_daemon();
  RGT_TRUE(rgi_connection_down_since(1) > 0);
  RGT_INT(rgi_connection_is_up(1), 0);
  rgi_tcp_free(&tcp);
  close_daemon();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"a silent call", test_silent_call}, {NULL, NULL}};
  return rgt_main(argc, argv, "connection", tests);
}
