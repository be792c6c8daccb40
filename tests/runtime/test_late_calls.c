/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A process that calls rg_init or rg_finalize late: the others report a long wait, and go on when
 * it has called, although RG_TIMEOUT has passed. The late one calls when it sees the report.
 *
 * tier: quick
 * ranks: 2 3
 * env: RG_STALL_REPORT=0.1 RG_TIMEOUT=0.2 */
#include <regroup.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "check.h"

static atomic_int *reports; /* shared: how many of rank 0's lines tell of a wait in the call */
static const char *call;

static void count(int level, const char *line, void *context) {
  (void)level, (void)context;
  if (rgt_rank == 0 && strstr(line, call) && strstr(line, "has been waiting for"))
    atomic_fetch_add(reports, 1);
}

/* The last rank waits until rank 0 has been waiting for it for as long as RG_TIMEOUT, and more. */
static void be_late(const char *name) {
  call = name;
  if (rgt_rank != rgt_size - 1)
    return;
  while (atomic_load(reports) == 0)
    rgi_clock_sleep(0.01);
  rgi_clock_sleep(0.3);
}

static void check_one_report(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    RGT_INT(atomic_exchange(reports, 0), 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_late(void) {
  MPI_Win window;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(rgt_rank == 0 ? sizeof *reports : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                          &reports, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &reports);
  if (rgt_rank == 0)
    atomic_init(reports, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_log_set(count, NULL));
  be_late("rg_init");
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  check_one_report();
  be_late("rg_finalize");
  RGT_OK(rg_finalize());
  check_one_report();
  RGT_OK(rg_log_set(NULL, NULL));
  MPI_Win_free(&window);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"late", test_late}, {NULL, NULL}};
  return rgt_main(argc, argv, "late_calls", tests);
}
