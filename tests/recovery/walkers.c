/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_walkers.py starts, with RG_SURVIVE=1: walkers POLICY WALKERS SEED PLAN [alike]
 * [limits].
 * Walkers with results in closed form, some of which make others, and each of whose units reports
 * its outcomes, are balanced while ranks are killed: from outside, or as PLAN says,
 * "rank:call,rank:call": the rank kills itself in its so manieth callback; "rank:-TIME": it stops
 * so many microseconds after its last one, and kills itself when the others have ended; "rank:eN":
 * in its N-th step of an exchange between nodes after a death; "rank:gN": in one of
 * rg_balance_gather; "rank:bN": in its N-th broadcast of what a walker is; "rank:lTIME": the first
 * news of a death come to it so many microseconds late, and each callback takes it a millisecond;
 * "rank:wTIME": it waits so long before it returns from a callback with an error; "rank:f1": before
 * it has opened its walker store; "rank:f2": it hears of a death then. In the end the first
 * survivor prints "RESULT walkers survivors deaths milliseconds" if each walker has ended once with
 * the right sum, and the next one if that died meanwhile; the milliseconds are the longest from
 * noticing a death to having begun again. limits: some walkers need two processes, others can use
 * one or two only.
 *
 * wrap: rg_alltoallv rg_bcast rgi_process_deaths rgi_revocation_has rgi_first_share_paces */
#include <sys/time.h>

#include "progress/request.h"
#include "ranks.h"
#include "shm/process.h"
#include "shm/revocation.h"
#include "walkers/state/first_groups.h"

#define ITEMS 20
#define CHILD 1000

typedef struct {
  int64_t units, done, sum;
} state;

static int calls, dies_at = NEVER, stops_after, told;
static int limited; /* walkers have least and most */
static int exchange_dies, gather_dies, gathers, broadcast_dies, late, waits, opening;
static uint64_t draws;
static rg_balancer balancer;

static void stop_and_die(int sign) {
  (void)sign;
  usleep(200000);
  raise(SIGKILL);
}

/* In so many microseconds from now; 0: not any more. */
static void stop_in(int time) {
  const struct itimerval t = {.it_value.tv_usec = time};
  setitimer(ITIMER_REAL, &t, NULL);
}

/* Also if a signal comes. */
static void pass(int microseconds) {
  for (double end = now() + 1e-6 * microseconds; now() < end;)
    usleep(100);
}

/* A moment, of a length of its own; the last one for some. */
static void call(void) {
  if (calls++ == dies_at)
    raise(SIGKILL);
  if (stops_after)
    stop_in(stops_after);
  if (late)
    pass(1000);
  draws = draws * 6364136223846793005u + 1442695040888963407u;
  if (draws >> 62 == 0)
    usleep((useconds_t)(draws >> 54 & 0xff));
}

/* What the leaders of nodes exchange. */
__typeof__(rg_alltoallv) __real_rg_alltoallv, __wrap_rg_alltoallv;

int __wrap_rg_alltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                        const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                        const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                        MPI_Datatype recv_type) {
  if ((gathers ? --gather_dies : --exchange_dies) == 0)
    raise(SIGKILL);
  return __real_rg_alltoallv(g, send, send_counts, send_displs, send_type, recv, recv_counts,
                             recv_displs, recv_type);
}

/* With synchronous balancing: what a unit has made goes to all. */
__typeof__(rg_bcast) __real_rg_bcast, __wrap_rg_bcast;

int __wrap_rg_bcast(rg_group g, void *data, MPI_Count count, MPI_Datatype type, int root) {
  if (--broadcast_dies == 0)
    raise(SIGKILL);
  return __real_rg_bcast(g, data, count, type, root);
}

/* --- news of a death that come late --------------------------------------------------------- */

__typeof__(rgi_process_deaths) __real_rgi_process_deaths, __wrap_rgi_process_deaths;
__typeof__(rgi_revocation_has) __real_rgi_revocation_has, __wrap_rgi_revocation_has;

static int is_late(void) {
  static double first;
  if (late == 0)
    return 0;
  first = first > 0 ? first : now();
  return now() < first + 1e-6 * late;
}

int __wrap_rgi_process_deaths(void) {
  int deaths = __real_rgi_process_deaths();
  return deaths && is_late() ? 0 : deaths;
}

int __wrap_rgi_revocation_has(uint64_t context) {
  return __real_rgi_revocation_has(context) && !is_late();
}

/* The stores are opened next. */
__typeof__(rgi_first_share_paces) __real_rgi_first_share_paces, __wrap_rgi_first_share_paces;

int __wrap_rgi_first_share_paces(rg_balancer b) {
  if (opening == 1)
    raise(SIGKILL);
  if (opening == 0)
    return __real_rgi_first_share_paces(b);
  while (__real_rgi_process_deaths() == 0)
    usleep(100);
  opening = 0;
  return RG_ERR_PROC_FAILED;
}

/* "rank:eN": N, or 0. */
static int my_step(const char *plan, char kind) {
  for (const char *p = plan; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    int rank, at;
    char of;
    if (sscanf(p, "%d:%c%d", &rank, &of, &at) == 3 && rank == my_rank && of == kind)
      return at;
  }
  return 0;
}

/* 0: no limit. */
static int64_t least_of(int64_t id) {
  return limited && id < CHILD && id % 4 == 1 ? 2 : 0;
}

static int64_t most_of(int64_t id) {
  return limited && id < CHILD && id % 4 > 1 ? id % 4 - 1 : 0;
}

static int64_t units_of(int64_t id) {
  return id * 7 % 23;
}

static int64_t sum_of(int64_t id) {
  int64_t u = units_of(id);
  return (id + 1) * (u * (u + 1) / 2) * (ITEMS * (ITEMS - 1) / 2);
}

/* Every third walker that is no child makes one in its first unit. */
static int has_child(int64_t id) {
  return id < CHILD && id % 3 == 0 && units_of(id) > 0;
}

static int start(rg_walker *walker, void *context) {
  (void)context;
  *(state *)walker->state = (state){.units = units_of(walker->id)};
  return RG_SUCCESS;
}

static int returned(int error) {
  if (error)
    pass(waits);
  return error;
}

/* What a unit has made, as an outcome of its own. */
typedef struct {
  int64_t unit, sum;
} made;

static void tell(int64_t id, int64_t unit, int64_t sum) {
  made m = {unit, sum};
  rg_walker_new new = {
      .size = sizeof new, .id = -1 - id, .ended = 1, .state = &m, .bytes = sizeof m};
  must(!rg_balance_add(balancer, &new), "rg_balance_add");
}

static int unit(rg_walker *walker, rg_group g, void *context) {
  state *s = walker->state;
  int rank, size;
  int64_t sum = 0;
  (void)context;
  rg_group_rank(g, &rank);
  rg_group_size(g, &size);
  must(size >= least_of(walker->id), "a walker has fewer processes than it needs");
  must(most_of(walker->id) == 0 || size <= most_of(walker->id),
       "a walker has more than it can use");
  call();
  for (int i = rank; i < ITEMS; i += size)
    sum += (walker->id + 1) * (s->done + 1) * i;
  if (rank == 0 && s->done == 0 && has_child(walker->id)) {
    rg_walker_new child = {.size = sizeof child,
                           .id = CHILD + walker->id,
                           .left = (double)units_of(CHILD + walker->id)};
    must(!rg_balance_add(balancer, &child), "rg_balance_add");
  }
  int error = rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM);
  if (rank == 0 && !error)
    tell(walker->id, s->done, sum);
  s->sum += sum;
  s->done++;
  return returned(error);
}

static double left(const rg_walker *walker, void *context) {
  const state *s = walker->state;
  (void)context;
  return (double)(s->units - s->done);
}

static int changed(rg_walker *walker, rg_group g, void *context) {
  (void)walker;
  (void)context;
  call();
  return returned(rg_barrier(g));
}

static int leaving(rg_walker *walker, rg_group g, int stay, void *context) {
  (void)stay;
  return changed(walker, g, context);
}

static void died(const rg_balance_death *death, void *context) {
  (void)context;
  told++;
  longest = death->back - death->noticed > longest ? death->back - death->noticed : longest;
}

static int units_in_all(int walkers) {
  int64_t units = 0;
  for (int w = 0; w < walkers; w++)
    units += units_of(w) + (has_child(w) ? units_of(CHILD + w) : 0);
  return (int)units;
}

/* What the units have made comes first: once of each unit. Returns how many. */
static int check_made(const rg_balance_outcome *outcome, int64_t count, int walkers) {
  int n = 0;
  uint32_t seen = 0; /* units of the walker */
  for (; n < count && outcome[n].id < 0; n++) {
    const made *m = outcome[n].state;
    int64_t id = -1 - outcome[n].id;
    seen = n > 0 && outcome[n - 1].id == outcome[n].id ? seen : 0;
    must(!outcome[n].error && m && outcome[n].bytes == sizeof *m,
         "a unit has not made what it should");
    must(m->unit < units_of(id) && !(seen >> m->unit & 1), "a unit is there twice");
    must(m->sum == (id + 1) * (m->unit + 1) * (ITEMS * (ITEMS - 1) / 2), "a unit's sum is wrong");
    seen |= (uint32_t)1 << m->unit;
  }
  must(n == units_in_all(walkers), "what a unit has made is missing");
  return n;
}

static void check(const rg_balance_outcome *outcome, int64_t count, int walkers) {
  int expected = walkers, first = check_made(outcome, count, walkers);
  for (int w = 0; w < walkers; w++)
    expected += has_child(w);
  must(count - first == expected, "not as many walkers have ended as there were");
  for (int i = first; i < count; i++) {
    const state *s = outcome[i].state;
    must(i == first || outcome[i].id > outcome[i - 1].id, "a walker has ended twice");
    must(outcome[i].error == RG_SUCCESS && s != NULL, "a walker has failed");
    must(s->done == units_of(outcome[i].id) && outcome[i].done == s->done,
         "a unit is missing, or too many");
    must(s->sum == sum_of(outcome[i].id), "a wrong sum");
  }
}

static void run(rg_group world, const char *name, int walkers, int alike) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(state),
                         .unit = unit,
                         .left = left,
                         .start = start,
                         .changed = changed,
                         .leaving = leaving,
                         .finished = changed,
                         .alike = alike};
  rg_policy policy = {.size = sizeof policy};
  must(!rg_policy_parse(name, &policy), "rg_policy_parse");
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 2, .died = died};
  must(!rg_balance_create(world, &kind, &o, &balancer), "rg_balance_create");
  for (int w = 0; w < walkers; w++) {
    rg_walker_new new = {.size = sizeof new,
                         .id = w,
                         .left = (double)units_of(w),
                         .least = least_of(w),
                         .most = most_of(w)};
    must(!rg_balance_add(balancer, &new), "rg_balance_add");
  }
  must(!rg_balance_run(balancer), "rg_balance_run");
  stop_in(0);
  must(!rgi_requests_busy(), "the balancing has left an operation under way");
}

/* The first survivor gathers and prints. Returns 0 if a process died meanwhile, which may have been
 * that survivor. */
static int try_result(rg_group world, int walkers) {
  rg_group left_over = survivors_of(world);
  int root = 0, first = 0, well, n = size_of(left_over), deaths = world_size - n;
  int64_t count;
  const rg_balance_outcome *o;
  must(!rg_group_translate(left_over, 1, &first, world, &root), "rg_group_translate");
  int error = rg_balance_gather(balancer, root);
  if (!error && rank_in(left_over) == 0) {
    must(!rg_balance_outcomes(balancer, &count, &o), "rg_balance_outcomes");
    check(o, count, walkers);
    must(told <= deaths, "more deaths were told than there are");
    printf("RESULT %lld %d %d %.1f\n", (long long)count, n, deaths, 1e3 * longest);
    fflush(stdout);
  }
  must(!all_well(left_over, error, &well), "all_well");
  rg_group_free(&left_over);
  return well;
}

int main(int argc, char **argv) {
  int walkers = argc > 2 ? atoi(argv[2]) : 20;
  rg_group world = enter_world(&argc, &argv);
  draws = (uint64_t)(argc > 3 ? atoi(argv[3]) : 1) * 0x9e3779b97f4a7c15u + (uint64_t)my_rank;
  dies_at = argc > 4 ? my_round(argv[4]) : NEVER;
  exchange_dies = argc > 4 ? my_step(argv[4], 'e') : 0;
  gather_dies = argc > 4 ? my_step(argv[4], 'g') : 0;
  broadcast_dies = argc > 4 ? my_step(argv[4], 'b') : 0;
  late = argc > 4 ? my_step(argv[4], 'l') : 0;
  waits = argc > 4 ? my_step(argv[4], 'w') : 0;
  opening = argc > 4 ? my_step(argv[4], 'f') : 0;
  stops_after = dies_at < NEVER ? -dies_at : 0;
  signal(SIGALRM, stop_and_die);
  limited = argc > 5 && !strcmp(argv[argc - 1], "limits");
  run(world, argc > 1 ? argv[1] : "share-out", walkers, argc > 5 + limited);
  gathers = 1;
  for (int tried = 1; !try_result(world, walkers); tried++)
    must(tried < world_size, "rg_balance_gather");
  rg_balance_free(&balancer);
  leave_world(&world);
  return 0;
}
