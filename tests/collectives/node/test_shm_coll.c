/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7 16
 * env: RG_TIMEOUT=60 RG_ARENA_SIZE=64
 * wrap: rgi_node_coll_copy_direct rgi_node_coll_read_member
 * Collectives inside a node, against their definitions; all of the processes
 * count as one node's here. */
#include <errno.h>
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collectives/node/node_coll.h"
#include "collectives/shared/shared_state.h"
#include "shm/node.h"
#include "shm/process.h"
#include "tests/check/check.h"
#include "tests/check/full_arena.h"
#include "tests/collectives/ways.h"

static rg_group world;
static rgi_shared_state *l;
static MPI_Op op = MPI_SUM; /* of the reductions */

/* Lengths around every threshold, and a few of several chunks. */
static const size_t lengths[] = {0,
                                 1,
                                 8,
                                 55,
                                 56,
                                 57,
                                 1000,
                                 6000,
                                 65535,
                                 RGI_SHM_CHUNK,
                                 RGI_SHM_CHUNK + 1,
                                 3 * RGI_SHM_CHUNK + 7,
                                 9 * RGI_SHM_CHUNK + 1};
#define LENGTHS (sizeof lengths / sizeof *lengths)
#define SHORT 7 /* without the shared buffer: up to 1000 bytes, a step for each 56 */

static size_t lengths_used = LENGTHS;

static int reduce(const void *in, void *out, size_t count, MPI_Datatype type, int root) {
  int size;
  MPI_Type_size(type, &size);
  rgi_node_coll_reduction r = {in, out, count, (size_t)size, type, op, 0, root, "test", 0};
  return ways_reduce(l, &r);
}

static char byte_of(int rank, size_t i, int turn) {
  return (char)(rank * 31 + (int)(i % 251) * 7 + turn);
}

/* Sometimes one member is late; all ranks draw the same one. */
static void delay(void) {
  int late = (int)(random() % (4 * rgt_size));
  if (late == rgt_rank)
    rgi_clock_sleep(1e-4 * (double)(rgt_rank % 7));
}

static void test_bcast(void) {
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 40; turn++) {
    size_t n = lengths[(size_t)random() % lengths_used], wrong = 0;
    int root = (int)(random() % rgt_size);
    char *data = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
      data[i] = rgt_rank == root ? byte_of(root, i, turn) : 0;
    delay();
    RGT_OK(ways_bcast(l, data, n, root));
    if (rgt_rank == root) /* it may have left before the others, and its memory is its own again */
      memset(data, 0, n);
    for (size_t i = 0; i < n; i++)
      wrong += data[i] != (rgt_rank == root ? 0 : byte_of(root, i, turn));
    RGT_INT(wrong, 0);
    free(data);
  }
}

/* The operands of so many of the first members are combined for the caller. */
static int operands_of(int root) {
  if (root <= RGI_NODE_COLL_SCAN)
    return rgt_rank + (root == RGI_NODE_COLL_SCAN);
  return root < 0 || root == rgt_rank ? rgt_size : 0;
}

/* a(i) of rank r: sums in closed form; doubles small enough to be exact. */
static void check_reduce(size_t n, int root, int turn) {
  double *in = malloc((n + 1) * sizeof *in), *out = malloc((n + 1) * sizeof *out);
  size_t wrong = 0;
  double ranks = operands_of(root), sum = ranks * (ranks - 1) / 2;
  for (size_t i = 0; i < n; i++) {
    in[i] = rgt_rank + (double)(i % 1000) + turn;
    out[i] = -1;
  }
  delay();
  RGT_OK(reduce(in, out, n, MPI_DOUBLE, root));
  for (size_t i = 0; i < n; i++)
    wrong += out[i] != (ranks > 0 ? sum + ranks * ((double)(i % 1000) + turn) : -1);
  RGT_INT(wrong, 0);
  free(in);
  free(out);
}

static void test_reduce(void) {
  srandom((unsigned)rgt_seed() + 1);
  for (int turn = 0; turn < 60; turn++) {
    size_t n = lengths[(size_t)random() % lengths_used] / sizeof(double);
    check_reduce(n, (int)(random() % (rgt_size + 1)) - 1, turn);
  }
}

static void test_scan(void) {
  srandom((unsigned)rgt_seed() + 6);
  for (int turn = 0; turn < 60; turn++) {
    size_t n = lengths[(size_t)random() % lengths_used] / sizeof(double);
    check_reduce(n, random() % 2 ? RGI_NODE_COLL_SCAN : RGI_NODE_COLL_EXSCAN, turn);
  }
}

/* x -> a x + b as (a, b): composition is associative and not commutative. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
  unsigned *f = in, *g = inout; /* first f, then g */
  (void)type;
  for (int i = 0; i < *count; i++, f += 2, g += 2) {
    unsigned a = g[0] * f[0], b = g[0] * f[1] + g[1];
    g[0] = a;
    g[1] = b;
  }
}

static void check_order(int most, int root) {
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &op);
  for (int n = 1; n <= most; n = n * 7 + 1) {
    unsigned *in = malloc((size_t)n * 8), *out = malloc((size_t)n * 8);
    size_t wrong = 0;
    for (int i = 0; i < n; i++) {
      in[2 * i] = 2 * (unsigned)rgt_rank + 3;
      in[2 * i + 1] = (unsigned)(rgt_rank + i);
    }
    RGT_OK(reduce(in, out, (size_t)n, pair, root));
    for (int i = 0; i < n && operands_of(root) > 0; i++) {
      unsigned a = 1, b = 0;
      for (int r = 0; r < operands_of(root); r++) {
        unsigned fa = 2 * (unsigned)r + 3, fb = (unsigned)(r + i);
        b = fa * b + fb;
        a = fa * a;
      }
      wrong += out[2 * i] != a || out[2 * i + 1] != b;
    }
    RGT_INT(wrong, 0);
    free(in);
    free(out);
  }
  MPI_Op_free(&op);
  op = MPI_SUM;
  MPI_Type_free(&pair);
}

static void test_order(void) {
  check_order(20000, RGI_NODE_COLL_ALL);
  check_order(20000, RGI_NODE_COLL_SCAN);
  check_order(20000, RGI_NODE_COLL_EXSCAN);
}

static void test_gather_scatter(void) {
  srandom((unsigned)rgt_seed() + 2);
  for (int turn = 0; turn < 40; turn++) {
    size_t n = lengths[(size_t)random() % lengths_used], wrong = 0, all = n * (size_t)rgt_size;
    int root = (int)(random() % (rgt_size + 1)) - 1; /* -1: all gather */
    char *block = malloc(n + 1), *out = calloc(all + 1, 1);
    for (size_t i = 0; i < n; i++)
      block[i] = byte_of(rgt_rank, i, turn);
    delay();
    rgi_node_coll_blocks gather = {block, out, n, root, "test", 0};
    RGT_OK(ways_gather(l, &gather));
    for (size_t i = 0; i < all && (root < 0 || root == rgt_rank); i++)
      wrong += out[i] != byte_of((int)(i / n), i % n, turn);
    RGT_INT(wrong, 0);
    /* And back again: from the root, or from rank 0. */
    memset(block, 0, n);
    rgi_node_coll_blocks scatter = {out, block, n, root < 0 ? 0 : root, "test", 0};
    RGT_OK(ways_scatter(l, &scatter));
    for (size_t i = 0; i < n; i++)
      wrong += block[i] != byte_of(rgt_rank, i, turn);
    RGT_INT(wrong, 0);
    free(block);
    free(out);
  }
}

static void test_alltoall(void) {
  srandom((unsigned)rgt_seed() + 3);
  for (int turn = 0; turn < 20; turn++) {
    size_t n = lengths[(size_t)random() % lengths_used], wrong = 0, all = n * (size_t)rgt_size;
    char *in = malloc(all + 1), *out = calloc(all + 1, 1);
    for (size_t i = 0; i < all; i++)
      in[i] = byte_of(rgt_rank + 17 * (int)(i / n), i % n, turn);
    delay();
    rgi_node_coll_blocks blocks = {in, out, n, 0, "test", 0};
    RGT_OK(ways_alltoall(l, &blocks));
    for (size_t i = 0; i < all; i++)
      wrong += out[i] != byte_of((int)(i / n) + 17 * rgt_rank, i % n, turn);
    RGT_INT(wrong, 0);
    free(in);
    free(out);
  }
}

/* A barrier: no member leaves before all have arrived. */
static void test_barrier(void) {
  srandom((unsigned)rgt_seed() + 4);
  for (int turn = 1; turn <= 300; turn++) {
    double come, latest, left;
    if (turn % 20 == 0)
      delay();
    come = rgi_clock_now();
    RGT_OK(rgi_node_coll_barrier(l, "test"));
    left = rgi_clock_now();
    MPI_Allreduce(&come, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    RGT_TRUE(left >= latest);
  }
}

/* All operations mixed in one drawn order; roots run ahead of the others as far as they may. */
static void test_mixed(void) {
  srandom((unsigned)rgt_seed() + 5);
  for (int turn = 0; turn < 2000; turn++) {
    int root = (int)(random() % rgt_size), kind = (int)(random() % 4), value, sum = -1;
    long slow = random() % (8 * rgt_size);
    if (slow == rgt_rank)
      rgi_clock_sleep(2e-5);
    value = kind == 0 && rgt_rank == root ? turn : rgt_rank;
    if (kind == 0)
      RGT_OK(ways_bcast(l, &value, sizeof value, root));
    if (kind == 1)
      RGT_OK(reduce(&value, &sum, 1, MPI_INT, root));
    if (kind == 2)
      RGT_OK(reduce(&value, &sum, 1, MPI_INT, RGI_NODE_COLL_ALL));
    if (kind == 3)
      RGT_OK(rgi_node_coll_barrier(l, "test"));
    if (kind == 0)
      RGT_INT(value, turn);
    if ((kind == 1 && root == rgt_rank) || kind == 2)
      RGT_INT(sum, rgt_size * (rgt_size - 1) / 2);
  }
}

/* Blocks of doubles, each the sum of those of all members in closed form; all ranks draw the same
 * length. */
static void test_reduce_scatter(void) {
  const size_t ranks = (size_t)rgt_size;
  srandom((unsigned)rgt_seed() + 5);
  for (int turn = 0; turn < 30; turn++) {
    size_t n = lengths[(size_t)random() % lengths_used] / sizeof(double), wrong = 0;
    double *in = malloc((ranks * n + 1) * sizeof *in), *out = malloc((n + 1) * sizeof *out);
    for (size_t i = 0; i < ranks * n; i++)
      in[i] = rgt_rank + 3 * (double)(i / (n ? n : 1)) + (double)(i % (n ? n : 1) % 1000) + turn;
    for (size_t i = 0; i <= n; i++)
      out[i] = -1;
    delay();
    RGT_OK(rgi_node_coll_reduce_scatter(
        l, &(rgi_node_coll_reduction){in, out, n, sizeof *in, MPI_DOUBLE, MPI_SUM, 0, 0, "test",
                                      way_of(rgi_algorithms_reduce_scatter, l, n * sizeof *in)}));
    for (size_t i = 0; i < ranks * n; i++)
      in[i] = -1; /* it is the caller's again */
    for (size_t i = 0; i < n; i++)
      wrong += out[i] != rgt_size * (rgt_size - 1) / 2.0 +
                             rgt_size * (3.0 * rgt_rank + (double)(i % 1000) + turn);
    RGT_INT(wrong, 0);
    RGT_DBL(out[n], -1, 0);
    free(in);
    free(out);
  }
}

/* x -> a x + b for each member, composed in the order of members. */
static void check_reduce_scatter_order(unsigned n) {
  MPI_Datatype pair;
  unsigned *in = malloc((size_t)rgt_size * n * 2 * sizeof *in), wrong = 0;
  unsigned(*out)[2] = malloc(n * sizeof *out);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &op);
  for (unsigned i = 0; i < (unsigned)rgt_size * n; i++) {
    in[2 * i] = 2 * (unsigned)rgt_rank + 3;
    in[2 * i + 1] = i + (unsigned)rgt_rank;
  }
  for (int whole = 0; whole < (n > 100 ? 1 : 2); whole++) {
    memset(out, 0, n * sizeof *out);
    RGT_OK(rgi_node_coll_reduce_scatter(
        l, &(rgi_node_coll_reduction){in, out, n, 8, pair, op, whole, 0, "test", RGI_WAY_CHUNKS}));
    for (unsigned i = 0; i < n; i++) {
      unsigned x = 1;
      for (unsigned r = 0; r < (unsigned)rgt_size; r++)
        x = (2 * r + 3) * x + (unsigned)rgt_rank * n + i + r;
      wrong += out[i][0] + out[i][1] != x;
    }
  }
  RGT_INT(wrong, 0);
  MPI_Op_free(&op);
  op = MPI_SUM;
  MPI_Type_free(&pair);
  free(in);
  free(out);
}

static void test_reduce_scatter_order(void) {
  check_reduce_scatter_order(50);
  check_reduce_scatter_order(20000);
}

/* Groups are formed and freed: the arena gets its memory back. */
static void test_memory(void) {
  rgi_arena_usage before, after;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 3; round++) {
    for (int turn = 0; turn < 50; turn++) {
      rg_group g;
      rgi_shared_state *mine;
      char data[100] = {0};
      RGT_OK(rg_group_create_range(world, 0, rgt_size - 1, 1, turn, &g));
      RGT_OK(rgi_shared_state_make(g, &mine));
      RGT_OK(ways_bcast(mine, data, sizeof data, 0));
      RGT_OK(rgi_node_coll_barrier(mine, "test")); /* two groups alive at most */
      rgi_shared_state_free(mine);
      RGT_OK(rg_group_free(&g));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    rgi_arena_get_usage(round == 0 ? &before : &after);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  RGT_INT(after.used, before.used);
  RGT_TRUE(after.grown <= before.grown + 2 * (size_t)rgt_size *
                                             rgi_shared_state_part(rgi_shared_state_depth(rgt_size),
                                                                   RGI_SHM_CHUNK));
}

/* Elements of 80 bytes, of which each is the sum of those of all members. */
static void add_tens(void *in, void *inout, int *count, MPI_Datatype *type) {
  double *x = in, *y = inout;
  (void)type;
  for (int i = 0; i < 10 * *count; i++)
    y[i] += x[i];
}

static void test_long_elements(void) {
  MPI_Datatype ten;
  double in[30], out[30];
  int wrong = 0;
  MPI_Type_contiguous(10, MPI_DOUBLE, &ten);
  MPI_Type_commit(&ten);
  MPI_Op_create(add_tens, 1, &op);
  for (int root = RGI_NODE_COLL_EXSCAN; root < rgt_size; root++) {
    int n = operands_of(root);
    for (int i = 0; i < 30; i++) {
      in[i] = rgt_rank + i;
      out[i] = -1;
    }
    RGT_OK(reduce(in, out, 3, ten, root));
    for (int i = 0; i < 30; i++)
      wrong += out[i] != (n > 0 ? n * i + (double)(n * (n - 1)) / 2 : -1);
  }
  RGT_INT(wrong, 0);
  MPI_Op_free(&op);
  op = MPI_SUM;
  MPI_Type_free(&ten);
}

/* With another state, which has no buffers. */
static void begin_anew(void) {
  rg_group g = NULL;
  rgi_shared_state_free(l);
  RGT_OK(rg_group_dup(world, &g));
  RGT_OK(rgi_shared_state_make(g, &l));
  RGT_OK(rgi_node_coll_barrier(l, "test"));
  RGT_OK(rg_group_free(&g));
}

/* Once more, when the arena has no room for the shared buffer. */
static void test_without_buffer(void) {
  begin_anew();
  rgt_full_arena_fill(0, 1);
  lengths_used = SHORT;
  test_bcast();
  test_reduce();
  check_order(400, RGI_NODE_COLL_ALL);
  check_order(400, RGI_NODE_COLL_SCAN);
  test_scan();
  test_gather_scatter();
  test_alltoall();
  test_reduce_scatter();
  test_long_elements();
  RGT_TRUE(!l->buffer);
  rgt_full_arena_empty();
  lengths_used = LENGTHS;
  test_bcast();
  RGT_TRUE(l->buffer || rgt_size == 1);
}

static void start(const char *options) {
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rgi_shared_state_make(world, &l));
  RGT_INT(l->n, rgt_size);
  RGT_INT(l->me, rgt_rank);
  RGT_INT(rgi_shared_state_group_rank(l, rgt_size - 1), rgt_size - 1);
}

static void test_start(void) {
  start("direct=0");
  RGT_TRUE(!rgi_node.pids);
}

/* Whether the system forbids the processes to read each other's memory. */
static int may_not_read(void) {
  int word;
  return rgi_process_read_memory(getppid(), 0, &word, sizeof word) == EPERM;
}

static void test_peer_memory(void) {
  long from[3] = {7, 8, 9}, to[3] = {0};
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  RGT_INT(waitpid(child, NULL, 0), child);
  RGT_INT(rgi_process_read_memory(child, (uintptr_t)from, to, sizeof to), ESRCH);
  RGT_INT(rgi_process_read_memory(getpid(), 0, to, sizeof to), EFAULT);
  RGT_INT(rgi_process_read_memory(getpid(), (uintptr_t)from, to, sizeof to), 0);
  RGT_TRUE(to[0] == 7 && to[1] == 8 && to[2] == 9);
}

static void test_stop(void) {
  rgi_shared_state_free(l);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* Long blocks in one copy: by each operation, though through the buffer it may take less time. */
int __real_rgi_node_coll_copy_direct(rgi_shared_state *state, const rgi_node_coll_copy *copy);
int __wrap_rgi_node_coll_copy_direct(rgi_shared_state *state, const rgi_node_coll_copy *copy);

int __real_rgi_node_coll_read_member(rgi_shared_state *state, int i, uint64_t address, void *to,
                                     size_t bytes, const char *call);
int __wrap_rgi_node_coll_read_member(rgi_shared_state *state, int i, uint64_t address, void *to,
                                     size_t bytes, const char *call);

static long copied_directly;
static size_t bytes_read; /* of other members' memory, but by rgi_node_coll_copy_direct */

int __wrap_rgi_node_coll_read_member(rgi_shared_state *state, int i, uint64_t address, void *to,
                                     size_t bytes, const char *call) {
  bytes_read += bytes;
  return __real_rgi_node_coll_read_member(state, i, address, to, bytes, call);
}

int __wrap_rgi_node_coll_copy_direct(rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  copied_directly++;
  return __real_rgi_node_coll_copy_direct(state, copy);
}

static void check_direct(const char *options) {
  start(options);
  test_scan();
  test_order();
  RGT_TRUE((rgi_node.pids != NULL) == (rgt_size > 1) || may_not_read());
  ways_direct = 1;
  copied_directly = 0;
  test_bcast();
  test_gather_scatter();
  test_alltoall();
  test_mixed();
  ways_direct = 0;
  RGT_TRUE(copied_directly >= 4 || !rgi_node.pids);
  test_stop();
}

/* The arena has no room for the buffer: long blocks go directly, whatever takes less time else, and
 * no member keeps what it reads for others. */
static void check_without_buffer(const char *options) {
  start(options);
  rgt_full_arena_fill(0, 1);
  copied_directly = 0;
  bytes_read = 0;
  test_bcast();
  test_gather_scatter();
  test_alltoall();
  RGT_TRUE(!l->buffer && bytes_read == 0);
  RGT_TRUE(copied_directly >= 4 || !rgi_node.pids);
  rgt_full_arena_empty();
  test_stop();
}

static void test_direct_without_buffer(void) {
  check_without_buffer("direct=1");
  check_without_buffer("oversubscribed=no");
}

static void test_direct(void) {
  check_direct("oversubscribed=no");
}

/* A long broadcast: each member but the root reads its share of the root's memory, and takes the
 * rest from others. Two members have no others. */
static void test_shares(void) {
  const size_t n = 5 * RGI_SHM_CHUNK + 1, readers = (size_t)rgt_size - 1;
  start("oversubscribed=no");
  bytes_read = 0;
  char *data = malloc(n);
  for (int root = 0; root < rgt_size; root++) {
    memset(data, rgt_rank == root, n);
    RGT_OK(ways_bcast(l, data, n, root));
    RGT_TRUE(data[0] == 1 && data[n - 1] == 1 && !memcmp(data, data + 1, n - 1));
  }
  size_t all = bytes_read, spreads = rgt_size > 2 && rgi_node.pids;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(all, spreads ? (size_t)rgt_size * n : 0);
  RGT_TRUE(bytes_read <= n + readers * 3 * 64); /* a piece is up to a line longer: three steps */
  free(data);
  test_stop();
}

/* Members read the blocks for them, if there are not so many that the pieces become short. */
static void test_read_and_combine(void) {
  start("oversubscribed=no");
  for (int turn = 0; turn < 3; turn++) { /* chunks that a late member may still read */
    test_bcast();
    test_reduce_scatter();
  }
  bytes_read = 0;
  test_reduce_scatter();
  test_reduce_scatter_order();
  RGT_TRUE((bytes_read > 0) == (rgt_size > 2 && rgt_size <= 8 && rgi_node.pids));
  test_stop();
}

/* Members that disagree on the length, or on the root, of a long broadcast all get an error. */
static void test_disagreements(void) {
  static const size_t most = 40 << 10, others[] = {40 << 10, (40 << 10) - 1, 20, 2000};
  const int turns = rgt_size > 2 && rgi_node.pids ? 2 * (int)(sizeof others / sizeof *others) : 0;
  start("oversubscribed=no");
  char *data = calloc(most, 1);
  for (int turn = 0; turn < turns; turn++) {
    rg_group g;
    rgi_shared_state *mine;
    size_t other = others[turn / 2];
    int is_other = rgt_rank == rgt_size - 1, root = turn / 2 == 0 && is_other ? rgt_rank : turn % 2;
    RGT_OK(rg_group_create_range(world, 0, rgt_size - 1, 1, turn, &g));
    RGT_OK(rgi_shared_state_make(g, &mine));
    int error = ways_bcast(mine, data, is_other ? other : most, root);
    RGT_TRUE(error == RG_ERR_TRUNCATE || error == RG_ERR_MISMATCH);
    MPI_Barrier(MPI_COMM_WORLD);
    rgi_shared_state_free(mine);
    RGT_OK(rg_group_free(&g));
  }
  free(data);
  test_stop();
}

/* A giver leaves a gather when its block has been read: the member behind it comes after that. */
static void test_giver_leaves(void) {
  const size_t n = 5 * RGI_SHM_CHUNK;
  start("oversubscribed=no");
  if (rgt_size > 2 && !rgi_node.pids) { /* a block is longer than a member's chunks */
    test_stop();
    return;
  }
  char *block = malloc(n), *out = malloc(n * (size_t)rgt_size);
  memset(block, rgt_rank, n);
  if (rgt_rank > 1)
    MPI_Recv(NULL, 0, MPI_BYTE, rgt_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  RGT_OK(ways_gather(l, &(rgi_node_coll_blocks){block, out, n, 0, "test", 0}));
  memset(block, -1, n);
  if (rgt_rank > 0 && rgt_rank < rgt_size - 1)
    MPI_Send(NULL, 0, MPI_BYTE, rgt_rank + 1, 0, MPI_COMM_WORLD);
  for (int i = 0; i < rgt_size && rgt_rank == 0; i++)
    RGT_TRUE(out[(size_t)i * n] == i && out[(size_t)(i + 1) * n - 1] == i);
  free(block);
  free(out);
  test_stop();
}

static void test_direct_sleeping(void) {
  check_direct("oversubscribed=yes");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"broadcast", test_bcast},
                                   {"reduce", test_reduce},
                                   {"scan", test_scan},
                                   {"order of operands", test_order},
                                   {"gather and scatter", test_gather_scatter},
                                   {"all to all", test_alltoall},
                                   {"reduce and scatter", test_reduce_scatter},
                                   {"order in blocks", test_reduce_scatter_order},
                                   {"long elements", test_long_elements},
                                   {"barrier", test_barrier},
                                   {"mixed", test_mixed},
                                   {"memory", test_memory},
                                   {"without the shared buffer", test_without_buffer},
                                   {"stop", test_stop},
                                   {"peer memory", test_peer_memory},
                                   {"direct", test_direct},
                                   {"shares of a broadcast", test_shares},
                                   {"read and combine", test_read_and_combine},
                                   {"disagreements", test_disagreements},
                                   {"a giver leaves", test_giver_leaves},
                                   {"direct, sleeping", test_direct_sleeping},
                                   {"direct, without the buffer", test_direct_without_buffer},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "shm_coll", tests);
}
