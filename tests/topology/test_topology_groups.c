/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7 8
 * nodes: 2 4
 * time: 120
 * sources: tests/topology/shapes.c tests/topology/oracle.c
 * Hardware levels of groups are those of communicators of the same processes. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "shapes.h"
#include "tests/check/check.h"

#ifndef SUITE
#define SUITE "topology_groups"
#endif

static rg_group world;

/* The same processes in the same order, or both none. */
static void expect_same(rg_group g, MPI_Comm comm) {
  MPI_Group of_g, of_comm;
  int how = -1, sum = 0, size;
  RGT_INT(g == NULL, comm == MPI_COMM_NULL);
  if (!g || comm == MPI_COMM_NULL)
    return;
  RGT_OK(rg_group_mpi_group(g, &of_g));
  MPI_Comm_group(comm, &of_comm);
  MPI_Group_compare(of_g, of_comm, &how);
  RGT_INT(how, MPI_IDENT);
  MPI_Group_free(&of_g);
  MPI_Group_free(&of_comm);
  MPI_Comm_size(comm, &size);
  RGT_OK(rg_allreduce(g, &(int){1}, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, size);
}

static void expect_same_level(rg_group g, MPI_Comm comm) {
  int number[2] = {-1, -1}, index[2] = {-1, -1};
  const char *type[2] = {"", ""};
  rg_group copy;
  expect_same(g, comm);
  if (!g || comm == MPI_COMM_NULL)
    return;
  RGT_OK(rg_comm_hlevel_info(comm, &number[0], &index[0], &type[0]));
  RGT_OK(rg_group_hlevel_info(g, &number[1], &index[1], &type[1]));
  RGT_INT(number[1], number[0]);
  RGT_INT(index[1], index[0]);
  RGT_STR(type[1], type[0]);
  RGT_OK(rg_group_dup(g, &copy));
  RGT_OK(rg_group_hlevel_info(copy, &number[1], NULL, NULL));
  RGT_INT(number[1], number[0]);
  RGT_OK(rg_group_free(&copy));
}

static void test_named(void) {
  for (int i = 0; i < shape_count; i++) {
    oracle o;
    MPI_Comm comm;
    rg_group g;
    shape_begin(&shapes[i], &o);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    RGT_OK(rg_group_dup(world, &g));
    expect_named(&o, comm, g);
    RGT_OK(rg_group_free(&g));
    MPI_Comm_free(&comm);
    shape_end(&o);
  }
}

static void free_comm(MPI_Comm *comm) {
  if (*comm != MPI_COMM_NULL)
    MPI_Comm_free(comm);
}

static void expect_hierarchies(rg_group g, MPI_Comm comm, int filter) {
  MPI_Comm comms[RG_LEVELS_MOST], comm_roots[RG_LEVELS_MOST];
  rg_group parts[RG_LEVELS_MOST], roots[RG_LEVELS_MOST];
  int n = -1, m = -2, before, after;
  RGT_OK(rg_comm_hierarchy(comm, filter, RG_LEVELS_MOST, comms, comm_roots, &n));
  RGT_OK(rg_comm_count(&before));
  RGT_OK(rg_group_hierarchy(g, filter, RG_LEVELS_MOST, parts, roots, &m));
  RGT_OK(rg_comm_count(&after));
  RGT_INT(after, before);
  RGT_INT(m, n);
  for (int i = 0; i < n && m == n; i++) {
    expect_same_level(parts[i], comms[i]);
    expect_same(roots[i], comm_roots[i]);
  }
  for (int i = 0; i < n; i++) {
    free_comm(&comms[i]);
    free_comm(&comm_roots[i]);
  }
  for (int i = 0; i < m; i++) {
    RGT_OK(rg_group_free(&parts[i]));
    RGT_OK(rg_group_free(&roots[i]));
  }
}

/* Level by level, in another order than that of g. */
static void expect_descents(rg_group g, MPI_Comm comm, int filter) {
  MPI_Comm above = comm, level;
  rg_group over = g, part;
  while (above != MPI_COMM_NULL && over) {
    RGT_OK(rg_comm_split_topology(above, filter, -rgt_rank, &level));
    part = g;
    RGT_OK(rg_group_split_topology(over, filter, -rgt_rank, &part));
    expect_same_level(part, level);
    if (over != g)
      RGT_OK(rg_group_free(&over));
    if (above != comm)
      MPI_Comm_free(&above);
    over = part;
    above = level;
  }
  RGT_INT(over == NULL, above == MPI_COMM_NULL);
}

static void expect_lowest_types(rg_group g, MPI_Comm comm) {
  int size, ranks[ORACLE_RANKS];
  const char *type[2] = {"a", "b"};
  MPI_Comm_size(comm, &size);
  for (int turn = 0; turn < 10; turn++) {
    int n = 0;
    for (int r = 0; r < size; r++)
      if (random() % 2)
        ranks[n++] = r;
    RGT_OK(rg_comm_min_hlevel(comm, n, ranks, &type[0]));
    RGT_OK(rg_group_min_hlevel(g, n, ranks, &type[1]));
    RGT_STR(type[1], type[0]);
  }
}

/* A group of the first `n` ranks, or of all in another order. */
static rg_group draw_group(int n, int turned) {
  int ranks[ORACLE_RANKS];
  rg_group g;
  for (int i = 0; i < n; i++)
    ranks[i] = turned ? (i * 3 + 1) % n : i;
  RGT_OK(rg_group_create(world, n, ranks, 5, &g));
  return g;
}

static void expect_all(rg_group g, int filter) {
  MPI_Comm comm, copy;
  if (!g)
    return;
  RGT_OK(rg_group_comm(g, &comm));
  MPI_Comm_dup(comm, &copy);
  expect_hierarchies(g, copy, filter);
  expect_descents(g, copy, filter);
  expect_lowest_types(g, copy);
  MPI_Comm_free(&copy);
  RGT_OK(rg_group_free(&g));
}

static void on_shapes(int step, int filter) {
  for (int i = 0; i < shape_count; i += step) {
    oracle o;
    shape_begin(&shapes[i], &o);
    expect_all(draw_group(rgt_size, rgt_size % 3 != 0), filter);
    expect_all(draw_group((rgt_size + 1) / 2, 0), filter);
    shape_end(&o);
  }
}

static void test_all_levels(void) {
  srandom((unsigned)rgt_seed());
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  on_shapes(1, RG_LEVEL_ALL);
}

static void test_filters(void) {
  for (int filter = 1; filter < RG_LEVEL_ALL; filter++)
    on_shapes(4, filter);
}

/* All return the error of one, and the group works afterwards. */
static void test_errors(void) {
  rg_group g, part = world, parts[1] = {NULL};
  const char *type = "unset";
  int levels = 77, last = rgt_size - 1, outside = rgt_size;
  RGT_OK(rg_group_dup(world, &g));
  RGT_FAILS(rg_group_hlevel_info(g, NULL, NULL, NULL), RG_ERR_GROUP);
  RGT_FAILS(rg_group_split_topology(g, rgt_rank == last ? 99 : RG_LEVEL_ALL, 0, &part), RG_ERR_ARG);
  RGT_FAILS(rg_group_hierarchy(g, RG_LEVEL_ALL, rgt_rank == last ? 0 : 1, parts, NULL, &levels),
            RG_ERR_ARG);
  RGT_FAILS(rg_group_split_topology(g, 0, 0, &part), RG_ERR_ARG);
  RGT_FAILS(rg_group_split_topology(NULL, RG_LEVEL_ALL, 0, &part), RG_ERR_GROUP);
  RGT_FAILS(rg_group_split_topology(g, RG_LEVEL_ALL, 0, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_group_min_hlevel(g, 1, &outside, &type), RG_ERR_RANK);
  RGT_FAILS(rg_group_min_hlevel(g, -1, &outside, &type), RG_ERR_ARG);
  RGT_FAILS(rg_group_min_hlevel(g, 1, NULL, &type), RG_ERR_ARG);
  if (rgt_size > 1) {
    RGT_FAILS(
        rg_group_split_topology(g, rgt_rank == last ? RG_LEVEL_MEMORY : RG_LEVEL_ALL, 0, &part),
        RG_ERR_MISMATCH);
    RGT_TRUE(strstr(rg_error_detail(), "filter") != NULL);
    RGT_FAILS(
        rg_group_hierarchy(g, RG_LEVEL_ALL, 1, parts, rgt_rank == last ? parts : NULL, &levels),
        RG_ERR_MISMATCH);
  }
  RGT_TRUE(part == world);
  RGT_STR(type, "unset");
  RGT_INT(levels, 77);
  RGT_OK(rg_group_hierarchy(g, RG_LEVEL_ALL, 1, parts, NULL, &levels));
  RGT_TRUE(levels == 0 || levels == 1);
  if (levels)
    RGT_OK(rg_group_free(&parts[0]));
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"all levels", test_all_levels},
                                   {"filters", test_filters},
                                   {"levels by name", test_named},
                                   {"errors", test_errors},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, SUITE, tests);
}
