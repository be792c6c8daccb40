/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-internal remote: the engine between nodes against MPI's own one-sided operations and
 * ARMCI's, from rank 0 to the last rank, which waits in a barrier:
 *
 *     tests/cluster/run_on_nodes.py 2:1 -- build/bin/bench-internal remote
 *
 * Every operation is complete at the target when the clock stops. In every repetition each
 * interface runs once, in turn; the table shows medians. */
#include <armci.h>
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "engine/rma.h"
#include "remote_busy.h"
#include "shm/node.h"
#include "tests/arrays/engine_calls.h"
#include "tests/bench/stats.h"

enum { INTERFACES = 4, OURS = 0, RAW, ROWS, ARMCI, EDGE = 512, WIDE = 1024 };

static const char *const interface_names[INTERFACES] = {"regroup", "MPI", "MPI, rows", "ARMCI"};

typedef struct {
  const char *name;
  void (*run)(int interface, int64_t n);
  int64_t n;           /* bytes, or rows of a patch */
  unsigned interfaces; /* a bit each */
} measurement;

static int reps = 200, quiet, busy;
static char *json;
static int target;
static char *local;     /* rank 0's buffer */
static uint64_t offset; /* of the target's block in its heap part */
static MPI_Win window;  /* MPI's own, over another block */

static char *remote(void) {
  return (char *)rgi_rma.bases[target] + offset;
}

/* --- contiguous ---------------------------------------------------------------- */

static void put_bytes(int interface, int64_t n) {
  rgi_strided p = rgi_strided_flat(n);
  if (interface == OURS) {
    internal_must(engine_put(target, offset, local, &p));
    internal_must(rgi_engine_fence(target));
  } else if (interface == RAW) {
    MPI_Put(local, (int)n, MPI_BYTE, target, 0, (int)n, MPI_BYTE, window);
    MPI_Win_flush(target, window);
  } else {
    ARMCI_Put(local, remote(), (int)n, target);
    ARMCI_Fence(target);
  }
}

static void get_bytes(int interface, int64_t n) {
  rgi_strided p = rgi_strided_flat(n);
  if (interface == OURS) {
    internal_must(engine_get(target, offset, local, &p));
  } else if (interface == RAW) {
    MPI_Get(local, (int)n, MPI_BYTE, target, 0, (int)n, MPI_BYTE, window);
    MPI_Win_flush(target, window);
  } else {
    ARMCI_Get(remote(), local, (int)n, target);
  }
}

static void acc_bytes(int interface, int64_t n) {
  rgi_strided p = rgi_strided_flat(n);
  double one = 1;
  if (interface == OURS) {
    internal_must(engine_acc(target, offset, local, &p, RG_TYPE_DOUBLE, NULL));
    internal_must(rgi_engine_fence(target));
  } else if (interface == RAW) {
    MPI_Accumulate(local, (int)n / 8, MPI_DOUBLE, target, 0, (int)n / 8, MPI_DOUBLE, MPI_SUM,
                   window);
    MPI_Win_flush(target, window);
  } else {
    ARMCI_Acc(ARMCI_ACC_DBL, &one, local, remote(), (int)n, target);
    ARMCI_Fence(target);
  }
}

static void fetch_add(int interface, int64_t n) {
  int64_t before, one = n;
  long was;
  if (interface == OURS) {
    internal_must(engine_fetch_add(target, offset, RG_TYPE_INT64, one, &before));
  } else if (interface == RAW) {
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, 0, MPI_SUM, window);
    MPI_Win_flush(target, window);
  } else {
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &was, remote(), (int)one, target);
  }
}

/* --- patches: n rows of n doubles out of rows of WIDE -------------------------------- */

static rgi_strided square_of(int64_t n) {
  rgi_strided p = rgi_strided_flat(n * 8);
  rgi_strided_add(&p, n, n * 8, WIDE * 8);
  return p;
}

typedef enum { PUT, GET, ACC } access_kind;

static void raw_op(access_kind k, char *from, int n, MPI_Aint to, int count, MPI_Datatype type) {
  if (k == PUT)
    MPI_Put(from, n, MPI_DOUBLE, target, to, count, type, window);
  else if (k == GET)
    MPI_Get(from, n, MPI_DOUBLE, target, to, count, type, window);
  else
    MPI_Accumulate(from, n, MPI_DOUBLE, target, to, count, type, MPI_SUM, window);
}

static void raw_patch(access_kind k, int n) {
  MPI_Datatype type;
  MPI_Type_vector(n, n, WIDE, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  raw_op(k, local, n * n, 0, 1, type);
  MPI_Win_flush(target, window);
  MPI_Type_free(&type);
}

static void raw_rows(access_kind k, int n) {
  for (int i = 0; i < n; i++)
    raw_op(k, local + (size_t)i * (size_t)n * 8, n, (MPI_Aint)i * WIDE * 8, n, MPI_DOUBLE);
  MPI_Win_flush(target, window);
}

static void armci_patch(access_kind k, int n) {
  int here[] = {n * 8}, there[] = {WIDE * 8}, count[] = {n * 8, n};
  double one = 1;
  if (k == PUT)
    ARMCI_PutS(local, here, remote(), there, count, 1, target);
  else if (k == GET)
    ARMCI_GetS(remote(), there, local, here, count, 1, target);
  else
    ARMCI_AccS(ARMCI_ACC_DBL, &one, local, here, remote(), there, count, 1, target);
  ARMCI_Fence(target);
}

static void our_patch(access_kind k, int64_t n) {
  rgi_strided p = square_of(n);
  if (k == PUT)
    internal_must(engine_put(target, offset, local, &p));
  else if (k == GET)
    internal_must(engine_get(target, offset, local, &p));
  else
    internal_must(engine_acc(target, offset, local, &p, RG_TYPE_DOUBLE, NULL));
  internal_must(rgi_engine_fence(target));
}

static void move_patch(access_kind k, int interface, int64_t n) {
  if (interface == OURS)
    our_patch(k, n);
  else if (interface == RAW)
    raw_patch(k, (int)n);
  else if (interface == ROWS)
    raw_rows(k, (int)n);
  else
    armci_patch(k, (int)n);
}

static void put_patch(int interface, int64_t n) {
  move_patch(PUT, interface, n);
}

static void get_patch(int interface, int64_t n) {
  move_patch(GET, interface, n);
}

static void acc_patch(int interface, int64_t n) {
  move_patch(ACC, interface, n);
}

/* --- measuring ------------------------------------------------------------------------ */

#define FLAT (1u << OURS | 1u << RAW | 1u << ARMCI)
#define PATCH (FLAT | 1u << ROWS)

static const measurement rows[] = {
    {"put 8 B", put_bytes, 8, FLAT},           {"put 1 KiB", put_bytes, 1 << 10, FLAT},
    {"put 64 KiB", put_bytes, 1 << 16, FLAT},  {"put 1 MiB", put_bytes, 1 << 20, FLAT},
    {"get 8 B", get_bytes, 8, FLAT},           {"get 1 KiB", get_bytes, 1 << 10, FLAT},
    {"get 64 KiB", get_bytes, 1 << 16, FLAT},  {"get 1 MiB", get_bytes, 1 << 20, FLAT},
    {"acc 8 B", acc_bytes, 8, FLAT},           {"acc 1 MiB", acc_bytes, 1 << 20, FLAT},
    {"read-increment", fetch_add, 1, FLAT},    {"put 64 x 64", put_patch, 64, PATCH},
    {"put 512 x 512", put_patch, EDGE, PATCH}, {"get 64 x 64", get_patch, 64, PATCH},
    {"get 512 x 512", get_patch, EDGE, PATCH}, {"acc 64 x 64", acc_patch, 64, PATCH},
    {"acc 512 x 512", acc_patch, EDGE, PATCH}};
enum { COUNT = sizeof rows / sizeof *rows, WARM_UP = 5 };

static void measure_row(const measurement *r, double *seconds[INTERFACES]) {
  for (int i = -WARM_UP; i < reps; i++)
    for (int k = 0; k < INTERFACES; k++) {
      int interface = (k + i + WARM_UP) % INTERFACES;
      if (!(r->interfaces & 1u << interface))
        continue;
      double begin = rgp_now();
      r->run(interface, r->n);
      if (i >= 0)
        seconds[interface][i] = rgp_now() - begin;
    }
}

static void print_head(void) {
  printf("Median of %d, in microseconds, in turn; all complete at the target.\n\n%-16s", reps, "");
  for (int k = 0; k < INTERFACES; k++)
    printf(" %10s", interface_names[k]);
  printf("  regroup / MPI\n");
}

static json_t *print_row(const measurement *r, double *seconds[INTERFACES]) {
  bench_stats s[INTERFACES];
  json_t *found = json_pack("{s:s}", "operation", r->name);
  printf("%-16s", r->name);
  for (int k = 0; k < INTERFACES; k++) {
    if (!(r->interfaces & 1u << k) || !bench_stats_of(reps, seconds[k], &s[k])) {
      printf(" %10s", "");
      continue;
    }
    printf(" %10.1f", s[k].median * 1e6);
    json_object_set_new(
        found, interface_names[k],
        json_pack("{s:f,s:f,s:f}", "median", s[k].median, "low", s[k].low, "high", s[k].high));
  }
  printf("  %10.2f\n", s[OURS].median / s[RAW].median);
  fflush(stdout);
  return found;
}

static json_t *measure_all(void) {
  rgp_progress progress;
  double *seconds[INTERFACES];
  json_t *results = json_array();
  for (int k = 0; k < INTERFACES; k++)
    seconds[k] = calloc((size_t)reps, sizeof **seconds);
  print_head();
  rgp_progress_start(&progress, "bench-internal remote", quiet);
  for (int i = 0; i < COUNT; i++) {
    rgp_progress_show(&progress, (double)i / COUNT, rows[i].name);
    measure_row(&rows[i], seconds);
    json_array_append_new(results, print_row(&rows[i], seconds));
  }
  rgp_progress_end(&progress);
  for (int k = 0; k < INTERFACES; k++)
    free(seconds[k]);
  return json_pack("{s:s,s:i,s:i,s:o}", "command", "remote", "ranks", internal_size, "reps", reps,
                   "results", results);
}

static void make_blocks(void) {
  size_t bytes = (size_t)EDGE * WIDE * 8;
  char *block;
  local = aligned_alloc(64, bytes);
  block = aligned_alloc(64, bytes);
  memset(local, 0, bytes);
  memset(block, 0, bytes);
  internal_must(rgi_heap_take("bench-internal", bytes, &offset));
  memset(rgi_heap_at(internal_rank, offset), 0, bytes);
  MPI_Bcast(&offset, sizeof offset, MPI_BYTE, target, MPI_COMM_WORLD);
  MPI_Win_create(block, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int run_remote(char *const words[]) {
  const rgp_program *program = &internal_remote.program;
  FILE *f = NULL;
  int good = internal_rank != 0 || rgp_open(program, json, &f);
  (void)words;
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!good)
    return RGP_FAILED;
  internal_must(rg_init(MPI_COMM_WORLD, NULL));
  target = internal_size - 1;
  if (!rgi_heap_is_open() || rgi_node_of(target) == rgi_node_of(0)) {
    if (internal_rank == 0)
      fprintf(stderr,
              "%s: the first and the last rank must be on different nodes: "
              "tests/cluster/run_on_nodes.py 2:1 -- build/bin/bench-internal remote\n",
              program->name);
    return RGP_FAILED;
  }
  make_blocks();
  if (busy)
    remote_busy(busy, reps, offset);
  else if (internal_rank == 0)
    good = rgp_write_json(program, json, f, measure_all());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  internal_must(rg_finalize());
  return good ? RGP_OK : RGP_FAILED;
}

static int check_options(const char *const words[], char text[RGP_TEXT]) {
  (void)words;
  if (reps < 1)
    snprintf(text, RGP_TEXT, "--reps=%d: at least 1", reps);
  else if (busy < 0 || busy > 10000 || (busy && json))
    snprintf(text, RGP_TEXT, "--busy=%d: 1 to 10000 milliseconds, without --json", busy);
  else
    return 0;
  return 1;
}

static const struct poptOption options[] = {
    {"reps", 'r', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &reps, 0, "repetitions", "N"},
    {"json", 0, POPT_ARG_STRING, &json, 0, "write the medians to FILE, in seconds", "FILE"},
    {"busy", 'b', POPT_ARG_INT, &busy, 0, "instead: on a target that computes for so long", "MS"},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no progress", NULL},
    POPT_TABLEEND};

const internal_command internal_remote = {
    .program = {.name = "bench-internal remote",
                .summary = "Compares the arrays' engine between nodes with MPI and ARMCI.",
                .arguments = "[OPTION...]",
                .options = options,
                .check = check_options},
    .threads = MPI_THREAD_MULTIPLE,
    .run = run_remote};
