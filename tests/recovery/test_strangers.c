/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * ranks: 3
 * Whoever else connects with a port of the guardians' is sent away, and nobody is taken for dead:
 * who says nothing, or nonsense, or what a guardian or a guest of another job says, and a guest
 * that asks nonsense or leaves amid a question. */
#include <mpi.h>
#include <netinet/in.h>
#include <regroup.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "noded/connection.h"
#include "noded/guard.h"
#include "noded/overlay.h"
#include "noded/query.h"
#include "tests/check/check.h"

enum { SILENT = 20, SECONDS = 20 };

static rg_group world;
static int silent[SILENT];

static const rgi_overlay_node *other(void) {
  rgi_overlay *m = rgi_overlay_get();
  return &rgi_overlay_nodes(m)[1 - m->mine];
}

/* Who is not sent away fails instead of waiting. */
static int dial(void) {
  const struct timeval limit = {SECONDS, 0};
  const rgi_overlay_node *n = other();
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = n->port};
  to.sin_addr.s_addr = n->address[0];
  RGT_INT(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return fd;
}

static void say(int fd, const void *data, size_t bytes) {
  RGT_INT(send(fd, data, bytes, MSG_NOSIGNAL), bytes);
}

static void is_sent_away(int fd) {
  char answer;
  struct timeval begin, end;
  gettimeofday(&begin, NULL);
  RGT_TRUE(recv(fd, &answer, 1, 0) <= 0);
  gettimeofday(&end, NULL);
  RGT_TRUE(end.tv_sec - begin.tv_sec < SECONDS);
  close(fd);
}

static void greets(rgi_connection_greeting g) {
  int fd = dial();
  say(fd, &g, sizeof g);
  is_sent_away(fd);
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < SILENT; i++)
    silent[i] = dial();
}

static void test_greetings(void) {
  rgi_overlay *m = rgi_overlay_get();
  int mine = m->mine, its = 1 - mine;
  char nonsense[200];
  int fd = dial();
  memset(nonsense, 'x', sizeof nonsense);
  say(fd, nonsense, sizeof nonsense);
  is_sent_away(fd);
  greets((rgi_connection_greeting){m->key + 1, mine, its});
  greets((rgi_connection_greeting){m->key + 1, RGI_CONNECTION_CLIENT, its});
  greets((rgi_connection_greeting){m->key, RGI_CONNECTION_CLIENT, mine});
  greets((rgi_connection_greeting){m->key, m->nodes, its});
  greets((rgi_connection_greeting){m->key, -1, its});
}

static int guest(void) {
  rgi_overlay *m = rgi_overlay_get();
  rgi_connection_greeting g = {m->key, RGI_CONNECTION_CLIENT, 1 - m->mine};
  int fd = dial();
  say(fd, &g, sizeof g);
  RGT_INT(recv(fd, &g, sizeof g, MSG_WAITALL), sizeof g);
  RGT_INT(g.from, 1 - m->mine);
  return fd;
}

static void test_guests(void) {
  const rgi_query nonsense = {.kind = RGI_QUERY_PUT, .bytes = UINT64_MAX},
                  half = {.kind = RGI_QUERY_PUT, .runs = 1, .bytes = 8};
  int fd = guest();
  say(fd, &nonsense, sizeof nonsense);
  is_sent_away(fd);
  fd = guest();
  say(fd, &half, sizeof half);
  close(fd);
}

static void test_stop(void) {
  unsigned word = 5;
  int failed = 1;
  RGT_OK(rg_group_agree(world, &word, &failed));
  RGT_INT(word, 5);
  RGT_INT(failed, 0);
  for (int i = 0; i < SILENT; i++)
    is_sent_away(silent[i]);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

static void test_skipped(void) {
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"greetings", test_greetings},
                                   {"guests", test_guests},
                                   {"stop", test_stop},
                                   {NULL, NULL}},
                        none[] = {{"skipped", test_skipped}, {NULL, NULL}};
  return rgt_main(argc, argv, "strangers", rgi_guard_exists() ? tests : none);
}
