/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_meetings.py starts, with RG_SURVIVE=1: meetings POLICY WALKERS SEED PLAN [ALIKE].
 * Walkers that meet, and whose results a serial reference has, are balanced while ranks are killed:
 * from outside, or as PLAN says, "rank:call,rank:call": the rank kills itself in its so manieth
 * callback; "rank:mN": in its N-th meeting; "rank:sN": when it has called the application for a
 * meeting and N - 1 of the walkers' new states have become valid; "rank:dN": in its N-th meeting it
 * kills all ranks that have a `d` in PLAN, and itself. In the end the first survivor prints
 * "RESULT walkers survivors deaths missed" if all walkers are as they should be. With a `d` some
 * may have missed others, which are ahead of them; without it none.
 *
 * wrap: rgi_record_switch */
#include "ranks.h"
#include "tests/lb/walkers/meeting_work.h"
#include "walkers/store/record.h"

static int calls, dies_at = NEVER, meeting_dies, switch_dies, all_die, switches, in_meeting;
static uint64_t draws;
static rg_balancer balancer;
static meeting_plan plan;
static const char *deaths = "";
static pid_t *pids; /* of all ranks */
static int run_error;

/* A moment, of a length of its own. */
static void call(void) {
  in_meeting = 0;
  if (calls++ == dies_at)
    raise(SIGKILL);
  draws = draws * 6364136223846793005u + 1442695040888963407u;
  if (draws >> 62 == 0)
    usleep((useconds_t)(draws >> 54 & 0xff));
}

__typeof__(rgi_record_switch) __real_rgi_record_switch, __wrap_rgi_record_switch;

void __wrap_rgi_record_switch(rgi_record *record) {
  if (in_meeting && ++switches == switch_dies)
    raise(SIGKILL);
  __real_rgi_record_switch(record);
}

static int unit(rg_walker *walker, rg_group g, void *context) {
  call();
  return meeting_unit(walker, g, context);
}

static int changed(rg_walker *walker, rg_group g, void *context) {
  (void)walker;
  (void)context;
  call();
  return rg_barrier(g);
}

/* The step of a rank in the plan, "rank:mN": N, or 0. */
static int step_of(int of, char kind) {
  for (const char *p = deaths; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    int rank, at;
    char letter;
    if (sscanf(p, "%d:%c%d", &rank, &letter, &at) == 3 && rank == of && letter == kind)
      return at;
  }
  return 0;
}

/* At once: no rank that dies learns of another one's death. */
static void kill_all(void) {
  for (int r = 0; r < world_size; r++)
    if (r != my_rank && step_of(r, 'd'))
      kill(pids[r], SIGKILL);
  raise(SIGKILL);
}

static int hold(int64_t count, rg_walker *const walkers[], int64_t number, void *context) {
  call();
  if (--meeting_dies == 0)
    raise(SIGKILL);
  if (--all_die == 0)
    kill_all();
  int error = meeting_hold(count, walkers, number, context);
  in_meeting = 1;
  switches = 0;
  return error;
}

static int has_missed(const rg_balance_outcome *outcome) {
  return strchr(deaths, 'd') && outcome->missed && outcome->error == RG_ERR_ARG &&
         !outcome->state && strstr(outcome->text, " waits in meeting ");
}

/* Returns how many walkers have missed others. */
static int check(const rg_balance_outcome *outcome, int64_t count) {
  meeting_state expected[MEETING_WALKERS];
  int missed = 0;
  meeting_reference(&plan, expected);
  must(count == plan.walkers, "not as many walkers have ended as there were");
  for (int i = 0; i < count; i++) {
    const meeting_state *s = outcome[i].state;
    must(outcome[i].id == i, "another walker");
    if (has_missed(&outcome[i])) {
      missed++;
      continue;
    }
    must(outcome[i].error == RG_SUCCESS && s != NULL, "a walker has failed");
    must(s->units == expected[i].units && outcome[i].done == s->units,
         "a unit is missing, or too many");
    must(s->met == expected[i].met, "a meeting is missing");
    must(s->value == expected[i].value, "another result");
  }
  return missed;
}

static void run(rg_group world, const char *name, int alike) {
  rg_walker_kind kind = meeting_kind(&plan);
  kind.unit = unit;
  kind.changed = changed;
  kind.meeting = hold;
  kind.alike = alike;
  rg_policy policy = {.size = sizeof policy};
  must(!rg_policy_parse(name, &policy), "rg_policy_parse");
  rg_balance_options o = {.size = sizeof o, .policy = &policy};
  must(!rg_balance_create(world, &kind, &o, &balancer), "rg_balance_create");
  for (int w = 0; w < plan.walkers; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = (double)meeting_units(&plan, w)};
    must(!rg_balance_add(balancer, &new), "rg_balance_add");
  }
  run_error = rg_balance_run(balancer);
  must(!run_error || (run_error == RG_ERR_ARG && strstr(rg_error_detail(), " waits in meeting ")),
       "rg_balance_run");
}

/* The first survivor gathers and prints. Returns 0 if a process died meanwhile. */
static int try_result(rg_group world) {
  rg_group left_over = survivors_of(world);
  int root = 0, first = 0, well, n = size_of(left_over), errors[2] = {run_error, -run_error};
  int64_t count;
  const rg_balance_outcome *o;
  must(!rg_group_translate(left_over, 1, &first, world, &root), "rg_group_translate");
  int error = rg_balance_gather(balancer, root);
  if (!error)
    error = rg_allreduce(left_over, MPI_IN_PLACE, errors, 2, MPI_INT, MPI_MAX);
  if (!error && rank_in(left_over) == 0) {
    must(!rg_balance_outcomes(balancer, &count, &o), "rg_balance_outcomes");
    int missed = check(o, count);
    must(errors[0] == -errors[1] && (run_error != 0) == (missed > 0), "not one error on all");
    printf("RESULT %lld %d %d %d\n", (long long)count, n, world_size - n, missed);
    fflush(stdout);
  }
  must(!all_well(left_over, error, &well), "all_well");
  rg_group_free(&left_over);
  return well;
}

int main(int argc, char **argv) {
  int walkers = argc > 2 ? atoi(argv[2]) : 12, seed = argc > 3 ? atoi(argv[3]) : 1;
  deaths = argc > 4 ? argv[4] : "";
  rg_group world = enter_world(&argc, &argv);
  draws = (uint64_t)seed * 0x9e3779b97f4a7c15u + (uint64_t)my_rank;
  dies_at = my_round(deaths);
  meeting_dies = step_of(my_rank, 'm');
  switch_dies = step_of(my_rank, 's');
  all_die = step_of(my_rank, 'd');
  pids = malloc((size_t)world_size * sizeof *pids);
  pid_t mine = getpid();
  must(pids && !MPI_Allgather(&mine, sizeof mine, MPI_BYTE, pids, sizeof mine, MPI_BYTE,
                              MPI_COMM_WORLD),
       "MPI_Allgather");
  meeting_plan_make(&plan, (uint64_t)seed, walkers, MEETING_ROUNDS, seed % 2);
  run(world, argc > 1 ? argv[1] : "share-out", argc > 5);
  for (int tried = 1; !try_result(world); tried++)
    must(tried < world_size, "rg_balance_gather");
  rg_balance_free(&balancer);
  free(pids);
  leave_world(&world);
  return 0;
}
