/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 3
 * env: RG_OVERSUBSCRIBED=yes
 * A rank that sleeps in a collective is woken by a message that it has posted a receive for: it
 * sleeps on its own bell, too, which messages ring. So the message arrives while the collective
 * goes on. */
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <regroup.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "shm/node.h"
#include "tests/check/check.h"

enum { LONG = 40000, TIMES = 3 };

static rg_group world, pair; /* pair: ranks 0 and 2 */
static char data[LONG];

/* Linux before 5.16 cannot wait for two words: ranks look each millisecond instead. */
static int can_wait_for_two(void) {
#ifdef SYS_futex_waitv
  return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) == 0 || errno != ENOSYS;
#else
  return 0;
#endif
}

/* Until the rank sleeps on its bell. */
static void await_sleeper(int rank) {
  rgi_bell *bell = &rgi_node.processes[rgi_node_find(rank)].bell;
  while (atomic_load(&bell->sleepers) == 0)
    rgi_clock_sleep(1e-4);
}

static void wait_in_barrier(void) {
  rg_request request;
  int word = 0;
  RGT_OK(rg_irecv(world, data, LONG, MPI_BYTE, 1, 7, &request));
  RGT_OK(rg_send(world, &word, 1, MPI_INT, 1, 6)); /* the receive is posted */
  RGT_OK(rg_barrier(pair));
  RGT_OK(rg_wait(&request, NULL));
}

/* The third rank comes to the barrier when the long message has been received. */
static void send_to_sleeper(void) {
  int word;
  RGT_OK(rg_recv(world, &word, 1, MPI_INT, 0, 6, NULL));
  await_sleeper(0);
  RGT_OK(rg_send(world, data, LONG, MPI_BYTE, 0, 7));
  RGT_OK(rg_send(world, &word, 1, MPI_INT, 2, 8));
}

static void come_late(void) {
  int word;
  RGT_OK(rg_recv(world, &word, 1, MPI_INT, 1, 8, NULL));
  RGT_OK(rg_barrier(pair));
}

static void test_woken(void) {
  for (int i = 0; i < TIMES && can_wait_for_two(); i++) {
    if (rgt_rank == 0)
      wait_in_barrier();
    else if (rgt_rank == 1)
      send_to_sleeper();
    else
      come_late();
    RGT_OK(rg_barrier(world));
  }
}

static void test_start(void) {
  const int ranks[2] = {0, 2};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  if (rgt_rank != 1)
    RGT_OK(rg_group_create(world, 2, ranks, 3, &pair));
}

static void test_stop(void) {
  RGT_OK(rg_group_free(&pair));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", test_start}, {"a sleeper is woken", test_woken}, {"stop", test_stop}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_woken", tests);
}
