/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Rank 0 decides: it broadcasts which contender runs next and when, and gathers the times of
 * all ranks. Ranks that take no part wait in the next of these calls. */
#include "sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "start.h"

#define FEWEST 10 /* repetitions before precision is looked at, and between looks */
#define LEAD_LEAST 50e-6
#define LEAD_MOST 1.0

typedef struct {
  int contender; /* or END, FAILED */
  double when;
} order;
enum { END = -1, FAILED = -2 };

typedef struct {
  double seconds;
  long messages;
  int took_part, late;
  char wrong[256];
} record;

/* What rank 0 keeps. */
typedef struct {
  const bench_plan *plan;
  const bench_contender *contender;
  bench_measured *measured;
  int n, ranks, failed;
  double begin, lead;
  long turn;
  record *heard;   /* one for each rank */
  double *seconds; /* for each contender, room for plan->reps */
} conductor;

static int begin(conductor *c) {
  c->begin = rgp_now();
  c->lead = 1e-3;
  c->heard = malloc((size_t)c->ranks * sizeof *c->heard);
  c->seconds = malloc((size_t)c->n * (size_t)c->plan->reps * sizeof *c->seconds);
  memset(c->measured, 0, (size_t)c->n * sizeof *c->measured);
  return c->heard && c->seconds;
}

static void summarise(conductor *c, int reps) {
  for (int i = 0; i < c->n; i++)
    if (!bench_stats_of(reps, c->seconds + (size_t)i * (size_t)c->plan->reps,
                        &c->measured[i].seconds))
      c->failed = 1;
}

static int precise(conductor *c, int reps) {
  if (reps < FEWEST || reps % FEWEST)
    return 0;
  summarise(c, reps);
  for (int i = 0; i < c->n; i++)
    if (!(bench_precision(&c->measured[i].seconds) <= c->plan->precision))
      return 0;
  return 1;
}

/* After whole repetitions: whether there have been enough. */
static int enough(conductor *c, int reps) {
  double elapsed = rgp_now() - c->begin, most = fmax(elapsed / c->plan->seconds, 0);
  if (c->plan->progress) {
    double part = fmin(1, fmax(most, (double)reps / c->plan->reps));
    rgp_progress_show(c->plan->progress, c->plan->done + c->plan->share * part, NULL);
  }
  return reps >= 1 && (reps >= c->plan->reps || most >= 1 || precise(c, reps));
}

static void decide(conductor *c, order *o) {
  int rep = (int)(c->turn / c->n), reps = rep - c->plan->warmup;
  o->contender = (int)((c->turn + rep) % c->n);
  o->when = rgp_now() + c->lead;
  if (!c->failed && c->turn % c->n == 0 && enough(c, reps)) {
    summarise(c, reps);
    o->contender = END;
  }
  if (c->failed)
    o->contender = FAILED;
}

/* The lead grows until all ranks are ready in time, and shrinks slowly. */
static void adapt(conductor *c, int late) {
  c->lead = late ? fmin(2 * c->lead, LEAD_MOST) : fmax(0.98 * c->lead, LEAD_LEAST);
}

static void note(conductor *c, int contender) {
  bench_measured *m = &c->measured[contender];
  int rep = (int)(c->turn++ / c->n) - c->plan->warmup, late = 0;
  int batch = c->contender[contender].batch > 1 ? c->contender[contender].batch : 1;
  double slowest = 0, sum = 0;
  long messages = 0;
  int took_part = 0;
  for (int i = 0; i < c->ranks && !c->failed; i++) {
    const record *r = &c->heard[i];
    slowest = fmax(slowest, r->seconds);
    sum += r->seconds;
    took_part += r->took_part;
    messages += r->messages;
    late |= r->late;
    if (r->wrong[0]) {
      fprintf(stderr, "regroup-bench: %s failed on rank %d: %s\n", c->contender[contender].name, i,
              r->wrong);
      c->failed = 1;
    }
  }
  adapt(c, late);
  if (rep < 0)
    return;
  double seconds = c->contender[contender].spent && took_part ? sum / took_part : slowest;
  c->seconds[(size_t)contender * (size_t)c->plan->reps + (size_t)rep] = seconds / batch;
  m->messages = rep == 0 || messages < m->messages ? messages : m->messages;
  m->messages_most = messages > m->messages_most ? messages : m->messages_most;
  m->late += late;
}

static void take_turn(const bench_start *start, const bench_contender *contender, double when,
                      record *r) {
  const char *wrong;
  memset(r, 0, sizeof *r);
  if (contender->takes_part || !start->one_clock)
    r->late = bench_start_wait(start, when);
  if (!contender->takes_part)
    return;
  long sent = bench_messages();
  double from = rgp_now();
  wrong = contender->run(contender->context);
  r->seconds = contender->spent ? *contender->spent : rgp_now() - from;
  r->took_part = 1;
  r->messages = bench_messages() - sent;
  if (!wrong && contender->finish)
    wrong = contender->finish(contender->context);
  if (wrong)
    snprintf(r->wrong, sizeof r->wrong, "%s", wrong);
}

int bench_measure(MPI_Comm comm, const bench_plan *plan, int n, const bench_contender contender[],
                  bench_measured measured[]) {
  conductor c = {.plan = plan, .contender = contender, .measured = measured, .n = n};
  bench_start start;
  order o;
  record mine;
  int rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &c.ranks);
  bench_start_init(&start, comm);
  if (rank == 0 && !begin(&c)) {
    fprintf(stderr, "regroup-bench: no memory for %d measurements\n", plan->reps);
    c.failed = 1;
  }
  for (;;) {
    if (rank == 0)
      decide(&c, &o);
    MPI_Bcast(&o, sizeof o, MPI_BYTE, 0, comm);
    if (o.contender < 0)
      break;
    take_turn(&start, &contender[o.contender], o.when, &mine);
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, c.heard, sizeof mine, MPI_BYTE, 0, comm);
    if (rank == 0)
      note(&c, o.contender);
  }
  free(c.heard);
  free(c.seconds);
  return o.contender == END;
}
