/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench groups: forming and freeing a group, against making and freeing a
 * communicator of the same processes. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "command.h"
#include "settings.h"

#define SIZES 64
#define WARMUP 3
#define TAG 2
/* Forming takes some tens of nanoseconds: so many make one measurement. */
#define BATCH 1000

typedef struct {
  int size, rank; /* of the group; the first ranks are its members */
  int *ranks;
  MPI_Group group;
  rg_group world;
} forming;

static struct {
  const char *sizes;
  int size[SIZES], sizes_n;
} given;

static const struct poptOption options[] = {{"sizes", 0, POPT_ARG_STRING, &given.sizes, 0,
                                             "Sizes of the groups (2,4,... and all ranks)", "LIST"},
                                            POPT_TABLEEND};

/* --- the contenders ------------------------------------------------------------ */

static const char *by_range(void *context) {
  forming *f = context;
  rg_group g;
  for (int i = 0; i < BATCH; i++)
    if (rg_group_create_range(f->world, 0, f->size - 1, 1, TAG, &g) || rg_group_free(&g))
      return rg_error_detail();
  return NULL;
}

static const char *by_list(void *context) {
  forming *f = context;
  rg_group g;
  for (int i = 0; i < BATCH; i++)
    if (rg_group_create(f->world, f->size, f->ranks, TAG, &g) || rg_group_free(&g))
      return rg_error_detail();
  return NULL;
}

static const char *by_mpi(void *context) {
  forming *f = context;
  MPI_Comm comm;
  MPI_Comm_create_group(MPI_COMM_WORLD, f->group, TAG, &comm);
  MPI_Comm_free(&comm);
  return NULL;
}

static const struct {
  const char *name;
  int batch;
  const char *(*run)(void *);
} contenders[] = {{"rg_group_create_range", BATCH, by_range},
                  {"rg_group_create", BATCH, by_list},
                  {"MPI_Comm_create_group", 1, by_mpi}};
enum { CONTENDERS = sizeof contenders / sizeof contenders[0] };

/* --- measuring --------------------------------------------------------------------- */

static int check(char text[RGP_TEXT]) {
  int np;
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  if (np < 2)
    return snprintf(text, RGP_TEXT, "at least 2 ranks are needed: mpiexec -n 2 ...");
  given.sizes_n = bench_group_sizes(given.sizes, np, SIZES, given.size, text);
  return given.sizes_n < 0;
}

static void begin(forming *f, int size) {
  MPI_Group world;
  int range[1][3] = {{0, size - 1, 1}};
  *f = (forming){.size = size, .ranks = malloc((size_t)size * sizeof *f->ranks)};
  if (!f->ranks || rg_group_world(&f->world))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  /* No range: the last two change places where there are three. */
  for (int i = 0; i < size; i++)
    f->ranks[i] = size > 2 && i >= size - 2 ? 2 * size - 3 - i : i;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, range, &f->group);
  MPI_Group_free(&world);
  MPI_Group_rank(f->group, &f->rank);
}

static void end(forming *f) {
  MPI_Group_free(&f->group);
  rg_group_free(&f->world);
  free(f->ranks);
}

static int measure(const bench_plan *plan, int size, bench_measured measured[]) {
  forming f;
  bench_contender list[CONTENDERS];
  begin(&f, size);
  for (int i = 0; i < CONTENDERS; i++)
    list[i] = (bench_contender){.name = contenders[i].name,
                                .takes_part = f.rank != MPI_UNDEFINED,
                                .run = contenders[i].run,
                                .context = &f,
                                .batch = contenders[i].batch};
  int good = bench_measure(MPI_COMM_WORLD, plan, CONTENDERS, list, measured);
  end(&f);
  return good;
}

static int run(bench_report *report, rgp_progress *progress) {
  double deadline = rgp_now() + bench_given.time_limit;
  bench_measured measured[CONTENDERS] = {0};
  report->x_name = "members";
  report->x_key = "size";
  snprintf(report->title, sizeof report->title, "Forming and freeing a group of g ranks out of %d",
           report->ranks);
  for (int i = 0; i < given.sizes_n; i++) {
    bench_plan plan = bench_plan_for(i, given.sizes_n, WARMUP, deadline, progress);
    if (!measure(&plan, given.size[i], measured))
      return 0;
    for (int k = 0; k < CONTENDERS; k++)
      bench_report_add(report, given.size[i], contenders[k].name, &measured[k]);
  }
  return 1;
}

const bench_command bench_groups = {
    .name = "groups",
    .summary = "What it costs to form and free a group, against a communicator.",
    .options = options,
    .pictured = 1,
    .check = check,
    .run = run};
