/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-internal combine: the library's loops of built-in operations against MPI's
 * (MPI_Reduce_local) on the same elements, in turn; the table shows medians. The elements are small
 * random numbers, drawn anew for each call, so that nothing can learn which one is less.
 *
 *     build/bin/bench-internal combine [ELEMENTS [SAMPLES]]      (1000, 301) */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/reduction/op_apply.h"
#include "collectives/reduction/op_kernel.h"
#include "command.h"
#include "tests/bench/stats.h"

enum { LARGEST = 16, BOTH = 2 };

static int elements = 1000, samples = 301;
static uint64_t drawn;

/* Pairs of a short and of a long integer are drawn as pairs of integers of 32 and 64 bits. */
typedef struct {
  const char *name;
  MPI_Datatype type;
  MPI_Op op;
  int size, reals; /* of an element; bytes of the reals that it begins with, 0: integers */
} combine_case;

static void draw(const combine_case *c, char *at) {
  for (int i = 0; i < elements * c->size;) {
    drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
    int64_t integer = (int64_t)(drawn >> 33) % 100;
    double real = (double)integer;
    float single = (float)integer;
    int width = c->reals ? c->reals : c->size < 8 ? c->size : c->size / 2;
    memcpy(at + i,
           c->reals == 8 ? (void *)&real
           : c->reals    ? (void *)&single
                         : &integer,
           (size_t)width);
    i += width;
  }
}

/* Nanoseconds for an element. */
static double time_of(const combine_case *c, int ours, const char *in, char *inout) {
  double from = MPI_Wtime();
  if (ours)
    internal_must(rgi_op_apply(in, inout, (size_t)elements, c->type, c->op));
  else
    MPI_Reduce_local(in, inout, elements, c->type, c->op);
  return (MPI_Wtime() - from) * 1e9 / elements;
}

static void compare_loops(const combine_case *c, char *in, char *inout, double *times) {
  bench_stats s[BOTH];
  for (int i = 0; i < BOTH * samples; i++) {
    draw(c, in);
    draw(c, inout);
    times[i % BOTH * samples + i / BOTH] = time_of(c, i % BOTH, in, inout);
  }
  if (bench_stats_of(samples, times, &s[0]) && bench_stats_of(samples, times + samples, &s[1]))
    printf("%-34s %8.3f %8.3f %8.1f%s\n", c->name, s[0].median, s[1].median,
           s[0].median / s[1].median,
           rgi_op_kernel_of(c->type, c->op)->run ? "" : "   (no loop of the library's)");
}

#define CASE(type, op, size, reals)                                                                \
  { #type " " #op, type, op, size, reals }

static int run_combine(char *const words[]) {
  (void)words;
  const combine_case cases[] = {CASE(MPI_DOUBLE, MPI_SUM, 8, 8),
                                CASE(MPI_DOUBLE, MPI_MAX, 8, 8),
                                CASE(MPI_INT, MPI_SUM, 4, 0),
                                CASE(MPI_C_BOOL, MPI_LOR, 1, 0),
                                CASE(MPI_C_DOUBLE_COMPLEX, MPI_SUM, 16, 8),
                                CASE(MPI_C_DOUBLE_COMPLEX, MPI_PROD, 16, 8),
                                CASE(MPI_C_FLOAT_COMPLEX, MPI_PROD, 8, 4),
                                CASE(MPI_DOUBLE_PRECISION, MPI_SUM, 8, 8),
                                CASE(MPI_INTEGER, MPI_MAX, 4, 0),
                                CASE(MPI_DOUBLE_COMPLEX, MPI_PROD, 16, 8),
                                CASE(MPI_2INT, MPI_MINLOC, 8, 0),
                                CASE(MPI_SHORT_INT, MPI_MAXLOC, 8, 0),
                                CASE(MPI_LONG_INT, MPI_MINLOC, 16, 0),
                                CASE(MPI_2REAL, MPI_MAXLOC, 8, 4),
                                CASE(MPI_2DOUBLE_PRECISION, MPI_MINLOC, 16, 8),
                                CASE(MPI_LOGICAL, MPI_LOR, 4, 0)};
  char *in = malloc((size_t)elements * LARGEST), *inout = malloc((size_t)elements * LARGEST);
  double *times = malloc(BOTH * (size_t)samples * sizeof *times);
  if (!in || !inout || !times)
    return RGP_FAILED;
  if (internal_rank == 0) {
    printf("%d elements, ns for each: medians of %d\n%-34s %8s %8s %8s\n", elements, samples, "",
           "MPI", "library", "ratio");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      compare_loops(&cases[i], in, inout, times);
  }
  free(in);
  free(inout);
  free(times);
  return RGP_OK;
}

static int check_words(const char *const words[], char text[RGP_TEXT]) {
  const char *times = words[0] ? words[1] : NULL;
  return internal_read_number(words[0], "number of elements", 100000000, &elements, text) ||
         internal_read_number(times, "number of samples", 1000000, &samples, text);
}

static const struct poptOption options[] = {POPT_TABLEEND};

const internal_command internal_combine = {
    .program = {.name = "bench-internal combine",
                .summary = "Compares the loops of built-in operations with MPI's.",
                .arguments = "[ELEMENTS [SAMPLES]]",
                .options = options,
                .max_arguments = 2,
                .check = check_words},
    .threads = MPI_THREAD_SINGLE,
    .run = run_combine};
