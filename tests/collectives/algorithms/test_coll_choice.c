/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 7
 * env: RG_COLL=bcast=binomial,barrier=linear,allreduce=hierarchical:ring RG_TIMEOUT=60
 * sources: tests/collectives/cases.c
 * The choice of an algorithm: by the model, by the environment, by the group. */
#include <string.h>

#include "collectives/algorithms/choice.h"
#include "collectives/group/operation.h"
#include "tests/collectives/cases.h"

static const char *chosen(rgi_choice_shape shape) {
  const rgi_algorithm *table = rgi_operation_algorithms[shape.op];
  return table[rgi_choice_best(rgi_tuning_now(), table, &shape, 0)].name;
}

static rgi_choice_shape shape_for(rg_operation op, int p, int nodes, size_t bytes, int memory) {
  return (rgi_choice_shape){.op = op,
                            .p = p,
                            .nodes = nodes,
                            .bytes = bytes,
                            .commutes = 1,
                            .even = 1,
                            .memory = memory,
                            .in_order = 1};
}

static void test_one_node(void) {
  for (int op = 0; op < RG_OP_COUNT; op++) {
    int v = op == RG_OP_GATHERV || op == RG_OP_SCATTERV || op == RG_OP_ALLGATHERV ||
            op == RG_OP_ALLTOALLV;
    if (!v)
      RGT_STR(chosen(shape_for((rg_operation)op, 8, 1, 8, 1)), "shared");
  }
  RGT_STR(chosen(shape_for(RG_OP_BARRIER, 64, 1, 0, 0)), "butterfly");
  RGT_STR(chosen(shape_for(RG_OP_BCAST, 64, 1, 8, 0)), "binomial");
  RGT_TRUE(strcmp(chosen(shape_for(RG_OP_BCAST, 64, 1, 16 << 20, 0)), "binomial") != 0);
  RGT_STR(chosen(shape_for(RG_OP_ALLREDUCE, 64, 1, 8, 0)), "butterfly");
  RGT_STR(chosen(shape_for(RG_OP_ALLREDUCE, 64, 1, 1 << 20, 0)), "rabenseifner");
  RGT_STR(chosen(shape_for(RG_OP_ALLTOALL, 64, 1, 8, 0)), "bruck");
  RGT_STR(chosen(shape_for(RG_OP_ALLTOALL, 64, 1, 1 << 20, 0)), "linear");
  RGT_STR(chosen(shape_for(RG_OP_REDUCE_SCATTER, 64, 1, 8, 0)), "halving");
}

/* With the built-in costs, inside a node: whatever the number of members and the length. */
static void test_memory(void) {
  for (int p = 2; p <= 1024; p *= 2)
    RGT_TRUE(rgi_choice_prefers_memory(rgi_operation_algorithms, p) &&
             rgi_choice_prefers_memory(rgi_operation_algorithms, p + 1));
}

/* Between nodes one copy is sent, whatever the length. */
static void test_nodes(void) {
  for (size_t bytes = 1; bytes <= (size_t)64 << 20; bytes *= 2)
    for (int memory = 0; memory < 2; memory++) {
      RGT_STR(chosen(shape_for(RG_OP_BCAST, 8, 2, bytes, memory)), "hierarchical");
      RGT_STR(chosen(shape_for(RG_OP_REDUCE, 8, 2, bytes, memory)), "hierarchical");
      RGT_STR(chosen(shape_for(RG_OP_ALLREDUCE, 8, 2, bytes, memory)), "hierarchical");
    }
  RGT_STR(chosen(shape_for(RG_OP_BARRIER, 64, 8, 0, 1)), "hierarchical");
  RGT_TRUE(strcmp(chosen(shape_for(RG_OP_SCAN, 8, 8, 8, 1)), "shared") != 0);
}

/* What cannot serve is not chosen, whatever it costs. */
static void test_constraints(void) {
  for (size_t bytes = 1; bytes <= (size_t)64 << 20; bytes *= 4) {
    rgi_choice_shape shape = shape_for(RG_OP_ALLREDUCE, 8, 2, bytes, 1);
    shape.commutes = shape.in_order = 0;
    RGT_TRUE(strcmp(chosen(shape), "ring") != 0 && strcmp(chosen(shape), "hierarchical") != 0);
    shape.in_order = 1;
    RGT_STR(chosen(shape), "hierarchical");
    shape = shape_for(RG_OP_SCAN, 8, 2, bytes, 1);
    shape.in_order = 0;
    RGT_TRUE(strcmp(chosen(shape), "hierarchical") != 0);
  }
}

/* The model agrees with the formulas of the textbook. */
static double predicted(rg_operation op, const char *name, int p, MPI_Count bytes) {
  const char *other;
  double seconds = -1;
  int count;
  RGT_OK(rg_algorithm_count(op, &count));
  for (int i = 0; i < count; i++) {
    RGT_OK(rg_algorithm_get(op, i, &other, NULL, NULL));
    if (strcmp(other, name) == 0)
      RGT_OK(rg_algorithm_predict(op, i, p, 1, bytes, &seconds));
  }
  return seconds;
}

static void test_model(void) {
  double ts = rgi_tuning_now()->inside.ts, tw = rgi_tuning_now()->inside.tw;
  RGT_DBL(predicted(RG_OP_BARRIER, "linear", 8, 0), 2 * 7 * ts, 1e-12);
  RGT_DBL(predicted(RG_OP_BARRIER, "tree", 8, 0), 2 * 3 * ts, 1e-12);
  RGT_DBL(predicted(RG_OP_BCAST, "linear", 8, 1000), 7 * (ts + 1000 * tw), 1e-12);
  RGT_DBL(predicted(RG_OP_BCAST, "binomial", 7, 1000), 3 * (ts + 1000 * tw), 1e-12);
  RGT_DBL(predicted(RG_OP_SCATTER, "halving", 8, 1000), 3 * ts + 7 * 1000 * tw, 1e-12);
  RGT_DBL(predicted(RG_OP_ALLGATHER, "doubling", 8, 1000), 3 * ts + 7 * 1000 * tw, 1e-12);
  RGT_DBL(predicted(RG_OP_ALLGATHER, "ring", 8, 1000), 7 * (ts + 1000 * tw), 1e-12);
}

/* Every operation has a table with names, formulas and no name twice. */
static void test_tables(void) {
  for (int op = 0; op < RG_OP_COUNT; op++) {
    const char *name, *other, *cost, *constraint;
    int count;
    name = rg_operation_name((rg_operation)op);
    RGT_TRUE(name && strlen(name) > 0);
    RGT_OK(rg_algorithm_count((rg_operation)op, &count));
    RGT_TRUE(count > 0 && count < 127);
    for (int i = 0; i < count; i++) {
      RGT_OK(rg_algorithm_get((rg_operation)op, i, &name, &cost, &constraint));
      RGT_TRUE(strlen(name) > 0 && strlen(cost) > 0 && constraint);
      for (int j = 0; j < i; j++) {
        RGT_OK(rg_algorithm_get((rg_operation)op, j, &other, NULL, NULL));
        RGT_TRUE(strcmp(name, other) != 0);
      }
    }
  }
}

static void expect_choice(rg_operation op, const char *want) {
  const char *name = NULL;
  RGT_OK(rg_group_algorithm(groups[WORLD], op, 8, &name));
  RGT_STR(name, want);
}

/* RG_COLL takes precedence over rg_group_set_algorithm; an algorithm that cannot serve, here one
 * for several nodes, is ignored. */
static void test_forced(void) {
  int one = 1, sum = 0;
  expect_choice(RG_OP_BCAST, "binomial");
  expect_choice(RG_OP_BARRIER, "linear");
  expect_choice(RG_OP_ALLREDUCE, "cells");
  expect_choice(RG_OP_GATHER, "cells");
  RGT_OK(rg_group_set_algorithm(groups[WORLD], RG_OP_BCAST, "linear"));
  expect_choice(RG_OP_BCAST, "binomial");
  RGT_OK(rg_group_set_algorithm(groups[WORLD], RG_OP_GATHER, "tree"));
  expect_choice(RG_OP_GATHER, "tree");
  RGT_OK(rg_group_set_algorithm(groups[WORLD], RG_OP_GATHER, "auto"));
  expect_choice(RG_OP_GATHER, "cells");
  RGT_OK(rg_allreduce(groups[WORLD], &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start_groups},
                                   {"one node", test_one_node},
                                   {"memory", test_memory},
                                   {"several nodes", test_nodes},
                                   {"constraints", test_constraints},
                                   {"the model", test_model},
                                   {"tables", test_tables},
                                   {"forced", test_forced},
                                   {"stop", stop_groups},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_choice", tests);
}
