/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench arrays: one-sided operations on an array, against memory itself and
 * against MPI's windows. */
#include "arrays.h"

#include <mpi.h>
#include <regroup.h>
#include <string.h>

#include "command.h"
#include "settings.h"
#include "verify.h"

#define SIZES 64
#define WARMUP 5
#define BATCH 16
#define COUNTS 65536 /* read-increments by instructions: all ranks are at work most of the time */
#define SHORT 4096
#define MOST_BYTES (1 << 26)

static const char *const op_names[] = {"put", "get", "acc", "read_inc", "sync", NULL};
static const char *const store_names[BENCH_STORES] = {"rg_array", "memory", "MPI window"};

static struct {
  const char *ops, *sizes, *ranks;
  int op[BENCH_ARRAY_OPS], size[SIZES], place[BENCH_PLACES];
  int ops_n, sizes_n, places_n;
} given = {.ops = "put,get,acc,read_inc,sync", .sizes = "8,1024,65536,1048576"};

static const struct poptOption options[] = {
    {"operation", 'o', POPT_ARG_STRING, &given.ops, 0,
     "put, get and acc by rank 0 on the last rank's block; read_inc by all on one element; "
     "sync (all)",
     "LIST"},
    {"sizes", 0, POPT_ARG_STRING, &given.sizes, 0,
     "Bytes of a patch, multiples of 8 (8,1024,65536,1048576)", "LIST"},
    {"ranks", 'n', POPT_ARG_STRING, &given.ranks, 0,
     "Among so many of the job's first ranks, one number after the other (all)", "LIST"},
    BENCH_VERIFY_OPTION,
    POPT_TABLEEND};

static int check(char text[RGP_TEXT]) {
  given.ops_n = bench_words("--operation", given.ops, op_names, given.op, text);
  if (given.ops_n < 0)
    return 1;
  given.sizes_n = bench_numbers("--sizes", given.sizes, 8, MOST_BYTES, SIZES, given.size, text);
  for (int i = 0; i < given.sizes_n; i++)
    if (given.size[i] % 8)
      return snprintf(text, RGP_TEXT, "--sizes: %d is no multiple of 8", given.size[i]);
  if (given.sizes_n < 0)
    return 1;
  given.places_n = bench_places(given.ranks, 2, given.place, text);
  return given.places_n < 0;
}

/* --- the contenders --------------------------------------------------------------------- */

typedef struct {
  bench_arrays_work *work;
  bench_store store;
  bench_array_op op;
  int batch, turn;
  int64_t counted, shared; /* read-increments; those between which another rank's came */
} contender;

/* Read-increments and syncs have one size. */
static int sized(bench_array_op op) {
  return op != BENCH_READ_INC && op != BENCH_SYNC;
}

static const char *run_batch(void *context) {
  contender *c = context;
  int64_t before;
  if (c->op == BENCH_READ_INC) {
    c->counted += c->batch;
    return bench_arrays_count(c->work, c->store, c->batch, &c->shared) ? rg_error_detail() : NULL;
  }
  for (int i = 0; i < c->batch; i++)
    if (bench_arrays_do(c->work, c->store, c->op, c->turn++, 1, &before))
      return rg_error_detail();
  return NULL;
}

static int does(contender *c, bench_array_op op) {
  int64_t before;
  return bench_arrays_do(c->work, c->store, op, c->turn, 0, &before);
}

/* --- verified ------------------------------------------------------------------------------ */

static double operand(int turn, int i) {
  return 1 + bench_byte(turn, 0, 0, i);
}

static void fill(contender *c, int cleared) {
  for (int i = 0; i < c->work->n; i++)
    c->work->buffer[c->turn % BENCH_SPOTS][i] = cleared ? -1 : operand(c->turn, i);
}

static const char *check_patch(contender *c, double factor) {
  static char text[128];
  fill(c, 1);
  if (does(c, BENCH_GET))
    return rg_error_detail();
  for (int i = 0; i < c->work->n; i++) {
    double x = c->work->buffer[c->turn % BENCH_SPOTS][i], right = factor * operand(c->turn, i);
    if (x != right) {
      snprintf(text, sizeof text, "wrong result: element %d is %.17g, not %.17g", i, x, right);
      return text;
    }
  }
  return NULL;
}

/* What is put is got; accumulated on it, twice of it. */
static const char *verify_patch(contender *c) {
  fill(c, 0);
  if (does(c, BENCH_PUT) || (c->op == BENCH_ACC && does(c, BENCH_ACC)))
    return rg_error_detail();
  return check_patch(c, c->op == BENCH_ACC ? 2 : 1);
}

/* All increments together are what the counter has grown by; each sees it grow. */
static const char *verify_count(contender *c) {
  MPI_Comm comm = c->work->place->comm;
  int64_t begin = 0, end = 0, last = -1, before = 0;
  int error = bench_arrays_do(c->work, c->store, BENCH_READ_INC, 0, 0, &begin), grows = 1;
  MPI_Barrier(comm);
  for (int i = 0; i < BATCH; i++, last = before) {
    error |= bench_arrays_do(c->work, c->store, BENCH_READ_INC, 0, 1, &before);
    grows &= before > last;
  }
  MPI_Barrier(comm);
  error |= bench_arrays_do(c->work, c->store, BENCH_READ_INC, 0, 0, &end);
  MPI_Barrier(comm);
  if (error)
    return rg_error_detail();
  return grows && end - begin == (int64_t)BATCH * c->work->place->ranks
             ? NULL
             : "wrong result: increments are lost or counted twice";
}

/* After a sync all see what one has put before it. */
static const char *verify_sync(contender *c) {
  const char *wrong;
  fill(c, 0);
  if (c->work->place->rank == 0 && does(c, BENCH_PUT))
    return rg_error_detail();
  if (does(c, BENCH_SYNC))
    return rg_error_detail();
  wrong = check_patch(c, 1);
  return does(c, BENCH_SYNC) ? rg_error_detail() : wrong;
}

static const char *run_verified(void *context) {
  contender *c = context;
  c->turn++;
  if (sized(c->op))
    return verify_patch(c);
  return c->op == BENCH_SYNC ? verify_sync(c) : verify_count(c);
}

/* --- one measurement ------------------------------------------------------------------------- */

/* Memory has no sync, and is within reach on one node only. */
static int takes_part(const bench_place *place, bench_store store, bench_array_op op) {
  return store != BENCH_MEMORY || (place->nodes == 1 && op != BENCH_SYNC);
}

static int batch_of(const bench_place *place, bench_store store, bench_array_op op, int bytes) {
  if (op == BENCH_READ_INC && place->nodes == 1 && store != BENCH_WINDOW)
    return COUNTS;
  return bytes <= SHORT ? BATCH : 1;
}

static int line_up(bench_arrays_work *work, const bench_place *place, bench_array_op op, int bytes,
                   contender each[], bench_contender list[]) {
  int n = 0;
  for (int store = 0; store < BENCH_STORES; store++)
    if (takes_part(place, (bench_store)store, op)) {
      int batch = batch_of(place, (bench_store)store, op, bytes);
      each[n] = (contender){work, (bench_store)store, op, batch, 0, 0, 0};
      list[n] = (bench_contender){.name = store_names[store],
                                  .takes_part = sized(op) ? place->rank == 0 : place->member,
                                  .run = run_batch,
                                  .context = &each[n],
                                  .batch = batch};
      n++;
    }
  return n;
}

/* Ranks that are not at work at the same time have the counter's line each to itself for long:
 * their time says nothing of contention. So the part of the increments is told that found another
 * rank's. Collective over the job. */
static void tell_shared(const contender each[], int n, int first, bench_report *report) {
  for (int i = 0; i < n; i++) {
    int64_t mine[2] = {each[i].shared, each[i].counted}, all[2] = {0};
    MPI_Reduce(mine, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (report->rows > first + i && all[1] > 0) {
      double part = (double)all[0] / (double)all[1];
      size_t used = strlen(report->note);
      bench_report_tell(report, first + i, json_pack("{sf}", "shared", part));
      snprintf(report->note + used, sizeof report->note - used, "%s %s %.2f",
               i ? "," : "\nread_inc, the part that found another rank's increment:",
               store_names[each[i].store], part);
    }
  }
}

/* Members make the arrays. Collective over the job: the same answer on all. */
static int begin(bench_arrays_work *work, const bench_place *place, int bytes) {
  const char *wrong = place->member ? bench_arrays_begin(work, place, bytes / 8) : NULL;
  int good = !wrong, all;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (wrong)
    fprintf(stderr, "regroup-bench arrays: %d bytes on rank %d: %s\n", bytes, place->rank, wrong);
  return all;
}

static int measure(const bench_place *place, bench_array_op op, int bytes, const bench_plan *plan,
                   bench_report *report) {
  const bench_plan few = {.reps = 3, .seconds = 1e6};
  bench_arrays_work work;
  contender each[BENCH_STORES];
  bench_contender list[BENCH_STORES];
  bench_measured measured[BENCH_STORES] = {0}, unused[BENCH_STORES];
  int first = report->rows, x = sized(op) ? bytes : 0;
  if (!begin(&work, place, bytes))
    return 0;
  int n = line_up(&work, place, op, x, each, list);
  int good = bench_measure(MPI_COMM_WORLD, plan, n, list, measured);
  for (int i = 0; i < n && good; i++) {
    good = bench_report_add(report, x, list[i].name, &measured[i]);
    list[i].run = run_verified;
    list[i].batch = 1;
  }
  bench_report_place(report, first, op_names[op], place->ranks);
  if (op == BENCH_READ_INC)
    tell_shared(each, n, first, report);
  if (good && bench_given.verify)
    good = bench_measure(MPI_COMM_WORLD, &few, n, list, unused);
  if (place->member)
    bench_arrays_end(&work);
  return good;
}

static int sizes_of(int op) {
  return sized((bench_array_op)op) ? given.sizes_n : 1;
}

typedef struct {
  bench_report *report;
  rgp_progress *progress;
  double deadline;
  int done, all;
} course;

static int measure_place(course *k, int ranks) {
  bench_place place;
  int good = 1;
  if (bench_place_begin(&place, ranks))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  for (int i = 0; i < given.ops_n && good; i++)
    for (int s = 0; s < sizes_of(given.op[i]) && good; s++) {
      bench_plan plan = bench_plan_for(k->done++, k->all, WARMUP, k->deadline, k->progress);
      good = measure(&place, (bench_array_op)given.op[i], given.size[s], &plan, k->report);
    }
  bench_place_end(&place);
  return good;
}

static int run(bench_report *report, rgp_progress *progress) {
  course k = {report, progress, rgp_now() + bench_given.time_limit, 0, 0};
  int good = 1;
  report->x_name = report->x_key = "bytes";
  report->rates = 1;
  json_object_set_new(report->facts, "verified", json_boolean(bench_given.verify));
  snprintf(report->title, sizeof report->title, "One-sided operations on a job of %d ranks",
           report->ranks);
  snprintf(report->note, sizeof report->note,
           "Each is complete at its target: rg_array with rg_array_fence, MPI with MPI_Win_flush");
  for (int i = 0; i < given.ops_n; i++)
    k.all += sizes_of(given.op[i]) * given.places_n;
  for (int i = 0; i < given.places_n && good; i++)
    good = measure_place(&k, given.place[i]);
  return good;
}

const bench_command bench_arrays = {
    .name = "arrays",
    .summary = "Put, get, accumulate, read-increment and sync, against memory and MPI's windows.",
    .options = options,
    .pictured = 1,
    .check = check,
    .run = run};
