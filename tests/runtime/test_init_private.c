/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3
 * Processes whose folder in /proc no other process may read, since they are not dumpable: as after
 * prctl, or those of a file that may be executed and not read. */
#include <linux/capability.h>
#include <mpi.h>
#include <regroup.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/arena.h"
#include "tests/check/check.h"

/* The superuser could read it nevertheless. */
static void give_up_ptrace(void) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  RGT_INT(syscall(SYS_capget, &head, data), 0);
  data[0].effective &= ~(1u << CAP_SYS_PTRACE);
  data[0].permitted &= ~(1u << CAP_SYS_PTRACE);
  data[0].inheritable &= ~(1u << CAP_SYS_PTRACE);
  RGT_INT(syscall(SYS_capset, &head, data), 0);
}

static void test_private(void) {
  rg_group world;
  int one = 1, sum = 0;
  MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD); /* MPI has connected */
  give_up_ptrace();
  RGT_INT(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_allreduce(world, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* What a process joins is what it was told of. */
static void test_other_segment(void) {
  rgi_arena_sizes sizes = {.bytes = 1 << 20, .roots = 64, .heap = 1 << 16};
  rgi_arena_address address;
  RGT_OK(rgi_arena_make(&sizes, &address));
  int fd = dup(rgi_arena_fd());
  rgi_arena_close();
  RGT_OK(rgi_arena_join(&address, dup(fd)));
  rgi_arena_close();
  address.number++;
  RGT_FAILS(rgi_arena_join(&address, dup(fd)), RG_ERR_SYSTEM);
  rgi_arena_close();
  address.mapped += 4096;
  RGT_FAILS(rgi_arena_join(&address, dup(fd)), RG_ERR_SYSTEM);
  rgi_arena_close();
  close(fd);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"private", test_private}, {"other segment", test_other_segment}, {NULL, NULL}};
  return rgt_main(argc, argv, "init_private", tests);
}
