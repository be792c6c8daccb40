/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 4
 * wrap: fallocate
 * A node whose first 270 GiB of the arena are taken: blocks beyond 2^32 lines. The block that is in
 * the way gets no memory. */
#include <fcntl.h>
#include <mpi.h>
#include <regroup.h>
#include <regroup/collectives.h>
#include <regroup/p2p.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "tests/check/check.h"

#define GIB ((size_t)1 << 30)

int __wrap_fallocate(int fd, int mode, off_t at, off_t bytes);
int __real_fallocate(int fd, int mode, off_t at, off_t bytes);

static int pretend;

int __wrap_fallocate(int fd, int mode, off_t at, off_t bytes) {
  return pretend ? 0 : __real_fallocate(fd, mode, at, bytes);
}

/* Takes all blocks of the size of messages that are not far yet. */
static void use_up_near(void) {
  const size_t sizes[] = {64, 192, 512, 2048, 8192, 32768};
  for (int i = 0; i < 6; i++)
    for (uint64_t at = 0; at < 270 * GIB;)
      RGT_OK(rgi_arena_alloc("a test", sizes[i], &at));
}

/* More messages than a process keeps cells for. */
static void send_around(rg_group world, int bytes) {
  enum { N = 100 };
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size, wrong = 0;
  char *data = malloc((size_t)(N * bytes)), *got = malloc((size_t)bytes);
  rg_request sent[N];
  for (int i = 0; i < N; i++) {
    memset(data + i * bytes, rgt_rank + i, (size_t)bytes);
    RGT_OK(rg_isend(world, data + i * bytes, bytes, MPI_BYTE, next, i, &sent[i]));
  }
  for (int i = 0; i < N; i++) {
    RGT_OK(rg_recv(world, got, bytes, MPI_BYTE, before, i, NULL));
    wrong += got[0] != (char)(before + i) || got[bytes - 1] != (char)(before + i);
  }
  for (int i = 0; i < N; i++)
    RGT_OK(rg_wait(&sent[i], NULL));
  RGT_INT(wrong, 0);
  free(data);
  free(got);
}

static void test_far(void) {
  rg_group world, g;
  uint64_t block;
  char options[64];
  int64_t sum = 0, mine = rgt_rank + 1;
  snprintf(options, sizeof options, "arena_size=%d,timeout=60", 300 << 10);
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
  if (rgi_node.me == 0) {
    pretend = 1;
    RGT_OK(rgi_arena_alloc("a test", 270 * GIB, &block));
    pretend = 0;
    use_up_near();
  }
  RGT_OK(rg_group_world(&world));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int bytes = 8; bytes < 200000; bytes = bytes * 5)
    send_around(world, bytes);
  RGT_OK(rg_group_dup(world, &g));
  RGT_OK(rg_allreduce(g, &mine, &sum, 1, MPI_INT64_T, MPI_SUM));
  RGT_INT(sum, rgt_size * (rgt_size + 1) / 2);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"far", test_far}, {NULL, NULL}};
  return rgt_main(argc, argv, "arena_far", tests);
}
