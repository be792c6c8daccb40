/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench coll: the collectives against MPI's own, on all ranks. Roots and
 * buffers rotate from one call to the next. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "settings.h"

#define SIZES 64
#define WARMUP 5
#define BUFFERS 4 /* used in turn, so that data are not always in the cache */
/* Short operations are done so many times in a row, each with another root, and
 * the time of one is told. */
#define BATCH 16
#define BATCH_BYTES 4096
#define CONTENDERS 16
#define TAG 3

typedef struct {
  rg_group g, world;
  int ranks, rank, bytes, turn, batch, operation;
  char *send[BUFFERS], *receive[BUFFERS];
} work;

static struct {
  const char *operation, *sizes, *algorithms;
  int fresh;
  int size[SIZES], sizes_n, number;
  int pick[CONTENDERS], picks;
} given = {.operation = "allreduce", .sizes = "8,1024,65536,1048576"};

static const struct poptOption options[] = {
    {"operation", 'o', POPT_ARG_STRING, &given.operation, 0,
     "barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, "
     "scan or exscan (allreduce)",
     "NAME"},
    {"sizes", 0, POPT_ARG_STRING, &given.sizes, 0,
     "Bytes of a block or vector (8,1024,65536,1048576)", "LIST"},
    {"algorithms", 'a', POPT_ARG_STRING, &given.algorithms, 0,
     "Besides MPI's own and the automatic choice: algorithms by name", "LIST"},
    {"fresh", 'f', POPT_ARG_NONE, &given.fresh, 0,
     "Also the first call on a group that is formed for it, forming included; no call is "
     "repeated then",
     NULL},
    POPT_TABLEEND};

/* --- the operations --------------------------------------------------------------- */

#define CALL(mpi, ours) by_mpi ? (mpi, RG_SUCCESS) : (ours)

static int call(work *w, int by_mpi) {
  MPI_Comm c = MPI_COMM_WORLD;
  int root = w->turn % w->ranks, bytes = w->bytes, n = w->bytes / (int)sizeof(double);
  char *s = w->send[w->turn % BUFFERS], *r = w->receive[w->turn % BUFFERS];
  MPI_Datatype b = MPI_BYTE, d = MPI_DOUBLE;
  w->turn++;
  switch (w->operation) {
  case RG_OP_BARRIER:
    return CALL(MPI_Barrier(c), rg_barrier(w->g));
  case RG_OP_BCAST:
    return CALL(MPI_Bcast(s, bytes, b, root, c), rg_bcast(w->g, s, bytes, b, root));
  case RG_OP_REDUCE:
    return CALL(MPI_Reduce(s, r, n, d, MPI_SUM, root, c),
                rg_reduce(w->g, s, r, n, d, MPI_SUM, root));
  case RG_OP_ALLREDUCE:
    return CALL(MPI_Allreduce(s, r, n, d, MPI_SUM, c), rg_allreduce(w->g, s, r, n, d, MPI_SUM));
  case RG_OP_GATHER:
    return CALL(MPI_Gather(s, bytes, b, r, bytes, b, root, c),
                rg_gather(w->g, s, bytes, b, r, bytes, b, root));
  case RG_OP_SCATTER:
    return CALL(MPI_Scatter(s, bytes, b, r, bytes, b, root, c),
                rg_scatter(w->g, s, bytes, b, r, bytes, b, root));
  case RG_OP_ALLGATHER:
    return CALL(MPI_Allgather(s, bytes, b, r, bytes, b, c),
                rg_allgather(w->g, s, bytes, b, r, bytes, b));
  case RG_OP_ALLTOALL:
    return CALL(MPI_Alltoall(s, bytes, b, r, bytes, b, c),
                rg_alltoall(w->g, s, bytes, b, r, bytes, b));
  case RG_OP_REDUCE_SCATTER:
    return CALL(MPI_Reduce_scatter_block(s, r, n, d, MPI_SUM, c),
                rg_reduce_scatter_block(w->g, s, r, n, d, MPI_SUM));
  case RG_OP_SCAN:
    return CALL(MPI_Scan(s, r, n, d, MPI_SUM, c), rg_scan(w->g, s, r, n, d, MPI_SUM));
  default:
    return CALL(MPI_Exscan(s, r, n, d, MPI_SUM, c), rg_exscan(w->g, s, r, n, d, MPI_SUM));
  }
}

static const char *run_batch(work *w, int by_mpi) {
  for (int i = 0; i < w->batch; i++)
    if (call(w, by_mpi))
      return rg_error_detail();
  return NULL;
}

static const char *run_mpi(void *context) {
  return run_batch(context, 1);
}

static const char *run_ours(void *context) {
  return run_batch(context, 0);
}

/* The group is formed, and used for the first time. */
static const char *run_fresh(void *context) {
  work *w = context;
  int error = rg_group_create_range(w->world, 0, w->ranks - 1, 1, TAG, &w->g);
  return error || call(w, 0) ? rg_error_detail() : NULL;
}

static const char *finish_fresh(void *context) {
  work *w = context;
  return rg_group_free(&w->g) ? rg_error_detail() : NULL;
}

/* --- algorithms --------------------------------------------------------------------- */

/* "auto" and then the operation's own; closed by NULL. */
static void name_algorithms(const char *names[CONTENDERS + 1]) {
  int count = 0;
  rg_algorithm_count((rg_operation)given.number, &count);
  names[0] = "auto";
  for (int i = 0; i < CONTENDERS; i++)
    names[i + 1] = NULL;
  for (int i = 0; i < count && i < CONTENDERS - 1; i++)
    rg_algorithm_get((rg_operation)given.number, i, &names[i + 1], NULL, NULL);
}

static int check(char text[RGP_TEXT]) {
  const char *names[CONTENDERS + 1], *name;
  for (given.number = 0; given.number < RG_OP_COUNT; given.number++)
    if (rg_operation_name((rg_operation)given.number, &name) == RG_SUCCESS &&
        strcmp(name, given.operation) == 0)
      break;
  if (given.number == RG_OP_COUNT || given.operation[strlen(given.operation) - 1] == 'v')
    return snprintf(text, RGP_TEXT, "--operation: '%.100s' is not known; see --help",
                    given.operation);
  name_algorithms(names);
  given.picks = 1; /* auto */
  if (given.algorithms) {
    int more = bench_words("--algorithms", given.algorithms, names, given.pick + 1, text);
    if (more < 0)
      return 1;
    given.picks += more;
  }
  if (given.number == RG_OP_BARRIER)
    given.size[given.sizes_n++] = 0;
  else
    given.sizes_n = bench_numbers("--sizes", given.sizes, 1, 1 << 30, SIZES, given.size, text);
  return given.sizes_n < 0;
}

/* --- measuring ------------------------------------------------------------------------ */

/* A block for every rank, where the operation has that. */
static size_t room(const work *w) {
  int blocks = w->operation == RG_OP_GATHER || w->operation == RG_OP_SCATTER ||
               w->operation == RG_OP_ALLGATHER || w->operation == RG_OP_ALLTOALL ||
               w->operation == RG_OP_REDUCE_SCATTER;
  return (size_t)w->bytes * (size_t)(blocks ? w->ranks : 1) + sizeof(double);
}

static int begin(work *w, int bytes) {
  *w = (work){.bytes = bytes, .operation = given.number};
  w->batch = bytes <= BATCH_BYTES && !given.fresh ? BATCH : 1;
  MPI_Comm_size(MPI_COMM_WORLD, &w->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
  for (int i = 0; i < BUFFERS; i++) {
    w->send[i] = calloc(room(w), 1);
    w->receive[i] = calloc(room(w), 1);
    if (!w->send[i] || !w->receive[i])
      return 0;
  }
  return rg_group_world(&w->world) == RG_SUCCESS;
}

static void end(work *w, rg_group forced[]) {
  for (int i = 0; i < BUFFERS; i++) {
    free(w->send[i]);
    free(w->receive[i]);
  }
  for (int i = 0; i < given.picks; i++)
    rg_group_free(&forced[i]);
  rg_group_free(&w->world);
}

static int measure(const bench_plan *plan, int bytes, const char *const names[],
                   bench_measured measured[]) {
  work mpi, fresh, ours[CONTENDERS];
  int n = given.picks + 1;
  rg_group forced[CONTENDERS] = {NULL};
  bench_contender list[CONTENDERS + 2];
  if (!begin(&mpi, bytes))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  fresh = mpi;
  list[0] = (bench_contender){"MPI", 1, run_mpi, NULL, &mpi, mpi.batch};
  for (int i = 0; i < given.picks; i++) {
    ours[i] = mpi;
    rg_group_create_range(mpi.world, 0, mpi.ranks - 1, 1, TAG, &forced[i]);
    ours[i].g = forced[i];
    rg_group_set_algorithm(forced[i], (rg_operation)given.number, names[given.pick[i]]);
    list[i + 1] = (bench_contender){names[given.pick[i]], 1, run_ours, NULL, &ours[i], mpi.batch};
  }
  if (given.fresh)
    list[n++] = (bench_contender){"fresh group", 1, run_fresh, finish_fresh, &fresh, 1};
  int good = bench_measure(MPI_COMM_WORLD, plan, n, list, measured);
  end(&mpi, forced);
  return good;
}

static int run(bench_report *report, rgp_progress *progress) {
  double deadline = rgp_now() + bench_given.time_limit;
  static const char *names[CONTENDERS + 1];
  bench_measured measured[CONTENDERS + 2] = {0};
  name_algorithms(names);
  report->x_name = "bytes";
  report->x_key = "bytes";
  json_object_set_new(report->facts, "operation", json_string(given.operation));
  snprintf(report->title, sizeof report->title, "%s on %d ranks", given.operation, report->ranks);
  for (int i = 0; i < given.sizes_n; i++) {
    bench_plan plan = bench_plan_for(i, given.sizes_n, WARMUP, deadline, progress);
    if (!measure(&plan, given.size[i], names, measured))
      return 0;
    bench_report_add(report, given.size[i], "MPI", &measured[0]);
    for (int k = 0; k < given.picks; k++)
      bench_report_add(report, given.size[i], names[given.pick[k]], &measured[k + 1]);
    if (given.fresh)
      bench_report_add(report, given.size[i], "fresh group", &measured[given.picks + 1]);
  }
  return 1;
}

const bench_command bench_coll = {.name = "coll",
                                  .summary =
                                      "The collectives of groups against MPI's own, by algorithm.",
                                  .options = options,
                                  .check = check,
                                  .run = run};
