/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The kernel of a living host answers an attempt to connect, by a refusal if nobody listens there.
 * A node that gives no answer at any of its addresses is lost if another node of the job has given
 * one: else it may be a firewall that gives none. */
#include "recovery/run/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "recovery/run/nodes.h"

#define BEGIN_SECONDS 0.3  /* the ranks of a job in which nothing is lost have ended by then */
#define ANSWER_SECONDS 2.0 /* TCP asks again after one second */
#define ADDRESSES 4
#define MOST_NODES 200 /* each address needs a descriptor */

typedef struct {
  char name[64], ranks[RUN_LINE];
  struct sockaddr_in address[ADDRESSES];
  int fd[ADDRESSES]; /* -1: there is none, or the attempt has ended */
  int addresses, answered;
} probe_node;

static struct {
  probe_node *nodes;
  int n;
  double heard, asked; /* when all ranks have left; when all nodes were asked */
  int done;
} probe;

static void read_addresses(probe_node *node, char *list, int port) {
  char *rest = NULL;
  for (char *a = strtok_r(list, ",", &rest); a && node->addresses < ADDRESSES;
       a = strtok_r(NULL, ",", &rest)) {
    struct sockaddr_in *to = &node->address[node->addresses];
    *to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    node->fd[node->addresses] = -1;
    node->addresses += inet_pton(AF_INET, a, &to->sin_addr) == 1;
  }
}

static int is_known(const char *name) {
  for (int i = 0; i < probe.n; i++)
    if (!strcmp(probe.nodes[i].name, name))
      return 1;
  return 0;
}

int run_probe_hear(const char *line) {
  probe_node node = {.answered = 0};
  char list[ADDRESSES * INET_ADDRSTRLEN + 1];
  int port;
  const char *own = strstr(line, "regroup: all have left node ");
  if (!own)
    return 0;
  probe.heard = probe.heard > 0 ? probe.heard : rgi_clock_now();
  if (sscanf(own, "regroup: all have left node %63s port %d at %64s (ranks %4095[0-9,-]", node.name,
             &port, list, node.ranks) != 4 ||
      is_known(node.name) || probe.n == MOST_NODES)
    return 1;
  probe_node *more = realloc(probe.nodes, (size_t)(probe.n + 1) * sizeof *more);
  if (!more)
    return 1;
  probe.nodes = more;
  read_addresses(&node, list, port);
  probe.nodes[probe.n++] = node;
  return 1;
}

int run_probe_has_heard(void) {
  return probe.heard > 0;
}

static void end_attempt(probe_node *node, int i, int error) {
  node->answered |= error == 0 || error == ECONNREFUSED;
  if (node->fd[i] >= 0)
    close(node->fd[i]);
  node->fd[i] = -1;
}

static void ask_node(probe_node *node) {
  for (int i = 0; i < node->addresses; i++) {
    node->fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (node->fd[i] < 0)
      node->answered = 1; /* what is not known is no loss */
    else if (connect(node->fd[i], (struct sockaddr *)&node->address[i], sizeof node->address[i]) ==
             0)
      end_attempt(node, i, 0);
    else if (errno != EINPROGRESS)
      end_attempt(node, i, errno);
  }
}

static void look_at_node(probe_node *node) {
  for (int i = 0; i < node->addresses; i++) {
    struct pollfd p = {node->fd[i], POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    if (node->fd[i] >= 0 && poll(&p, 1, 0) > 0 &&
        getsockopt(node->fd[i], SOL_SOCKET, SO_ERROR, &error, &size) == 0)
      end_attempt(node, i, error);
  }
}

static void decide(void) {
  int answers = 0;
  probe.done = 1;
  for (int k = 0; k < probe.n; k++) {
    answers += probe.nodes[k].answered;
    for (int i = 0; i < probe.nodes[k].addresses; i++)
      end_attempt(&probe.nodes[k], i, ETIMEDOUT);
  }
  for (int k = 0; k < probe.n && answers; k++)
    if (!probe.nodes[k].answered)
      run_nodes_lose(probe.nodes[k].name, probe.nodes[k].ranks);
}

void run_probe_step(double now) {
  if (probe.heard <= 0 || probe.done || now - probe.heard < BEGIN_SECONDS)
    return;
  for (int k = 0; k < probe.n && probe.asked <= 0; k++)
    ask_node(&probe.nodes[k]);
  probe.asked = probe.asked > 0 ? probe.asked : now;
  for (int k = 0; k < probe.n; k++)
    look_at_node(&probe.nodes[k]);
  if (now - probe.asked > ANSWER_SECONDS)
    decide();
}

void run_probe_forget(void) {
  for (int k = 0; k < probe.n; k++)
    for (int i = 0; i < probe.nodes[k].addresses; i++)
      end_attempt(&probe.nodes[k], i, ETIMEDOUT);
  free(probe.nodes);
  memset(&probe, 0, sizeof probe);
}
