/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "contest.h"

#include <string.h>

#include "floor.h"
#include "job.h"
#include "preload.h"
#include "shm/node.h"

#define TAG 3
#define VERIFIED 3 /* calls of each, with other roots and operands */

enum { MOST = 4 + BENCH_PICKS + 1 + BENCH_FLOORS };

/* All that take part. */
typedef struct {
  const bench_contest *what;
  bench_operation mpi, ours[BENCH_PICKS], preloaded, global, between, fresh;
  bench_floor floor;
  int n, operations; /* contenders; the first of them are calls of the operation */
  int has_floor;
  bench_contender list[MOST];
  double predicted[MOST]; /* 0: no prediction */
  bench_measured measured[MOST];
} field;

/* The group is formed, and used for the first time. */
static const char *run_fresh(void *context) {
  field *f = context;
  rg_group parent = f->what->place->group;
  int error = rg_group_create_range(parent, 0, f->fresh.ranks - 1, 1, TAG, &f->fresh.group);
  return error || bench_operation_call(&f->fresh) ? rg_error_detail() : NULL;
}

static const char *finish_fresh(void *context) {
  field *f = context;
  return rg_group_free(&f->fresh.group) ? rg_error_detail() : NULL;
}

/* What the model says of the algorithm that will be used. */
static double predict(const bench_operation *o, int nodes) {
  const char *name;
  double seconds = 0;
  if (rg_group_algorithm(o->group, o->operation, o->bytes, &name) == RG_SUCCESS)
    rg_algorithm_predict(o->operation, bench_algorithm_find(o->operation, name), o->ranks, nodes,
                         o->bytes, &seconds);
  return seconds;
}

static bench_contender *add(field *f, const char *name, const char *(*runs)(void *), void *context,
                            int batch) {
  f->list[f->n] = (bench_contender){.name = name,
                                    .takes_part = f->what->place->member,
                                    .run = runs,
                                    .context = context,
                                    .batch = batch};
  return &f->list[f->n++];
}

static bench_contender *add_operation(field *f, const char *name, bench_operation *operation) {
  bench_contender *c = add(f, name, bench_operation_run, operation, operation->batch);
  if (f->what->timing == BENCH_EACH)
    c->spent = &operation->spent;
  return c;
}

/* Which algorithms would serve this call themselves; the same on all ranks of the
 * job. */
static void find_serving(const field *f, int serves[BENCH_PICKS]) {
  for (int i = 0; i < f->what->algorithms_n; i++) {
    const char *name = f->what->algorithms[i], *used = name;
    serves[i] = 1;
    if (f->ours[i].group && f->what->serving && strcmp(name, "auto") != 0)
      serves[i] = rg_group_algorithm(f->ours[i].group, f->what->operation, f->what->bytes, &used) ==
                      RG_SUCCESS &&
                  strcmp(used, name) == 0;
  }
  MPI_Bcast(serves, BENCH_PICKS, MPI_INT, 0, bench_all.comm);
}

static int form(field *f, int i) {
  const bench_place *p = f->what->place;
  f->ours[i] = f->mpi;
  return !p->member || (rg_group_create_range(p->group, 0, p->ranks - 1, 1, TAG,
                                              &f->ours[i].group) == RG_SUCCESS &&
                        rg_group_set_algorithm(f->ours[i].group, f->what->operation,
                                               f->what->algorithms[i]) == RG_SUCCESS);
}

static int add_ours(field *f) {
  int serves[BENCH_PICKS] = {0}, good = 1;
  for (int i = 0; i < f->what->algorithms_n && good; i++)
    good = form(f, i);
  if (!good)
    return 0;
  find_serving(f, serves);
  for (int i = 0; i < f->what->algorithms_n; i++)
    if (serves[i]) {
      add_operation(f, f->what->algorithms[i], &f->ours[i]);
      if (f->ours[i].group && !bench_timing_name[f->what->timing])
        f->predicted[f->n - 1] = predict(&f->ours[i], f->what->place->nodes);
    }
  return 1;
}

/* Of the processes on one communicator: between groups calls are passed on to MPI. */
static void add_preloaded(field *f) {
  if (bench_all.view.is_inter || !bench_preloaded("MPI_Barrier"))
    return;
  f->preloaded = f->mpi;
  f->preloaded.preloaded = 1;
  add_operation(f, "regroup-mpi", &f->preloaded);
}

int bench_contest_has_floor(const bench_place *place, bench_timing timing) {
  return !bench_timing_name[timing] && !bench_all.view.is_inter && place->nodes == 1 &&
         place->ranks > rgi_node.processors;
}

static void add_floor(field *f) {
  const bench_place *p = f->what->place;
  if (!bench_contest_has_floor(p, f->what->timing))
    return;
  f->has_floor = p->member && bench_floor_begin(&f->floor, p->comm, f->mpi.batch);
  MPI_Bcast(&f->has_floor, 1, MPI_INT, 0, bench_all.comm);
  if (!f->has_floor)
    return;
  add(f, bench_floor_name[BENCH_SLEEP], bench_floor_sleep, &f->floor, f->mpi.batch);
  add(f, bench_floor_name[BENCH_YIELD], bench_floor_yield, &f->floor, f->mpi.batch);
}

/* By both groups: in the communicator that holds all, and across. */
static int add_groups(field *f) {
  const bench_contest *c = f->what;
  const rg_inter_view *v = &bench_all.view;
  if (!v->is_inter)
    return 1;
  if (!bench_operation_begin(&f->global, c->operation, v->global, NULL, c->bytes, c->timing) ||
      !bench_operation_begin(&f->between, c->operation, v->benchmark, v, c->bytes, c->timing))
    return 0;
  add_operation(f, "MPI global", &f->global)->takes_part = 1;
  add_operation(f, bench_job_contender(), &f->between)->takes_part = 1;
  return 1;
}

static int begin(field *f, const bench_contest *contest) {
  memset(f, 0, sizeof *f);
  f->what = contest;
  if (contest->place->member &&
      !bench_operation_begin(&f->mpi, contest->operation, contest->place->comm, NULL,
                             contest->bytes, contest->timing))
    return 0;
  add_operation(f, "MPI", &f->mpi);
  if (!add_ours(f) || !add_groups(f))
    return 0;
  add_preloaded(f);
  f->operations = f->n;
  f->fresh = f->mpi;
  if (contest->fresh)
    add(f, "fresh group", run_fresh, f, 1)->finish = finish_fresh;
  add_floor(f);
  return 1;
}

static void end(field *f) {
  for (int i = 0; i < f->what->algorithms_n; i++)
    rg_group_free(&f->ours[i].group);
  bench_floor_end(&f->floor);
  bench_operation_end(&f->mpi);
  bench_operation_end(&f->global);
  bench_operation_end(&f->between);
}

/* The lower median of the two ways; 0 where there is no floor. */
static double floor_of(const field *f) {
  double least = 0;
  for (int i = f->n - BENCH_FLOORS; f->has_floor && i < f->n; i++)
    if (least == 0 || f->measured[i].seconds.median < least)
      least = f->measured[i].seconds.median;
  return least;
}

static const char *among(const field *f, int i) {
  return f->list[i].context == &f->global    ? "global"
         : f->list[i].context == &f->between ? "inter"
                                             : "local";
}

static int tell(const field *f, bench_report *report) {
  const char *operation = rg_operation_name(f->what->operation);
  int first = report->rows;
  for (int i = 0; i < f->n; i++) {
    if (!bench_report_add(report, f->what->bytes, f->list[i].name, &f->measured[i]))
      return 0;
    bench_report_compare(report, report->rows - 1, f->predicted[i], floor_of(f));
    if (bench_all.view.is_inter)
      report->row[report->rows - 1].among = among(f, i);
  }
  bench_report_place(report, first, operation,
                     bench_all.view.is_inter ? bench_all.ranks : f->what->place->ranks);
  return 1;
}

/* Every contender once more, with operands that are known. */
static int verify(field *f) {
  bench_measured unused[MOST];
  bench_plan few = {.reps = VERIFIED, .seconds = 1e6};
  for (int i = 0; i < f->operations; i++) {
    f->list[i].run = bench_operation_run_marked;
    f->list[i].finish = bench_operation_verify;
    f->list[i].batch = 1;
    f->list[i].spent = NULL;
  }
  return bench_measure(bench_all.comm, &few, f->operations, f->list, unused);
}

int bench_contest_run(const bench_contest *contest, const bench_plan *plan, bench_report *report) {
  static field f;
  if (!begin(&f, contest))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  int good = bench_measure(bench_all.comm, plan, f.n, f.list, f.measured);
  good = good && tell(&f, report) && (!contest->verify || verify(&f));
  end(&f);
  return good;
}
