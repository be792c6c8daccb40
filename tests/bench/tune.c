/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench tune: t_s, t_w and t_c of each level, fitted to the measured
 * times of all algorithms, and the file that RG_TUNING names. */
#include <errno.h>
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectives/algorithms/choice.h"
#include "collectives/group/operation.h"
#include "command.h"
#include "fit.h"
#include "operation.h"
#include "settings.h"
#include "shm/node.h"

#define WARMUP 2
#define TAG 4

static const int vector[] = {64, 1024, 16384, 262144, 1048576}; /* bytes in all */
enum { SIZES = sizeof vector / sizeof vector[0], CONTENDERS = 64, POINTS = SIZES * CONTENDERS };

/* A level, where messages and bytes cost the same, and the ranks that measure it. */
typedef struct {
  const char *name;
  unsigned skip; /* algorithms with these needs are not of this level */
  unsigned want; /* and these must be there */
  int nodes;     /* as the model counts them */
  int n, member; /* how many measure, and whether this process does */
  int *ranks;    /* these measure */
  bench_fit fit; /* on rank 0; fit.n is 0 where nothing was measured */
} level;

enum { BETWEEN, INSIDE, SHARED, LEVELS };

static level levels[LEVELS] = {
    [BETWEEN] = {.name = "between", .skip = RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_NODES},
    [INSIDE] = {.name = "inside", .skip = RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_NODES},
    [SHARED] = {.name = "shared", .skip = RGI_ALGORITHM_NODES, .want = RGI_ALGORITHM_ONE_NODE}};

/* What a level measures at one size. */
typedef struct {
  int n;
  bench_contender list[CONTENDERS];
  bench_operation each[CONTENDERS], common;
  int row[CONTENDERS];
  bench_measured measured[CONTENDERS];
} field;

static char *output;
static int rank;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0,
     "Write the values to FILE, for the option RG_TUNING of the library", "FILE"},
    POPT_TABLEEND};

static int check(char text[RGP_TEXT]) {
  int np;
  const char *forced = getenv("RG_COLL");
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  if (forced && *forced)
    return snprintf(text, RGP_TEXT,
                    "RG_COLL=%.100s keeps other algorithms from being measured: "
                    "unset it",
                    forced);
  return np < 2 ? snprintf(text, RGP_TEXT, "at least 2 ranks are needed: mpiexec -n 2 ...") : 0;
}

/* --- levels -------------------------------------------------------------------------- */

static int is_first_on_node(int r) {
  for (int i = 0; i < r; i++)
    if (rgi_node_of(i) == rgi_node_of(r))
      return 0;
  return 1;
}

/* One rank of each node; or the ranks of the first one's node. */
static int takes_part(int which, int r) {
  return which == BETWEEN ? rgi_node.count > 1 && is_first_on_node(r)
                          : rgi_node_of(r) == rgi_node_of(0);
}

static int find_members(int which, int np, int me) {
  level *l = &levels[which];
  l->ranks = malloc((size_t)np * sizeof *l->ranks);
  for (int r = 0; r < np && l->ranks; r++)
    if (takes_part(which, r))
      l->ranks[l->n++] = r;
  l->member = takes_part(which, me);
  l->nodes = which == BETWEEN ? l->n : 1;
  return l->ranks != NULL;
}

/* Of the ways inside a node only the automatic choice. */
static int is_of(const level *l, const rgi_algorithm *algorithm) {
  unsigned needs = algorithm->needs;
  return !(needs & l->skip) && (needs & l->want) == l->want && !algorithm->suits;
}

static int in_blocks(rg_operation op) {
  return op == RG_OP_GATHER || op == RG_OP_SCATTER || op == RG_OP_ALLGATHER ||
         op == RG_OP_ALLTOALL || op == RG_OP_REDUCE_SCATTER;
}

static int uneven(rg_operation op) {
  return op == RG_OP_GATHERV || op == RG_OP_SCATTERV || op == RG_OP_ALLGATHERV ||
         op == RG_OP_ALLTOALLV;
}

/* --- measuring -------------------------------------------------------------------------- */

static int add(field *f, const level *l, rg_group world, rg_operation op, int row, int bytes) {
  bench_operation *o = &f->each[f->n];
  const char *name = rgi_operation_algorithms[op][row].name;
  int block = bytes / l->n / 8 * 8;
  *o = f->common;
  o->operation = op;
  o->bytes = op == RG_OP_BARRIER ? 0 : !in_blocks(op) ? bytes : block > 8 ? block : 8;
  o->batch = bench_operation_batch(o->bytes, BENCH_ROTATING);
  f->row[f->n] = row;
  f->list[f->n++] = (bench_contender){.name = name,
                                      .takes_part = l->member,
                                      .run = bench_operation_run,
                                      .context = o,
                                      .batch = o->batch};
  return !l->member || (rg_group_create(world, l->n, l->ranks, TAG, &o->group) == RG_SUCCESS &&
                        rg_group_set_algorithm(o->group, op, name) == RG_SUCCESS);
}

/* Every algorithm of the level, of every operation; barriers once. */
static int begin(field *f, const level *l, int size) {
  rg_group world;
  int bytes = vector[size], most = bytes > 8 * l->n ? bytes : 8 * l->n;
  memset(f, 0, sizeof *f);
  int good =
      rg_group_world(&world) == RG_SUCCESS &&
      bench_operation_begin(&f->common, RG_OP_BCAST, MPI_COMM_WORLD, NULL, most, BENCH_ROTATING);
  f->common.ranks = f->common.roots = l->n;
  for (int op = 0; op < RG_OP_COUNT && good; op++)
    for (int row = 0; row < rgi_operation_rows((rg_operation)op) && good; row++)
      if (!uneven((rg_operation)op) && is_of(l, &rgi_operation_algorithms[op][row]) &&
          (op != RG_OP_BARRIER || size == 0) && f->n < CONTENDERS)
        good = add(f, l, world, (rg_operation)op, row, bytes);
  rg_group_free(&world);
  return good;
}

static void end(field *f) {
  for (int i = 0; i < f->n; i++)
    rg_group_free(&f->each[i].group);
  bench_operation_end(&f->common);
}

/* What the model multiplies with each cost: it is linear in them. The time is the
 * shortest: others that use the machine only make it longer. */
static bench_point point_of(const level *l, const field *f, int i) {
  const bench_operation *o = &f->each[i];
  rgi_choice_shape shape = {.op = o->operation,
                            .p = l->n,
                            .nodes = l->nodes,
                            .bytes = (size_t)o->bytes,
                            .commutes = 1,
                            .even = 1,
                            .memory = 1,
                            .in_order = 1};
  const rgi_tuning_level one[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  double part[3];
  for (int k = 0; k < 3; k++) {
    rgi_tuning_model m = {one[k], one[k], one[k]};
    part[k] = rgi_choice_predict(&m, rgi_operation_algorithms[o->operation], f->row[i], &shape);
  }
  return (bench_point){part[0], part[1], part[2], f->measured[i].seconds.min};
}

/* "inside bcast binomial"; stays until the program ends. */
static const char *row_name(const level *l, const field *f, int i) {
  static char names[LEVELS * POINTS][64];
  static int used;
  snprintf(names[used], sizeof names[used], "%s %s %s", l->name,
           rg_operation_name(f->each[i].operation), f->list[i].name);
  return names[used++];
}

static int measure_level(bench_report *report, level *l, int done, int all, double deadline,
                         rgp_progress *progress) {
  static field f;
  static bench_point points[POINTS];
  int n = 0, first = report->rows, good = 1;
  for (int size = 0; size < SIZES && good; size++) {
    bench_plan plan = bench_plan_for(done + size, all, WARMUP, deadline, progress);
    if (!begin(&f, l, size))
      MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
    good = bench_measure(MPI_COMM_WORLD, &plan, f.n, f.list, f.measured);
    for (int i = 0; i < f.n && good && rank == 0; i++) {
      points[n++] = point_of(l, &f, i);
      good = bench_report_add(report, f.each[i].bytes, row_name(l, &f, i), &f.measured[i]);
    }
    end(&f);
  }
  good = good && (rank != 0 || bench_fit_level(n, points, &l->fit));
  for (int i = 0; i < n && good; i++)
    bench_report_compare(report, first + i, bench_fit_predict(&l->fit.level, &points[i]), 0);
  return good;
}

/* --- what was found -------------------------------------------------------------------------- */

/* The model should meet most of what it was made from. */
static int doubtful(void) {
  for (int i = 0; i < LEVELS; i++)
    if (levels[i].fit.within_two < 0.6 * levels[i].fit.n)
      return 1;
  return 0;
}

static void print_levels(const bench_report *report) {
  printf("%s\n\n%-8s %10s %12s %12s %13s %9s %8s %7s\n", report->title, "level", "t_s, us",
         "t_w, ns/byte", "t_c, ns/byte", "measurements", "within 2", "typical", "worst");
  for (int i = 0; i < LEVELS; i++) {
    const bench_fit *fit = &levels[i].fit;
    if (!fit->n)
      printf("%-8s %10s  (%s)\n", levels[i].name, "-",
             i == BETWEEN ? "all ranks are on one node" : "one rank on the node");
    else
      printf("%-8s %10.4g %12.4g %12.4g %13d %7.0f %% %8.2f %7.1f\n", levels[i].name,
             1e6 * fit->level.ts, 1e9 * fit->level.tw, 1e9 * fit->level.tc, fit->n,
             100.0 * fit->within_two / fit->n, fit->typical, fit->worst);
  }
  if (doubtful())
    puts("\nwarning: the model misses many of the times by more than a factor of 2: if the machine "
         "did other work, tune again");
  printf("\n%s\n", report->note);
}

static json_t *level_json(const bench_fit *fit) {
  return fit->n ? json_pack("{sf sf sf si si sf sf}", "t_s", fit->level.ts, "t_w", fit->level.tw,
                            "t_c", fit->level.tc, "measurements", fit->n, "within_two",
                            fit->within_two, "typical", fit->typical, "worst", fit->worst)
                : json_null();
}

static void write_level(FILE *f, const level *l) {
  const double value[] = {l->fit.level.ts, l->fit.level.tw, l->fit.level.tc};
  const char *const name[] = {"t_s", "t_w", "t_c"};
  for (int i = 0; i < 3 && l->fit.n; i++)
    if (value[i] > 0)
      fprintf(f, "%s.%s = %.6g\n", l->name, name[i], value[i]);
}

/* The file is written under another name, so that an older one stays until the new
 * one is whole. */
static char *new_name;

static int open_file(FILE **f) {
  const rgp_program program = {.name = "regroup-bench tune"};
  int good = 1;
  struct stat there;
  if (rank == 0 && output && stat(output, &there) == 0 && !S_ISREG(there.st_mode)) {
    fprintf(stderr, "%s: %s cannot be replaced: it is no ordinary file\n", program.name, output);
    good = 0;
  } else if (rank == 0 && output)
    good = asprintf(&new_name, "%s.new", output) > 0 && rgp_open(&program, new_name, f);
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return good;
}

static int write_file(FILE *f, const bench_report *report) {
  if (!f)
    return 1;
  fprintf(f,
          RGI_TUNING_HEAD "\n# regroup-bench %s: %d ranks on %d nodes, %d processors on this one\n",
          RG_VERSION, report->ranks, rgi_node.count, rgi_node.processors);
  for (int i = 0; i < LEVELS; i++)
    write_level(f, &levels[i]);
  int good = !ferror(f);
  if (fclose(f) == 0 && good && rename(new_name, output) == 0)
    return 1;
  fprintf(stderr, "regroup-bench tune: %s could not be written: %s\n", output, strerror(errno));
  remove(new_name);
  return 0;
}

static void drop_file(FILE *f) {
  if (f) {
    fclose(f);
    remove(new_name);
  }
}

static void tell(bench_report *report) {
  json_t *found = json_object();
  for (int i = 0; i < LEVELS; i++)
    json_object_set_new(found, levels[i].name, level_json(&levels[i].fit));
  json_object_set_new(report->facts, "nodes", json_integer(rgi_node.count));
  json_object_set_new(report->facts, "levels", found);
  json_object_set_new(report->facts, "doubtful", json_boolean(doubtful()));
  snprintf(report->title, sizeof report->title,
           "Costs of messages and bytes on %d ranks, %d node%s", report->ranks, rgi_node.count,
           rgi_node.count == 1 ? "" : "s");
  if (output)
    snprintf(report->note, sizeof report->note, "Use them with RG_TUNING=%.200s", output);
  else
    snprintf(report->note, sizeof report->note,
             "With --output FILE they are kept, for RG_TUNING=FILE.");
}

/* --- the command --------------------------------------------------------------------------- */

static int run(bench_report *report, rgp_progress *progress) {
  double deadline = rgp_now() + bench_given.time_limit;
  FILE *f = NULL;
  int sizes = 0, done = 0, good = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!open_file(&f))
    return 0;
  for (int i = 0; i < LEVELS; i++) {
    if (!find_members(i, report->ranks, rank))
      MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
    sizes += levels[i].n > 1 ? SIZES : 0;
  }
  report->x_name = report->x_key = "bytes";
  report->predicts = 1;
  report->print = print_levels;
  for (int i = 0; i < LEVELS && good; i++)
    if (levels[i].n > 1) {
      good = measure_level(report, &levels[i], done, sizes, deadline, progress);
      done += SIZES;
    }
  if (rank == 0 && good) {
    tell(report);
    good = write_file(f, report);
  } else
    drop_file(f);
  free(new_name);
  for (int i = 0; i < LEVELS; i++)
    free(levels[i].ranks);
  return good;
}

const bench_command bench_tune = {.name = "tune",
                                  .summary = "What messages and bytes cost here, for the library's "
                                             "choice of algorithms (RG_TUNING).",
                                  .options = options,
                                  .check = check,
                                  .run = run};
