/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7 8
 * nodes: 2 4
 * sources: tests/topology/shapes.c tests/topology/oracle.c
 * Hardware levels on pretended machines, against brute force. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "shapes.h"
#include "tests/check/check.h"

static void on_every_shape(void (*expect)(const oracle *o, MPI_Comm comm, int filter), int filter) {
  for (int i = 0; i < shape_count; i++) {
    oracle o;
    MPI_Comm comm;
    shape_begin(&shapes[i], &o);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect(&o, comm, filter);
    MPI_Comm_free(&comm);
    shape_end(&o);
  }
}

static void test_all_levels(void) {
  on_every_shape(expect_descent, RG_LEVEL_ALL);
}

static void test_filters(void) {
  for (int filter = 1; filter < RG_LEVEL_ALL; filter++)
    on_every_shape(expect_hierarchy, filter);
}

static void test_whole_hierarchy(void) {
  on_every_shape(expect_hierarchy, RG_LEVEL_ALL);
}

static void lowest(const oracle *o, MPI_Comm comm, int filter) {
  (void)filter;
  expect_lowest(o, comm);
}

static void test_lowest_level(void) {
  srandom((unsigned)rgt_seed());
  on_every_shape(lowest, 0);
}

static int on_one_node(const oracle *o) {
  for (int r = 1; r < o->ranks; r++)
    if (o->node[r] != o->node[0])
      return 0;
  return 1;
}

/* A machine small enough to check by hand: 2 packages of one L3 and 4 cores
 * with an L2 each. */
static void check_by_hand(void) {
  static const char *const names[] = {"Package", "Core"};
  MPI_Comm comm, level[RG_LEVELS_MOST];
  MPI_Info info;
  char types[128];
  int n = 0, found, number, index, whole = rgt_size <= 4;
  const char *type;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  RGT_OK(rg_comm_hierarchy(comm, RG_LEVEL_ALL, RG_LEVELS_MOST, level, NULL, &n));
  int last_alone = rgt_size == 5 && rgt_rank == 4;
  RGT_INT(n, (rgt_size > 1) + !whole - last_alone);
  for (int i = 0; i < n; i++) {
    RGT_OK(rg_comm_hlevel_info(level[i], &number, &index, &type));
    RGT_STR(type, names[i + whole]);
    if (i == 0 && !whole) {
      RGT_INT(number, 2);
      RGT_INT(index, rgt_rank / 4);
      RGT_OK(rg_comm_hlevel_mpi_info(level[i], &info));
      MPI_Info_get(info, "rg_hlevel_types", 127, types, &found);
      RGT_STR(found ? types : NULL, "Package,NUMANode,L3Cache");
      MPI_Info_get(info, "rg_hlevel_num", 127, types, &found);
      RGT_STR(found ? types : NULL, "2");
      MPI_Info_get(info, "rg_hlevel_index", 127, types, &found);
      RGT_STR(found ? types : NULL, rgt_rank / 4 ? "1" : "0");
      MPI_Info_get(info, "rg_hlevel_type", 127, types, &found);
      RGT_STR(found ? types : NULL, "Package");
      MPI_Info_free(&info);
    }
    MPI_Comm_free(&level[i]);
  }
  RGT_OK(rg_comm_min_hlevel(comm, 2, (int[]){0, rgt_size - 1}, &type));
  RGT_STR(type, rgt_rank > 0 && rgt_rank < rgt_size - 1 ? "Unknown"
                : rgt_size == 1                         ? "PU"
                : whole                                 ? "L3Cache"
                                                        : "Machine");
  MPI_Comm_free(&comm);
}

static void test_by_hand(void) {
  oracle o;
  shape_begin(&(shape){"pack:2 [numa] l3:1 core:4 pu:1", "compact"}, &o);
  if (on_one_node(&o))
    check_by_hand();
  shape_end(&o);
}

/* The key turns the order around; what is known goes along. */
static void test_key(void) {
  oracle o;
  MPI_Comm comm, level;
  int rank, size, ranks[64];
  const char *type;
  shape_begin(&(shape){"pack:2 core:4 pu:2", "compact"}, &o);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  RGT_OK(rg_comm_split_topology(comm, RG_LEVEL_ALL, -rgt_rank, &level));
  RGT_INT(level == MPI_COMM_NULL, rgt_size == 1);
  if (level != MPI_COMM_NULL) {
    MPI_Comm_size(level, &size);
    MPI_Comm_rank(level, &rank);
    MPI_Allgather(&rgt_rank, 1, MPI_INT, ranks, 1, MPI_INT, level);
    for (int i = 1; i < size; i++)
      RGT_TRUE(ranks[i] < ranks[i - 1]);
    for (int i = 0; i < size && rank == 0; i++) { /* no other rank calls */
      RGT_OK(rg_comm_min_hlevel(level, 2, (int[]){rank, i}, &type));
      rank_set both = (rank_set)1 << ranks[i] | (rank_set)1 << rgt_rank;
      RGT_TRUE(oracle_is_lowest(&o, both, type));
    }
    MPI_Comm_free(&level);
  }
  MPI_Comm_free(&comm);
  shape_end(&o);
}

/* No more levels than there is room for; the rest can be had from the last. */
static void test_limited_room(void) {
  oracle o;
  MPI_Comm comm, level[1] = {MPI_COMM_NULL}, below;
  int n;
  shape_begin(&shapes[0], &o);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  RGT_OK(rg_comm_hierarchy(comm, RG_LEVEL_ALL, 1, level, NULL, &n));
  RGT_INT(n, rgt_size > 1);
  if (n == 1) {
    RGT_OK(rg_comm_split_topology(level[0], RG_LEVEL_ALL, 0, &below));
    if (below != MPI_COMM_NULL)
      MPI_Comm_free(&below);
    MPI_Comm_free(&level[0]);
  }
  MPI_Comm_free(&comm);
  shape_end(&o);
}

/* The machine that the test runs on, whatever it is. */
static void test_real_machine(void) {
  MPI_Comm comm, level[RG_LEVELS_MOST];
  int n = -1, size, above = rgt_size;
  const char *type;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  RGT_OK(rg_comm_hierarchy(comm, RG_LEVEL_ALL, RG_LEVELS_MOST, level, NULL, &n));
  for (int i = 0; i < n; i++) {
    MPI_Comm_size(level[i], &size);
    RGT_TRUE(size < above);
    above = size;
    MPI_Comm_free(&level[i]);
  }
  RGT_OK(rg_comm_min_hlevel(comm, 1, &rgt_rank, &type));
  RGT_TRUE(strcmp(type, "Unknown") != 0);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"all levels, one by one", test_all_levels},
                                   {"the whole hierarchy", test_whole_hierarchy},
                                   {"filters", test_filters},
                                   {"lowest level", test_lowest_level},
                                   {"by hand", test_by_hand},
                                   {"key", test_key},
                                   {"limited room", test_limited_room},
                                   {"real machine", test_real_machine},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "topology", tests);
}
