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

/* With one root and one buffer: so many calls of up to so many bytes in all, and at least FEWEST.
 */
#define MOST 64
#define MOST_BYTES (1 << 20)
#define FEWEST 4

#define UNTIMED 4 /* calls before those that are timed alone */

const char *const bench_timing_name[BENCH_TIMINGS] = {
    [BENCH_EACH] = "each", [BENCH_STREAM] = "stream"};

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

int bench_operation_batch(int bytes, bench_timing timing) {
  int calls = bytes > MOST_BYTES / MOST ? MOST_BYTES / bytes : MOST;
  if (bench_timing_name[timing])
    return calls > FEWEST ? calls : FEWEST;
  return timing == BENCH_ROTATING && bytes <= BATCH_BYTES ? BATCH : 1;
}

/* A call as the check of results sees it. */
static bench_call call_of(const bench_operation *o, int turn) {
  const rg_inter_view *v = o->between;
  return (bench_call){.operation = o->operation,
                      .ranks = o->ranks,
                      .rank = o->rank,
                      .root = turn % o->roots,
                      .turn = turn,
                      .bytes = o->bytes,
                      .initiators = v ? v->initiator_size : 0,
                      .responders = v ? v->responder_size : 0,
                      .initiates = v && v->is_initiator};
}

int bench_operation_begin(bench_operation *o, rg_operation operation, MPI_Comm comm,
                          const rg_inter_view *between, int bytes, bench_timing timing) {
  *o = (bench_operation){
      .operation = operation, .timing = timing, .comm = comm, .between = between, .bytes = bytes};
  MPI_Comm_size(comm, &o->ranks);
  MPI_Comm_rank(comm, &o->rank);
  o->roots = bench_timing_name[timing] ? 1 : between ? between->initiator_size : o->ranks;
  o->buffers = bench_timing_name[timing] ? 1 : BENCH_BUFFERS;
  o->batch = bench_operation_batch(bytes, timing);
  bench_call c = call_of(o, 0);
  size_t room = bench_room(operation, bench_blocks(&c), bytes);
  o->share = bench_share(&c);
  for (int i = 0; i < o->buffers; i++) {
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
  int root = o->turn % o->roots;
  if (!v || !v->is_initiator)
    return root;
  return o->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

/* MPI's own function has the name PMPI_... also where another one is preloaded. */
#define CALL(mpi, ours)                                                                            \
  o->group ? (ours) : ((void)(o->preloaded ? MPI_##mpi : PMPI_##mpi), RG_SUCCESS)

int bench_operation_call(bench_operation *o) {
  MPI_Comm c = o->comm;
  int root = root_of(o), bytes = o->bytes, n = o->bytes / (int)sizeof(double);
  char *s = o->send[o->turn % o->buffers], *r = o->receive[o->turn % o->buffers];
  MPI_Datatype b = MPI_BYTE, d = MPI_DOUBLE;
  o->turn++;
  switch (o->operation) {
  case RG_OP_BARRIER:
    return CALL(Barrier(c), rg_barrier(o->group));
  case RG_OP_BCAST:
    return CALL(Bcast(s, bytes, b, root, c), rg_bcast(o->group, s, bytes, b, root));
  case RG_OP_REDUCE:
    return CALL(Reduce(s, r, n, d, MPI_SUM, root, c),
                rg_reduce(o->group, s, r, n, d, MPI_SUM, root));
  case RG_OP_ALLREDUCE:
    return CALL(Allreduce(s, r, n, d, MPI_SUM, c), rg_allreduce(o->group, s, r, n, d, MPI_SUM));
  case RG_OP_GATHER:
    return CALL(Gather(s, bytes, b, r, bytes, b, root, c),
                rg_gather(o->group, s, bytes, b, r, bytes, b, root));
  case RG_OP_SCATTER:
    return CALL(Scatter(s, bytes, b, r, bytes, b, root, c),
                rg_scatter(o->group, s, bytes, b, r, bytes, b, root));
  case RG_OP_ALLGATHER:
    return CALL(Allgather(s, bytes, b, r, bytes, b, c),
                rg_allgather(o->group, s, bytes, b, r, bytes, b));
  case RG_OP_ALLTOALL:
    return CALL(Alltoall(s, bytes, b, r, bytes, b, c),
                rg_alltoall(o->group, s, bytes, b, r, bytes, b));
  case RG_OP_REDUCE_SCATTER:
    return CALL(Reduce_scatter_block(s, r, o->share, d, MPI_SUM, c),
                rg_reduce_scatter_block(o->group, s, r, n, d, MPI_SUM));
  case RG_OP_SCAN:
    return CALL(Scan(s, r, n, d, MPI_SUM, c), rg_scan(o->group, s, r, n, d, MPI_SUM));
  default:
    return CALL(Exscan(s, r, n, d, MPI_SUM, c), rg_exscan(o->group, s, r, n, d, MPI_SUM));
  }
}

/* As the benchmarks that time each call alone do, by the contender's own barrier. */
static int run_each(bench_operation *o) {
  MPI_Comm c = o->comm;
  int error = CALL(Barrier(c), rg_barrier(o->group));
  o->spent = 0;
  for (int i = -UNTIMED; i < o->batch && !error; i++) {
    double from = rgp_now();
    error = bench_operation_call(o);
    if (i >= 0)
      o->spent += rgp_now() - from;
    if (!error)
      error = CALL(Barrier(c), rg_barrier(o->group));
  }
  return error;
}

const char *bench_operation_run(void *context) {
  bench_operation *o = context;
  if (o->timing == BENCH_EACH)
    return run_each(o) ? rg_error_detail() : NULL;
  for (int i = 0; i < o->batch; i++)
    if (bench_operation_call(o))
      return rg_error_detail();
  return NULL;
}

const char *bench_operation_run_marked(void *context) {
  bench_operation *o = context;
  bench_call c = call_of(o, o->turn);
  bench_fill(&c, o->send[o->turn % o->buffers], o->receive[o->turn % o->buffers]);
  return bench_operation_call(o) ? rg_error_detail() : NULL;
}

const char *bench_operation_verify(void *context) {
  bench_operation *o = context;
  static char text[256];
  int turn = o->turn - 1;
  const char *wrong;
  bench_call c = call_of(o, turn);
  wrong = bench_verify(&c, o->send[turn % o->buffers], o->receive[turn % o->buffers]);
  if (!wrong)
    return NULL;
  snprintf(text, sizeof text, "%s of %d bytes on %d ranks, root %d: %s",
           rg_operation_name(o->operation), c.bytes,
           c.initiators ? c.initiators + c.responders : c.ranks, c.root, wrong);
  return text;
}
