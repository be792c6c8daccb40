/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * ranks: 3
 * Other programs that connect with a daemon's port are sent away, and no node counts as lost for
 * it: a program that sends nothing, or nonsense, or the greeting of a daemon or a client of another
 * job, and a client that sends an invalid query or leaves in the middle of a query. */
#include <mpi.h>
#include <netinet/in.h>
#include <regroup.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "noded/guard_client.h"
#include "noded/overlay_client.h"
#include "noded/query.h"
#include "tests/check/check.h"

enum { SILENT = 20, SECONDS = 20 };

static rg_group world;
static int silent[SILENT];

static const rgi_overlay_node *other(void) {
  rgi_overlay *m = rgi_overlay_get();
  return &rgi_overlay_nodes(m)[1 - m->mine];
}

/* With a time limit: a caller that is not sent away fails instead of waiting. */
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

static void send_all(int fd, const void *data, size_t bytes) {
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

static void greets(rgi_overlay_greeting g) {
  int fd = dial();
  send_all(fd, &g, sizeof g);
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
  send_all(fd, nonsense, sizeof nonsense);
  is_sent_away(fd);
  greets((rgi_overlay_greeting){m->key + 1, mine, its});
  greets((rgi_overlay_greeting){m->key + 1, RGI_OVERLAY_CLIENT, its});
  greets((rgi_overlay_greeting){m->key, RGI_OVERLAY_CLIENT, mine});
  greets((rgi_overlay_greeting){m->key, m->nodes, its});
  greets((rgi_overlay_greeting){m->key, -1, its});
}

static int connect_client(void) {
  rgi_overlay *m = rgi_overlay_get();
  rgi_overlay_greeting g = {m->key, RGI_OVERLAY_CLIENT, 1 - m->mine};
  int fd = dial();
  send_all(fd, &g, sizeof g);
  RGT_INT(recv(fd, &g, sizeof g, MSG_WAITALL), sizeof g);
  RGT_INT(g.from, 1 - m->mine);
  return fd;
}

static void test_clients(void) {
  const rgi_query nonsense = {.kind = RGI_ACCESS_KIND_PUT, .bytes = UINT64_MAX},
                  half = {.kind = RGI_ACCESS_KIND_PUT, .runs = 1, .bytes = 8};
  int fd = connect_client();
  send_all(fd, &nonsense, sizeof nonsense);
  is_sent_away(fd);
  fd = connect_client();
  send_all(fd, &half, sizeof half);
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
                                   {"clients", test_clients},
                                   {"stop", test_stop},
                                   {NULL, NULL}},
                        none[] = {{"skipped", test_skipped}, {NULL, NULL}};
  return rgt_main(argc, argv, "strangers", rgi_guard_exists() ? tests : none);
}
