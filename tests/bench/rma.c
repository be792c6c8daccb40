/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench rma: MPI's one-sided communication as the preloaded library serves it, against
 * MPI's own, and against loads and stores. */
#include <mpi.h>
#include <regroup.h>
#include <string.h>

#include "command.h"
#include "preload.h"
#include "settings.h"
#include "windows.h"

#define SIZES 16
#define WARMUP 5
#define MOST_BYTES (1 << 26)

enum { OPS = 21 };

typedef struct {
  bench_windows_kind kind;
  bench_windows_shape shape;
  int batch; /* of small ones */
} operation;

#define SHORT 1024
#define LONG 16
static const char *const op_names[OPS + 1] = {"put",
                                              "get",
                                              "accumulate",
                                              "replace",
                                              "read",
                                              "put_subarray",
                                              "get_subarray",
                                              "accumulate_subarray",
                                              "replace_subarray",
                                              "read_subarray",
                                              "put_new_types",
                                              "replace_new_types",
                                              "fetch_and_op",
                                              "compare_and_swap",
                                              "flush",
                                              "flush_all",
                                              "flush_local",
                                              "flush_local_all",
                                              "alloc_mem",
                                              "create",
                                              "allocate",
                                              NULL};
static const operation ops[OPS] = {
    {BENCH_WINDOWS_PUT, BENCH_WINDOWS_DENSE, SHORT},
    {BENCH_WINDOWS_GET, BENCH_WINDOWS_DENSE, SHORT},
    {BENCH_WINDOWS_SUM, BENCH_WINDOWS_DENSE, SHORT},
    {BENCH_WINDOWS_REPLACE, BENCH_WINDOWS_DENSE, SHORT},
    {BENCH_WINDOWS_READ, BENCH_WINDOWS_DENSE, SHORT},
    {BENCH_WINDOWS_PUT, BENCH_WINDOWS_SUBARRAY, LONG},
    {BENCH_WINDOWS_GET, BENCH_WINDOWS_SUBARRAY, LONG},
    {BENCH_WINDOWS_SUM, BENCH_WINDOWS_SUBARRAY, LONG},
    {BENCH_WINDOWS_REPLACE, BENCH_WINDOWS_SUBARRAY, LONG},
    {BENCH_WINDOWS_READ, BENCH_WINDOWS_SUBARRAY, LONG},
    {BENCH_WINDOWS_PUT, BENCH_WINDOWS_NEW_TYPES, LONG},
    {BENCH_WINDOWS_REPLACE, BENCH_WINDOWS_NEW_TYPES, LONG},
    {BENCH_WINDOWS_FETCH, BENCH_WINDOWS_NONE, SHORT},
    {BENCH_WINDOWS_SWAP, BENCH_WINDOWS_NONE, SHORT},
    {BENCH_WINDOWS_FLUSH, BENCH_WINDOWS_NONE, SHORT},
    {BENCH_WINDOWS_FLUSH_ALL, BENCH_WINDOWS_NONE, SHORT},
    {BENCH_WINDOWS_FLUSH_LOCAL, BENCH_WINDOWS_NONE, SHORT},
    {BENCH_WINDOWS_FLUSH_LOCAL_ALL, BENCH_WINDOWS_NONE, SHORT},
    {BENCH_WINDOWS_ALLOC_MEM, BENCH_WINDOWS_NONE, SHORT},
    {BENCH_WINDOWS_CREATE, BENCH_WINDOWS_NONE, LONG},
    {BENCH_WINDOWS_ALLOCATE, BENCH_WINDOWS_NONE, LONG},
};
static const char *const store_names[BENCH_WINDOWS_STORES] = {"MPI", "regroup-mpi", "memory"};

static struct {
  const char *ops, *sizes, *ranks;
  int op[OPS], size[SIZES], place[BENCH_PLACES];
  int ops_n, sizes_n, places_n, busy; /* busy: milliseconds */
} given = {.ops = "all", .sizes = "8,1048576"};

static const struct poptOption options[] = {
    {"operation", 'o', POPT_ARG_STRING, &given.ops, 0,
     "put, get, accumulate, replace, read, each of these as ..._subarray; put_new_types, "
     "replace_new_types; fetch_and_op, compare_and_swap; flush, flush_all, flush_local, "
     "flush_local_all; alloc_mem, create, allocate (all)",
     "LIST|all"},
    {"sizes", 0, POPT_ARG_STRING, &given.sizes, 0,
     "Bytes that are dense, multiples of 8 (8,1048576)", "LIST"},
    {"ranks", 'n', POPT_ARG_STRING, &given.ranks, 0,
     "Among so many of the job's first ranks, one number after the other (all)", "LIST"},
    {"busy", 'b', POPT_ARG_INT, &given.busy, 0,
     "All ranks but the first one compute for so long, in ms, while it accesses their memory (0)",
     "MS"},
    POPT_TABLEEND};

/* --- the command line ---------------------------------------------------------------------- */

static int by_all(int op) {
  return ops[op].kind == BENCH_WINDOWS_CREATE || ops[op].kind == BENCH_WINDOWS_ALLOCATE;
}

static int check_ops(char text[RGP_TEXT]) {
  if (strcmp(given.ops, "all") == 0) {
    for (int i = 0; op_names[i]; i++)
      if (!given.busy || !by_all(i))
        given.op[given.ops_n++] = i;
    return 0;
  }
  given.ops_n = bench_words("--operation", given.ops, op_names, given.op, text);
  for (int i = 0; i < given.ops_n; i++)
    if (given.busy && by_all(given.op[i]))
      return snprintf(text, RGP_TEXT, "--busy: %s is called by all ranks", op_names[given.op[i]]);
  return given.ops_n < 0;
}

static int check(char text[RGP_TEXT]) {
  if (given.busy < 0 || given.busy > 10000)
    return snprintf(text, RGP_TEXT, "--busy: %d is not between 0 and 10000", given.busy);
  if (check_ops(text))
    return 1;
  given.sizes_n = bench_numbers("--sizes", given.sizes, 8, MOST_BYTES, SIZES, given.size, text);
  for (int i = 0; i < given.sizes_n; i++)
    if (given.size[i] % 8)
      return snprintf(text, RGP_TEXT, "--sizes: %d is no multiple of 8", given.size[i]);
  if (given.sizes_n < 0)
    return 1;
  given.places_n = bench_places(given.ranks, 2, given.place, text);
  if (given.places_n > 0 && !bench_preloaded("MPI_Put"))
    return snprintf(text, RGP_TEXT, "libregroup-mpi.so is not in ../lib beside the program");
  return given.places_n < 0;
}

/* --- one measurement ------------------------------------------------------------------------ */

static int sized(int op) {
  return ops[op].shape == BENCH_WINDOWS_DENSE;
}

static int bytes_of(int op, int size) {
  return sized(op)                             ? size
         : ops[op].shape != BENCH_WINDOWS_NONE ? BENCH_WINDOWS_SIDE * BENCH_WINDOWS_SIDE * 8
         : ops[op].kind <= BENCH_WINDOWS_SWAP  ? 8
                                               : 0;
}

/* MPI's are the slower ones. That to a target that computes waits until it has ended, so it is made
 * once. */
static int batch_of(int op, int size, int store) {
  if (given.busy && store == BENCH_WINDOWS_MPI)
    return 1;
  if (sized(op) && size > 4096)
    return BENCH_WINDOWS_SPOTS;
  return store == BENCH_WINDOWS_MPI && ops[op].batch > LONG ? LONG : ops[op].batch;
}

static const char *do_nothing(void *context) {
  (void)context;
  return NULL;
}

static const char *compute(void *context) {
  double end = rgp_now() + 1e-3 * given.busy;
  volatile double x = 1;
  (void)context;
  while (rgp_now() < end)
    for (int i = 0; i < 1000; i++)
      x = x * 0.999 + 0.001;
  return NULL;
}

static int has_memory(int op) {
  return ops[op].kind <= BENCH_WINDOWS_SWAP;
}

static int line_up(bench_windows *w, int op, int bytes, bench_windows_work each[],
                   bench_contender list[]) {
  const bench_place *p = w->place;
  int n = 0;
  for (int store = 0; store < BENCH_WINDOWS_STORES; store++) {
    int batch = batch_of(op, bytes, store), acts = p->member && (p->rank == 0 || by_all(op));
    if (store == BENCH_WINDOWS_MEMORY && !has_memory(op))
      continue;
    each[n] = (bench_windows_work){
        .windows = w, .store = (bench_windows_store)store, .kind = ops[op].kind, .batch = batch};
    list[n] = (bench_contender){.name = store_names[store],
                                .takes_part = acts || (p->member && given.busy),
                                .run = acts ? bench_windows_run : do_nothing,
                                .finish = acts ? bench_windows_check : compute,
                                .context = &each[n],
                                .batch = batch};
    n++;
  }
  return n;
}

static const char *begin_windows(bench_windows *windows, const bench_place *place, int op,
                                 int bytes) {
  const char *wrong = bench_windows_begin(windows, place, ops[op].shape, bytes / 8);
  return wrong || bench_windows_served(windows) ? wrong : "the library serves no windows here";
}

/* Collective over the job: the same answer on all. */
static int agree(const char *wrong, const bench_place *place) {
  int good = !wrong, all;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (wrong && place->rank == 0)
    fprintf(stderr, "regroup-bench rma: %s\n", wrong);
  return all;
}

static int measure(const bench_place *p, int op, int size, const bench_plan *plan,
                   bench_report *report) {
  bench_windows w = {.place = p};
  bench_windows_work each[BENCH_WINDOWS_STORES];
  bench_contender list[BENCH_WINDOWS_STORES];
  bench_measured measured[BENCH_WINDOWS_STORES] = {0};
  const char *wrong = NULL;
  int first = report->rows, bytes = bytes_of(op, size);
  if (!agree(p->member ? begin_windows(&w, p, op, bytes) : NULL, p))
    return 0;
  int n = line_up(&w, op, bytes, each, list);
  for (int i = 0; i < n && !wrong && p->rank == 0; i++)
    wrong = bench_windows_work_begin(&each[i]);
  int good = agree(wrong, p) && bench_measure(MPI_COMM_WORLD, plan, n, list, measured);
  for (int i = 0; i < n && good; i++)
    good = bench_report_add(report, bytes, list[i].name, &measured[i]);
  bench_report_place(report, first, op_names[op], p->ranks);
  for (int i = 0; i < n; i++)
    bench_windows_work_end(&each[i]);
  if (p->member)
    bench_windows_end(&w);
  return good;
}

/* --- all of them ------------------------------------------------------------------------------ */

typedef struct {
  bench_report *report;
  rgp_progress *progress;
  double deadline;
  int done, all;
} course;

static int sizes_of(int op) {
  return sized(op) ? given.sizes_n : 1;
}

static int measure_place(course *k, int ranks) {
  bench_place place;
  int good = 1;
  if (bench_place_begin(&place, ranks))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  if (place.nodes > 1)
    good = agree("windows are served on one node", &place);
  for (int i = 0; i < given.ops_n && good; i++)
    for (int s = 0; s < sizes_of(given.op[i]) && good; s++) {
      bench_plan plan =
          bench_plan_for(k->done++, k->all, given.busy ? 1 : WARMUP, k->deadline, k->progress);
      good = measure(&place, given.op[i], given.size[s], &plan, k->report);
    }
  bench_place_end(&place);
  return good;
}

static int run(bench_report *report, rgp_progress *progress) {
  course k = {report, progress, rgp_now() + bench_given.time_limit, 0, 0};
  int good = 1;
  report->x_name = report->x_key = "bytes";
  report->rates = 1;
  json_object_set_new(report->facts, "busy_ms", json_integer(given.busy));
  json_object_set_new(report->facts, "verified", json_boolean(1));
  snprintf(report->title, sizeof report->title, "Windows on a job of %d ranks%s", report->ranks,
           given.busy ? ", the targets computing" : "");
  snprintf(report->note, sizeof report->note,
           "By rank 0 on the last rank's memory, each with MPI_Win_flush; create and allocate: by "
           "all. Every result was checked");
  for (int i = 0; i < given.ops_n; i++)
    k.all += sizes_of(given.op[i]) * given.places_n;
  for (int i = 0; i < given.places_n && good; i++)
    good = measure_place(&k, given.place[i]);
  return good;
}

const bench_command bench_rma = {
    .name = "rma",
    .summary = "MPI's windows as libregroup-mpi.so serves them, against MPI's own and memory.",
    .options = options,
    .pictured = 1,
    .preloads = 1,
    .check = check,
    .run = run};
