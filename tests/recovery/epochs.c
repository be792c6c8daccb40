/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_epochs.py starts, with RG_SURVIVE=1: epochs POLICY SEED PLAN [DROP]. One balancer runs
 * RUNS times, each time on the walkers from where the run before has left them, while ranks kill
 * themselves as PLAN says, "rank:call,rank:call": in its so manieth callback; "rank:bN": before it
 * begins run N; "rank:gN": before it gathers after run N. Ranks are those of the world; the
 * balancer's group has them in the reverse order. DROP: outcomes are dropped after each run. After
 * each run all survivors check all outcomes. In the end the first survivor prints
 * "RESULT outcomes survivors deaths told": told is how many deaths the balancer told it of. */
#include "ranks.h"

enum { ITEMS = 12, WALKERS = 7, RUNS = 4 };

typedef struct {
  int64_t units, done, sum;
} state;

static int calls, dies_at = NEVER, told, drops;
static uint64_t draws;
static state states[WALKERS];
static rg_balancer balancer;

static int my_step(const char *plan, char kind) {
  for (const char *p = plan; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    int rank, at;
    char of;
    if (sscanf(p, "%d:%c%d", &rank, &of, &at) == 3 && rank == my_rank && of == kind)
      return at;
  }
  return NEVER;
}

static void call(void) {
  if (calls++ == dies_at)
    raise(SIGKILL);
  draws = draws * 6364136223846793005u + 1442695040888963407u;
  if (draws >> 62 == 0)
    usleep((useconds_t)(draws >> 54 & 0xff));
}

static int64_t units_of(int64_t id) {
  return 1 + id * 7 % 5;
}

static int unit(rg_walker *walker, rg_group g, void *context) {
  state *s = walker->state;
  int size = size_of(g);
  int64_t sum = 0;
  (void)context;
  call();
  for (int i = rank_in(g); i < ITEMS; i += size)
    sum += (walker->id + 1) * (s->done + 1) * i;
  if (rank_in(g) == 0 && walker->done == 0) {
    rg_walker_new new = {
        .size = sizeof new, .id = WALKERS + walker->id, .ended = 1, .state = &s->done, .bytes = 8};
    must(!rg_balance_add(balancer, &new), "rg_balance_add");
  }
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

static void died(const rg_balance_death *death, void *context) {
  (void)context;
  must(death->world_rank == world_size - 1 - death->rank, "a death has another rank in the world");
  must(death->world_rank != my_rank && death->left < world_size, "a death is told to the dead");
  told++;
}

/* What all units of a walker add up to. */
static int64_t sum_of(int64_t id, int64_t u) {
  return (id + 1) * (u * (u + 1) / 2) * (ITEMS * (ITEMS - 1) / 2);
}

/* Each run has the walker's outcome, and the one that its first unit has made. */
static void check_one(const rg_balance_outcome *outcome, int id, int run) {
  int64_t before = units_of(id % WALKERS) * run, at = before + units_of(id % WALKERS);
  must(outcome->id == id && outcome->run == run && !outcome->error && outcome->state,
       "an outcome is missing, or there twice");
  if (id >= WALKERS) {
    must(outcome->bytes == 8 && *(const int64_t *)outcome->state == before,
         "a unit has made something else");
    return;
  }
  const state *s = outcome->state;
  must(s->done == at && s->sum == sum_of(id, at) && outcome->done == at - before, "a wrong sum");
  must(outcome->unit > 0, "no pace");
  states[id] = *s;
}

/* All survivors have the outcomes of all runs that are kept. */
static int check_all(int run) {
  int64_t count;
  const rg_balance_outcome *o;
  int at = 0;
  must(!rg_balance_gather_all(balancer), "rg_balance_gather_all");
  must(!rg_balance_outcomes(balancer, &count, &o), "rg_balance_outcomes");
  must(count == 2 * WALKERS * (drops ? 1 : run + 1), "not as many outcomes as there were");
  for (int id = 0; id < 2 * WALKERS; id++)
    for (int r = drops ? run : 0; r <= run; r++)
      check_one(&o[at++], id, r);
  return at;
}

/* A root that has died is an error on all who live; another one is none. */
static void check_roots(rg_group g, int count) {
  int64_t have;
  const rg_balance_outcome *o;
  rg_group living = survivors_of(g);
  int ranks[64], zero = 0, root;
  for (int r = 0; r < size_of(living); r++)
    must(!rg_group_translate(living, 1, &r, g, &ranks[r]), "rg_group_translate");
  for (int r = 0, at = 0; r < size_of(g); r++) {
    int lives = at < size_of(living) && ranks[at] == r;
    at += lives;
    must(rg_balance_gather(balancer, r) == (lives ? RG_SUCCESS : RG_ERR_PROC_FAILED),
         "rg_balance_gather");
    char text[64];
    snprintf(text, sizeof text, "rg_balance_gather: the root, rank %d, has died", r);
    must(lives || !strcmp(rg_error_detail(), text), "what is said of a dead root");
  }
  must(!rg_group_translate(living, 1, &zero, g, &root), "rg_group_translate");
  must(!rg_balance_outcomes(balancer, &have, &o) && have == count, "outcomes of a gather");
  must(told == size_of(g) - size_of(living), "not all deaths have been told, or not once");
  if (rank_in(living) == 0)
    printf("RESULT %d %d %d %d\n", count, size_of(living), size_of(g) - size_of(living), told);
  fflush(stdout);
  rg_group_free(&living);
}

static void run(int number, const char *plan) {
  for (int w = 0; w < WALKERS; w++) {
    states[w].units += units_of(w);
    rg_walker_new new = {.size = sizeof new,
                         .id = w,
                         .left = (double)units_of(w),
                         .state = &states[w],
                         .bytes = sizeof(state)};
    must(!rg_balance_add(balancer, &new), "rg_balance_add");
  }
  round_now = number;
  if (my_step(plan, 'b') == number)
    raise(SIGKILL);
  must(!rg_balance_run(balancer), "rg_balance_run");
  if (my_step(plan, 'g') == number)
    raise(SIGKILL);
}

static rg_group reverse_of(rg_group world) {
  int *ranks = malloc((size_t)world_size * sizeof *ranks);
  rg_group g = NULL;
  for (int r = 0; ranks && r < world_size; r++)
    ranks[r] = world_size - 1 - r;
  must(ranks && !rg_group_create(world, world_size, ranks, 1, &g), "rg_group_create");
  free(ranks);
  return g;
}

int main(int argc, char **argv) {
  const char *plan = argc > 3 ? argv[3] : "";
  rg_group world = enter_world(&argc, &argv), g = reverse_of(world);
  rg_walker_kind kind = {.size = sizeof kind, .bytes = sizeof(state), .unit = unit, .left = left};
  rg_policy policy = {.size = sizeof policy};
  int count = 0;
  /* A death before rg_init has returned ends the job; a later one may end the barrier. */
  rg_barrier(world);
  must(!rg_policy_parse(argc > 1 ? argv[1] : NULL, &policy), "rg_policy_parse");
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 2, .died = died};
  draws = (uint64_t)(argc > 2 ? atoi(argv[2]) : 1) * 0x9e3779b97f4a7c15u + (uint64_t)my_rank;
  dies_at = my_round(plan);
  drops = argc > 4;
  must(!rg_balance_create(g, &kind, &o, &balancer), "rg_balance_create");
  for (int n = 0; n < RUNS; n++) {
    run(n, plan);
    count = check_all(n);
    if (drops && n < RUNS - 1)
      must(!rg_balance_drop(balancer, RG_BALANCE_OUTCOMES), "rg_balance_drop");
  }
  check_roots(g, count);
  rg_balance_free(&balancer);
  rg_group_free(&g);
  leave_world(&world);
  return 0;
}
