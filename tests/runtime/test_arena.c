/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The node arena: sizes, blocks taken and given by all at once, no growth, and
 * what happens when it is full. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/p2p.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "shm/arena.h"
#include "shm/huge.h"
#include "shm/node.h"
#include "tests/check/check.h"

static size_t used(void) {
  rgi_arena_usage usage;
  rgi_arena_get_usage(&usage);
  return usage.used;
}

static size_t grown(void) {
  rgi_arena_usage usage;
  rgi_arena_get_usage(&usage);
  return usage.grown;
}

static void start_with(const char *options) {
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
}

static void test_start(void) {
  start_with(NULL);
}

static void test_stop(void) {
  RGT_OK(rg_finalize());
}

/* The smallest size that there is for so many lines: up to 8 all, then four for
 * each doubling; above 16 KiB whole pages. */
static size_t size_for(size_t lines) {
  if (lines <= 8)
    return lines;
  if (lines > 256)
    return (lines + 63) / 64 * 64;
  for (size_t unit = 2;; unit *= 2)
    for (size_t k = 5; k <= 8; k++)
      if (k * unit >= lines)
        return k * unit;
}

/* One process of a node at a time, as the counts are the node's. */
static void test_sizes(void) {
  for (int turn = 0; turn < rgt_size; turn++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn != rgt_rank)
      continue;
    srandom((unsigned)rgt_seed() + (unsigned)rgt_rank);
    for (size_t n = 0; n < 6000; n++) {
      size_t bytes = n < 5000 ? n : (size_t)random() % ((size_t)4 << 20);
      size_t lines = bytes ? (bytes + RGI_LINE - 1) / RGI_LINE : 1, before = used();
      uint64_t offset = 0;
      RGT_OK(rgi_arena_alloc("a test", bytes, &offset));
      RGT_INT((used() - before) / RGI_LINE, size_for(lines));
      RGT_INT(offset % RGI_LINE, 0);
      memset(rgi_arena_at(offset), 1, bytes);
      rgi_arena_free(offset, bytes);
      RGT_INT(used(), before);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

typedef struct {
  uint64_t offset;
  size_t bytes; /* 0: none */
  int64_t stamp;
} block;

/* Every line of a block carries its owner's stamp. */
static void stamp(const block *b, int64_t value) {
  for (size_t at = 0; at + sizeof value <= b->bytes; at += RGI_LINE)
    memcpy((char *)rgi_arena_at(b->offset) + at, &value, sizeof value);
}

static int wrong_stamps(const block *b) {
  int wrong = 0;
  for (size_t at = 0; at + sizeof b->stamp <= b->bytes; at += RGI_LINE)
    wrong += memcmp((char *)rgi_arena_at(b->offset) + at, &b->stamp, sizeof b->stamp) != 0;
  return wrong;
}

/* All processes take and give at the same time: nothing is handed out twice. */
static void test_all_at_once(void) {
  enum { HELD = 40, TURNS = 20000 };
  block held[HELD] = {{0}};
  int wrong = 0;
  srandom((unsigned)rgt_seed() + (unsigned)rgt_rank);
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = used();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int64_t turn = 0; turn < TURNS + HELD; turn++) {
    block *b = turn < TURNS ? &held[random() % HELD] : &held[turn - TURNS];
    if (b->bytes) {
      wrong += wrong_stamps(b);
      stamp(b, -1);
      rgi_arena_free(b->offset, b->bytes);
      b->bytes = 0;
    } else if (turn < TURNS) {
      b->bytes = random() % 50 ? 8 + (size_t)random() % 700 : 8 + (size_t)random() % 100000;
      b->stamp = turn * rgt_size + rgt_rank;
      RGT_OK(rgi_arena_alloc("a test", b->bytes, &b->offset));
      stamp(b, b->stamp);
    }
  }
  RGT_INT(wrong, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_INT(used(), before);
}

/* The same blocks again and again: after the first time the arena stays as it is. */
static void test_no_growth(void) {
  enum { HELD = 500 };
  block held[HELD];
  size_t after_first = 0;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < HELD; i++) {
      held[i].bytes = (size_t)(i * i % 3000 + 1);
      RGT_OK(rgi_arena_alloc("a test", held[i].bytes, &held[i].offset));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (round == 0)
      after_first = grown();
    RGT_INT(grown(), after_first);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = HELD - 1; i >= 0; i--)
      rgi_arena_free(held[i].offset, held[i].bytes);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Large blocks: neighbours grow together, and memory goes back to the system. One
 * process of a node. */
static void test_large(void) {
  enum { BLOCKS = 30 };
  uint64_t at[BLOCKS], all;
  size_t each = (size_t)3 << 20;
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = used(), memory = grown();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < 2 && rgt_rank == 0; turn++) {
    for (int i = 0; i < BLOCKS; i++) {
      RGT_OK(rgi_arena_alloc("a test", each, &at[i]));
      RGT_INT(at[i] % 4096, 0);
      memset(rgi_arena_at(at[i]), i, each);
    }
    for (int i = 0; i < BLOCKS; i++)
      RGT_INT(((char *)rgi_arena_at(at[i]))[each - 1], i);
    RGT_INT(used() - before, BLOCKS * each);
    for (int i = 0; i < BLOCKS; i += 2)
      rgi_arena_free(at[i], each);
    for (int i = 1; i < BLOCKS; i += 2)
      rgi_arena_free(at[i], each);
    RGT_INT(used(), before);
    RGT_TRUE(grown() <= memory + (((size_t)rgi_node.n * 64 + 4) << 20));
    RGT_OK(rgi_arena_alloc("a test", BLOCKS * each, &all));
    RGT_TRUE(all < at[0] + RGI_HUGE);
    rgi_arena_free(all, BLOCKS * each);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Messages of every way of moving, around the ring, and a new group. */
static void expect_all_works(void) {
  rg_group world, g;
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size;
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_group_dup(world, &g));
  for (int bytes = 0; bytes < 1000000; bytes = bytes * 7 + 20) {
    char *data = calloc(1, (size_t)bytes + 1), *got = calloc(1, (size_t)bytes + 1);
    memset(data, rgt_rank + 1, (size_t)bytes);
    RGT_OK(rg_sendrecv(g, data, bytes, MPI_BYTE, next, 1, got, bytes, MPI_BYTE, before, 1, NULL));
    RGT_TRUE(bytes == 0 || (got[0] == before + 1 && got[bytes - 1] == before + 1));
    free(data);
    free(got);
  }
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_group_free(&world));
}

/* Processes may keep a few cells; then sends fail, and no receiver gets a part. */
static void send_until_full(rg_group world) {
  int failed = 0, there = -1;
  rg_request out[20];
  char data[20000];
  for (int i = 0; i < 20; i++) {
    out[i] = NULL;
    int error = rg_isend(world, data, sizeof data, MPI_BYTE, rgt_rank, i, &out[i]);
    failed += error == RG_ERR_NOMEM;
    RGT_TRUE(error == RG_SUCCESS || error == RG_ERR_NOMEM);
  }
  RGT_TRUE(failed > 0);
  for (int i = 0; i < 20; i++)
    if (out[i]) {
      RGT_OK(rg_recv(world, data, sizeof data, MPI_BYTE, rgt_rank, i, NULL));
      RGT_OK(rg_wait(&out[i], NULL));
    }
  RGT_OK(rg_iprobe(world, RG_ANY_SOURCE, RG_ANY_TAG, &there, NULL));
  RGT_INT(there, 0);
}

/* A small arena that one process fills: the others' calls, and its own, say so
 * and lose nothing; when it is given back all goes on. */
static void test_full(void) {
  enum { MOST = 20000 };
  static block taken[MOST];
  int n = 0;
  uint64_t offset;
  rg_group world, mine;
  start_with("arena_size=1,timeout=60");
  RGT_OK(rg_group_world(&world));
  expect_all_works();
  RGT_FAILS(rgi_arena_alloc("a test", (size_t)2 << 20, &offset), RG_ERR_NOMEM);
  RGT_TRUE(strstr(rg_error_detail(), "a test") != NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t bytes = 30000; rgi_node.me == 0 && bytes >= 64; bytes /= 2)
    while (n < MOST && rgi_arena_alloc("a test", bytes, &offset) == RG_SUCCESS)
      taken[n++] = (block){.offset = offset, .bytes = bytes};
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_FAILS(rgi_arena_alloc("a test", 15000, &offset), RG_ERR_NOMEM);
  RGT_TRUE(strstr(rg_error_detail(), "RG_ARENA_SIZE") != NULL);
  send_until_full(world);
  RGT_OK(rg_group_create(world, 1, &rgt_rank, 1, &mine)); /* forming needs none */
  RGT_OK(rg_group_free(&mine));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < n; i++)
    rgi_arena_free(taken[i].offset, taken[i].bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_all_works();
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* Messages of which some wait for their receive, so that each process keeps cells and a pipe. */
static void send_long(rg_group world) {
  enum { N = 8, LONG = 300000 };
  static char data[LONG], got[LONG];
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size;
  rg_request out[N + 1];
  for (int i = 0; i <= N; i++)
    RGT_OK(rg_isend(world, data, i < N ? 30000 : LONG, MPI_BYTE, next, i, &out[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i <= N; i++)
    RGT_OK(rg_recv(world, got, LONG, MPI_BYTE, before, i, NULL));
  for (int i = 0; i <= N; i++)
    RGT_OK(rg_wait(&out[i], NULL));
}

/* What all processes keep for their next messages is there for an allocation that needs it, but for
 * small cells and one of each larger size. */
static void test_kept(void) {
  enum { MOST = 2000, OWN = (2 + 2 + 8 + 32) << 10 };
  static block taken[MOST];
  int n = 0;
  uint64_t offset;
  rg_group world;
  start_with("arena_size=16,timeout=60");
  RGT_OK(rg_group_world(&world));
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = used(), own = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < 2; turn++) {
    send_long(world);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rgi_node.me == 0) {
      RGT_TRUE(used() >= before + (size_t)rgi_node.n * 2 * OWN);
      for (size_t bytes = (size_t)1 << 20; bytes >= 4096; bytes /= 2)
        for (; n < MOST && rgi_arena_alloc("a test", bytes, &offset) == RG_SUCCESS; own += bytes)
          taken[n++] = (block){.offset = offset, .bytes = bytes};
      RGT_TRUE(used() - own <= before + (size_t)rgi_node.n * OWN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (own = 0; n > 0; n--)
      rgi_arena_free(taken[n - 1].offset, taken[n - 1].bytes);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  expect_all_works();
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

static void test_after(void) {
  start_with(NULL);
  expect_all_works();
  RGT_OK(rg_finalize());
}

/* Files may not become so large: an error and no signal. */
static void test_file_limit(void) {
  struct rlimit before, low;
  getrlimit(RLIMIT_FSIZE, &before);
  low = before;
  low.rlim_cur = (rlim_t)1 << 20;
  setrlimit(RLIMIT_FSIZE, &low);
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_SYSTEM);
  setrlimit(RLIMIT_FSIZE, &before);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"sizes", test_sizes},
                                   {"all at once", test_all_at_once},
                                   {"no growth", test_no_growth},
                                   {"large", test_large},
                                   {"messages", expect_all_works},
                                   {"stop", test_stop},
                                   {"full", test_full},
                                   {"kept", test_kept},
                                   {"file limit", test_file_limit},
                                   {"after", test_after},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "arena", tests);
}
