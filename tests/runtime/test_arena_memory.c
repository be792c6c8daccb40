/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 4
 * A node without memory: fallocate is made to fail by a filter of system calls.
 * An error, never a signal, and what was there goes on. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <regroup.h>
#include <regroup/p2p.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/error.h"
#include "shm/arena.h"
#include "tests/check/check.h"

/* For good, in this process. */
static int forbid_fallocate(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static rg_group world;

static int send_around(int bytes) {
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size;
  char *data = malloc((size_t)bytes), *got = calloc(1, (size_t)bytes);
  memset(data, 5, (size_t)bytes);
  int error =
      rg_sendrecv(world, data, bytes, MPI_BYTE, next, 1, got, bytes, MPI_BYTE, before, 1, NULL);
  if (!error)
    RGT_TRUE(got[0] == 5 && got[bytes - 1] == 5);
  free(data);
  free(got);
  return error;
}

/* Takes what has memory already, but for what a process keeps for its next short messages. */
static void use_up(void) {
  uint64_t offset;
  for (size_t bytes = (size_t)256 << 10; bytes >= 8192; bytes /= 2)
    while (rgi_arena_alloc("a test", bytes, &offset) == RG_SUCCESS)
      continue;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_shortage(void) {
  uint64_t offset;
  rg_request out = NULL;
  static char data[20000];
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
  RGT_OK(send_around(20));
  RGT_OK(send_around(200));
  MPI_Barrier(MPI_COMM_WORLD);
  int forbidden = forbid_fallocate(), all;
  MPI_Allreduce(&forbidden, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!all) {
    fprintf(stderr, "no filters of system calls here: nothing tested\n");
    return;
  }
  use_up();
  for (int turn = 0; turn < 3; turn++) {
    RGT_FAILS(rgi_arena_alloc("a test", (size_t)10 << 20, &offset), RG_ERR_NOMEM);
    RGT_TRUE(strstr(rg_error_detail(), "the node has no memory") != NULL);
    RGT_FAILS(rg_isend(world, data, sizeof data, MPI_BYTE, rgt_rank, 1, &out), RG_ERR_NOMEM);
    RGT_PTR_NULL(out);
    RGT_OK(send_around(20));
    RGT_OK(send_around(200));
    /* A long message finds no pipe: both sides are told. */
    if (rgt_size > 1)
      RGT_INT(send_around(500000), RG_ERR_NOMEM);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void test_start(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  if (prctl(PR_GET_SECCOMP) != 0)
    RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_SYSTEM);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"shortage", test_shortage}, {"start", test_start}, {NULL, NULL}};
  return rgt_main(argc, argv, "arena_memory", tests);
}
