/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/program/program.h"

#define UNIT 1000 /* operations, each of which needs the one before it */

static double compute(double units) {
  volatile double start = 1;
  double x = start;
  for (double left = units * UNIT; left >= 1; left--)
    x = x * 0.999999 + 1e-6;
  return x;
}

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_kernel_speed(void) {
  double units = 100, begin, used;
  do {
    units *= 2;
    begin = processor_time();
    volatile double result = compute(units);
    (void)result;
    used = processor_time() - begin;
  } while (used < 10e-3);
  return units / used;
}

int bench_kernel_begin(bench_kernel *kernel, rg_group group, int steps, double serial,
                       double parallel, int bytes) {
  size_t times = 2 * (size_t)steps * sizeof(double);
  *kernel = (bench_kernel){
      .group = group, .steps = steps, .serial = serial, .parallel = parallel, .bytes = bytes};
  kernel->in = calloc((size_t)bytes + 1, 1);
  kernel->out = calloc((size_t)bytes + 1, 1);
  kernel->waited = calloc(1, times);
  kernel->least = calloc(1, times);
  return kernel->in && kernel->out && kernel->waited && kernel->least &&
         !rg_group_size(group, &kernel->p) && !rg_group_rank(group, &kernel->me);
}

void bench_kernel_end(bench_kernel *kernel) {
  free(kernel->in);
  free(kernel->out);
  free(kernel->waited);
  free(kernel->least);
}

/* Computes, and counts the processor's time; what is beyond it the process had to
 * wait for a processor. */
static void work(bench_kernel *kernel, double units) {
  double begin = rgp_now(), used = processor_time();
  double result = compute(units);
  used = processor_time() - used;
  kernel->split.computation += used;
  kernel->split.idle += rgp_now() - begin - used;
  memcpy(kernel->in, &result,
         (size_t)kernel->bytes < sizeof result ? (size_t)kernel->bytes : sizeof result);
}

static int step(bench_kernel *kernel, double waited[2]) {
  int error = RG_SUCCESS;
  double begin = 0;
  waited[0] = 0;
  if (kernel->serial > 0) {
    if (kernel->me == 0)
      work(kernel, kernel->serial);
    begin = rgp_now();
    error = rg_bcast(kernel->group, kernel->in, kernel->bytes, MPI_BYTE, 0);
    waited[0] = rgp_now() - begin;
  }
  work(kernel, kernel->parallel);
  begin = rgp_now();
  if (!error)
    error = rg_allreduce(kernel->group, kernel->in, kernel->out,
                         kernel->bytes / (int)sizeof(double), MPI_DOUBLE, MPI_MAX);
  waited[1] = rgp_now() - begin;
  return error;
}

const char *bench_kernel_run(void *context) {
  bench_kernel *k = context;
  double begin = rgp_now();
  for (int i = 0; i < k->steps; i++)
    if (step(k, k->waited + 2 * i))
      return rg_error_detail();
  k->split.elapsed += rgp_now() - begin;
  return NULL;
}

const char *bench_kernel_finish(void *context) {
  bench_kernel *k = context;
  if (rg_allreduce(k->group, k->waited, k->least, 2 * k->steps, MPI_DOUBLE, MPI_MIN))
    return rg_error_detail();
  for (int i = 0; i < 2 * k->steps; i++) {
    k->split.communication += k->least[i];
    k->split.idle += k->waited[i] - k->least[i];
  }
  k->split.runs++;
  return NULL;
}
