/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2
 * A program that takes the options from its command line: test_inter_options.py and
 * test_inter_native.py run it with each of them. --first=n says how large the first
 * group is, which a process that was spawned cannot know by itself. */
#include "inter_cases.h"

#include <stdio.h>
#include <string.h>

static rg_inter_options how = {.size = sizeof how};
static int first_size, options_left;

static expected what_to_expect(MPI_Comm world, int child) {
  int rank, size;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  int n = how.n ? how.n : size / 2, first = first_size ? first_size : size - n;
  if (how.kind == RG_INTER_NONE)
    return (expected){RG_INTER_NONE, 0, size, size, 1, rank};
  if (how.kind != RG_INTER_SPLIT)
    return (expected){how.kind, 1, first, n, !child, rank};
  if (how.n == 0)
    return (expected){how.kind, 1, (size + 1) / 2, n, rank % 2 == 0, rank / 2};
  return (expected){how.kind, 1, first, n, rank < first, rank < first ? rank : rank - first};
}

static void test_options(void) {
  MPI_Comm parent, world;
  int part = -1;
  MPI_Comm_get_parent(&parent);
  RGT_OK(rg_inter_start(&how, &part));
  if (part == 1) {
    RGT_OK(rg_inter_world(&world));
    /* Acquired out of the reserve: the ranks after the first group. */
    int child = parent != MPI_COMM_NULL || (first_size && rgt_rank >= first_size);
    expected e = what_to_expect(world, child);
    check_all(&e);
    if (answer(rg_inter_io))
      printf("%d and %d by %s\n", e.initiators, e.responders, rg_inter_kind_name(how.kind));
  }
  if (how.kind != RG_INTER_NONE)
    RGT_INT(options_left, 2);
  RGT_OK(rg_inter_end());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"options", test_options}, {NULL, NULL}};
  if (rg_inter_parse(&argc, argv, &how)) {
    printf("%s\n", rg_error_detail());
    return 2;
  }
  for (int i = 1; i < argc; i++) {
    options_left += strncmp(argv[i], "--option", 8) == 0;
    sscanf(argv[i], "--first=%d", &first_size);
  }
  return rgt_main(argc, argv, "inter_program", tests);
}
