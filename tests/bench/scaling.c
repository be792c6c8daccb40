/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench scaling: a small program on growing groups of the job's first
 * ranks, with computing, communication and idle time told apart. */
#include <mpi.h>
#include <regroup.h>
#include <string.h>

#include "command.h"
#include "kernel.h"
#include "settings.h"

#define SIZES 64
#define WARMUP 1
#define TAG 5

static struct {
  const char *sizes;
  int weak, steps, bytes;
  double work, serial;
  int size[SIZES], sizes_n;
} given = {.steps = 10, .bytes = 8, .work = 5};

static const struct poptOption options[] = {
    {"sizes", 0, POPT_ARG_STRING, &given.sizes, 0, "Numbers of processes (1,2,4,... and all ranks)",
     "LIST"},
    {"weak", 0, POPT_ARG_NONE, &given.weak, 0,
     "The parallel part grows with the processes; else the work stays", NULL},
    {"work", 0, POPT_ARG_DOUBLE, &given.work, 0,
     "Milliseconds of computing in a step on one process (5)", "MS"},
    {"serial", 0, POPT_ARG_DOUBLE, &given.serial, 0,
     "The part of it that one process does alone: 0 to 1 (0)", "PART"},
    {"steps", 0, POPT_ARG_INT, &given.steps, 0, "Steps in a run (10)", "N"},
    {"bytes", 'b', POPT_ARG_INT, &given.bytes, 0,
     "Bytes of the vector that each step combines, a multiple of 8 (8)", "N"},
    POPT_TABLEEND};

static int check(char text[RGP_TEXT]) {
  int np;
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  if (!(given.work > 0 && given.work <= 1e5))
    return snprintf(text, RGP_TEXT, "--work: %g is not above 0 and up to 1e5 ms", given.work);
  if (!(given.serial >= 0 && given.serial <= 1))
    return snprintf(text, RGP_TEXT, "--serial: %g is not from 0 to 1", given.serial);
  if (given.steps < 1 || given.steps > 100000)
    return snprintf(text, RGP_TEXT, "--steps: %d is not from 1 to 100000", given.steps);
  if (given.bytes < 8 || given.bytes % 8 || given.bytes > 1 << 30)
    return snprintf(text, RGP_TEXT, "--bytes: %d is no multiple of 8 from 8 to 2^30", given.bytes);
  if (!given.sizes)
    given.size[given.sizes_n++] = 1;
  int more = np == 1 && !given.sizes
                 ? 0
                 : bench_group_sizes(given.sizes, np, SIZES - 1, given.size + given.sizes_n, text);
  given.sizes_n += more;
  return more < 0;
}

/* --- the contenders ---------------------------------------------------------------------- */

typedef struct {
  int n;
  bench_kernel kernel[SIZES];
  bench_contender list[SIZES];
  bench_measured measured[SIZES];
} field;

/* The same problem for all, or one whose parallel part grows. */
static int add(field *f, rg_group world, int rank, double units) {
  bench_kernel *k = &f->kernel[f->n];
  int p = given.size[f->n], member = rank < p, good = 1;
  double parallel = (1 - given.serial) * units / (given.weak ? 1 : p);
  rg_group g = NULL;
  if (member)
    good = rg_group_create_range(world, 0, p - 1, 1, TAG, &g) == RG_SUCCESS &&
           bench_kernel_begin(k, g, given.steps, given.serial * units, parallel, given.bytes);
  f->list[f->n++] = (bench_contender){.name = "run",
                                      .takes_part = member,
                                      .run = bench_kernel_run,
                                      .finish = bench_kernel_finish,
                                      .context = k};
  return good;
}

static int begin(field *f, int rank) {
  double speed = rank == 0 ? bench_kernel_speed() : 0;
  rg_group world;
  MPI_Bcast(&speed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int good = rg_group_world(&world) == RG_SUCCESS;
  for (int i = 0; i < given.sizes_n && good; i++)
    good = add(f, world, rank, 1e-3 * given.work * speed);
  rg_group_free(&world);
  return good;
}

static void end(field *f, int rank) {
  for (int i = 0; i < f->n; i++)
    if (rank < given.size[i]) {
      rg_group_free(&f->kernel[i].group);
      bench_kernel_end(&f->kernel[i]);
    }
}

/* --- what was found ------------------------------------------------------------------------ */

/* Processor-seconds of one run, over all processes. The parts were summed over all
 * runs; they are given the median's length. Collective. */
static json_t *parts_of(const bench_kernel *kernel, int p, double median) {
  double mine[] = {kernel->split.elapsed, kernel->split.computation, kernel->split.communication,
                   kernel->split.idle};
  double sum[4], work = given.weak ? given.serial + (1 - given.serial) * p : 1;
  MPI_Reduce(mine, sum, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  double scale = sum[0] > 0 ? p * median / sum[0] : 0;
  return json_pack("{sf sf sf sf}", "work", work, "computation", scale * sum[1], "communication",
                   scale * sum[2], "idle", scale * sum[3]);
}

static void print(const bench_report *report) {
  printf("%s; time of the slowest rank, parts in processor-seconds\n\n%9s %10s %8s %12s %13s %10s "
         "%6s\n",
         report->title, "processes", "time, s", "work", "computation", "communication", "idle",
         "runs");
  for (int i = 0; i < report->rows; i++) {
    const bench_row *row = &report->row[i];
    printf("%9d %10.4g", row->x, row->measured.seconds.median);
    printf(" %8.4g %12.4g", json_real_value(json_object_get(row->more, "work")),
           json_real_value(json_object_get(row->more, "computation")));
    printf(" %13.4g %10.4g %6d\n", json_real_value(json_object_get(row->more, "communication")),
           json_real_value(json_object_get(row->more, "idle")), row->measured.seconds.n);
  }
  printf("\n%s\n", report->note);
}

static void tell(bench_report *report) {
  json_t *facts = json_pack("{ss sf sf si si}", "scaling", given.weak ? "weak" : "strong",
                            "step_seconds", 1e-3 * given.work, "serial", given.serial, "steps",
                            given.steps, "bytes", given.bytes);
  json_object_update(report->facts, facts);
  json_decref(facts);
  report->x_name = report->x_key = "processes";
  report->print = print;
  snprintf(report->title, sizeof report->title, "%s scaling, %d steps of %g ms, %g %% serial",
           given.weak ? "Weak" : "Strong", given.steps, given.work, 100 * given.serial);
  snprintf(report->note, sizeof report->note,
           "regroup-bench report FILE says what this means, where --json FILE has kept it.");
}

static int run(bench_report *report, rgp_progress *progress) {
  static field f;
  int rank, good;
  bench_plan plan = bench_plan_for(0, 1, WARMUP, rgp_now() + bench_given.time_limit, progress);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!begin(&f, rank))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  good = bench_measure(MPI_COMM_WORLD, &plan, f.n, f.list, f.measured);
  for (int i = 0; i < f.n && good; i++) {
    json_t *parts = parts_of(&f.kernel[i], given.size[i], f.measured[i].seconds.median);
    good = bench_report_add(report, given.size[i], "run", &f.measured[i]);
    if (good)
      bench_report_tell(report, i, parts);
  }
  tell(report);
  end(&f, rank);
  return good;
}

const bench_command bench_scaling_run = {.name = "scaling",
                                         .summary = "A small program on growing groups: "
                                                    "computing, communication, idle time.",
                                         .options = options,
                                         .pictured = 1,
                                         .check = check,
                                         .run = run};
