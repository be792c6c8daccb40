/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-internal replica: what it costs to keep a second copy of elements: rg_array_sync of an
 * array that is mirrored and of one that is not, a checkpoint in the program and in the
 * background; for comparison rg_array_save and a plain copy.
 *
 *     bench-internal replica [MIB-FOR-EACH-RANK [TIMES [PATH]]]       (16, 11, bench-replica)
 *
 * It needs two nodes (tests/cluster/run_on_nodes.py, or MPIR_CVAR_NUM_CLIQUES=2): on one node
 * nothing is mirrored. The files PATH... are removed again. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "tests/bench/stats.h"

static struct {
  int mib, times;
  const char *path;
} plan = {16, 11, "bench-replica"};

static rg_group world;
static rg_array a;
static rg_checkpoint c;
static char *from, *to;

static void sync_array(void) {
  internal_must(rg_array_sync(a));
}

static void copy_memory(void) {
  memcpy(to, from, (size_t)plan.mib << 20);
}

static void start_checkpoint(void) {
  internal_must(rg_checkpoint_start(world, plan.path, 1, &a, NULL, 0, &c));
}

static void wait_for_checkpoint(void) {
  internal_must(rg_checkpoint_wait(&c));
}

static void save_array(void) {
  internal_must(rg_array_save(a, plan.path, RG_FILE_NATIVE));
}

/* Seconds on the slowest rank. */
static double time_of(void (*call)(void)) {
  internal_must(rg_barrier(world));
  double begin = rgp_now();
  call();
  double most = rgp_now() - begin;
  internal_must(rg_allreduce(world, MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX));
  return most;
}

static void print_row(const char *name, const double seconds[]) {
  bench_stats s;
  if (internal_rank == 0 && bench_stats_of(plan.times, seconds, &s))
    printf("%-34s %12.1f %12.1f\n", name, s.median * 1e6, s.median * 1e6 / (double)plan.mib);
}

/* Measures a call, and another one that follows it each time. */
static void measure_calls(const char *name, void (*call)(void), const char *then,
                          void (*after)(void)) {
  double *seconds = calloc(2 * (size_t)plan.times, sizeof *seconds);
  time_of(call);
  if (after)
    time_of(after);
  for (int i = 0; i < plan.times; i++) {
    seconds[i] = time_of(call);
    if (after)
      seconds[plan.times + i] = time_of(after);
  }
  print_row(name, seconds);
  if (after)
    print_row(then, seconds + plan.times);
  free(seconds);
}

static void make_array(unsigned flags) {
  rg_array_spec spec = {.size = sizeof spec};
  int n;
  rg_group_size(world, &n);
  internal_must(
      rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 1, (int64_t[]){(int64_t)plan.mib * n * (1 << 17)}));
  spec.flags = flags;
  internal_must(rg_array_create(world, &spec, &a));
  internal_must(rg_array_random(a, 1));
}

static void remove_files(void) {
  char name[4096];
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%s%s", plan.path, i == 2 ? "" : i ? ".1" : ".0");
    unlink(name);
  }
}

static int run_replica(char *const words[]) {
  plan.path = words[2] ? words[2] : plan.path;
  internal_must(rg_init(MPI_COMM_WORLD, NULL) || rg_group_world(&world));
  from = calloc(2, (size_t)plan.mib << 20);
  to = from + ((size_t)plan.mib << 20);
  memset(from, 1, (size_t)plan.mib << 21);
  if (internal_rank == 0)
    printf("%d MiB on each rank; microseconds on the slowest rank, medians of %d\n\n%-34s %12s "
           "%12s\n",
           plan.mib, plan.times, "", "each", "per MiB");
  measure_calls("copy", copy_memory, NULL, NULL);
  make_array(0);
  measure_calls("rg_array_sync", sync_array, NULL, NULL);
  measure_calls("rg_checkpoint_start", start_checkpoint, "rg_checkpoint_wait, right after",
                wait_for_checkpoint);
  measure_calls("rg_array_save", save_array, NULL, NULL);
  internal_must(rg_array_free(&a));
  make_array(RG_ARRAY_MIRRORED);
  measure_calls("rg_array_sync, mirrored", sync_array, NULL, NULL);
  internal_must(rg_array_free(&a));
  if (internal_rank == 0)
    remove_files();
  free(from);
  internal_must(rg_group_free(&world) || rg_finalize());
  return RGP_OK;
}

static int check_words(const char *const words[], char text[RGP_TEXT]) {
  const char *times = words[0] ? words[1] : NULL;
  return internal_read_number(words[0], "MiB of each rank", 1 << 20, &plan.mib, text) ||
         internal_read_number(times, "repetitions", 1000000, &plan.times, text);
}

static const struct poptOption options[] = {POPT_TABLEEND};

const internal_command internal_replica = {
    .program = {.name = "bench-internal replica",
                .summary = "What mirrored arrays and checkpoints cost.",
                .arguments = "[MIB-OF-EACH-RANK [TIMES [PATH]]]",
                .options = options,
                .max_arguments = 3,
                .check = check_words},
    .threads = MPI_THREAD_SINGLE,
    .run = run_replica};
