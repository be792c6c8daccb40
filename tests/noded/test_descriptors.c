/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=3 RG_SURVIVE=1 UCX_TLS=tcp,self
 * ranks: 3
 * No descriptor is left for a connection with another node: in a rank an access returns an error
 * that names the limit, and one descriptor is enough for several nodes; in the other node's daemon
 * the access waits until there is one. No node is lost. */
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/client/guard_client.h"
#include "noded/client/overlay_client.h"
#include "tests/check/check.h"

enum { MOST = 300, ELEMENTS = 10 };

static rg_group world;
static rg_array whole;

static void test_start(void) {
  const int64_t all = (int64_t)rgt_size * ELEMENTS, seven = 7;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &all, &whole));
  RGT_OK(rg_array_fill(whole, NULL, NULL, &seven));
  RGT_OK(rg_array_sync(whole));
}

static int get_one(int rank, int64_t *value) {
  const int64_t at = (int64_t)rank * ELEMENTS, end = at + 1;
  return rg_array_get(whole, &at, &end, value, NULL);
}

static void test_rank(void) {
  int taken[MOST], n = 0;
  int64_t value = 0;
  char name[20];
  if (rgt_rank == 0) {
    const struct rlimit few = {MOST, MOST};
    RGT_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    snprintf(name, sizeof name, " is %d", MOST);
    while (n < MOST && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
      n++;
    RGT_FAILS(get_one(1, &value), RG_ERR_SYSTEM);
    RGT_TRUE(strstr(rg_error_detail(), name) != NULL);
    close(taken[--n]);
    for (int i = 0; i < 6; i++, value = 0) {
      RGT_OK(get_one(1 + i % 2, &value));
      RGT_INT(value, 7);
    }
    while (n > 0)
      close(taken[--n]);
  }
  RGT_OK(rg_barrier(world));
}

static int count_descriptors(int pid) {
  char path[40];
  int n = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR *d = opendir(path);
  while (d && readdir(d))
    n++;
  if (d)
    closedir(d);
  return n - 2;
}

/* The others access rank 0's elements for the first time. */
static void test_daemon(void) {
  struct rlimit limit;
  int pid = rgi_overlay_get()->daemon_pid;
  int64_t value = 0;
  if (rgt_rank == 0) {
    RGT_INT(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
    const struct rlimit few = {(rlim_t)count_descriptors(pid), limit.rlim_max};
    RGT_INT(prlimit(pid, RLIMIT_NOFILE, &few, NULL), 0);
  }
  RGT_OK(rg_barrier(world));
  if (rgt_rank == 0) {
    rgi_clock_sleep(0.3);
    RGT_INT(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
  } else {
    RGT_OK(get_one(0, &value));
    RGT_INT(value, 7);
  }
  RGT_OK(rg_barrier(world));
}

static void test_stop(void) {
  RGT_OK(rg_array_free(&whole));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* Under another launcher than MPICH's, or without MPICH's inside, there are no daemons. */
static void test_skipped(void) {
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"daemon", test_daemon},
                                   {"rank", test_rank},
                                   {"stop", test_stop},
                                   {NULL, NULL}},
                        none[] = {{"skipped", test_skipped}, {NULL, NULL}};
  return rgt_main(argc, argv, "descriptors", rgi_guard_exists() ? tests : none);
}
