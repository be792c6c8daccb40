/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Notes of stalls of two threads that wait at once on different groups: the last one to call has
 * the process's note, also after the other one's wait has ended.
 *
 * ranks: 2 3 */
#include <regroup.h>
#include <string.h>

#include "base/clock.h"
#include "check.h"
#include "shm/stall.h"

static int find_any(const void *members, int world_rank) {
  (void)members;
  return world_rank;
}

static rgi_failure_scope scope_of(uint64_t context) {
  return (rgi_failure_scope){.members = &find_any, .find = find_any, .context = context};
}

static void test_two_threads(void) {
  rgi_failure_scope first = scope_of(1), second = scope_of(2), mine = scope_of(3);
  double until = rgi_clock_now() + 1000;
  uint32_t noted_first = 0, noted_second = 0;
  char text[RGI_STALL_TEXT] = "";
  int begins;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  if (rgt_rank == 0) {
    rgi_stall_note(&first, "first", 0, until, &noted_first);
    rgi_stall_note(&second, "second", 0, 0, &noted_second);
    rgi_stall_note(&first, "first", 0, until, &noted_first);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank > 0) {
    RGT_TRUE(rgi_stall_find(&mine, "mine", rgi_clock_now(), &begins, text));
    RGT_PTR_NOT_NULL(strstr(text, "waits in first"));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"two threads", test_two_threads}, {NULL, NULL}};
  return rgt_main(argc, argv, "stall", tests);
}
