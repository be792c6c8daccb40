/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * wrap: fallocate
 * An arena without a job, whose memory is counted and not taken: reservations that signals
 * interrupt, others that go on meanwhile, a node with little memory, an arena that is full of what
 * has been freed, and sizes that are too large. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "file/file.h"
#include "shm/arena.h"
#include "shm/lines.h"
#include "shm/pages.h"
#include "tests/check/check.h"

#define MIB ((size_t)1 << 20)

static struct {
  unsigned char *page; /* whether it has memory */
  int64_t pages, taken, most;
  int64_t signal; /* a reservation of more pages is interrupted */
  int interrupted;
  void (*meanwhile)(void);
} node;

int __wrap_fallocate(int fd, int mode, off_t at, off_t bytes);

int __wrap_fallocate(int fd, int mode, off_t at, off_t bytes) {
  int64_t first = at / (off_t)RGI_PAGE, end = (at + bytes + (off_t)RGI_PAGE - 1) / (off_t)RGI_PAGE;
  int value = !(mode & FALLOC_FL_PUNCH_HOLE);
  (void)fd;
  if (value && end - first > node.signal) {
    node.interrupted++;
    errno = EINTR;
    return -1;
  }
  if (node.meanwhile && (size_t)bytes >= MIB)
    node.meanwhile();
  int64_t more = 0;
  for (int64_t i = first; i < end && i < node.pages; i++)
    more += value - node.page[i];
  if (value && node.taken + more > node.most) {
    errno = ENOSPC;
    return -1;
  }
  node.taken += more;
  for (int64_t i = first; i < end && i < node.pages; i++)
    node.page[i] = (unsigned char)value;
  return 0;
}

static void make_arena_for(int processes, size_t bytes, size_t heap) {
  rgi_arena_sizes sizes = {.bytes = bytes, .heap = heap, .processes = processes};
  rgi_arena_address address;
  memset(&node, 0, sizeof node);
  node.pages = (int64_t)((bytes + heap) / RGI_PAGE + 1000);
  node.page = calloc((size_t)node.pages, 1);
  node.most = node.signal = node.pages;
  RGT_OK(rgi_arena_make(&sizes, &address));
}

static void make_arena(size_t bytes, size_t heap) {
  make_arena_for(0, bytes, heap);
}

static void end_arena(void) {
  rgi_arena_close();
  free(node.page);
}

static int has_memory(uint64_t offset, size_t bytes) {
  int all = 1;
  for (uint64_t at = offset; at < offset + bytes; at += RGI_PAGE)
    all &= node.page[at / RGI_PAGE];
  return all;
}

/* A signal comes before 75 pages are done. */
static void test_signals(void) {
  rgi_arena_sizes sizes = {.bytes = 256 * MIB, .heap = 64 * MIB};
  rgi_arena_address address;
  uint64_t at;
  make_arena(sizes.bytes, sizes.heap);
  for (node.signal = 75; node.signal > 0; node.signal = node.signal == 1 ? 0 : 1) {
    size_t bytes = node.signal == 1 ? MIB : 100 * MIB;
    node.interrupted = 0;
    RGT_OK(rgi_arena_alloc("a test", bytes, &at));
    RGT_TRUE(has_memory(at, bytes));
    RGT_TRUE(node.interrupted > 0);
  }
  node.signal = 75;
  RGT_OK(rgi_arena_heap_commit("a test", 3 * MIB, 60 * MIB));
  RGT_TRUE(has_memory(rgi_arena_offset(rgi_arena_heap()) + 3 * MIB, 60 * MIB));
  rgi_arena_close();
  RGT_OK(rgi_arena_make(&sizes, &address));
  end_arena();
}

/* Room on a disk is reserved in the same way. */
static void test_file(void) {
  char path[RGT_PATH];
  memset(&node, 0, sizeof node);
  node.pages = node.most = 1000;
  node.page = calloc((size_t)node.pages, 1);
  node.signal = 75;
  rgt_temporary(path);
  RGT_OK(rgi_file_reserve(path, 999 * (int64_t)RGI_PAGE + 1));
  RGT_TRUE(node.interrupted > 0 && has_memory(0, 1000 * RGI_PAGE));
  unlink(path);
  RGT_FAILS(rgi_file_reserve(path, -1), RG_ERR_FILE);
  unlink(path);
  free(node.page);
}

static int others;

static void alloc_meanwhile(void) {
  uint64_t at;
  node.meanwhile = NULL;
  RGT_OK(rgi_arena_alloc("another", 100000, &at));
  others++;
}

/* While a large block gets its memory, and while it gives it back, others get theirs. */
static void test_meanwhile(void) {
  uint64_t at;
  make_arena(256 * MIB, 0);
  alarm(60);
  node.meanwhile = alloc_meanwhile;
  RGT_OK(rgi_arena_alloc("a test", 128 * MIB, &at));
  node.meanwhile = alloc_meanwhile;
  rgi_arena_free(at, 128 * MIB);
  RGT_INT(others, 2);
  RGT_TRUE(!has_memory(at, 128 * MIB));
  alarm(0);
  end_arena();
}

/* The memory of free pages is given back before a call fails, and nothing is left of one that
 * fails. */
static void test_memory(void) {
  uint64_t a, b, c;
  make_arena(256 * MIB, 64 * MIB);
  RGT_OK(rgi_arena_alloc("a test", 40 * MIB, &a));
  RGT_OK(rgi_arena_alloc("a test", 4 * MIB, &b));
  rgi_arena_free(a, 40 * MIB);
  RGT_TRUE(has_memory(a, 40 * MIB)); /* it is at hand */
  node.most = node.taken + 5 * (int64_t)(MIB / RGI_PAGE);
  RGT_OK(rgi_arena_alloc("a test", 41 * MIB, &c));
  RGT_TRUE(c > b && has_memory(c, 41 * MIB) && !has_memory(a, RGI_PAGE));
  rgi_arena_free(c, 41 * MIB);
  RGT_OK(rgi_arena_heap_commit("a test", 0, 42 * MIB));
  int64_t before = node.taken;
  RGT_FAILS(rgi_arena_heap_commit("a test", 42 * MIB, 22 * MIB), RG_ERR_NOMEM);
  RGT_FAILS(rgi_arena_alloc("a test", 60 * MIB, &c), RG_ERR_NOMEM);
  RGT_TRUE(strstr(rg_error_detail(), "no memory for") != NULL);
  RGT_INT(node.taken, before);
  end_arena();
}

/* Each process of the node frees a large block and allocates it again: no memory goes to the system
 * and comes back, unless that would be too much of the arena. */
static void free_and_allocate(int processes, size_t bytes, int kept) {
  uint64_t at[4];
  make_arena_for(processes, bytes, 0);
  for (int i = 0; i < 4; i++)
    RGT_OK(rgi_arena_alloc("a test", 40 * MIB, &at[i]));
  for (int i = 0; i < 4; i++)
    rgi_arena_free(at[i], 40 * MIB);
  for (int i = 0; i < 4; i++)
    RGT_INT(has_memory(at[i], 40 * MIB), i < kept);
  end_arena();
}

static void test_at_hand(void) {
  free_and_allocate(1, 4096 * MIB, 1);
  free_and_allocate(2, 4096 * MIB, 3); /* 128 MiB */
  free_and_allocate(4, 4096 * MIB, 4);
  free_and_allocate(4, 656 * MIB, 2); /* 82 MiB */
  free_and_allocate(4, 256 * MIB, 1); /* 64 MiB, as for one process */
}

/* Blocks of every size fill the arena; when they are free again one block gets all. */
static void test_small_frees(void) {
  enum { MOST = 70000 };
  static uint64_t at[MOST];
  static size_t bytes[MOST];
  uint64_t all;
  make_arena(8 * MIB, 0);
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 3; turn++) {
    int n = 0;
    for (int fails = 0; fails < 50;) {
      bytes[n] = 1 + (size_t)random() % (random() % 4 ? 1000 : 16384);
      if (rgi_arena_alloc("a test", bytes[n], &at[n]))
        fails++;
      else
        n++;
    }
    RGT_FAILS(rgi_arena_alloc("a test", MIB, &all), RG_ERR_NOMEM);
    for (int i = 0; i < n; i++)
      rgi_arena_free(at[i], bytes[i]);
    RGT_OK(rgi_arena_alloc("a test", 8 * MIB, &all));
    RGT_TRUE(has_memory(all, 8 * MIB));
    rgi_arena_free(all, 8 * MIB);
  }
  end_arena();
}

/* Offsets are kept in so many bits: a larger arena is one clear error. */
static void test_too_large(void) {
  const size_t sizes[] = {RGI_LINE_REACH, RGI_LINE_REACH + 1, (size_t)1 << 60, SIZE_MAX};
  rgi_arena_address address;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    rgi_arena_sizes s = {.bytes = sizes[i]};
    RGT_FAILS(rgi_arena_make(&s, &address), RG_ERR_OPTION);
    RGT_TRUE(strstr(rg_error_detail(), "RG_ARENA_SIZE") != NULL);
    rgi_arena_close();
  }
  RGT_FAILS(rg_init(MPI_COMM_WORLD, "arena_size=5000000"), RG_ERR_OPTION);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"signals", test_signals},     {"meanwhile", test_meanwhile},
                                   {"memory", test_memory},       {"at hand", test_at_hand},
                                   {"small", test_small_frees},   {"file", test_file},
                                   {"too large", test_too_large}, {NULL, NULL}};
  return rgt_main(argc, argv, "arena_shortage", tests);
}
