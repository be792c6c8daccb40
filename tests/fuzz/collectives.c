/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Collective operations, blocking and not: counts, types, operations and roots that are valid, or
 * wrong, or so large that bytes overflow. */
#include <mpi.h>
#include <string.h>

#include "draw.h"
#include "fuzz.h"
#include "tests/check/check.h"
#include "types.h"

/* The arguments of one call. Buffers have room for each member's block. */
typedef struct {
  rg_group g;
  MPI_Datatype type;
  MPI_Count count, *counts; /* of each member's block: for the forms with blocks of any size */
  MPI_Aint *displs;
  MPI_Op op;
  int root;
  void *send, *recv;
} arguments;

/* Blocks that follow one another. */
static void draw_blocks(arguments *a) {
  MPI_Aint at = 0;
  a->counts = fuzz_in((size_t)rgt_size * sizeof *a->counts);
  a->displs = fuzz_in((size_t)rgt_size * sizeof *a->displs);
  for (int r = 0; r < rgt_size; r++) {
    a->counts[r] = draw_below(8);
    a->displs[r] = at;
    at += (MPI_Aint)a->counts[r];
  }
}

/* Something that is wrong on each member, whether it is the root or not. */
static void draw_fault(arguments *a) {
  static const MPI_Op ops[] = {MPI_OP_NULL, MPI_REPLACE, MPI_MINLOC, MPI_BAND};
  switch (draw_below(7)) {
  case 0:
    a->g = NULL;
    break;
  case 1:
    a->type = MPI_DATATYPE_NULL;
    break;
  case 2:
    a->op = ops[draw_below(4)];
    break;
  case 3:
    a->root = draw_int();
    break;
  case 4:
    if (types_may_be_null(a->type))
      a->send = a->recv = NULL;
    for (int r = 0; r < rgt_size; r++)
      a->counts[r] = 1;
    a->count = 1;
    break;
  case 5:
    a->send = a->recv = MPI_IN_PLACE;
    break;
  default:
    a->count = types_draw_count(a->type);
    for (int r = 0; r < rgt_size; r++)
      a->counts[r] = a->count < 8 || types_are_empty(a->type) ? a->count % 8 : a->count;
  }
}

static arguments draw_arguments(void) {
  arguments a = {.g = fuzz.g, .type = types_draw(), .op = MPI_SUM};
  a.count = draw_below(40);
  a.root = draw_below(rgt_size);
  a.send = types_buffer(fuzz_in(TYPES_BUFFER));
  a.recv = types_buffer(fuzz_in(TYPES_BUFFER));
  draw_blocks(&a);
  if (draw_chance(3))
    draw_fault(&a);
  return a;
}

static int call_moving(const arguments *a, int which) {
  switch (which) {
  case 0:
    return FUZZ(rg_bcast(a->g, a->recv, a->count, a->type, a->root));
  case 1:
    return FUZZ(rg_gather(a->g, a->send, a->count, a->type, a->recv, a->count, a->type, a->root));
  case 2:
    return FUZZ(rg_scatter(a->g, a->send, a->count, a->type, a->recv, a->count, a->type, a->root));
  case 3:
    return FUZZ(rg_allgather(a->g, a->send, a->count, a->type, a->recv, a->count, a->type));
  case 4:
    return FUZZ(rg_alltoall(a->g, a->send, a->count, a->type, a->recv, a->count, a->type));
  default:
    return FUZZ(rg_barrier(a->g));
  }
}

static int call_vectors(const arguments *a, int which) {
  MPI_Count mine = a->counts ? a->counts[rgt_rank] : 1;
  switch (which) {
  case 0:
    return FUZZ(
        rg_gatherv(a->g, a->send, mine, a->type, a->recv, a->counts, a->displs, a->type, a->root));
  case 1:
    return FUZZ(
        rg_scatterv(a->g, a->send, a->counts, a->displs, a->type, a->recv, mine, a->type, a->root));
  case 2:
    return FUZZ(
        rg_allgatherv(a->g, a->send, mine, a->type, a->recv, a->counts, a->displs, a->type));
  default:
    return FUZZ(rg_alltoall(a->g, a->send, a->count, a->type, a->recv, a->count, a->type));
  }
}

static int call_reducing(const arguments *a, int which) {
  switch (which) {
  case 0:
    return FUZZ(rg_reduce(a->g, a->send, a->recv, a->count, a->type, a->op, a->root));
  case 1:
    return FUZZ(rg_allreduce(a->g, a->send, a->recv, a->count, a->type, a->op));
  case 2:
    return FUZZ(rg_reduce_scatter(a->g, a->send, a->recv, a->counts, a->type, a->op));
  case 3:
    return FUZZ(rg_reduce_scatter_block(a->g, a->send, a->recv, a->count, a->type, a->op));
  case 4:
    return FUZZ(rg_scan(a->g, a->send, a->recv, a->count, a->type, a->op));
  default:
    return FUZZ(rg_exscan(a->g, a->send, a->recv, a->count, a->type, a->op));
  }
}

static int start_moving(const arguments *a, int which, rg_request *request) {
  MPI_Count mine = a->counts ? a->counts[rgt_rank] : 1;
  switch (which) {
  case 0:
    return FUZZ(rg_ibcast(a->g, a->recv, a->count, a->type, a->root, request));
  case 1:
    return FUZZ(
        rg_igather(a->g, a->send, a->count, a->type, a->recv, a->count, a->type, a->root, request));
  case 2:
    return FUZZ(rg_iscatter(a->g, a->send, a->count, a->type, a->recv, a->count, a->type, a->root,
                            request));
  case 3:
    return FUZZ(
        rg_iallgather(a->g, a->send, a->count, a->type, a->recv, a->count, a->type, request));
  case 4:
    return FUZZ(
        rg_ialltoall(a->g, a->send, a->count, a->type, a->recv, a->count, a->type, request));
  case 5:
    return FUZZ(rg_igatherv(a->g, a->send, mine, a->type, a->recv, a->counts, a->displs, a->type,
                            a->root, request));
  case 6:
    return FUZZ(rg_iscatterv(a->g, a->send, a->counts, a->displs, a->type, a->recv, mine, a->type,
                             a->root, request));
  case 7:
    return FUZZ(rg_iallgatherv(a->g, a->send, mine, a->type, a->recv, a->counts, a->displs, a->type,
                               request));
  default:
    return FUZZ(rg_ibarrier(a->g, request));
  }
}

static int start_reducing(const arguments *a, int which, rg_request *request) {
  switch (which) {
  case 0:
    return FUZZ(rg_ireduce(a->g, a->send, a->recv, a->count, a->type, a->op, a->root, request));
  case 1:
    return FUZZ(rg_iallreduce(a->g, a->send, a->recv, a->count, a->type, a->op, request));
  case 2:
    return FUZZ(rg_ireduce_scatter(a->g, a->send, a->recv, a->counts, a->type, a->op, request));
  case 3:
    return FUZZ(
        rg_ireduce_scatter_block(a->g, a->send, a->recv, a->count, a->type, a->op, request));
  case 4:
    return FUZZ(rg_iscan(a->g, a->send, a->recv, a->count, a->type, a->op, request));
  default:
    return FUZZ(rg_iexscan(a->g, a->send, a->recv, a->count, a->type, a->op, request));
  }
}

static void moving(void) {
  arguments a = draw_arguments();
  call_moving(&a, draw_below(6));
}

static void vectors(void) {
  arguments a = draw_arguments();
  call_vectors(&a, draw_below(4));
}

static void reducing(void) {
  arguments a = draw_arguments();
  call_reducing(&a, draw_below(6));
}

/* After RG_ERR_TIMEOUT it is still open. */
static void wait_for(rg_request *request) {
  if (FUZZ(rg_wait(request, draw_chance(2) ? NULL : fuzz_out_some(sizeof(rg_status)))))
    FUZZ(rg_request_free(request));
}

/* Blocks of equal length in both directions, so that the blocks of two members match. */
static void alltoallv(void) {
  arguments a = draw_arguments();
  for (int r = 0; a.counts && r < rgt_size; r++)
    a.counts[r] = a.counts[0];
  if (draw_chance(2)) {
    FUZZ(rg_alltoallv(a.g, a.send, a.counts, a.displs, a.type, a.recv, a.counts, a.displs, a.type));
    return;
  }
  rg_request *r = fuzz_out(sizeof *r);
  if (!FUZZ(rg_ialltoallv(a.g, a.send, a.counts, a.displs, a.type, a.recv, a.counts, a.displs,
                          a.type, r)))
    wait_for(r);
}

static void started(void) {
  arguments a = draw_arguments();
  rg_request *r = fuzz_out(sizeof *r);
  int error =
      draw_chance(2) ? start_moving(&a, draw_below(9), r) : start_reducing(&a, draw_below(6), r);
  if (!error)
    wait_for(r);
}

static void sums(void) {
  double *x = fuzz_in(64 * sizeof *x), *result = fuzz_out(8 * sizeof *result);
  float *f = fuzz_in(64 * sizeof *f), *single = fuzz_out(sizeof *single);
  MPI_Count n = draw_chance(4) ? -1 : draw_below(9), columns = draw_chance(4) ? -1 : draw_below(8);
  if (draw_chance(8))
    n = INT64_MAX - draw_below(2);
  if (draw_chance(8))
    columns = INT64_MAX / (1 + draw_below(8));
  FUZZ(rg_sum_reproducible(fuzz.g, x, n, result));
  FUZZ(rg_sum_reproducible_float(fuzz.g, f, n, single));
  FUZZ(rg_sums_reproducible(fuzz.g, x, n, columns, result));
}

static void algorithms(void) {
  static const char *const words[] = {"hierarchical", "binomial", "linear", "auto",
                                      "pipelined",    ":",        "ring",   NULL};
  char text[100];
  rg_operation op = (rg_operation)(draw_chance(4) ? draw_int() : draw_below(RG_OP_COUNT));
  const char **name = fuzz_out(sizeof *name);
  double *seconds = fuzz_out(sizeof *seconds);
  draw_text(words, text, sizeof text);
  FUZZ(rg_group_set_algorithm(fuzz.g, op, draw_chance(8) ? NULL : text));
  FUZZ(rg_group_algorithm(fuzz.g, op, draw_int64(), name));
  FUZZ(rg_algorithm_count(op, fuzz_out(sizeof(int))));
  FUZZ(rg_algorithm_get(op, draw_near(4), name, NULL, NULL));
  FUZZ(rg_algorithm_predict(op, draw_near(4), draw_int(), draw_int(), draw_int64(), seconds));
  rg_operation_name(op);
}

const fuzz_case fuzz_collective_cases[] = {
    {"coll_moving", moving, FUZZ_ANY},          {"coll_vectors", vectors, FUZZ_ANY},
    {"coll_reducing", reducing, FUZZ_ANY},      {"coll_alltoallv", alltoallv, FUZZ_ANY},
    {"coll_started", started, FUZZ_ANY},        {"coll_sums", sums, FUZZ_SAME},
    {"coll_algorithms", algorithms, FUZZ_SAME}, {0}};
