/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards and in ranks. A daemon answers a call by RGI_OVERLAY_GUARD with a byte for each
 * node: whether it is lost (daemon.c).
 *
 * The others may have given this node up, come to the end and left before they were asked. Then all
 * refuse. The daemon, once it goes on, would find the same, take it for no proof since it has not
 * been heard for the limit (presence.c), have no majority, and end. The exception is the lower one
 * of two nodes, and any of two with a witness: these may still go on. */
#include "noded/daemon/given_up.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/wire/dial.h"

/* The question under way. */
static struct {
  rgi_tcp tcp;
  rgi_dial dial;
  unsigned char *answer; /* NULL: none is */
  int node, connected;
  int asked;              /* how many have been */
  unsigned char *refused; /* for each node: how often, since any one has answered */
  double begun;
} question = {.tcp = {.fd = -1}};

static void end_question(void) {
  rgi_tcp_free(&question.tcp);
  free(question.answer);
  question.answer = NULL;
}

/* As the daemon knew it last. */
static int is_there(rgi_overlay *overlay, int node) {
  return node != overlay->mine && !atomic_load(&rgi_overlay_nodes(overlay)[node].left);
}

static int next_node(rgi_overlay *overlay) {
  int node = question.node;
  for (int i = 0; i < overlay->nodes; i++)
    if (is_there(overlay, node = (node + 1) % overlay->nodes))
      return node;
  return -1;
}

/* Each address of a node in turns. */
static void begin_question(rgi_overlay *overlay) {
  int to = next_node(overlay);
  question.refused = question.refused ? question.refused : calloc((unsigned)overlay->nodes, 1);
  question.answer = to >= 0 && question.refused ? malloc((size_t)overlay->nodes) : NULL;
  if (!question.answer)
    return;
  const rgi_overlay_node *record = &rgi_overlay_nodes(overlay)[to];
  question.node = to;
  question.tcp = (rgi_tcp){.fd = -1};
  question.connected = 0;
  question.begun = rgi_clock_now();
  question.dial =
      (rgi_dial){.node = record,
                 .key = overlay->key,
                 .from = RGI_OVERLAY_GUARD,
                 .to = to,
                 .proven = record->n ? question.asked++ / overlay->nodes % record->n + 1 : 0};
}

static int have_all_refused(rgi_overlay *overlay) {
  int n = 0, lower = 0;
  for (int i = 0; i < overlay->nodes; i++) {
    if (!is_there(overlay, i))
      continue;
    if (!question.refused || question.refused[i] < 2)
      return 0;
    n++;
    lower |= i < overlay->mine;
  }
  return n > 1 || (n == 1 && lower && !overlay->witness[0]);
}

/* 1: this node is lost; 0: not yet known; -1: this question is over. */
static int await_answer(rgi_overlay *overlay) {
  if (!question.connected)
    question.connected = rgi_dial_step(&question.dial, &question.tcp);
  int came =
      question.connected ? rgi_tcp_take(&question.tcp, question.answer, (size_t)overlay->nodes) : 0;
  if (came > 0 && question.answer[overlay->mine])
    return 1;
  if (came > 0)
    memset(question.refused, 0, (size_t)overlay->nodes);
  else if (question.dial.refused && question.refused[question.node] < 2)
    question.refused[question.node]++;
  return came || question.dial.refused || rgi_clock_now() - question.begun > RGI_DIAL_ANSWER_SECONDS
             ? -1
             : 0;
}

static void forget_questions(void) {
  if (question.answer)
    end_question();
  free(question.refused);
  question.refused = NULL;
}

static int is_still(const rgi_overlay *overlay) {
  double beat = atomic_load(&overlay->beat);
  return overlay->limit > 0 && overlay->nodes > 1 && beat > 0 &&
         rgi_clock_now() - beat > overlay->limit;
}

int rgi_given_up_step(rgi_overlay *overlay) {
  if (!is_still(overlay)) {
    forget_questions();
    return 0;
  }
  if (!question.answer)
    begin_question(overlay);
  int result = question.answer ? await_answer(overlay) : 0;
  if (result)
    end_question();
  return result > 0 || have_all_refused(overlay);
}

void rgi_given_up_beat(rgi_overlay *overlay) {
  atomic_store(&overlay->beat, rgi_clock_now());
}

int rgi_given_up_tell(rgi_overlay *overlay) {
  int first = !atomic_exchange(&overlay->ended, 1);
  if (first)
    kill(atomic_load(&overlay->daemon_pid), SIGCONT);
  return first;
}
