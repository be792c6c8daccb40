/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_checkpoint_due.py starts: stopping POLICY WALKERS PLAN [ALIKE]. Walkers with results in
 * closed form are balanced until a checkpoint is due: PLAN is "rank:unit,...", the rank gets
 * SIGTERM in its so manieth unit; "rank:-MILLISECONDS": so long after the start, also if it is idle
 * then; "rank:kUNIT": and dies. Each walker must be there once, as far as it has come. A second run
 * continues from there. Rank 0 of the survivors prints "STOPPED left walkers": how many had work
 * left. */
#include <sys/time.h>

#include "ranks.h"

enum { ITEMS = 20, UNIT_MICROSECONDS = 500 };

typedef struct {
  int64_t units, done, sum;
} state;

static int calls, signal_at = NEVER, dies_at = NEVER;
static const char *policy_name;
static int walkers, alike;

static int64_t units_of(int64_t id) {
  return id * 7 % 23 + 60;
}

static int64_t sum_after(int64_t id, int64_t u) {
  return (id + 1) * (u * (u + 1) / 2) * (ITEMS * (ITEMS - 1) / 2);
}

static void send_signal(int alarm_) {
  (void)alarm_;
  raise(SIGTERM);
}

static int start(rg_walker *walker, void *context) {
  (void)context;
  *(state *)walker->state = (state){.units = units_of(walker->id)};
  return RG_SUCCESS;
}

static int unit(rg_walker *walker, rg_group g, void *context) {
  state *s = walker->state;
  int64_t sum = 0;
  (void)context;
  usleep(UNIT_MICROSECONDS);
  calls++;
  if (calls == signal_at || calls == dies_at)
    raise(SIGTERM);
  if (calls == dies_at)
    raise(SIGKILL);
  for (int i = rank_in(g); i < ITEMS; i += size_of(g))
    sum += (walker->id + 1) * (s->done + 1) * i;
  int error = rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM);
  s->sum += sum;
  s->done++;
  return error;
}

static double left(const rg_walker *walker, void *context) {
  const state *s = walker->state;
  (void)context;
  return (double)(s->units - s->done);
}

/* Counts the walkers with work left, on the first of the survivors. */
static int check(const rg_balance_outcome *outcome, int64_t count, state all[]) {
  int open = 0;
  must(count == walkers, "not as many walkers have ended as there were");
  for (int64_t i = 0; i < count; i++) {
    const state *s = outcome[i].state;
    must(outcome[i].id == i && !outcome[i].error && s != NULL, "a walker is missing or has failed");
    must(s->units == units_of(i) && s->done <= s->units, "units");
    must(s->sum == sum_after(i, s->done), "a wrong sum");
    all[i] = *s;
    open += s->done < s->units;
  }
  return open;
}

static rg_group living_of(rg_group g) {
  rg_group same;
  if (getenv("RG_SURVIVE"))
    return survivors_of(g);
  must(!rg_group_dup(g, &same), "rg_group_dup");
  return same;
}

/* Runs all walkers on g, from their states if they have begun, and puts these together; g becomes
 * its survivors'. Returns how many have work left. */
static int run(rg_group *g, int stop, state all[], int begun) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(state),
                         .unit = unit,
                         .left = left,
                         .start = start,
                         .alike = alike};
  rg_policy policy = {.size = sizeof policy};
  rg_balancer b;
  int64_t count = 0;
  const rg_balance_outcome *o = NULL;
  must(!rg_policy_parse(policy_name, &policy), "rg_policy_parse");
  rg_balance_options options = {
      .size = sizeof options, .policy = &policy, .group = 2, .stop_when_due = stop};
  must(!rg_balance_create(*g, &kind, &options, &b), "rg_balance_create");
  for (int w = 0; w < walkers; w++) {
    rg_walker_new new = {.size = sizeof new,
                         .id = w,
                         .left = (double)(units_of(w) - all[w].done),
                         .state = begun ? &all[w] : NULL,
                         .bytes = sizeof all[w]};
    must(!rg_balance_add(b, &new), "rg_balance_add");
  }
  must(!rg_balance_run(b), "rg_balance_run");
  rg_group living = living_of(*g);
  int first = 0, root, open = 0;
  must(!rg_group_translate(living, 1, &first, *g, &root), "rg_group_translate");
  must(!rg_balance_gather(b, root) && !rg_balance_outcomes(b, &count, &o), "rg_balance_gather");
  if (rank_in(living) == 0)
    open = check(o, count, all);
  must(!rg_bcast(living, all, walkers * (MPI_Count)sizeof *all, MPI_BYTE, 0), "rg_bcast");
  must(!rg_bcast(living, &open, 1, MPI_INT, 0), "rg_bcast");
  rg_balance_free(&b);
  rg_group_free(g);
  *g = living;
  return open;
}

int main(int argc, char **argv) {
  rg_group team = enter_world(&argc, &argv);
  policy_name = argv[1];
  walkers = atoi(argv[2]);
  alike = argc > 4;
  signal_at = my_round(argv[3]);
  for (const char *p = strstr(argv[3], ":k"); p; p = NULL)
    dies_at = atoi(argv[3]) == my_rank ? atoi(p + 2) : NEVER;
  state *all = calloc((size_t)walkers, sizeof *all);
  must(all && !rg_checkpoint_on_signal(SIGTERM, 1), "setting up");
  if (signal_at < NEVER) {
    struct itimerval t = {.it_value = {0, -1000 * signal_at}};
    signal(SIGALRM, send_signal);
    setitimer(ITIMER_REAL, &t, NULL);
  }
  int open = run(&team, 1, all, 0), due;
  must(!rg_checkpoint_due(team, &due) && (due || !open), "rg_checkpoint_due");
  if (open)
    must(run(&team, 0, all, 1) == 0, "a walker has not ended");
  if (rank_in(team) == 0)
    printf("STOPPED %d %d\n", open, walkers);
  fflush(stdout);
  free(all);
  leave_world(&team);
  return 0;
}
