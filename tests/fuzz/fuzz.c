/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A batch is some drawn cases, all ranks the same ones, and then a barrier, a sum and an array with
 * results that are known. In some batches one rank draws something else than the others. Calls may
 * then end with RG_ERR_TIMEOUT, so the library is started with a short one; the batch ends with
 * that case, and the library is stopped and started again. A case that hangs is reported by SIGALRM
 * with what draws it again. */
#include "fuzz.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mix.h"
#include "draw.h"
#include "options.h"
#include "run.h"
#include "tests/check/check.h"

enum { CASES = 24, MEMORIES = 64, PATTERN = 0xa5, HANG = 120, DIFFERING = 16, STARTING = 8 };

#define SHORT "arena_size=256,timeout=1"
#define LONG "arena_size=256,timeout=100"

fuzz_things fuzz;

static struct {
  fuzz_plan plan;
  long batch;
  const char *name, *call; /* of the case; of the call in it */
  int trace;
  uint64_t codes; /* of all errors of the case that must be the same on all ranks */
  int alone;
  void *memory[MEMORIES];
  size_t bytes[MEMORIES]; /* of outputs of the next call; others 0 */
  int memories;
} now;

static void describe(char *text, size_t room) {
  snprintf(text, room, "seed %llu batch %ld rank %d case %s: %s", now.plan.seed, now.batch,
           rgt_rank, now.name, now.call);
}

static void on_alarm(int signal) {
  char text[512];
  (void)signal;
  describe(text, sizeof text);
  fprintf(stderr, "FUZZ hangs: %s\n", text);
  abort();
}

void fuzz_true(int good, const char *condition) {
  char text[512];
  if (good)
    return;
  describe(text, sizeof text);
  printf("FUZZ %s: not %s; detail: %s\n", text, condition, rg_error_detail());
  fflush(stdout);
  RGT_TRUE(good);
}

/* --- memory -------------------------------------------------------------------------- */

static void *keep_memory(size_t bytes, size_t watched) {
  if (now.memories == MEMORIES) {
    fprintf(stderr, "FUZZ: case %s takes too much memory\n", now.name);
    abort();
  }
  now.bytes[now.memories] = watched;
  return now.memory[now.memories++] = malloc(bytes ? bytes : 1);
}

void *fuzz_out_some(size_t bytes) {
  return memset(keep_memory(bytes, bytes), PATTERN, bytes);
}

void *fuzz_out(size_t bytes) {
  return draw_chance(24) ? NULL : fuzz_out_some(bytes);
}

void *fuzz_in(size_t bytes) {
  unsigned char *memory = keep_memory(bytes, 0);
  for (size_t i = 0; i < bytes; i++)
    memory[i] = (unsigned char)(i % 8 ? 0 : i % 7);
  return memory;
}

static int outputs_kept(void) {
  for (int i = 0; i < now.memories; i++)
    for (size_t k = 0; k < now.bytes[i]; k++)
      if (((unsigned char *)now.memory[i])[k] != PATTERN)
        return 0;
  return 1;
}

static void free_memory(void) {
  while (now.memories > 0)
    free(now.memory[--now.memories]);
}

/* --- calls ------------------------------------------------------------------------------ */

void fuzz_before(const char *call) {
  now.call = call;
  if (now.trace) {
    char text[512];
    describe(text, sizeof text);
    fprintf(stderr, "FUZZ %s\n", text);
  }
  rg_error_set(RG_ERR_USER, "not from this call");
}

int fuzz_after(int error) {
  const char *detail = rg_error_detail();
  fuzz_true(error >= RG_SUCCESS && error <= RG_ERR_SYSTEM, "an error that the call may return");
  if (error) {
    fuzz_true(*detail && strcmp(detail, "not from this call") != 0, "a text with the error");
    fuzz_true(outputs_kept(), "outputs untouched by an error");
  }
  if (now.trace)
    fprintf(stderr, "FUZZ = %d %s\n", error, error ? detail : "");
  for (int i = 0; i < now.memories; i++)
    now.bytes[i] = 0;
  if (error && !now.alone)
    now.codes = rgi_mix_bits(now.codes + (uint64_t)error);
  return error;
}

void fuzz_differs(void) {
  now.alone = 1;
}

/* --- a batch ------------------------------------------------------------------------------ */

static const fuzz_case *const parts[] = {
    fuzz_group_cases,   fuzz_collective_cases, fuzz_p2p_cases,   fuzz_array_cases, fuzz_math_cases,
    fuzz_balance_cases, fuzz_file_cases,       fuzz_query_cases, fuzz_number_cases};

/* The i-th of all cases that the plan wants; NULL: there are no more. */
static const fuzz_case *find_case(int i) {
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
    for (const fuzz_case *c = parts[p]; c->name; c++)
      if (strstr(c->name, now.plan.part) && i-- == 0)
        return c;
  return NULL;
}

static const fuzz_case *draw_case(void) {
  static int n;
  while (!n || find_case(n))
    n++;
  return find_case(draw_below(n));
}

static void agree_on_codes(void) {
  unsigned long long most[2] = {now.codes, ~(unsigned long long)now.codes};
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  fuzz_true(most[0] == ~most[1], "the same errors on all ranks");
}

/* one: the rank that draws something else, or -1. */
static void run_case(const fuzz_case *c, uint64_t number, int one) {
  uint64_t own = c->kind == FUZZ_LOCAL ? (uint64_t)rgt_rank + 1 : 0;
  draw_start(now.plan.seed, number, one == rgt_rank ? UINT64_MAX : own);
  now.name = c->name;
  now.call = "";
  now.codes = 0;
  now.alone = 0;
  c->run();
  free_memory();
  if (c->kind != FUZZ_LOCAL && one < 0)
    agree_on_codes();
}

/* --- whether it works ---------------------------------------------------------------------- */

static void expect_array_works(rg_group g) {
  int64_t n = 3 * rgt_size, lo = 3 * rgt_rank, hi = lo + 3, zero = 0, sum = -1;
  int64_t mine[3] = {lo, lo + 1, lo + 2}, *all = calloc((size_t)n, sizeof *all);
  rg_array a = NULL;
  if (RGT_OK(rg_array_create_simple(g, RG_TYPE_INT64, 1, &n, &a))) {
    RGT_OK(rg_array_put(a, &lo, &hi, mine, NULL));
    RGT_OK(rg_array_sync(a));
    RGT_OK(rg_array_get(a, &zero, &n, all, NULL));
    RGT_OK(rg_array_sum(a, NULL, NULL, &sum));
    RGT_INT(sum, n * (n - 1) / 2);
    for (int64_t i = 0; i < n; i++)
      RGT_INT(all[i], i);
    RGT_OK(rg_array_free(&a));
  }
  free(all);
}

static void expect_works(void) {
  rg_group g = NULL;
  int64_t sum = rgt_rank + 1, n = rgt_size;
  now.name = "the library works";
  now.call = "";
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_group_create_range(fuzz.world, 0, rgt_size - 1, 1, fuzz.tag, &g));
  RGT_OK(rg_barrier(g));
  RGT_OK(rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM));
  if (!RGT_INT(sum, n * (n + 1) / 2))
    fuzz_true(0, "the right sum");
  expect_array_works(g);
  RGT_OK(rg_group_free(&g));
}

static void start_library(const char *options) {
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
  RGT_OK(rg_group_world(&fuzz.world));
}

static void stop_library(void) {
  RGT_OK(rg_group_free(&fuzz.world));
  RGT_OK(rg_finalize());
}

static void run_cases(int differing) {
  int one = -1;
  RGT_OK(rg_group_create_range(fuzz.world, 0, rgt_size - 1, 1, fuzz.tag + 1, &fuzz.g));
  for (int i = 0; i < CASES && one < 0; i++) {
    uint64_t number = (uint64_t)now.batch * CASES + (uint64_t)i;
    draw_start(now.plan.seed, number, 1u << 20);
    const fuzz_case *c = draw_case();
    if (differing && c->kind == FUZZ_ANY)
      one = draw_below(rgt_size);
    run_case(c, number, one);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_group_free(&fuzz.g));
}

static const fuzz_case start_case = {"rg_init", options_run, FUZZ_SAME};

static void run_batch(void) {
  int differing = rgt_size > 1 && now.batch % DIFFERING == DIFFERING - 1;
  fuzz.tag = 1000 + (int)(now.batch * 16 % 100000000);
  alarm(HANG);
  if (differing) {
    stop_library();
    start_library(SHORT);
  }
  run_cases(differing);
  if (differing) {
    stop_library();
    start_library(LONG);
  }
  if (now.batch % STARTING == 0) {
    stop_library();
    run_case(&start_case, (uint64_t)now.batch, -1);
    start_library(LONG);
  }
  expect_works();
  alarm(0);
}

/* All ranks do the same number of batches. */
static int is_over(double start) {
  int over = MPI_Wtime() - start > now.plan.seconds;
  MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over;
}

static void ignore_line(int level, const char *line, void *context) {
  (void)level;
  (void)line;
  (void)context;
}

void fuzz_run(fuzz_plan plan) {
  double start = MPI_Wtime();
  now.plan = plan;
  now.trace = getenv("FUZZ_TRACE") != NULL;
  signal(SIGALRM, on_alarm);
  rg_log_set(ignore_line, NULL);
  start_library(LONG);
  for (now.batch = plan.first; !is_over(start); now.batch++)
    run_batch();
  if (rgt_rank == 0)
    printf("FUZZ seed %llu: %ld batches of %d calls\n", plan.seed, now.batch - plan.first, CASES);
  stop_library();
  rg_log_set(NULL, NULL);
}
