/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "operation.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"
#include "verify.h"

#define BATCH 16
#define BATCH_BYTES 4096

int bench_operations_parse(const char *text, rg_operation operations[RG_OP_COUNT],
                           char why[RGP_TEXT]) {
  const char *names[RG_OP_COUNT + 1] = {NULL};
  rg_operation known[RG_OP_COUNT];
  int n = 0, pick[RG_OP_COUNT];
  for (int op = 0; op < RG_OP_COUNT; op++) {
    names[n] = rg_operation_name((rg_operation)op);
    if (names[n][strlen(names[n]) - 1] != 'v')
      known[n++] = (rg_operation)op;
  }
  names[n] = NULL;
  int all = strcmp(text, "all") == 0;
  int picks = all ? n : bench_words("--operation", text, names, pick, why);
  for (int i = 0; i < picks; i++)
    operations[i] = known[all ? i : pick[i]];
  return picks;
}

int bench_algorithm_find(rg_operation operation, const char *name) {
  const char *known;
  for (int i = 0; rg_algorithm_get(operation, i, &known, NULL, NULL) == RG_SUCCESS; i++)
    if (strcmp(known, name) == 0)
      return i;
  return -1;
}

int bench_operation_batch(int bytes) {
  return bytes <= BATCH_BYTES ? BATCH : 1;
}

/* A call as the check of results sees it. */
static bench_call call_of(const bench_operation *o, int turn) {
  const rg_inter_view *v = o->between;
  return (bench_call){.operation = o->operation,
                      .ranks = o->ranks,
                      .rank = o->rank,
                      .root = turn % (v ? v->initiator_size : o->ranks),
                      .turn = turn,
                      .bytes = o->bytes,
                      .initiators = v ? v->initiator_size : 0,
                      .responders = v ? v->responder_size : 0,
                      .initiates = v && v->is_initiator};
}

int bench_operation_begin(bench_operation *o, rg_operation operation, MPI_Comm comm,
                          const rg_inter_view *between, int bytes, int batches) {
  *o = (bench_operation){.operation = operation, .comm = comm, .between = between, .bytes = bytes};
  MPI_Comm_size(comm, &o->ranks);
  MPI_Comm_rank(comm, &o->rank);
  o->batch = batches ? bench_operation_batch(bytes) : 1;
  bench_call c = call_of(o, 0);
  size_t room = bench_room(operation, bench_blocks(&c), bytes);
  o->share = bench_share(&c);
  for (int i = 0; i < BENCH_BUFFERS; i++) {
    o->send[i] = calloc(room, 1);
    o->receive[i] = calloc(room, 1);
    if (!o->send[i] || !o->receive[i])
      return 0;
  }
  return 1;
}

void bench_operation_end(bench_operation *o) {
  for (int i = 0; i < BENCH_BUFFERS; i++) {
    free(o->send[i]);
    free(o->receive[i]);
  }
}

/* What this process passes as root of the call that comes. */
static int root_of(const bench_operation *o) {
  const rg_inter_view *v = o->between;
  int root = o->turn % (v ? v->initiator_size : o->ranks);
  if (!v || !v->is_initiator)
    return root;
  return o->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

#define CALL(mpi, ours) by_mpi ? (mpi, RG_SUCCESS) : (ours)

int bench_operation_call(bench_operation *o) {
  int by_mpi = !o->group;
  MPI_Comm c = o->comm;
  int root = root_of(o), bytes = o->bytes, n = o->bytes / (int)sizeof(double);
  char *s = o->send[o->turn % BENCH_BUFFERS], *r = o->receive[o->turn % BENCH_BUFFERS];
  MPI_Datatype b = MPI_BYTE, d = MPI_DOUBLE;
  o->turn++;
  switch (o->operation) {
  case RG_OP_BARRIER:
    return CALL(MPI_Barrier(c), rg_barrier(o->group));
  case RG_OP_BCAST:
    return CALL(MPI_Bcast(s, bytes, b, root, c), rg_bcast(o->group, s, bytes, b, root));
  case RG_OP_REDUCE:
    return CALL(MPI_Reduce(s, r, n, d, MPI_SUM, root, c),
                rg_reduce(o->group, s, r, n, d, MPI_SUM, root));
  case RG_OP_ALLREDUCE:
    return CALL(MPI_Allreduce(s, r, n, d, MPI_SUM, c), rg_allreduce(o->group, s, r, n, d, MPI_SUM));
  case RG_OP_GATHER:
    return CALL(MPI_Gather(s, bytes, b, r, bytes, b, root, c),
                rg_gather(o->group, s, bytes, b, r, bytes, b, root));
  case RG_OP_SCATTER:
    return CALL(MPI_Scatter(s, bytes, b, r, bytes, b, root, c),
                rg_scatter(o->group, s, bytes, b, r, bytes, b, root));
  case RG_OP_ALLGATHER:
    return CALL(MPI_Allgather(s, bytes, b, r, bytes, b, c),
                rg_allgather(o->group, s, bytes, b, r, bytes, b));
  case RG_OP_ALLTOALL:
    return CALL(MPI_Alltoall(s, bytes, b, r, bytes, b, c),
                rg_alltoall(o->group, s, bytes, b, r, bytes, b));
  case RG_OP_REDUCE_SCATTER:
    return CALL(MPI_Reduce_scatter_block(s, r, o->share, d, MPI_SUM, c),
                rg_reduce_scatter_block(o->group, s, r, n, d, MPI_SUM));
  case RG_OP_SCAN:
    return CALL(MPI_Scan(s, r, n, d, MPI_SUM, c), rg_scan(o->group, s, r, n, d, MPI_SUM));
  default:
    return CALL(MPI_Exscan(s, r, n, d, MPI_SUM, c), rg_exscan(o->group, s, r, n, d, MPI_SUM));
  }
}

const char *bench_operation_run(void *context) {
  bench_operation *o = context;
  for (int i = 0; i < o->batch; i++)
    if (bench_operation_call(o))
      return rg_error_detail();
  return NULL;
}

const char *bench_operation_run_marked(void *context) {
  bench_operation *o = context;
  bench_call c = call_of(o, o->turn);
  bench_fill(&c, o->send[o->turn % BENCH_BUFFERS], o->receive[o->turn % BENCH_BUFFERS]);
  return bench_operation_call(o) ? rg_error_detail() : NULL;
}

const char *bench_operation_verify(void *context) {
  bench_operation *o = context;
  static char text[256];
  int turn = o->turn - 1;
  const char *wrong;
  bench_call c = call_of(o, turn);
  wrong = bench_verify(&c, o->send[turn % BENCH_BUFFERS], o->receive[turn % BENCH_BUFFERS]);
  if (!wrong)
    return NULL;
  snprintf(text, sizeof text, "%s of %d bytes on %d ranks, root %d: %s",
           rg_operation_name(o->operation), c.bytes,
           c.initiators ? c.initiators + c.responders : c.ranks, c.root, wrong);
  return text;
}
