/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What it costs to keep elements: rg_array_sync of an array that is mirrored and of one
 * that is not, a checkpoint in the program and in the background, and beside it
 * rg_array_save and a plain copy.
 *
 *     bench-keep [MIB-FOR-EACH-RANK [TIMES [PATH]]]       (16, 11, bench-keep)
 *
 * Over two nodes (tests/cluster/run_on_nodes.py, or MPIR_CVAR_NUM_CLIQUES=2), else nothing
 * is mirrored. The files PATH... are removed again. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/program/program.h"
#include "tests/bench/stats.h"

static struct {
  int64_t mib;
  int times;
  const char *path;
} plan = {16, 11, "bench-keep"};

static rg_group world;
static rg_array a;
static rg_checkpoint c;
static char *from, *to;

static void must(int error) {
  if (!error)
    return;
  fprintf(stderr, "bench-keep: %s\n", rg_error_detail());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void sync_it(void) {
  must(rg_array_sync(a));
}

static void copy_it(void) {
  memcpy(to, from, (size_t)plan.mib << 20);
}

static void start_it(void) {
  must(rg_checkpoint_start(world, plan.path, 1, &a, NULL, 0, &c));
}

static void wait_for_it(void) {
  must(rg_checkpoint_wait(&c));
}

static void save_it(void) {
  must(rg_array_save(a, plan.path, RG_FILE_NATIVE));
}

/* Seconds on the slowest rank. */
static double slowest(void (*call)(void)) {
  must(rg_barrier(world));
  double begin = rgp_now();
  call();
  double most = rgp_now() - begin;
  must(rg_allreduce(world, MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX));
  return most;
}

static void print(const char *name, const double seconds[]) {
  bench_stats s;
  int rank;
  rg_group_rank(world, &rank);
  if (rank == 0 && bench_stats_of(plan.times, seconds, &s))
    printf("%-34s %12.1f %12.1f\n", name, s.median * 1e6, s.median * 1e6 / (double)plan.mib);
}

static void measure(const char *name, void (*call)(void), const char *then, void (*after)(void)) {
  double *seconds = calloc(2 * (size_t)plan.times, sizeof *seconds);
  slowest(call);
  if (after)
    slowest(after);
  for (int i = 0; i < plan.times; i++) {
    seconds[i] = slowest(call);
    if (after)
      seconds[plan.times + i] = slowest(after);
  }
  print(name, seconds);
  if (after)
    print(then, seconds + plan.times);
  free(seconds);
}

static void make(unsigned flags) {
  rg_array_spec spec;
  int n;
  rg_group_size(world, &n);
  must(rg_array_spec_set(&spec, RG_DOUBLE, 1, (int64_t[]){plan.mib * n * (1 << 17)}));
  spec.flags = flags;
  must(rg_array_create(world, &spec, &a));
  must(rg_array_random(a, 1));
}

static void remove_files(void) {
  char name[4096];
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%s%s", plan.path, i == 2 ? "" : i ? ".1" : ".0");
    unlink(name);
  }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  must(rg_init(MPI_COMM_WORLD, NULL) || rg_group_world(&world));
  plan.mib = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : plan.mib;
  plan.times = argc > 2 && atoi(argv[2]) > 1 ? atoi(argv[2]) : plan.times;
  plan.path = argc > 3 ? argv[3] : plan.path;
  rg_group_rank(world, &rank);
  from = calloc(2, (size_t)plan.mib << 20);
  to = from + (plan.mib << 20);
  memset(from, 1, (size_t)plan.mib << 21);
  if (rank == 0)
    printf("%lld MiB on each rank; microseconds on the slowest rank, medians of %d\n\n%-34s %12s "
           "%12s\n",
           (long long)plan.mib, plan.times, "", "each", "per MiB");
  measure("copy", copy_it, NULL, NULL);
  make(0);
  measure("rg_array_sync", sync_it, NULL, NULL);
  measure("rg_checkpoint_start", start_it, "rg_checkpoint_wait, right after", wait_for_it);
  measure("rg_array_save", save_it, NULL, NULL);
  must(rg_array_free(&a));
  make(RG_ARRAY_MIRRORED);
  measure("rg_array_sync, mirrored", sync_it, NULL, NULL);
  must(rg_array_free(&a));
  if (rank == 0)
    remove_files();
  free(from);
  must(rg_group_free(&world) || rg_finalize());
  MPI_Finalize();
  return 0;
}
