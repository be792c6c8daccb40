/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-far: the engine between nodes against MPI's own one-sided operations and
 * ARMCI's, from rank 0 to the last rank, which waits in a barrier:
 *
 *     tests/cluster/run_on_nodes.py 2:1 -- build/bin/bench-far
 *
 * All are complete at the target when the clock stops. In every repetition each way
 * runs once, in turn; medians. */
#include <armci.h>
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "busy.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "engine/rma.h"
#include "runtime/program/program.h"
#include "shm/node.h"
#include "tests/bench/stats.h"

enum { WAYS = 4, OURS = 0, RAW, ROWS, ARMCI, EDGE = 512, WIDE = 1024 };

static const char *const way_names[WAYS] = {"regroup", "MPI", "MPI, rows", "ARMCI"};

typedef struct {
  const char *name;
  void (*run)(int way, int64_t n);
  int64_t n;     /* bytes, or rows of a patch */
  unsigned ways; /* a bit each */
} row;

static int reps = 200, quiet, busy;
static char *json;
static int rank, size, target;
static char *near;      /* rank 0's buffer */
static uint64_t offset; /* of the target's block in its share */
static MPI_Win window;  /* MPI's own, over another block */

void far_must(int error) {
  if (error) {
    fprintf(stderr, "bench-far: %s\n", rg_error_detail());
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  }
}

static char *far(void) {
  return (char *)rgi_rma.bases[target] + offset;
}

/* --- contiguous ---------------------------------------------------------------- */

static rgi_strided flat(int64_t n) {
  rgi_strided p = {.dims = 1, .extent = {n}};
  return p;
}

static void put(int way, int64_t n) {
  rgi_strided p = flat(n);
  if (way == OURS) {
    far_must(rgi_engine_put(target, offset, near, &p));
    far_must(rgi_engine_fence(target));
  } else if (way == RAW) {
    MPI_Put(near, (int)n, MPI_BYTE, target, 0, (int)n, MPI_BYTE, window);
    MPI_Win_flush(target, window);
  } else {
    ARMCI_Put(near, far(), (int)n, target);
    ARMCI_Fence(target);
  }
}

static void get(int way, int64_t n) {
  rgi_strided p = flat(n);
  if (way == OURS) {
    far_must(rgi_engine_get(target, offset, near, &p));
  } else if (way == RAW) {
    MPI_Get(near, (int)n, MPI_BYTE, target, 0, (int)n, MPI_BYTE, window);
    MPI_Win_flush(target, window);
  } else {
    ARMCI_Get(far(), near, (int)n, target);
  }
}

static void acc(int way, int64_t n) {
  rgi_strided p = flat(n);
  double one = 1;
  if (way == OURS) {
    far_must(rgi_engine_acc(target, offset, near, &p, RG_DOUBLE, NULL));
    far_must(rgi_engine_fence(target));
  } else if (way == RAW) {
    MPI_Accumulate(near, (int)n / 8, MPI_DOUBLE, target, 0, (int)n / 8, MPI_DOUBLE, MPI_SUM,
                   window);
    MPI_Win_flush(target, window);
  } else {
    ARMCI_Acc(ARMCI_ACC_DBL, &one, near, far(), (int)n, target);
    ARMCI_Fence(target);
  }
}

static void fetch_add(int way, int64_t n) {
  int64_t before, one = n;
  long was;
  if (way == OURS) {
    far_must(rgi_engine_fetch_add(target, offset, RG_INT64, one, &before));
  } else if (way == RAW) {
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, 0, MPI_SUM, window);
    MPI_Win_flush(target, window);
  } else {
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &was, far(), (int)one, target);
  }
}

/* --- patches: n rows of n doubles out of rows of WIDE -------------------------------- */

static rgi_strided square(int64_t n) {
  rgi_strided p = {.dims = 2, .extent = {n, n * 8}, .origin_stride = {n * 8}};
  p.target_stride[0] = WIDE * 8;
  return p;
}

typedef enum { PUT, GET, ACC } kind;

static void raw_op(kind k, char *from, int n, MPI_Aint to, int count, MPI_Datatype type) {
  if (k == PUT)
    MPI_Put(from, n, MPI_DOUBLE, target, to, count, type, window);
  else if (k == GET)
    MPI_Get(from, n, MPI_DOUBLE, target, to, count, type, window);
  else
    MPI_Accumulate(from, n, MPI_DOUBLE, target, to, count, type, MPI_SUM, window);
}

static void raw_patch(kind k, int n) {
  MPI_Datatype type;
  MPI_Type_vector(n, n, WIDE, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  raw_op(k, near, n * n, 0, 1, type);
  MPI_Win_flush(target, window);
  MPI_Type_free(&type);
}

static void raw_rows(kind k, int n) {
  for (int i = 0; i < n; i++)
    raw_op(k, near + (size_t)i * (size_t)n * 8, n, (MPI_Aint)i * WIDE * 8, n, MPI_DOUBLE);
  MPI_Win_flush(target, window);
}

static void armci_patch(kind k, int n) {
  int here[] = {n * 8}, there[] = {WIDE * 8}, count[] = {n * 8, n};
  double one = 1;
  if (k == PUT)
    ARMCI_PutS(near, here, far(), there, count, 1, target);
  else if (k == GET)
    ARMCI_GetS(far(), there, near, here, count, 1, target);
  else
    ARMCI_AccS(ARMCI_ACC_DBL, &one, near, here, far(), there, count, 1, target);
  ARMCI_Fence(target);
}

static void our_patch(kind k, int64_t n) {
  rgi_strided p = square(n);
  if (k == PUT)
    far_must(rgi_engine_put(target, offset, near, &p));
  else if (k == GET)
    far_must(rgi_engine_get(target, offset, near, &p));
  else
    far_must(rgi_engine_acc(target, offset, near, &p, RG_DOUBLE, NULL));
  far_must(rgi_engine_fence(target));
}

static void patch(kind k, int way, int64_t n) {
  if (way == OURS)
    our_patch(k, n);
  else if (way == RAW)
    raw_patch(k, (int)n);
  else if (way == ROWS)
    raw_rows(k, (int)n);
  else
    armci_patch(k, (int)n);
}

static void put_patch(int way, int64_t n) {
  patch(PUT, way, n);
}

static void get_patch(int way, int64_t n) {
  patch(GET, way, n);
}

static void acc_patch(int way, int64_t n) {
  patch(ACC, way, n);
}

/* --- measuring ------------------------------------------------------------------------ */

#define FLAT (1u << OURS | 1u << RAW | 1u << ARMCI)
#define PATCH (FLAT | 1u << ROWS)

static const row rows[] = {{"put 8 B", put, 8, FLAT},
                           {"put 1 KiB", put, 1 << 10, FLAT},
                           {"put 64 KiB", put, 1 << 16, FLAT},
                           {"put 1 MiB", put, 1 << 20, FLAT},
                           {"get 8 B", get, 8, FLAT},
                           {"get 1 KiB", get, 1 << 10, FLAT},
                           {"get 64 KiB", get, 1 << 16, FLAT},
                           {"get 1 MiB", get, 1 << 20, FLAT},
                           {"acc 8 B", acc, 8, FLAT},
                           {"acc 1 MiB", acc, 1 << 20, FLAT},
                           {"read-increment", fetch_add, 1, FLAT},
                           {"put 64 x 64", put_patch, 64, PATCH},
                           {"put 512 x 512", put_patch, EDGE, PATCH},
                           {"get 64 x 64", get_patch, 64, PATCH},
                           {"get 512 x 512", get_patch, EDGE, PATCH},
                           {"acc 64 x 64", acc_patch, 64, PATCH},
                           {"acc 512 x 512", acc_patch, EDGE, PATCH}};
enum { COUNT = sizeof rows / sizeof *rows, WARM_UP = 5 };

static void measure(const row *r, double *seconds[WAYS]) {
  for (int i = -WARM_UP; i < reps; i++)
    for (int k = 0; k < WAYS; k++) {
      int way = (k + i + WARM_UP) % WAYS;
      if (!(r->ways & 1u << way))
        continue;
      double begin = rgp_now();
      r->run(way, r->n);
      if (i >= 0)
        seconds[way][i] = rgp_now() - begin;
    }
}

static void print_head(void) {
  printf("Median of %d, in microseconds, in turn; all complete at the target.\n\n%-16s", reps, "");
  for (int k = 0; k < WAYS; k++)
    printf(" %10s", way_names[k]);
  printf("  regroup / MPI\n");
}

static json_t *print_row(const row *r, double *seconds[WAYS]) {
  bench_stats s[WAYS];
  json_t *found = json_pack("{s:s}", "operation", r->name);
  printf("%-16s", r->name);
  for (int k = 0; k < WAYS; k++) {
    if (!(r->ways & 1u << k) || !bench_stats_of(reps, seconds[k], &s[k])) {
      printf(" %10s", "");
      continue;
    }
    printf(" %10.1f", s[k].median * 1e6);
    json_object_set_new(
        found, way_names[k],
        json_pack("{s:f,s:f,s:f}", "median", s[k].median, "low", s[k].low, "high", s[k].high));
  }
  printf("  %10.2f\n", s[OURS].median / s[RAW].median);
  fflush(stdout);
  return found;
}

static json_t *measure_all(void) {
  rgp_progress progress;
  double *seconds[WAYS];
  json_t *results = json_array();
  for (int k = 0; k < WAYS; k++)
    seconds[k] = calloc((size_t)reps, sizeof **seconds);
  print_head();
  rgp_progress_start(&progress, "bench-far", quiet);
  for (int i = 0; i < COUNT; i++) {
    rgp_progress_show(&progress, (double)i / COUNT, rows[i].name);
    measure(&rows[i], seconds);
    json_array_append_new(results, print_row(&rows[i], seconds));
  }
  rgp_progress_end(&progress);
  for (int k = 0; k < WAYS; k++)
    free(seconds[k]);
  return json_pack("{s:s,s:i,s:i,s:o}", "command", "far", "ranks", size, "reps", reps, "results",
                   results);
}

static void prepare(void) {
  size_t bytes = (size_t)EDGE * WIDE * 8;
  char *block;
  near = aligned_alloc(64, bytes);
  block = aligned_alloc(64, bytes);
  memset(near, 0, bytes);
  memset(block, 0, bytes);
  far_must(rgi_heap_take("bench-far", bytes, &offset));
  memset(rgi_heap_at(rank, offset), 0, bytes);
  MPI_Bcast(&offset, sizeof offset, MPI_BYTE, target, MPI_COMM_WORLD);
  MPI_Win_create(block, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int run(const rgp_program *program) {
  FILE *f = NULL;
  int good = rank != 0 || rgp_open(program, json, &f);
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!good)
    return RGP_FAILED;
  far_must(rg_init(MPI_COMM_WORLD, NULL));
  target = size - 1;
  if (!rgi_heap_is_open() || rgi_node_of(target) == rgi_node_of(0)) {
    if (rank == 0)
      fprintf(stderr, "bench-far: the first and the last rank must be on different nodes: "
                      "tests/cluster/run_on_nodes.py 2:1 -- build/bin/bench-far\n");
    return RGP_FAILED;
  }
  prepare();
  if (busy)
    far_busy(busy, reps, offset);
  else if (rank == 0)
    good = rgp_write_json(program, json, f, measure_all());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  far_must(rg_finalize());
  return good ? RGP_OK : RGP_FAILED;
}

static int check(const char *const argv[], char text[RGP_TEXT]) {
  (void)argv;
  if (reps < 1)
    snprintf(text, RGP_TEXT, "--reps=%d: at least 1", reps);
  else if (busy < 0 || busy > 10000 || (busy && json))
    snprintf(text, RGP_TEXT, "--busy=%d: 1 to 10000 milliseconds, without --json", busy);
  else
    return 0;
  return 1;
}

int main(int argc, char **argv) {
  int provided, status;
  const struct poptOption options[] = {
      {"reps", 'r', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &reps, 0, "repetitions", "N"},
      {"json", 0, POPT_ARG_STRING, &json, 0, "write the medians to FILE, in seconds", "FILE"},
      {"busy", 'b', POPT_ARG_INT, &busy, 0, "instead: on a target that computes for so long", "MS"},
      {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no progress", NULL},
      POPT_TABLEEND};
  const rgp_program program = {"bench-far",
                               "Compares the arrays' engine between nodes with MPI and ARMCI.",
                               "[OPTION...]",
                               options,
                               0,
                               0,
                               check};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rgp_parse(&program, argc, argv, rank, NULL, &status))
    status = run(&program);
  MPI_Finalize();
  return status;
}
