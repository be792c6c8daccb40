/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: default
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * ranks: 2 4
 * time: 60
 * Connections with another node's server that break, after a random number of bytes, in the midst
 * of random accesses: each access ends right, and is executed once. Each node's first rank hands
 * the connections on in a thread, and breaks them. */
#include <mpi.h>
#include <netinet/in.h>
#include <pthread.h>
#include <regroup.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/client/overlay_client.h"
#include "shm/node.h"
#include "tests/check/check.h"

#define SECONDS 4.0
#define LONGEST 160000 /* elements: more than one query holds */

/* What each rank has for each other one. */
enum { COUNTER, SWAPPED, BULK = 16, WIDTH = BULK + LONGEST };

static unsigned long long random_state; /* of the accesses */
static rg_group world;
static rg_array whole;

static int64_t draw(unsigned long long *state, int64_t n) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((*state >> 33) % (unsigned long long)n);
}

/* --- connections that break ------------------------------------------------------------------ */

static int listener;
static rgi_overlay_node real_node;
static _Atomic int broken, breaks; /* how many have been; whether they shall */

/* One direction of a connection. */
typedef struct {
  int from, to;
  int64_t left; /* bytes until it breaks */
} flow;

static int pass_on(int to, const char *data, ssize_t bytes) {
  for (ssize_t sent; bytes > 0; data += sent, bytes -= sent)
    if ((sent = send(to, data, (size_t)bytes, MSG_NOSIGNAL)) < 0)
      return 0;
  return 1;
}

static void *run_flow(void *data) {
  flow *f = data;
  char bytes[4096];
  for (ssize_t n = 1; n > 0;) {
    n = recv(f->from, bytes, sizeof bytes, 0);
    if (n > f->left)
      n = (ssize_t)f->left;
    if (n > 0 && !pass_on(f->to, bytes, n))
      break;
    f->left -= breaks && n > 0 ? n : 0;
    if (!f->left)
      break;
  }
  broken += !f->left;
  shutdown(f->from, SHUT_RDWR);
  shutdown(f->to, SHUT_RDWR);
  return NULL;
}

static int64_t draw_length(unsigned long long *state) {
  static const int64_t most[] = {200, 2000, 50000, 1000000, 5000000};
  return 1 + draw(state, most[draw(state, 5)]);
}

typedef struct {
  int fd;
  unsigned long long random;
} caller;

static void *serve_caller(void *data) {
  const struct linger at_once = {1, 0};
  caller *c = data;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = real_node.port};
  to.sin_addr.s_addr = real_node.address[0];
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) {
    flow there = {c->fd, fd, draw_length(&c->random)}, back = {fd, c->fd, draw_length(&c->random)};
    pthread_t other;
    int started = pthread_create(&other, NULL, run_flow, &back) == 0;
    run_flow(&there);
    if (started)
      pthread_join(other, NULL);
  }
  if (draw(&c->random, 2)) { /* resets both */
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  close(fd);
  close(c->fd);
  free(c);
  return NULL;
}

static void *accept_callers(void *unused) {
  unsigned long long random = rgt_seed() + (unsigned)rgt_rank;
  for (;;) {
    pthread_t thread;
    caller *c = malloc(sizeof *c);
    *c = (caller){accept4(listener, NULL, NULL, SOCK_CLOEXEC),
                  rgt_seed() + (uint64_t)draw(&random, 1 << 30)};
    if (c->fd < 0 || pthread_create(&thread, NULL, serve_caller, c) != 0) {
      free(c);
      return unused;
    }
    pthread_detach(thread);
  }
}

/* From now on this node's ranks reach the other node's daemon by way of this thread. */
static void begin_breaking(pthread_t *thread) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  rgi_overlay *m = rgi_overlay_get();
  rgi_overlay_node *n = &rgi_overlay_nodes(m)[1 - m->mine];
  if (rgi_node.me != 0)
    return;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  RGT_INT(bind(listener, (struct sockaddr *)&here, sizeof here), 0);
  RGT_INT(listen(listener, 100), 0);
  RGT_INT(getsockname(listener, (struct sockaddr *)&here, &size), 0);
  real_node = *n;
  RGT_INT(pthread_create(thread, NULL, accept_callers, NULL), 0);
  breaks = 1;
  n->address[0] = here.sin_addr.s_addr;
  n->n = 1;
  n->port = here.sin_port;
}

static void end_breaking(pthread_t thread) {
  rgi_overlay *m = rgi_overlay_get();
  rgi_overlay_node *n = &rgi_overlay_nodes(m)[1 - m->mine];
  if (rgi_node.me != 0)
    return;
  RGT_TRUE(broken > 0);
  breaks = 0;
  n->port = real_node.port;
  n->n = real_node.n;
  n->address[0] = real_node.address[0];
  shutdown(listener, SHUT_RDWR);
  pthread_join(thread, NULL);
  close(listener);
}

/* --- accesses -------------------------------------------------------------------------------- */

static int64_t *model; /* what mine at each rank hold */
static int64_t *buffer, *got;
static int64_t increments, seen, squares; /* of the common counters: done; sums of what was read */

/* Elements of mine at that rank; in the model. */
static int64_t at(int target, int64_t element) {
  return ((int64_t)target * rgt_size + rgt_rank) * WIDTH + element;
}

static int64_t *modelled(int target, int64_t element) {
  return &model[(int64_t)target * WIDTH + element];
}

typedef struct {
  int target;
  int64_t first, n, lo, hi;
} range;

static range draw_range(int target) {
  static const int64_t most[] = {1, 8, 100, 5000, LONGEST};
  range r = {.target = target, .n = 1 + draw(&random_state, most[draw(&random_state, 5)])};
  r.first = BULK + draw(&random_state, LONGEST - r.n + 1);
  r.lo = at(target, r.first);
  r.hi = r.lo + r.n;
  return r;
}

static void fill_buffer(int64_t n) {
  for (int64_t i = 0; i < n; i++)
    buffer[i] = draw(&random_state, 1 << 30);
}

static void do_put(int target) {
  range r = draw_range(target);
  fill_buffer(r.n);
  RGT_OK(rg_array_put(whole, &r.lo, &r.hi, buffer, NULL));
  memcpy(modelled(target, r.first), buffer, (size_t)r.n * sizeof *buffer);
}

static void do_acc(int target) {
  range r = draw_range(target);
  int64_t alpha = 1 + draw(&random_state, 2);
  fill_buffer(r.n);
  RGT_OK(rg_array_acc(whole, &r.lo, &r.hi, buffer, NULL, &alpha));
  for (int64_t i = 0; i < r.n; i++)
    *modelled(target, r.first + i) += alpha * buffer[i];
}

static void do_get(int target) {
  range r = draw_range(target);
  RGT_OK(rg_array_get(whole, &r.lo, &r.hi, got, NULL));
  RGT_INT(memcmp(modelled(target, r.first), got, (size_t)r.n * sizeof *got), 0);
}

/* A get that has not ended does not see what is written after it. */
static void do_get_and_put(int target) {
  range r = draw_range(target);
  rg_request request;
  int64_t middle = r.lo + r.n / 2, *expected = malloc((size_t)r.n * sizeof *expected);
  memcpy(expected, modelled(target, r.first), (size_t)r.n * sizeof *expected);
  fill_buffer(r.n);
  RGT_OK(rg_array_iget(whole, &r.lo, &r.hi, got, NULL, &request));
  RGT_OK(rg_array_put(whole, &middle, &r.hi, buffer, NULL));
  memcpy(modelled(target, r.first + r.n / 2), buffer, (size_t)(r.n - r.n / 2) * sizeof *buffer);
  RGT_OK(rg_wait(&request, NULL));
  RGT_INT(memcmp(expected, got, (size_t)r.n * sizeof *got), 0);
  free(expected);
}

/* All ranks add to the counter of rank 0's elements there. */
static void do_count(int target) {
  int64_t before, where = (int64_t)target * rgt_size * WIDTH + COUNTER;
  for (int i = 0; i < 5; i++) {
    RGT_OK(rg_array_read_inc(whole, &where, 1, &before));
    increments++;
    seen += before;
    squares += before * before;
  }
}

static void do_swap(int target) {
  int64_t before, where = at(target, SWAPPED), *was = modelled(target, SWAPPED);
  RGT_OK(rg_array_compare_and_swap(whole, &where, *was, *was + 3, &before));
  RGT_INT(before, *was);
  *was += 3;
}

static void access_one(void) {
  static void (*const accesses[])(int) = {do_put,         do_acc,   do_get,
                                          do_get_and_put, do_count, do_swap};
  int target = (int)draw(&random_state, rgt_size);
  if (rgi_node_of(target) != rgi_node.mine)
    accesses[draw(&random_state, 6)](target);
}

/* Each value of each counter has been read once. */
static void check_counters(void) {
  int64_t sums[3] = {increments, seen, squares}, expected[3] = {0};
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < rgt_size; i++) {
    int64_t n, where = (int64_t)i * rgt_size * WIDTH + COUNTER, end = where + 1;
    RGT_OK(rg_array_get(whole, &where, &end, &n, NULL));
    expected[0] += n;
    expected[1] += n * (n - 1) / 2;
    expected[2] += n * (n - 1) * (2 * n - 1) / 6;
  }
  for (int i = 0; i < 3; i++)
    RGT_INT(sums[i], expected[i]);
}

static void check_model(void) {
  for (int i = 0; i < rgt_size; i++) {
    int64_t lo = at(i, SWAPPED), hi = at(i, WIDTH);
    RGT_OK(rg_array_get(whole, &lo, &hi, got, NULL));
    RGT_INT(memcmp(modelled(i, SWAPPED), got, sizeof *got * (WIDTH - SWAPPED)), 0);
  }
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_start(void) {
  const int64_t all = (int64_t)rgt_size * rgt_size * WIDTH, zero = 0;
  random_state = rgt_seed() + (unsigned)rgt_rank;
  model = calloc((size_t)rgt_size * WIDTH, sizeof *model);
  buffer = malloc(LONGEST * sizeof *buffer);
  got = malloc(WIDTH * sizeof *got);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &all, &whole));
  RGT_OK(rg_array_fill(whole, NULL, NULL, &zero));
  RGT_OK(rg_array_sync(whole));
}

static void test_resets(void) {
  pthread_t thread;
  begin_breaking(&thread);
  RGT_OK(rg_barrier(world));
  for (double end = rgi_clock_now() + SECONDS; rgi_clock_now() < end;)
    access_one();
  RGT_OK(rg_array_sync(whole));
  check_counters();
  check_model();
  RGT_OK(rg_barrier(world));
  end_breaking(thread);
}

static void test_stop(void) {
  RGT_OK(rg_array_free(&whole));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  free(model);
  free(buffer);
  free(got);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_start}, {"resets", test_resets}, {"stop", test_stop}, {NULL, NULL}};
  return rgt_main(argc, argv, "resets", tests);
}
