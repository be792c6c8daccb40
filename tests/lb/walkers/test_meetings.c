/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that meet: random meetings under every policy against a serial reference; states that are
 * packed; runs that are divided into several; what cannot take place ends in an error.
 * time: 120 */
#include "meeting_bad.h"
#include "meeting_run.h"

static const bad_case no_case;

static const char *const policies[] = {
    "share-out", "none",     "join-right",    "most-work",
    "release",   "sync:i=1", "share-out:i=3", "share-out:cost=0"};
enum { POLICIES = sizeof policies / sizeof *policies };

static void test_random(void) {
  static const int walkers[] = {2, 3, 7, MEETING_WALKERS};
  for (int i = 0; i < POLICIES; i++)
    for (int w = 0; w < 4; w++) {
      uint64_t seed = rgt_seed() + (uint64_t)(7 * i + w);
      if (rgt_rank == 0)
        printf("policy %s, seed %llu, %d walkers\n", policies[i], (unsigned long long)seed,
               walkers[w]);
      run(policies[i], seed, walkers[w], (int)(seed % 3), (int)(seed / 3 % 2), (int)(seed / 6 % 2));
    }
}

/* --- states that are packed ---------------------------------------------------------------- */

static int packed(const rg_walker *walker, size_t *bytes, void *context) {
  (void)context;
  *bytes = sizeof(meeting_state) + (size_t)walker->id;
  return RG_SUCCESS;
}

static int pack(const rg_walker *walker, void *memory, size_t bytes, void *context) {
  (void)context;
  memset(memory, 0, bytes);
  memcpy(memory, walker->state, sizeof(meeting_state));
  return RG_SUCCESS;
}

static int unpack(rg_walker *walker, const void *memory, size_t bytes, void *context) {
  (void)context;
  if (bytes != sizeof(meeting_state) + (size_t)walker->id)
    return RG_ERR_MISMATCH;
  walker->state = malloc(sizeof(meeting_state));
  memcpy(walker->state, memory, sizeof(meeting_state));
  return RG_SUCCESS;
}

static int start_packed(rg_walker *walker, void *context) {
  walker->state = malloc(sizeof(meeting_state));
  return meeting_start(walker, context);
}

static void drop(rg_walker *walker, void *context) {
  (void)context;
  free(walker->state);
}

static void test_packed(void) {
  static meeting_plan p;
  for (int i = 0; i < POLICIES; i++) {
    meeting_plan_make(&p, rgt_seed() + 99, 9, 5, 0);
    rg_walker_kind kind = meeting_kind(&p);
    kind.bytes = 0;
    kind.packed = packed;
    kind.pack = pack;
    kind.unpack = unpack;
    kind.start = start_packed;
    kind.drop = drop;
    rg_balancer b = made(policies[i], &kind, &p, 1);
    RGT_OK(rg_balance_run(b));
    check_all(b, &p);
    RGT_OK(rg_balance_free(&b));
  }
}

/* --- a run that is divided into several ------------------------------------------------------ */

static int divided_round; /* with whose meetings the part ends */

static double divided_left(const rg_walker *walker, void *context) {
  const meeting_state *s = walker->state;
  const meeting_plan *p = context;
  return (double)(p->until[divided_round][walker->id] - s->units);
}

/* One part. Where each has a balancer of its own, the program keeps the last meetings. */
static void run_part(rg_balancer balancer, meeting_plan *plan, meeting_state states[],
                     int64_t met[], int gives) {
  const rg_balance_outcome *o;
  int64_t count;
  for (int w = 0; w < plan->walkers; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = 5, .met = gives ? met[w] : 0};
    if (states[w].value) {
      new.state = &states[w];
      new.bytes = sizeof states[w];
    }
    RGT_OK(rg_balance_add(balancer, &new));
  }
  RGT_OK(rg_balance_run(balancer));
  RGT_OK(rg_balance_gather_all(balancer));
  RGT_OK(rg_balance_outcomes(balancer, &count, &o));
  RGT_INT(count, plan->walkers);
  for (int64_t i = 0; i < count; i++) {
    if (RGT_PTR_NOT_NULL(o[i].state))
      memcpy(&states[o[i].id], o[i].state, sizeof *states);
    RGT_INT(o[i].met, states[o[i].id].met);
    met[o[i].id] = o[i].met;
  }
  RGT_OK(rg_balance_drop(balancer, RG_BALANCE_OUTCOMES));
}

static void run_divided(const char *name, int gives) {
  static meeting_plan p;
  meeting_state s[MEETING_WALKERS] = {{0}}, expected[MEETING_WALKERS];
  int64_t met[MEETING_WALKERS] = {0}, held;
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options o = {.size = sizeof o, .policy = &policy};
  rg_balancer b = NULL;
  RGT_OK(rg_policy_parse(name, &policy));
  meeting_plan_make(&p, rgt_seed() + 17, 9, MEETING_ROUNDS, 1);
  rg_walker_kind kind = meeting_kind(&p);
  kind.left = divided_left;
  for (divided_round = 1; divided_round < p.rounds; divided_round += 5) {
    if (gives || !b)
      RGT_OK(rg_balance_create(world, &kind, &o, &b));
    run_part(b, &p, s, met, gives);
    if (gives)
      RGT_OK(rg_balance_free(&b));
  }
  RGT_OK(rg_balance_free(&b));
  meeting_reference(&p, expected);
  MPI_Allreduce(&p.held, &held, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(held, meeting_count(&p));
  for (int w = 0; w < p.walkers; w++)
    RGT_TRUE(s[w].value == expected[w].value && s[w].units == expected[w].units);
}

static void test_divided(void) {
  for (int gives = 0; gives < 2; gives++) {
    run_divided("share-out", gives);
    run_divided("sync:i=2", gives);
  }
}

/* --- equal ids -------------------------------------------------------------------------------- */

enum { TWIN = 5, PARTNER = 2 };
static int64_t twins;

/* Walkers 0 and 1 make a walker of the same id, on processes that do not know of each other. */
static int twin_unit(rg_walker *walker, rg_group g, void *context) {
  rg_walker_new new = {.size = sizeof new, .id = TWIN, .left = 1};
  int rank;
  ++*(int64_t *)walker->state;
  RGT_OK(rg_group_rank(g, &rank));
  if (walker->id < PARTNER && rank == 0)
    twins += rg_balance_add(*(rg_balancer *)context, &new) == RG_SUCCESS;
  return RG_SUCCESS;
}

static double twin_left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(1 - *(const int64_t *)walker->state);
}

static int twin_meets(const rg_walker *walker, rg_meeting *meeting, void *context) {
  static const int64_t twin = TWIN, partner = PARTNER;
  (void)context;
  if (walker->id >= PARTNER && *(const int64_t *)walker->state == 1)
    *meeting = (rg_meeting){walker->id == TWIN ? &partner : &twin, 1, 0};
  return RG_SUCCESS;
}

static void run_twins(const char *name) {
  rg_balancer b;
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(int64_t),
                         .unit = twin_unit,
                         .left = twin_left,
                         .meets = twin_meets,
                         .meeting = bad_meeting,
                         .context = &b};
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options options = {.size = sizeof options, .policy = &policy, .group = 1};
  const rg_balance_outcome *o;
  int64_t count, made = 0, failed = 0;
  now = &no_case;
  twins = 0;
  RGT_OK(rg_policy_parse(name, &policy));
  RGT_OK(rg_balance_create(world, &kind, &options, &b));
  for (int w = 0; w <= PARTNER; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = 1};
    RGT_OK(rg_balance_add(b, &new));
    RGT_INT(rg_balance_add(b, &new), RG_ERR_ARG);
  }
  int error = rg_balance_run(b);
  MPI_Allreduce(&twins, &made, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(error, made > 1 ? RG_ERR_ARG : RG_SUCCESS);
  RGT_OK(rg_balance_gather_all(b));
  RGT_OK(rg_balance_outcomes(b, &count, &o));
  RGT_INT(count, PARTNER + 1 + made);
  for (int64_t i = 0; i < count; i++)
    failed += o[i].error != RG_SUCCESS;
  RGT_INT(failed, made - 1);
  RGT_OK(rg_balance_free(&b));
}

static void test_twins(void) {
  for (int k = 0; k < POLICIES; k++)
    run_twins(policies[k]);
}

/* --- what cannot take place ----------------------------------------------------------------- */

static void test_bad(void) {
  for (int k = 0; k < POLICIES; k++)
    run_all_bad(policies[k]);
}

/* A walker whose meetings go back. */
static int backwards(const rg_walker *walker, rg_meeting *meeting, void *context) {
  static const int64_t other[] = {1, 0};
  (void)context;
  if (walker->id < 2)
    *meeting = (rg_meeting){&other[walker->id], 1, 5 - *(const int64_t *)walker->state};
  return RG_SUCCESS;
}

static void test_backwards(void) {
  static meeting_plan p;
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(int64_t),
                         .unit = bad_unit,
                         .left = bad_left,
                         .meets = backwards,
                         .meeting = bad_meeting};
  now = &no_case;
  p = (meeting_plan){.walkers = 3, .rounds = 1};
  for (int k = 0; k < POLICIES; k++) {
    rg_balancer b = made(policies[k], &kind, &p, 0);
    RGT_INT(rg_balance_run(b), RG_ERR_ARG);
    RGT_TRUE(strstr(rg_error_detail(), "meeting 4 comes after meeting 5") != NULL);
    RGT_OK(rg_balance_free(&b));
  }
}

static void test_arguments(void) {
  static meeting_plan p;
  rg_balancer b = NULL;
  meeting_plan_make(&p, 1, 2, 1, 0);
  rg_walker_kind kind = meeting_kind(&p);
  kind.meets = NULL;
  RGT_INT(rg_balance_create(world, &kind, NULL, &b), RG_ERR_ARG);
  kind = meeting_kind(&p);
  kind.meeting = NULL;
  RGT_INT(rg_balance_create(world, &kind, NULL, &b), RG_ERR_ARG);
}

/* --- what a policy sees -------------------------------------------------------------------- */

/* All meet after a unit, and say so again after the next one. In the first two cases walker 4 comes
 * after two units. With fewer groups than walkers one of them waits when the first is set aside:
 * the policy sees that it is awaited. Where all come after one unit, what is measured of a row
 * whose walker has done one unit would be from before the meeting. */
typedef struct {
  int interval, last; /* of the policy; the units after which walker 4 comes */
  int (*unit)(rg_walker *w, rg_group g, void *context);
} seen_case;

static int64_t seen_awaited, stale;

static int look(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  rg_policy own = {.size = sizeof own};
  (void)policy;
  for (int64_t i = 0; i < table->count; i++) {
    seen_awaited = table->load[i].awaited > seen_awaited ? table->load[i].awaited : seen_awaited;
    stale += table->load[i].done == 1 && table->load[i].pace.count > 0;
  }
  for (int64_t i = 0; i < table->waiting_count; i++)
    seen_awaited =
        table->waiting[i].awaited > seen_awaited ? table->waiting[i].awaited : seen_awaited;
  RGT_OK(rg_policy_parse("none", &own));
  return rg_policy_plan(&own, table, plan);
}

static int slow_unit(rg_walker *walker, rg_group g, void *context) {
  double until = MPI_Wtime() + (walker->id == 0 ? 0.05 : 0.005);
  while (MPI_Wtime() < until)
    ;
  return bad_unit(walker, g, context);
}

static int meets_all(const rg_walker *walker, rg_meeting *meeting, void *context) {
  static int64_t with[BAD_WALKERS];
  const seen_case *c = context;
  if (*(const int64_t *)walker->state < (walker->id == BAD_WALKERS - 1 ? c->last : 1))
    return RG_SUCCESS;
  meeting->count = 0;
  for (int i = 0; i < BAD_WALKERS; i++)
    if (i != walker->id)
      with[meeting->count++] = i;
  meeting->with = with;
  meeting->number = 1;
  return RG_SUCCESS;
}

static void run_seen(seen_case *c) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(int64_t),
                         .unit = c->unit,
                         .left = bad_left,
                         .meets = meets_all,
                         .meeting = bad_meeting,
                         .context = c};
  rg_policy policy = {.size = sizeof policy, .name = "look", .interval = c->interval, .plan = look};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1};
  rg_balancer b;
  int64_t most, all;
  seen_awaited = stale = 0;
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  for (int w = 0; w < BAD_WALKERS; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = 2};
    RGT_OK(rg_balance_add(b, &new));
  }
  RGT_OK(rg_balance_run(b));
  MPI_Allreduce(&seen_awaited, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&stale, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  RGT_TRUE(most < BAD_WALKERS && (most >= 1 || rgt_size >= BAD_WALKERS));
  RGT_TRUE(all == 0 || c->last > 1);
  RGT_OK(rg_balance_free(&b));
}

static void test_seen(void) {
  static seen_case cases[] = {{0, 2, bad_unit}, {1, 2, bad_unit}, {0, 1, slow_unit}};
  now = &no_case;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    run_seen(&cases[i]);
}

/* Walkers that compute, and meet after each two units of 50 us: each is at work for too short a
 * time to be measured, but from the second meeting on it is known what processors it would use. */
enum { OFTEN = 20 };
static double least_busy, most_busy;
static int looks;

static int look_busy(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  rg_policy own = {.size = sizeof own};
  const rg_load *l = table->self < 0 ? NULL : &table->load[table->self];
  (void)policy;
  if (l && (l->state & RG_LOAD_ACTIVE) && l->done >= 3) {
    least_busy = l->busy < least_busy ? l->busy : least_busy;
    most_busy = l->busy > most_busy ? l->busy : most_busy;
    looks++;
  }
  RGT_OK(rg_policy_parse("none", &own));
  return rg_policy_plan(&own, table, plan);
}

static int short_unit(rg_walker *walker, rg_group g, void *context) {
  double until = MPI_Wtime() + 50e-6;
  (void)context;
  ++*(int64_t *)walker->state;
  while (MPI_Wtime() < until)
    ;
  return rg_barrier(g);
}

/* context: the walker's units. */
static double often_left(const rg_walker *walker, void *context) {
  return (double)(*(const int64_t *)context - *(const int64_t *)walker->state);
}

static int meets_often(const rg_walker *walker, rg_meeting *meeting, void *context) {
  static int64_t with;
  int64_t done = *(const int64_t *)walker->state;
  (void)context;
  with = walker->id ^ 1;
  if (done > 0 && done % 2 == 0)
    *meeting = (rg_meeting){&with, 1, done};
  return RG_SUCCESS;
}

/* Runs so many walkers, of so many units each, under the policy. Returns the sum of *number over
 * the ranks. */
static int run_often(const rg_policy *policy, int walkers, int64_t units, int *number,
                     int (*changed)(rg_walker *w, rg_group g, void *context)) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(int64_t),
                         .unit = short_unit,
                         .left = often_left,
                         .changed = changed,
                         .meets = meets_often,
                         .meeting = bad_meeting,
                         .context = &units};
  rg_balance_options o = {.size = sizeof o, .policy = policy, .group = 1};
  rg_balancer b;
  int all;
  now = &no_case;
  *number = 0;
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  for (int w = 0; w < walkers; w++)
    RGT_OK(rg_balance_add(
        b, &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = (double)units}));
  RGT_OK(rg_balance_run(b));
  MPI_Allreduce(number, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_OK(rg_balance_free(&b));
  return all;
}

static void test_busy(void) {
  rg_policy policy = {
      .size = sizeof policy, .name = "look", .asks = RG_POLICY_ASKS_ACTIVE, .plan = look_busy};
  least_busy = 1000;
  most_busy = 0;
  RGT_TRUE(run_often(&policy, 4 * rgt_size, 2 * OFTEN, &looks, NULL) > 0);
  RGT_TRUE(looks == 0 || (least_busy > 0 && most_busy > 0.5));
}

/* A policy that starts walkers on one process each and lets all others join groups: they join only
 * the first ones, until it is known how long a merge takes and how soon the walkers meet. */
static int joins;

static int plan_joins(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  int64_t ranks = table->load[table->self].ranks;
  (void)policy;
  if (table->load[table->self].state & RG_LOAD_ACTIVE)
    return RG_SUCCESS;
  for (int64_t i = 0; i < table->waiting_count && i < ranks; i++)
    RGT_OK(rg_plan_add(plan, &(rg_move){table->self, RG_MOVE_NO_ROW, 1, i, {0}}));
  for (int64_t i = 0; i < table->count && plan->count == 0; i++)
    if ((table->load[i].state & RG_LOAD_ACTIVE) && (table->load[i].state & RG_LOAD_JOINABLE))
      RGT_OK(rg_plan_add(plan, &(rg_move){table->self, i, ranks, RG_MOVE_NO_WALKER, {0}}));
  return RG_SUCCESS;
}

static int count_joins(rg_walker *walker, rg_group g, void *context) {
  int rank;
  (void)context;
  RGT_OK(rg_group_rank(g, &rank));
  joins += rank == 0 && !walker->begins;
  return RG_SUCCESS;
}

static void test_not_joined(void) {
  rg_policy policy = {.size = sizeof policy, .name = "joins", .plan = plan_joins};
  int all = run_often(&policy, 2, 100 * OFTEN, &joins, count_joins);
  if (rgt_rank == 0)
    printf("joined %d times in %d meetings\n", all, 50 * OFTEN);
  RGT_TRUE(all < 50);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", test_begin},
                                   {"random meetings", test_random},
                                   {"packed states", test_packed},
                                   {"divided", test_divided},
                                   {"equal ids", test_twins},
                                   {"no meeting", test_bad},
                                   {"backwards", test_backwards},
                                   {"seen by a policy", test_seen},
                                   {"processors", test_busy},
                                   {"not joined", test_not_joined},
                                   {"arguments", test_arguments},
                                   {"end", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "meetings", tests);
}
