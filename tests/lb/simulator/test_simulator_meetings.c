/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * sources: lb/patterns/pattern.c lb/simulator/mode_async.c lb/simulator/event.c
 * sources: lb/simulator/machine.c lb/simulator/sim.c lb/simulator/mode_sync.c lb/simulator/world.c
 * sources: lb/simulator/walkers.c lb/simulator/meetings.c
 * Walkers that meet, in the simulator: by hand, against the closed form of the bound, and random
 * ones against a plain reference. */
#include <math.h>
#include <regroup/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lb/simulator/sim.h"
#include "tests/check/check.h"

enum { WALKERS = 24, ROUNDS = 8, SET = 4 };

typedef struct {
  int64_t units[ROUNDS * WALKERS];
  double cost[ROUNDS * WALKERS];
  int32_t next[ROUNDS * WALKERS];
  int64_t all[WALKERS]; /* units */
  sim_meetings meetings;
  sim_setup setup;
} meeting_case;

/* Groups of one process each, without costs. */
static void setup_case(meeting_case *meeting, const char *policy, int64_t ranks, int64_t walkers,
                       int64_t rounds) {
  meeting->meetings = (sim_meetings){walkers, rounds, meeting->units, meeting->cost, meeting->next};
  meeting->setup = (sim_setup){.policy.size = sizeof meeting->setup.policy,
                               .ranks = ranks,
                               .group = 1,
                               .unit = 0.5,
                               .view = 128,
                               .seed = 1,
                               .meetings = &meeting->meetings,
                               .pattern = {.walkers = walkers, .units = meeting->all}};
  for (int64_t w = 0; w < walkers; w++) {
    meeting->all[w] = sim_meetings_units(&meeting->meetings, w, 0);
    meeting->setup.pattern.total += meeting->all[w];
  }
  RGT_OK(sim_machine_read("free", &meeting->setup.machine));
  RGT_OK(rg_policy_parse(policy, &meeting->setup.policy));
}

/* --- by hand ---------------------------------------------------------------------------------- */

/* Two walkers of 2 + 1 and 1 + 4 units meet after the first round. Units take 0.5 s, those of
 * walker 0 the double. */
static void make_two(meeting_case *meeting, const char *policy, int64_t ranks) {
  static const int64_t units[] = {2, 1, 1, 4};
  static const int32_t next[] = {1, 0, 0, 1};
  memcpy(meeting->units, units, sizeof units);
  memcpy(meeting->next, next, sizeof next);
  for (int i = 0; i < 4; i++)
    meeting->cost[i] = i % 2 ? 1 : 2;
  setup_case(meeting, policy, ranks, 2, 2);
}

static void test_by_hand(void) {
  static meeting_case c;
  sim_result r;
  static const char *const policies[] = {"none", "share-out", "sync:i=100"};
  for (int k = 0; k < 3; k++) {
    make_two(&c, policies[k], 1);
    RGT_OK(sim_run(&c.setup, &r));
    RGT_DBL(r.seconds, 2 + 0.5 + 1 + 2, 1e-12);
    RGT_DBL(r.bound, 5.5, 1e-12);
    RGT_INT(r.meetings, 1);
    make_two(&c, policies[k], 2);
    c.setup.most = 1;
    RGT_OK(sim_run(&c.setup, &r));
    RGT_DBL(r.bound, 2 + 2, 1e-12);
    RGT_DBL(r.seconds, 2 + 2, 1e-12);
    RGT_INT(r.meetings, 1);
  }
}

/* --- parallel tempering ----------------------------------------------------------------------- */

/* The bound of examples/tempering, as it is written there. */
static double closed_form(const sim_meetings *meetings, double unit, int64_t ranks, int64_t most) {
  double end[64] = {0}, work = 0, chain = 0;
  int64_t sweeps = sim_meetings_units(meetings, 0, 0);
  for (int64_t s = 0; s < sweeps; s++) {
    for (int64_t w = 0; w < meetings->walkers; w++) {
      double cost = meetings->cost[s / 10 * meetings->walkers + w];
      work += cost;
      end[w] += cost / (double)(most ? most : ranks);
    }
    for (int64_t w = 0, after = s + 1; w < meetings->walkers && after % 10 == 0; w++) {
      int64_t with = (w + after / 10) % 2 ? w - 1 : w + 1;
      if (with > w && with < meetings->walkers)
        end[w] = end[with] = fmax(end[w], end[with]);
    }
  }
  for (int64_t w = 0; w < meetings->walkers; w++)
    chain = fmax(chain, end[w]);
  return unit * fmax(work / (double)ranks, chain);
}

static sim_result temper(const char *policy, int64_t ranks, int64_t group, int64_t most) {
  int64_t all[64], walkers = 2 * ranks / group;
  sim_meetings m;
  sim_result r = {0};
  sim_setup s = {.policy.size = sizeof s.policy,
                 .ranks = ranks,
                 .group = group,
                 .most = most,
                 .unit = 0.02,
                 .view = 128,
                 .meetings = &m,
                 .pattern = {.walkers = walkers, .units = all, .total = 200 * walkers}};
  RGT_OK(sim_meetings_tempering(walkers, 200, &m));
  for (int64_t w = 0; w < walkers; w++)
    all[w] = 200;
  RGT_OK(sim_machine_read("free", &s.machine));
  sim_machine_fix(&s.machine, 0.0003);
  s.machine.latency = 5e-5;
  RGT_OK(rg_policy_parse(policy, &s.policy));
  RGT_OK(sim_run(&s, &r));
  RGT_DBL(r.bound, closed_form(&m, s.unit, ranks, most), 1e-9);
  RGT_TRUE(r.seconds >= r.bound);
  RGT_INT(r.meetings, 9 * (walkers / 2) + 10 * (walkers / 2 - 1)); /* not after the last sweep */
  sim_meetings_free(&m);
  return r;
}

/* Two walkers for each group. Groups of four would be far above the bound, if times from before a
 * meeting were compared with those after it. */
static void test_tempering(void) {
  static const char *const policies[] = {"none", "default", "most-work", "release"};
  for (int64_t ranks = 4; ranks <= 32; ranks *= 2)
    for (int k = 0; k < 4; k++) {
      sim_result one = temper(policies[k], ranks, 1, 1), any = temper(policies[k], ranks, 1, 0);
      RGT_TRUE(one.seconds <= 1.06 * one.bound);
      RGT_TRUE(any.seconds <= (k == 0 ? 1.06 : 1.01) * any.bound);
    }
  for (int64_t ranks = 32; ranks <= 64; ranks *= 2) {
    sim_result four = temper("default", ranks, 4, 0);
    RGT_TRUE(four.seconds <= 1.1 * four.bound);
  }
}

static void test_arguments(void) {
  sim_meetings m;
  RGT_FAILS(sim_meetings_tempering(0, 10, &m), RG_ERR_ARG);
  RGT_FAILS(sim_meetings_tempering(2, 0, &m), RG_ERR_ARG);
  RGT_OK(sim_meetings_tempering(3, 15, &m));
  RGT_INT(m.rounds, 2);
  RGT_INT(sim_meetings_units(&m, 2, 0), 15);
  RGT_INT(m.next[0], 0);
  RGT_INT(m.next[1], 2);
  sim_meetings_free(&m);
}

/* --- random ones ------------------------------------------------------------------------------ */

static uint64_t random_state;

static int draw(int below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((random_state >> 33) % (uint64_t)below);
}

/* In each round the walkers are divided at random into sets of one to four. */
static void make_random(meeting_case *meeting, const char *policy) {
  int walkers = 1 + draw(WALKERS), rounds = 1 + draw(ROUNDS), order[WALKERS];
  for (int r = 0; r < rounds; r++) {
    int32_t *next = meeting->next + (ptrdiff_t)r * walkers;
    for (int i = 0; i < walkers; i++) {
      int j = draw(i + 1);
      order[i] = order[j];
      order[j] = i;
    }
    for (int first = 0, n; first < walkers; first += n) {
      n = 1 + draw(SET);
      n = n < walkers - first ? n : walkers - first;
      for (int i = 0; i < n; i++)
        next[order[first + i]] = order[first + (i + 1) % n];
    }
    for (int w = 0; w < walkers; w++) {
      meeting->units[r * walkers + w] = 1 + draw(5);
      meeting->cost[r * walkers + w] = 0.1 + draw(1000000) * 1e-6;
    }
  }
  setup_case(meeting, policy, 1 + draw(12), walkers, rounds);
}

/* A walker of the reference: works until `end`, waits (came >= 0), or is set aside. */
typedef struct {
  enum { WAITS, WORKS, ASIDE, ENDED } state;
  int64_t round, came;
  double end;
} plain_walker;

typedef struct {
  const meeting_case *c;
  plain_walker w[WALKERS];
  int64_t came, free;
} plain_run;

static void plain_work(plain_run *run, int64_t w, double time) {
  const sim_meetings *m = &run->c->meetings;
  int64_t at = run->w[w].round * m->walkers + w;
  run->w[w].state = WORKS;
  run->w[w].end = time + (double)m->units[at] * m->cost[at] * run->c->setup.unit;
  run->free--;
}

/* The one that waits and has most units left; of equal ones the first that came. */
static int64_t plain_longest(const plain_run *run) {
  const sim_meetings *m = &run->c->meetings;
  int64_t best = -1, most = 0;
  for (int64_t w = 0; w < m->walkers; w++) {
    int64_t units = sim_meetings_units(m, w, run->w[w].round);
    if (run->w[w].state == WAITS &&
        (best < 0 || units > most || (units == most && run->w[w].came < run->w[best].came))) {
      best = w;
      most = units;
    }
  }
  return best;
}

static void plain_end(plain_run *run, int64_t w, double time) {
  const sim_meetings *m = &run->c->meetings;
  const int32_t *next = m->next + run->w[w].round * m->walkers;
  int here = 1;
  run->free++;
  run->w[w].state = run->w[w].round == m->rounds - 1 ? ENDED : ASIDE;
  if (run->w[w].state == ENDED)
    return;
  for (int64_t o = next[w]; o != w; o = next[o])
    here &= run->w[o].state == ASIDE && run->w[o].round == run->w[w].round;
  for (int64_t o = next[w]; here; o = next[o]) {
    run->w[o].state = WAITS;
    run->w[o].round++;
    run->w[o].came = run->came++;
    if (o == w)
      break;
  }
  if (next[w] == w)
    plain_work(run, w, time);
}

static double plain_seconds(const meeting_case *meeting) {
  static plain_run p;
  double time = 0;
  p = (plain_run){.c = meeting, .came = meeting->meetings.walkers, .free = meeting->setup.ranks};
  for (int64_t w = 0; w < meeting->meetings.walkers; w++)
    p.w[w].came = w;
  for (int64_t w = 0; w < meeting->meetings.walkers && p.free > 0; w++)
    plain_work(&p, w, 0);
  for (;;) {
    int64_t first = -1, w;
    while (p.free > 0 && (w = plain_longest(&p)) >= 0)
      plain_work(&p, w, time);
    for (w = 0; w < meeting->meetings.walkers; w++)
      if (p.w[w].state == WORKS && (first < 0 || p.w[w].end < p.w[first].end))
        first = w;
    if (first < 0)
      return time;
    time = p.w[first].end;
    plain_end(&p, first, time);
  }
}

static void test_random(void) {
  static meeting_case c;
  random_state = rgt_seed();
  printf("seed %llu\n", (unsigned long long)random_state);
  for (int i = 0; i < 300; i++) {
    sim_result r;
    make_random(&c, "none");
    RGT_OK(sim_run(&c.setup, &r));
    if (!RGT_DBL(r.seconds, plain_seconds(&c), 1e-9))
      printf("case %d: %lld ranks, %lld walkers, %lld rounds\n", i, (long long)c.setup.ranks,
             (long long)c.meetings.walkers, (long long)c.meetings.rounds);
  }
}

static int64_t count_meetings(const sim_meetings *meetings) {
  int64_t n = 0;
  for (int64_t r = 0; r < meetings->rounds - 1; r++)
    for (int64_t w = 0; w < meetings->walkers; w++) {
      const int32_t *next = meetings->next + r * meetings->walkers;
      int lowest = next[w] != w;
      for (int64_t o = next[w]; o != w; o = next[o])
        lowest &= o > w;
      n += lowest;
    }
  return n;
}

/* Under all policies all meetings take place, no run ends before the bound, and two are the same.
 */
static void test_policies(void) {
  static const char *const policies[] = {"none",    "join-right",    "most-work", "share-out",
                                         "release", "share-out:i=1", "sync:i=3",  "most-work:i=2"};
  static meeting_case c;
  random_state = rgt_seed();
  for (int i = 0; i < 320; i++) {
    sim_result r, again;
    make_random(&c, policies[i % 8]);
    c.setup.group = 1 + draw(4);
    c.setup.most = draw(3);
    c.setup.least = c.setup.most && draw(2) ? 1 : 0;
    c.setup.group = sim_group(&c.setup, c.setup.group);
    c.setup.machine.latency = draw(2) * 1e-3;
    c.setup.machine.steps = draw(3);
    c.setup.machine.idle_join = draw(2);
    RGT_OK(sim_run(&c.setup, &r));
    RGT_OK(sim_run(&c.setup, &again));
    RGT_INT(r.meetings, count_meetings(&c.meetings));
    RGT_TRUE(r.seconds >= r.bound * (1 - 1e-9) && isfinite(r.seconds));
    RGT_TRUE(r.seconds == again.seconds && r.formations == again.formations);
  }
}

/* --- what policies see ------------------------------------------------------------------------ */

static int64_t seen_rows, seen_waiting;

static int look(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  rg_policy own = {.size = sizeof own};
  (void)policy;
  for (int64_t i = 0; i < table->count; i++)
    seen_rows = table->load[i].awaited > seen_rows ? table->load[i].awaited : seen_rows;
  for (int64_t i = 0; i < table->waiting_count; i++)
    seen_waiting =
        table->waiting[i].awaited > seen_waiting ? table->waiting[i].awaited : seen_waiting;
  RGT_OK(rg_policy_parse("none", &own));
  return rg_policy_plan(&own, table, plan);
}

/* All of four walkers meet; walker 3 is the last one to come. On two processes it still waits
 * when the first two are set aside; at last it works while the other three are. */
static void test_awaited(void) {
  static meeting_case c;
  for (int64_t ranks = 2; ranks <= 4; ranks += 2) {
    sim_result r;
    for (int i = 0; i < 8; i++) {
      c.units[i] = i == 3 ? 1 : 2;
      c.cost[i] = i == 3 ? 9 : 1 + 0.1 * i;
      c.next[i] = (i + 1) % 4;
    }
    setup_case(&c, "none", ranks, 4, 2);
    c.setup.policy = (rg_policy){.size = sizeof c.setup.policy, .name = "look", .plan = look};
    seen_rows = seen_waiting = 0;
    RGT_OK(sim_run(&c.setup, &r));
    RGT_INT(seen_rows, 3);
    RGT_INT(seen_waiting, ranks == 2 ? 2 : 0);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"by hand", test_by_hand},
                                   {"tempering", test_tempering},
                                   {"arguments", test_arguments},
                                   {"random", test_random},
                                   {"policies", test_policies},
                                   {"awaited", test_awaited},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "simulator-meetings", tests);
}
