/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Parallel tempering of 13 Lennard-Jones atoms, whose lowest energy is -44.326801. Each temperature
 * is a walker; a unit is a sweep, in which one atom after another may move. After every tenth
 * sweep a walker meets its neighbour in temperature, and they may exchange their atoms. Some
 * sweeps take longer than others (--sleep: seconds on one process); with --static each walker has
 * its own processes for the whole run, and all wait for each other at each exchange. With --work
 * 100 sweeps take longer by real work: energies are computed 50 to 350 times.
 *
 *   mpiexec -n 8 example-tempering --sleep 0.01 [--static 1] [--walkers 16] [--sweeps 60] [--most
 * 1]
 *
 * The results have the same bits in all cases: energies are sums of integers, and random numbers
 * are a function of walker, sweep and atom. */
#include <Random123/philox.h>
#include <math.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/check.h"

enum { ATOMS = 13, EVERY = 10, MOST_WALKERS = 256 };
#define FIXED 4294967296.0 /* an energy of 1 as an integer */

typedef struct {
  double x[ATOMS][3];
  int64_t energy, lowest, sweeps, exchanges;
  double best[ATOMS][3]; /* where it was lowest */
} replica_state;

static double seconds_of_sweep = 0;
static int walkers = 8, sweeps = 200, most = 0, is_static = 0, times = 0, root = 0;

/* Four numbers between 0 and 1, a function of where they are used. */
static void draw(int64_t walker, int64_t sweep, int64_t what, double u[4]) {
  philox4x64_ctr_t counter = {{(uint64_t)walker, (uint64_t)sweep, (uint64_t)what, 13}};
  philox4x64_key_t key = {{2026, 11}};
  philox4x64_ctr_t r = philox4x64(counter, key);
  for (int i = 0; i < 4; i++)
    u[i] = ((double)(r.v[i] >> 11) + 0.5) / 9007199254740992.0;
}

static double temperature(int64_t walker) {
  return 0.18 * pow(0.42 / 0.18, (double)walker / (walkers > 1 ? walkers - 1 : 1));
}

/* How much longer than others a sweep takes. */
static double cost(int64_t walker, int64_t sweep) {
  double u[4];
  draw(walker, sweep / EVERY, 1000, u);
  return 0.5 + 3 * u[0] * u[0];
}

/* --- the physics -------------------------------------------------------------------------- */

static int64_t pair(const double a[3], const double b[3]) {
  double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  double s = 1 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), s3 = s * s * s;
  return llround(fmin(4 * s3 * (s3 - 1), 1e6) * FIXED);
}

/* The energy of an atom at a place with atoms first, first + step, ... */
static int64_t energy_at(const replica_state *replica, int atom, const double at[3], int first,
                         int step) {
  int64_t e = 0;
  for (int i = first; i < ATOMS; i += step)
    e += i == atom ? 0 : pair(replica->x[i], at);
  return e;
}

/* By how much the energy of an atom changes. With --work it is computed that often, more often
 * where sweeps take longer: always the same, but the compiler does not know. */
static int64_t change_to(const replica_state *replica, int64_t id, int atom, const double at[3],
                         int first, int step) {
  static volatile double nothing = 0;
  int64_t n = times > 0 ? llround(times * cost(id, replica->sweeps)) : 1, change = INT64_MAX;
  for (int64_t i = 0; i < n; i++) {
    double a[3] = {at[0] + nothing, at[1] + nothing, at[2] + nothing};
    int64_t again = energy_at(replica, atom, a, first, step) -
                    energy_at(replica, atom, replica->x[atom], first, step);
    change = again < change ? again : change;
  }
  return change;
}

static int64_t energy_of(const replica_state *replica) {
  int64_t e = 0;
  for (int i = 0; i < ATOMS; i++)
    e += energy_at(replica, i, replica->x[i], 0, 1);
  return e / 2;
}

static void begin(replica_state *replica, int64_t id) {
  memset(replica, 0, sizeof *replica);
  for (int i = 0; i < ATOMS; i++) { /* on a grid, a little off */
    double u[4];
    draw(id, -1, i, u);
    for (int k = 0; k < 3; k++)
      replica->x[i][k] = 1.1 * (k == 0 ? i % 3 : k == 1 ? i / 3 % 3 : i / 9) + 0.1 * u[k];
  }
  replica->energy = replica->lowest = energy_of(replica);
}

/* Tries to move an atom; the members share the work. */
static int move(replica_state *replica, int64_t id, int atom, rg_group g, int rank, int size) {
  double u[4], at[3];
  draw(id, replica->sweeps, atom, u);
  for (int k = 0; k < 3; k++) {
    at[k] = replica->x[atom][k] + 0.35 * (u[k] - 0.5);
    if (fabs(at[k] - 1.1) > 2.6) /* stay together */
      return RG_SUCCESS;
  }
  int64_t change = change_to(replica, id, atom, at, rank, size);
  int error = rg_allreduce(g, MPI_IN_PLACE, &change, 1, MPI_INT64_T, MPI_SUM);
  if (error || log(u[3]) * temperature(id) > -(double)change / FIXED)
    return error;
  memcpy(replica->x[atom], at, sizeof at);
  replica->energy += change;
  if (replica->energy < replica->lowest) {
    replica->lowest = replica->energy;
    memcpy(replica->best, replica->x, sizeof replica->x);
  }
  return RG_SUCCESS;
}

static void rest(double seconds) {
  struct timespec t = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
  nanosleep(&t, NULL);
}

static int sweep(replica_state *replica, int64_t id, rg_group g) {
  int rank = 0, size = 1, error = RG_SUCCESS;
  rg_group_rank(g, &rank);
  rg_group_size(g, &size);
  for (int i = 0; i < ATOMS && !error; i++)
    error = move(replica, id, i, g, rank, size);
  if (seconds_of_sweep > 0)
    rest(seconds_of_sweep * cost(id, replica->sweeps) / (most && size > most ? most : size));
  replica->sweeps++;
  return error;
}

/* The walker that a walker meets after so many sweeps; -1: none. */
static int64_t partner(int64_t id, int64_t after) {
  int64_t with = (id + after / EVERY) % 2 ? id - 1 : id + 1;
  return after == 0 || after % EVERY || with < 0 || with >= walkers ? -1 : with;
}

/* Walker `low` and the next one may exchange their atoms. */
static void exchange(replica_state *a, replica_state *b, int64_t low) {
  double u[4], gain = (double)(a->energy - b->energy) / FIXED;
  draw(low, a->sweeps, 2000, u);
  if (log(u[0]) > gain * (1 / temperature(low) - 1 / temperature(low + 1)))
    return;
  replica_state was = *a;
  memcpy(a->x, b->x, sizeof a->x);
  memcpy(b->x, was.x, sizeof b->x);
  a->energy = b->energy;
  b->energy = was.energy;
  a->exchanges++;
  b->exchanges++;
}

/* --- with the balancer ---------------------------------------------------------------------- */

static int unit(rg_walker *walker, rg_group g, void *context) {
  (void)context;
  return sweep((replica_state *)walker->state, walker->id, g);
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(sweeps - ((const replica_state *)walker->state)->sweeps);
}

static int start(rg_walker *walker, void *context) {
  (void)context;
  begin((replica_state *)walker->state, walker->id);
  return RG_SUCCESS;
}

static int meets(const rg_walker *walker, rg_meeting *meeting, void *context) {
  static int64_t with;
  (void)context;
  with = partner(walker->id, walker->done);
  if (with < 0)
    return RG_SUCCESS;
  meeting->with = &with;
  meeting->count = 1;
  meeting->number = walker->done;
  return RG_SUCCESS;
}

static int meeting(int64_t count, rg_walker *const both[], int64_t number, void *context) {
  (void)count;
  (void)number;
  (void)context;
  exchange((replica_state *)both[0]->state, (replica_state *)both[1]->state, both[0]->id);
  return RG_SUCCESS;
}

/* The outcomes are gathered at the lowest rank that lives. */
static void died(const rg_balance_death *death, void *context) {
  char *dead = (char *)context;
  dead[death->rank] = 1;
  while (dead[root])
    root++;
}

static int balanced(rg_group world, replica_state all[]) {
  static char dead[65536];
  const rg_balance_outcome *o;
  int64_t count = 0;
  rg_balancer b;
  rg_walker_kind kind = {};
  rg_balance_options options = {};
  kind.size = sizeof kind;
  kind.bytes = sizeof(replica_state);
  kind.unit = unit;
  kind.left = left;
  kind.start = start;
  kind.meets = meets;
  kind.meeting = meeting;
  options.size = sizeof options;
  options.died = died;
  options.context = dead;
  int error = rg_balance_create(world, &kind, &options, &b);
  for (int i = 0; i < walkers && !error; i++) {
    rg_walker_new w = {};
    w.size = sizeof w;
    w.id = i;
    w.left = sweeps;
    w.most = most;
    w.unit = seconds_of_sweep;
    error = rg_balance_add(b, &w);
  }
  if (error || (error = rg_balance_run(b)) || (error = rg_balance_gather(b, root)) ||
      (error = rg_balance_outcomes(b, &count, &o)))
    return error;
  for (int64_t i = 0; i < count && count == walkers; i++)
    memcpy(&all[i], o[i].state, sizeof *all);
  return rg_balance_free(&b);
}

/* --- with a static division --------------------------------------------------------------- */

static int divided(rg_group world, replica_state all[]) {
  int rank, size, error;
  rg_group own;
  rg_group_rank(world, &rank);
  rg_group_size(world, &size);
  int groups = size < walkers ? size : walkers, mine = rank * groups / size;
  if ((error = rg_group_split(world, mine, rank, &own)))
    return error;
  for (int w = 0; w < walkers; w++)
    begin(&all[w], w);
  for (int done = 0; done < sweeps && !error; done = all[0].sweeps) {
    for (int w = mine; w < walkers && !error; w += groups)
      for (int k = 0; k < EVERY && all[w].sweeps < sweeps && !error; k++)
        error = sweep(&all[w], w, own);
    for (int w = 0; w < walkers && !error; w++)
      error = rg_bcast(world, &all[w], sizeof *all, MPI_BYTE,
                       (w % groups * size + groups - 1) / groups);
    for (int w = 0; w < walkers && !error; w++)
      if (partner(w, all[w].sweeps) > w)
        exchange(&all[w], &all[w + 1], w);
  }
  rg_group_free(&own);
  return error;
}

/* --- results ---------------------------------------------------------------------------------- */

/* The larger of all work over all ranks and the longest chain of sweeps and meetings. */
static double bound(int ranks) {
  double end[MOST_WALKERS] = {0}, work = 0, chain = 0;
  for (int s = 0; s < sweeps; s++) {
    for (int w = 0; w < walkers; w++) {
      work += cost(w, s);
      end[w] += cost(w, s) / (most && most < ranks ? most : ranks);
    }
    for (int w = 0; w < walkers; w++)
      if (partner(w, s + 1) > w)
        end[w] = end[w + 1] = fmax(end[w], end[w + 1]);
  }
  for (int w = 0; w < walkers; w++)
    chain = fmax(chain, end[w]);
  return seconds_of_sweep * fmax(work / ranks, chain);
}

/* Goes downhill from where a walker was lowest: the energy of the minimum. */
static double quench(replica_state from) {
  memcpy(from.x, from.best, sizeof from.x);
  double step = 1e-3, e = (double)energy_of(&from);
  for (int n = 0; n < 20000 && step > 1e-12; n++) {
    double force[ATOMS][3] = {{0}};
    replica_state next = from;
    for (int i = 0; i < ATOMS; i++)
      for (int j = 0; j < ATOMS; j++) {
        double d[3], s = 0;
        for (int k = 0; k < 3; k++) {
          d[k] = from.x[i][k] - from.x[j][k];
          s += d[k] * d[k];
        }
        for (int k = 0; k < 3 && i != j; k++)
          force[i][k] += 24 * d[k] * (2 * pow(s, -7) - pow(s, -4));
      }
    for (int i = 0; i < ATOMS; i++)
      for (int k = 0; k < 3; k++)
        next.x[i][k] += step * force[i][k];
    double lower = (double)energy_of(&next);
    step *= lower < e ? 1.1 : 0.3;
    if (lower < e) {
      e = lower;
      from = next;
    }
  }
  return e / FIXED;
}

static void print(const replica_state all[], int ranks, double seconds) {
  uint64_t sum = 0;
  double lowest = 0;
  for (int w = 0; w < walkers; w++) {
    const unsigned char *bytes = (const unsigned char *)&all[w];
    for (size_t i = 0; i < sizeof *all; i++)
      sum = sum * 1099511628211u + bytes[i];
    lowest = fmin(lowest, quench(all[w]));
    printf("walker %3d  temperature %.3f  energy %10.6f  lowest %10.6f  exchanges %lld\n", w,
           temperature(w), (double)all[w].energy / FIXED, (double)all[w].lowest / FIXED,
           (long long)all[w].exchanges);
  }
  printf("minimum %.6f\nchecksum %016llx\nseconds %.3f  bound %.3f\n", lowest,
         (unsigned long long)sum, seconds, bound(ranks));
}

static void read_options(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--sleep"))
      seconds_of_sweep = atof(argv[i + 1]);
    else if (!strcmp(argv[i], "--static"))
      is_static = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--walkers"))
      walkers = atoi(argv[i + 1]) < MOST_WALKERS ? atoi(argv[i + 1]) : MOST_WALKERS;
    else if (!strcmp(argv[i], "--sweeps"))
      sweeps = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--most"))
      most = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--work"))
      times = atoi(argv[i + 1]);
  }
}

int main(int argc, char **argv) {
  static replica_state all[MOST_WALKERS];
  int rank, ranks;
  rg_group world;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  read_options(argc, argv);
  int error = rg_init(MPI_COMM_WORLD, NULL);
  if (!error)
    error = rg_group_world(&world);
  if (!error)
    error = rg_barrier(world);
  double began = MPI_Wtime();
  if (!error)
    error = is_static ? divided(world, all) : balanced(world, all);
  if (error) {
    fprintf(stderr, "rank %d: %s: %s\n", rank, rg_error_string(error), rg_error_detail());
    common_abort(1);
  }
  if (rank == root)
    print(all, ranks, MPI_Wtime() - began);
  rg_group_free(&world);
  rg_finalize();
  MPI_Finalize();
  return 0;
}
