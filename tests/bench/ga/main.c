/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-ga: see bench.h. */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../sampler.h"
#include "../settings.h"
#include "bench.h"

#define WARMUP 2
#define MOST_CASES 64

extern void openblas_set_num_threads(int n);

typedef struct {
  const ga_case *what;
  bench_measured measured[CONTENDERS];
} row;

static struct {
  const char *only;
  int everyone;
} given;

static const struct poptOption options[] = {
    {"only", 0, POPT_ARG_STRING, &given.only, 0, "Operations whose names begin so (all)", "NAME"},
    {"everyone", 'e', POPT_ARG_NONE, &given.everyone, 0,
     "All ranks put, get and accumulate at once, each on the next rank's block; not rank 0 on the "
     "last rank's",
     NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)bench_shared_options, 0, NULL, NULL},
    POPT_TABLEEND};

static const char *const names[CONTENDERS] = {"Regroup", "Global Arrays", "memory"};

static int check(const char *const words[], char text[RGP_TEXT]) {
  int np;
  (void)words;
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  if (np < 2)
    return snprintf(text, RGP_TEXT, "at least 2 ranks are needed: mpiexec -n 2 ...");
  return bench_settings_check(text);
}

/* --- measuring -------------------------------------------------------------------------- */

static int measure(const ga_case *c, rg_group world, const bench_plan *plan, row *r) {
  ga_work w = {.what = c, .world = world};
  bench_contender list[CONTENDERS];
  int n = 0, good;
  rg_group_rank(world, &w.rank);
  rg_group_size(world, &w.ranks);
  r->what = c;
  w.target = given.everyone ? (w.rank + 1) % w.ranks : w.ranks - 1;
  good = c->begin(&w);
  if (!good)
    fprintf(stderr, "bench-ga: %s %s: %s\n", c->name, c->size, rg_error_detail());
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!good)
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  for (int i = 0; i < CONTENDERS && c->run[i]; i++)
    list[n++] = (bench_contender){.name = names[i],
                                  .takes_part = c->all || given.everyone || w.rank == 0,
                                  .run = c->run[i],
                                  .finish = c->check[i],
                                  .context = &w,
                                  .batch = c->batch};
  good = bench_measure(MPI_COMM_WORLD, plan, n, list, r->measured);
  c->end(&w);
  return good;
}

static int wanted(const ga_case *c) {
  return !given.only || strncmp(c->name, given.only, strlen(given.only)) == 0;
}

static int gather_cases(const ga_case *list[MOST_CASES]) {
  const ga_case *const tables[] = {ga_patch_cases, ga_whole_cases};
  int n = 0;
  for (int t = 0; t < 2; t++)
    for (const ga_case *c = tables[t]; c->name; c++)
      if (wanted(c))
        list[n++] = c;
  return n;
}

/* --- telling ------------------------------------------------------------------------------ */

static double median(const row *r, int contender) {
  return r->what->run[contender] ? r->measured[contender].seconds.median : 0;
}

static const char *number(double value, char text[24]) {
  if (value > 0)
    snprintf(text, 24, "%.*f", value < 1 ? 4 : value < 10 ? 3 : value < 100 ? 2 : 1, value);
  else
    strcpy(text, "-");
  return text;
}

static void print(const row rows[], int n) {
  char a[24], b[24], c[24], d[24], e[24];
  printf("Medians in us, the slowest rank's; results verified\n\n%-15s %-10s %11s %14s %11s "
         "%11s %11s\n",
         "operation", "size", "Regroup", "Global Arrays", "memory", "GA/Regroup", "Reg./memory");
  for (int i = 0; i < n; i++) {
    double ours = median(&rows[i], OURS), theirs = median(&rows[i], THEIRS),
           memory = median(&rows[i], MEMORY);
    printf("%-15s %-10s %11s %14s %11s %11s %11s\n", rows[i].what->name, rows[i].what->size,
           number(1e6 * ours, a), number(1e6 * theirs, b), number(1e6 * memory, c),
           number(theirs / ours, d), number(memory > 0 ? ours / memory : 0, e));
  }
}

static json_t *as_json(const row rows[], int n, int ranks, double waiting, double computing) {
  json_t *results = json_array();
  for (int i = 0; i < n; i++)
    json_array_append_new(
        results, json_pack("{ss ss sf sf sf}", "operation", rows[i].what->name, "size",
                           rows[i].what->size, "regroup", median(&rows[i], OURS), "global_arrays",
                           median(&rows[i], THEIRS), "memory", median(&rows[i], MEMORY)));
  return json_pack("{ss ss si so s{sf sf}}", "command", "bench-ga", "version", RG_VERSION, "ranks",
                   ranks, "results", results, "put", "target_waits", waiting, "target_computes",
                   computing);
}

/* --- the run --------------------------------------------------------------------------------- */

static int run(const rgp_program *program, int rank, int ranks) {
  static row rows[MOST_CASES];
  const ga_case *list[MOST_CASES];
  int n = gather_cases(list), good = 1;
  double deadline = rgp_now() + bench_given.time_limit, waiting = 0, computing = 0;
  rgp_progress progress;
  FILE *json = NULL;
  rg_group world;
  if (rank == 0)
    good = rgp_open(program, bench_given.json, &json);
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!good)
    return RGP_USAGE;
  rg_group_world(&world);
  rgp_progress_start(&progress, "bench-ga", bench_given.quiet || rank != 0);
  for (int i = 0; i < n && good; i++) {
    bench_plan plan = bench_plan_for(i, n, WARMUP, deadline, &progress);
    good = measure(list[i], world, &plan, &rows[i]);
  }
  good = good && (given.only || ga_busy(world, &waiting, &computing));
  rgp_progress_end(&progress);
  rg_group_free(&world);
  if (rank == 0 && good) {
    print(rows, n);
    if (!given.only)
      printf(
          "\nA put of 8 B takes %.4f us while its target waits, and %.4f us while it computes.\n",
          1e6 * waiting, 1e6 * computing);
    good = rgp_write_json(program, bench_given.json, json,
                          as_json(rows, n, ranks, waiting, computing));
  } else if (json)
    fclose(json);
  return good ? RGP_OK : RGP_FAILED;
}

int main(int argc, char **argv) {
  const rgp_program program = {.name = "bench-ga",
                               .summary = "Arrays against Global Arrays and against memory.",
                               .arguments = "[OPTION...]",
                               .options = options,
                               .check = check};
  int rank, ranks, status = RGP_OK;
  /* Without this Debian's Global Arrays gives wrong sums. */
  setenv("ARMCI_USE_WIN_ALLOCATE", "0", 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rgp_parse(&program, argc, argv, rank, &status)) {
    openblas_set_num_threads(1); /* for all contenders: a rank is one processor */
    GA_Initialize();
    MA_init(C_DBL, 8000000, 8000000);
    status = rg_init(MPI_COMM_WORLD, NULL) ? RGP_FAILED : run(&program, rank, ranks);
    rg_finalize();
    GA_Terminate();
  }
  MPI_Finalize();
  return status;
}
