/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 4
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * Long messages between nodes that one side gives up: its buffer is its own again at once, the
 * other side's message ends, and the next one comes right. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "message/message.h"
#include "progress/progress.h"
#include "shm/node.h"
#include "tests/check/check.h"

#define CONTEXT 30
#define LONG (((size_t)5 << 20) + 1234)
#define SHORT ((size_t)100 << 10) /* all of it is under way at once */
#define POISON 0x5a

static int other; /* on the other node */

static void fill(char *data, size_t n) {
  for (size_t i = 0; i < n; i++)
    data[i] = (char)(i % 251);
}

static size_t count_wrong(const char *data, size_t n, int poisoned) {
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++)
    wrong += data[i] != (poisoned ? POISON : (char)(i % 251));
  return wrong;
}

static void send_data(char *data, size_t n, rgi_message *message) {
  fill(data, n);
  RGT_OK(rgi_message_send(&(rgi_message_envelope){CONTEXT, other, 1, n}, data, message));
}

static void receive_data(char *data, size_t n, rgi_message *message) {
  RGT_OK(rgi_message_receive(&(rgi_message_envelope){CONTEXT, other, 1, n}, data, message));
}

static void quit(rgi_message *message, char *data, size_t n) {
  rgi_message_abandon(message);
  memset(data, POISON, n);
  RGT_INT(message->left, 0);
  RGT_FAILS(rgi_message_wait(message, "test"), RG_ERR_TIMEOUT);
}

/* A message that nobody gives up. */
static void pass_one(int sender, char *data) {
  rgi_message r;
  if (sender)
    send_data(data, LONG, &r);
  else
    receive_data(data, LONG, &r);
  RGT_OK(rgi_message_wait(&r, "test"));
  RGT_INT(count_wrong(data, LONG, 0), 0);
}

static void quit_receive(int sender, char *data) {
  rgi_message r;
  if (sender) {
    send_data(data, LONG, &r);
    RGT_OK(rgi_message_wait(&r, "test"));
    return;
  }
  receive_data(data, LONG, &r);
  while (r.bytes == 0) /* until it is matched */
    RGT_OK(rgi_progress());
  quit(&r, data, LONG);
}

static void quit_send(int sender, char *data, size_t n) {
  rgi_message r;
  if (sender) {
    send_data(data, n, &r);
    quit(&r, data, n);
    return;
  }
  receive_data(data, n, &r);
  if (n == SHORT) {
    RGT_OK(rgi_message_wait(&r, "test"));
    RGT_INT(count_wrong(data, n, 0), 0);
  } else {
    RGT_FAILS(rgi_message_wait(&r, "test"), RG_ERR_TIMEOUT);
  }
}

static void test_given_up(void) {
  other = rgt_rank ^ 1;
  for (int turn = 0; turn < 12; turn++) {
    char *first = malloc(LONG), *data = malloc(LONG);
    int sender = (rgt_rank + turn) % 2;
    if (turn / 2 % 3 == 0)
      quit_receive(sender, first);
    else
      quit_send(sender, first, turn / 2 % 3 == 1 ? SHORT : LONG);
    int poisoned = first[0] == POISON;
    pass_one(sender, data);
    if (poisoned)
      RGT_INT(count_wrong(first, SHORT, 1), 0);
    free(first);
    free(data);
  }
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_INT(rgi_node_find(rgt_rank ^ 1), -1);
}

static void test_stop(void) {
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_start}, {"given_up", test_given_up}, {"stop", test_stop}, {NULL, NULL}};
  return rgt_main(argc, argv, "message_given_up", tests);
}
