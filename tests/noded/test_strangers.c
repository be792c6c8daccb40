/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: default
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * ranks: 3
 * Other programs that connect with a daemon's port are sent away, and no node counts as lost for
 * it: a program that sends nothing, or nonsense, or calls as a daemon or a client of another job or
 * as another node, or sends a daemon's proof back to it; or that connects many times; and a client
 * that sends an invalid query or leaves in the middle of a query. */
#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <netinet/in.h>
#include <poll.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "noded/client/guard_client.h"
#include "noded/client/overlay_client.h"
#include "noded/server/query.h"
#include "noded/wire/greeting.h"
#include "tests/check/check.h"

enum { SILENT = 20, SECONDS = 20 };

static rg_group world;
static int silent[SILENT];

static const rgi_overlay_node *mine(void) {
  rgi_overlay *m = rgi_overlay_get();
  return &rgi_overlay_nodes(m)[m->mine];
}

/* With a time limit: a caller that is not sent away fails instead of waiting. */
static int dial_node(const rgi_overlay_node *node) {
  const struct timeval limit = {SECONDS, 0};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = node->port};
  to.sin_addr.s_addr = node->address[0];
  RGT_INT(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return fd;
}

static int dial(void) {
  rgi_overlay *m = rgi_overlay_get();
  return dial_node(&rgi_overlay_nodes(m)[1 - m->mine]);
}

static void send_all(int fd, const void *data, size_t bytes) {
  RGT_INT(send(fd, data, bytes, MSG_NOSIGNAL), bytes);
}

static void is_sent_away_within(int fd, int seconds) {
  char answer;
  struct timeval begin, end;
  gettimeofday(&begin, NULL);
  RGT_TRUE(recv(fd, &answer, 1, 0) <= 0);
  gettimeofday(&end, NULL);
  RGT_TRUE(end.tv_sec - begin.tv_sec < seconds);
  close(fd);
}

static void is_sent_away(int fd) {
  is_sent_away_within(fd, SECONDS);
}

/* Both sides' greeting. */
static int call(int fd, const unsigned char key[], int from, int to) {
  rgi_tcp t = {.fd = fd};
  rgi_greeting h;
  int done;
  rgi_greeting_call(&h, key, from, to);
  while ((done = rgi_greeting_step(&h, &t)) == 0) {
    struct pollfd p = {fd, POLLIN, 0};
    RGT_INT(poll(&p, 1, 1000 * SECONDS), 1);
  }
  rgi_buffer_free(&t.in);
  return done;
}

static void is_refused(const unsigned char key[], int from, int to) {
  int fd = dial();
  RGT_INT(call(fd, key, from, to), -1);
  is_sent_away(fd);
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < SILENT; i++)
    silent[i] = dial();
}

static void test_nonsense(void) {
  static const char protocol[8] = "RGCALL1";
  char nonsense[200];
  memset(nonsense, 'x', sizeof nonsense);
  for (int i = 0; i < 2; i++) {
    int fd = dial();
    memcpy(nonsense, protocol, i ? sizeof protocol : 0);
    send_all(fd, nonsense, sizeof nonsense);
    is_sent_away(fd);
  }
}

static void test_calls(void) {
  rgi_overlay *m = rgi_overlay_get();
  int its = 1 - m->mine;
  unsigned char wrong[RGI_OVERLAY_KEY_BYTES];
  memcpy(wrong, m->key, sizeof wrong);
  wrong[sizeof wrong - 1] ^= 1;
  is_refused(wrong, m->mine, its);
  is_refused(wrong, RGI_OVERLAY_CLIENT, its);
  is_refused(m->key, RGI_OVERLAY_CLIENT, m->mine);
  is_refused(m->key, m->nodes, its);
  is_refused(m->key, its, its);
  is_refused(m->key, -1, its);
}

/* It sends the daemon's own proof back to it. */
static void test_reflection(void) {
  rgi_overlay *m = rgi_overlay_get();
  struct {
    char protocol[8];
    int32_t from, to;
    unsigned char nonce[RGI_GREETING_NONCE_BYTES];
  } call = {"RGCALL1", m->mine, 1 - m->mine, {1}};
  char answer[64];
  int fd = dial();
  send_all(fd, &call, sizeof call);
  RGT_INT(recv(fd, answer, sizeof answer, MSG_WAITALL), sizeof answer);
  send_all(fd, answer + 32, 32);
  is_sent_away(fd);
}

static int connect_client(void) {
  rgi_overlay *m = rgi_overlay_get();
  int fd = dial();
  RGT_INT(call(fd, m->key, RGI_OVERLAY_CLIENT, 1 - m->mine), 1);
  return fd;
}

static void test_clients(void) {
  rgi_query_session session = {rgt_rank, RGI_QUERY_ARRAYS, 1, 0};
  rgi_query_state state;
  const rgi_query nonsense = {.kind = RGI_ACCESS_KIND_PUT, .bytes = UINT64_MAX},
                  half = {.kind = RGI_ACCESS_KIND_PUT, .runs = 1, .bytes = 8};
  int fd = connect_client();
  send_all(fd, &session, sizeof session);
  RGT_INT(recv(fd, &state, sizeof state, MSG_WAITALL), sizeof state);
  send_all(fd, &nonsense, sizeof nonsense);
  is_sent_away(fd);
  fd = connect_client();
  session.attempt = 2;
  send_all(fd, &session, sizeof session);
  send_all(fd, &half, sizeof half);
  close(fd);
}

static int count_descriptors(void) {
  char path[64];
  int n = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", (int)rgi_overlay_get()->daemon_pid);
  DIR *d = opendir(path);
  if (!RGT_TRUE(d != NULL))
    return 0;
  while (readdir(d))
    n++;
  closedir(d);
  return n;
}

/* At the daemon of this node, by its first rank: others would count as strangers, too. */
static void test_many(void) {
  enum { MANY = 300, MOST = 100 };
  int fd[MANY], before = count_descriptors(), client, rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < MANY && rank == mine()->first; i++)
    fd[i] = dial_node(mine());
  if (rank == mine()->first) {
    client = dial_node(mine());
    RGT_INT(call(client, rgi_overlay_get()->key, RGI_OVERLAY_CLIENT, rgi_overlay_get()->mine), 1);
    RGT_TRUE(count_descriptors() - before <= MOST);
    close(client);
  }
  for (int i = 0; i < MANY && rank == mine()->first; i++)
    close(fd[i]);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* At 127.0.0.2. All nodes are on one machine, so their daemons listen at 127.0.0.1 only, unless
 * UCX_NET_DEVICES names other devices: where a daemon has several addresses it looks at which one a
 * connection has come. */
static void test_elsewhere(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = mine()->port};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  if (mine()->n > 1) {
    RGT_INT(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    is_sent_away_within(fd, 2);
    return;
  }
  if (!getenv("UCX_NET_DEVICES"))
    RGT_INT(mine()->address[0], htonl(INADDR_LOOPBACK));
  RGT_INT(connect(fd, (struct sockaddr *)&to, sizeof to), -1);
  RGT_INT(errno, ECONNREFUSED);
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
  static const rgt_test tests[] =
      {{"start", test_start},           {"nonsense", test_nonsense}, {"calls", test_calls},
       {"reflection", test_reflection}, {"clients", test_clients},   {"many", test_many},
       {"elsewhere", test_elsewhere},   {"stop", test_stop},         {NULL, NULL}},
                        none[] = {{"skipped", test_skipped}, {NULL, NULL}};
  return rgt_main(argc, argv, "strangers", rgi_guard_exists() ? tests : none);
}
