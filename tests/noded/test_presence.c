/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: default
 * ranks: 1
 * The daemons of two to nine nodes decide which nodes are part of the job, all in one process with
 * a clock of its own (daemon_network.h), while paths are cut, daemons stop or are killed and hosts
 * fall silent, at random or as a test says. Whatever happens: all that apply a decision apply the
 * same one; one set of nodes at most comes to the end of the job; a node is given up only for what
 * befell it, while the majority is well; and in the end every node is in one world or has ended. */
#include "tests/noded/daemon_network.h"

#include "tests/check/check.h"

enum { FAULTS = 9, SHORT = 75 /* percent of the limit */ };

typedef enum { FAULT_KILL, FAULT_OFF, FAULT_STOP, FAULT_CUT, FAULT_RESET, FAULT_CLOSE } fault_kind;

/* CUT, RESET, CLOSE: the paths between the nodes of set a and those of set b. */
typedef struct {
  fault_kind kind;
  unsigned a, b;
  double from, to;
} fault;

typedef enum { WAITS_NEVER, WAITS_ALWAYS, WAITS_FOR_OTHERS, WAITS_KINDS } wait_kind;

static struct {
  double limit, finish, end; /* the application may come to its end from finish on; all is over */
  wait_kind waits;
  int n;
  fault of[FAULTS];
} plan;

static int sets_finished;
static const char *wrong; /* the first thing that was wrong in this run */

static void expect(int holds, const char *what) {
  if (!holds && !wrong)
    wrong = what;
}

/* --- faults ----------------------------------------------------------------------------------- */

static void add_fault(fault_kind kind, unsigned a, unsigned b, double from, double seconds) {
  plan.of[plan.n++] = (fault){kind, a, b, world.time + from, world.time + from + seconds};
}

static void change_paths(const fault *f, void (*change)(int, int)) {
  for (int i = 0; i < world.n; i++)
    for (int k = i + 1; k < world.n; k++)
      if ((f->a >> i & 1 && f->b >> k & 1) || (f->b >> i & 1 && f->a >> k & 1))
        change(i, k);
}

static void begin_fault(const fault *f) {
  for (int i = 0; i < world.n; i++) {
    if (!(f->a >> i & 1))
      continue;
    if (f->kind == FAULT_KILL || f->kind == FAULT_OFF)
      end_daemon(i, f->kind == FAULT_KILL ? KILLED : OFF);
    else if (f->kind == FAULT_STOP)
      stop_daemon(i);
  }
  if (f->kind == FAULT_CUT)
    change_paths(f, cut_path);
  else if (f->kind == FAULT_RESET)
    change_paths(f, reset_connections);
  else if (f->kind == FAULT_CLOSE)
    change_paths(f, close_path);
}

static int is_stopped_by_another(int node, const fault *f) {
  for (int i = 0; i < plan.n; i++)
    if (&plan.of[i] != f && plan.of[i].kind == FAULT_STOP && plan.of[i].a >> node & 1 &&
        plan.of[i].from <= world.time && plan.of[i].to > world.time)
      return 1;
  return 0;
}

static void end_fault(const fault *f) {
  if (f->kind == FAULT_CUT)
    change_paths(f, heal_path);
  else if (f->kind == FAULT_CLOSE)
    change_paths(f, open_path);
  for (int i = 0; i < world.n && f->kind == FAULT_STOP; i++)
    if (f->a >> i & 1 && !is_stopped_by_another(i, f))
      continue_daemon(i);
}

static double next_event(double after) {
  double next = INFINITY;
  for (int i = 0; i < plan.n; i++) {
    next = plan.of[i].from > after ? fmin(next, plan.of[i].from) : next;
    next = plan.of[i].to > after ? fmin(next, plan.of[i].to) : next;
  }
  return next;
}

static double last_event(void) {
  double last = world.time;
  for (int i = 0; i < plan.n; i++) {
    last = fmax(last, plan.of[i].from);
    last = isinf(plan.of[i].to) ? last : fmax(last, plan.of[i].to);
  }
  return last;
}

static void apply_events(void) {
  for (int i = 0; i < plan.n; i++) {
    if (plan.of[i].from == world.time)
      begin_fault(&plan.of[i]);
    if (plan.of[i].to == world.time)
      end_fault(&plan.of[i]);
  }
}

/* --- the application -------------------------------------------------------------------------- */

static int is_in(int i, int of) {
  return !world.of[of].lost[i];
}

/* Whether MPI works among all nodes that this one takes for present, and they agree on them. */
static int is_whole(int at) {
  for (int i = 0; i < world.n; i++) {
    if (!is_in(i, at))
      continue;
    if (world.of[i].state != RUNNING || memcmp(world.of[i].lost, world.of[at].lost, NODES) != 0)
      return 0;
    for (int k = 0; k < world.n; k++)
      if (is_in(k, at) && world.cuts[i][k])
        return 0;
  }
  return 1;
}

static void finish_set(int at) {
  sets_finished++;
  for (int i = 0; i < world.n; i++)
    if (is_in(i, at)) {
      world.of[i].done = 1;
      wake_at(i, world.time);
    }
}

static void step_application(void) {
  for (int i = 0; i < world.n; i++) {
    host *n = &world.of[i];
    if (n->state != RUNNING)
      continue;
    int whole = is_whole(i);
    if (plan.waits == WAITS_FOR_OTHERS && whole)
      n->waits = INFINITY;
    else if (plan.waits != WAITS_NEVER && isinf(n->waits))
      n->waits = world.time;
    if (whole && !n->done && world.time >= plan.finish &&
        world.time < plan.end - 2 * plan.limit - 3 && any(3) == 0)
      finish_set(i);
  }
}

/* --- what is to hold -------------------------------------------------------------------------- */

static void check_decisions(void) {
  for (uint32_t d = 1; d < DECISIONS; d++)
    for (int i = 0, first = -1; i < world.n; i++) {
      if (world.of[i].here.number < d || !world.of[i].here.overlay)
        continue;
      first = first < 0 ? i : first;
      expect(memcmp(world.of[i].applied[d], world.of[first].applied[d], NODES) == 0,
             "two nodes apply different sets");
    }
}

/* Every node that runs is in one world with all the others of it, or has ended. */
static void check_settled(void) {
  expect(sets_finished <= 1, "two sets of nodes have come to the end of the job");
  for (int i = 0; i < world.n; i++) {
    if (world.of[i].state != RUNNING)
      continue;
    expect(sets_finished == 0, "a node runs although the job has ended");
    for (int k = 0; k < world.n; k++) {
      expect(!is_in(k, i) || world.of[k].state == RUNNING, "a node that does not run is present");
      expect(world.of[k].state != RUNNING || is_in(k, i), "two worlds run");
    }
  }
}

static int count_set(unsigned set) {
  int n = 0;
  for (; set; set &= set - 1)
    n++;
  return n;
}

/* Of two parts that are cut from one another, and whole in themselves, the larger one is well. */
static unsigned nodes_of(const fault *f) {
  int cuts = 0, a = count_set(f->a), b = count_set(f->b);
  if (f->kind != FAULT_CUT)
    return f->a;
  for (int i = 0; i < plan.n; i++)
    cuts += plan.of[i].kind == FAULT_CUT;
  if (cuts > 1 || f->a & f->b || a + b < world.n || a == b)
    return f->a | f->b;
  return a < b ? f->a : f->b;
}

/* How long, of the limit, the node was stopped or cut from others; INFINITY: it was killed. */
static double trouble_of(int node) {
  double sum = 0;
  for (int i = 0; i < plan.n; i++) {
    const fault *f = &plan.of[i];
    if (f->kind != FAULT_RESET && nodes_of(f) >> node & 1)
      sum += f->kind == FAULT_KILL || f->kind == FAULT_OFF ? INFINITY : f->to - f->from;
  }
  return sum / plan.limit;
}

static int is_well(int node) {
  return trouble_of(node) < SHORT / 100.0;
}

/* Nobody is lost for another's trouble, as long as more than half are well. */
static void check_well(void) {
  int well = 0;
  for (int i = 0; i < world.n; i++)
    well += is_well(i);
  for (int i = 0; i < world.n && 2 * well > world.n; i++) {
    if (!is_well(i) || world.of[i].done) /* at the end of the job a daemon may leave too early */
      continue;
    expect(world.of[i].state == RUNNING || world.of[i].state == FINISHED, "a well node has ended");
    for (int k = 0; k < world.n; k++)
      expect(!is_well(k) || is_in(i, k), "a well node is given up");
  }
}

/* --- runs ------------------------------------------------------------------------------------- */

static void open_run(int n, double limit, int witness) {
  open_world(n, limit, witness);
  plan.n = 0;
  plan.limit = limit;
  plan.finish = INFINITY;
  plan.waits = WAITS_FOR_OTHERS;
  sets_finished = 0;
  wrong = NULL;
  run_until(world.time + limit);
  for (int i = 0; i < n; i++)
    expect(world.of[i].joined && world.of[i].decisions == 0, "the nodes do not come together");
}

static int is_over(void) {
  for (int i = 0; i < world.n; i++)
    if (world.of[i].state <= STOPPED)
      return 0;
  return 1;
}

static void run_plan(double seconds) {
  double tick = world.time;
  plan.end = world.time + seconds;
  while (world.time < plan.end && !is_over()) {
    double next = fmin(next_event(world.time), plan.end);
    if (next >= tick + plan.limit / 20)
      next = tick = tick + plan.limit / 20;
    run_until(next);
    apply_events();
    step_application();
  }
}

static void tell_run(int run) {
  static const char *const kinds[] = {"kill", "off", "stop", "cut", "reset", "close"};
  static const char *const states[] = {"running", "stopped", "killed", "off", "ended", "finished"};
  printf("run %d: %s; %d nodes, limit %g, waits %d, finish %.3f\n", run, wrong, world.n, plan.limit,
         plan.waits, plan.finish - 100);
  for (int i = 0; i < plan.n; i++)
    printf("  %s %x %x from %.3f to %.3f\n", kinds[plan.of[i].kind], plan.of[i].a, plan.of[i].b,
           plan.of[i].from - 100, plan.of[i].to - 100);
  for (int i = 0; i < world.n; i++) {
    const host *n = &world.of[i];
    printf("  node %d %s (%s) after %u decisions has lost", i, states[n->state],
           n->why ? n->why : "", n->here.number);
    for (int k = 0; k < world.n; k++)
      if (n->lost[k])
        printf(" %d", k);
    printf("\n");
  }
}

static int close_run(int run) {
  check_decisions();
  int failed = wrong != NULL;
  if (failed)
    tell_run(run);
  close_world();
  return failed;
}

/* --- random runs ------------------------------------------------------------------------------ */

static unsigned any_set(void) {
  return (unsigned)(1 + any((1 << world.n) - 1));
}

static unsigned one_of(void) {
  return 1u << any(world.n);
}

static double any_length(void) {
  static const double least[] = {0.02, 0.7, 1.1, 2.0}, most[] = {0.7, 1.5, 2.6, 5};
  int kind = any(5);
  return kind == 4 ? INFINITY : plan.limit * (least[kind] + part(most[kind] - least[kind]));
}

/* The one before and its decision are under way, more often than not. */
static double any_begin(void) {
  double limit = plan.limit, now = plan.n ? plan.of[plan.n - 1].from - world.time : 0;
  switch (any(4)) {
  case 0:
    return now + part(0.02);
  case 1:
    return now + limit * 1.1 + part(0.8);
  case 2:
    return now + part(2 * limit);
  default:
    return part(4 * limit);
  }
}

static void add_cut(double begin, double length) {
  unsigned all = (1u << world.n) - 1, half = any_set(), node = one_of();
  switch (any(4)) {
  case 0:
    add_fault(FAULT_CUT, node, one_of(), begin, length);
    break;
  case 1:
    add_fault(FAULT_CUT, node, all & ~node, begin, length);
    break;
  case 2:
    add_fault(FAULT_CUT, half, all & ~half, begin, length);
    break;
  default:
    add_fault(FAULT_CUT, any(4) ? half : all, any(4) ? any_set() : all, begin, length);
  }
}

static void add_any_fault(void) {
  double begin = any_begin(), length = any_length();
  fault_kind kind = (fault_kind)any(FAULT_CLOSE);
  if (kind == FAULT_CUT || any(3) == 0)
    add_cut(begin, length);
  else if (kind == FAULT_RESET)
    add_fault(kind, one_of(), any_set(), begin, 0);
  else
    add_fault(kind, one_of(), 0, begin, kind == FAULT_STOP && isinf(length) ? 9 : length);
}

static int any_nodes(void) {
  return any(8) ? 2 + any(4) : NODES;
}

static double any_limit(void) {
  static const double limits[] = {1, 1, 2, 4};
  return limits[any(4)];
}

static int any_witness(void) {
  return any(3) == 0;
}

/* Each run has a seed of its own: so one can be looked at alone. */
static int one_random_run(unsigned seed, int run) {
  srandom(seed + (unsigned)run);
  open_run(any_nodes(), any_limit(), any_witness());
  plan.waits = (wait_kind)any(WAITS_KINDS);
  for (int i = 0, n = 1 + any(4); i < n; i++)
    add_any_fault();
  for (int i = 0; i < world.n; i++)
    world.witness_hidden[i] = any(5) == 0;
  if (any(3))
    plan.finish = world.time + part(8 * plan.limit);
  run_plan(last_event() - world.time + 6 * plan.limit + 6);
  check_settled();
  check_well();
  return close_run(run);
}

/* Stops, cuts and resets whose sum is shorter than the limit. */
static int one_short_run(unsigned seed, int run) {
  double left;
  srandom(seed + (unsigned)run);
  open_run(any_nodes(), any_limit(), any_witness());
  plan.waits = (wait_kind)any(WAITS_KINDS);
  left = plan.limit * SHORT / 100.0;
  for (int i = 0, n = 1 + any(4); i < n; i++) {
    double length = i + 1 < n ? part(left) : left;
    left -= length;
    if (any(2))
      add_cut(any_begin(), length);
    else if (any(3))
      add_fault(FAULT_STOP, any_set(), 0, any_begin(), length);
    else
      add_fault(FAULT_RESET, any_set(), any_set(), any_begin(), 0);
  }
  run_plan(last_event() - world.time + 3 * plan.limit + 2);
  for (int i = 0; i < world.n; i++)
    expect(world.of[i].state == RUNNING && world.of[i].decisions == 0,
           "a node is lost by a short fault");
  return close_run(run);
}

/* --- what has one result ---------------------------------------------------------------------- */

/* All others run, in a world without these; within so many seconds, if that is not 0. */
static void expect_lost(unsigned set, double seconds) {
  for (int i = 0; i < world.n; i++) {
    if (set >> i & 1) {
      expect(world.of[i].state != RUNNING, "a lost node runs");
      continue;
    }
    expect(world.of[i].state == RUNNING, "a node has ended");
    for (int k = 0; k < world.n; k++)
      expect(is_in(k, i) == !(set >> k & 1), "other nodes are lost");
    expect(seconds == 0 || world.of[i].decided_at <= plan.of[0].from + seconds, "it took too long");
  }
}

static unsigned all_nodes(void) {
  return (1u << world.n) - 1;
}

/* One fault, for good. */
static void run_fault(fault_kind kind, unsigned a, unsigned b) {
  add_fault(kind, a, b, 0.3, kind == FAULT_STOP ? 3 * plan.limit : INFINITY);
  run_plan(6 * plan.limit + 3);
}

static int one_node(int n, int lost, double limit, fault_kind kind) {
  open_run(n, limit, 0);
  run_fault(kind, 1u << lost, kind == FAULT_CUT ? all_nodes() & ~(1u << lost) : 0);
  expect_lost(1u << lost, kind == FAULT_KILL ? 1 : limit + 1);
  return close_run(lost);
}

static void test_one_node(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int n = 3; n <= NODES; n += n < 5 ? 1 : 4)
    for (int i = 0; i < n; i++)
      for (int kind = FAULT_KILL; kind <= FAULT_CUT; kind++)
        failed += one_node(n, i, 1 + i % 2, (fault_kind)kind);
  RGT_INT(failed, 0);
}

/* The node with the higher index ends, if a process waits; else nobody. */
static int one_path(int n, int a, int b, wait_kind waits) {
  open_run(n, 1, 0);
  plan.waits = waits;
  run_fault(FAULT_CUT, 1u << a, 1u << b);
  expect_lost(waits == WAITS_NEVER ? 0 : 1u << b, 0);
  return close_run(n * 10 + b);
}

static void test_path(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int n = 3; n <= 5; n++)
    for (int b = 1; b < n; b++)
      for (int a = 0; a < b; a++)
        failed += one_path(n, a, b, WAITS_FOR_OTHERS) + one_path(n, a, b, WAITS_NEVER);
  RGT_INT(failed, 0);
}

/* A refusal proves nothing while another node is connected with that one. */
static int one_closed(int n, int a, int b, double length) {
  open_run(n, 1, 0);
  plan.waits = WAITS_ALWAYS;
  add_fault(FAULT_CLOSE, 1u << a, 1u << b, 0.3, length);
  run_plan(6);
  expect_lost(length > 1 ? 1u << b : 0, 0);
  return close_run(n * 10 + b);
}

static void test_closed(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int n = 3; n <= 5; n++)
    for (int b = 1; b < n; b++)
      for (int a = 0; a < b; a++)
        failed += one_closed(n, a, b, 0.1 * (1 + any(7))) + one_closed(n, a, b, INFINITY);
  RGT_INT(failed, 0);
}

/* A call of node 3 comes up at node 1 while node 1 still dials, and the path is cut at once: what
 * node 1 has to say goes by way of node 2, and node 0 is given up. */
static int one_late_call(int delay) {
  open_run(4, 1, 0);
  add_fault(FAULT_CUT, 0xe, 0xf, 0.6, 2);
  add_fault(FAULT_CUT, 0xe, 1, 1.3, INFINITY);
  add_fault(FAULT_CUT, 8, 2, 2.6 + 0.001 * delay, INFINITY);
  run_plan(last_event() - world.time + 12);
  check_settled();
  expect(world.of[0].state != RUNNING, "a lost node runs");
  return close_run(delay);
}

static void test_late_call(void) {
  int failed = 0;
  for (int delay = 0; delay < 200; delay++) {
    srandom((unsigned)delay);
    failed += one_late_call(delay);
  }
  RGT_INT(failed, 0);
}

/* The part that has the majority, or at a tie the lowest node, goes on. */
static int one_part(int n, unsigned part_set, double limit, double latency) {
  open_run(n, limit, 0);
  world.latency = latency;
  unsigned rest = all_nodes() & ~part_set;
  int more = count_set(part_set) - count_set(rest);
  run_fault(FAULT_CUT, part_set, rest);
  expect_lost(more > 0 || (more == 0 && part_set & 1) ? rest : part_set, n < NODES ? 2 : 0);
  for (int i = 0; i < n; i++)
    expect(world.of[i].state == RUNNING || world.of[i].state == GIVEN_UP, "a part has no end");
  return close_run((int)part_set);
}

/* Nine nodes are not all connected with one another: answers within a part take their time. */
static void test_parts(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int n = 2; n <= 5; n++)
    for (unsigned set = 1; set < (1u << n) - 1; set++)
      failed += one_part(n, set, 1, 1e-3);
  for (int i = 0; i < 40; i++)
    failed += one_part(NODES, 1 + (unsigned)any((1 << NODES) - 2), 4, 0.08);
  RGT_INT(failed, 0);
}

/* One half goes on, the one that has the witness; or none, if none can ask it. */
static int one_witness(int n, int hidden) {
  open_run(n, 1, 1);
  for (int i = 0; i < n; i++)
    world.witness_hidden[i] = hidden == 2 || (hidden == 1 && i < n / 2);
  unsigned half = (1u << n / 2) - 1;
  run_fault(FAULT_CUT, half, all_nodes() & ~half);
  if (hidden == 2)
    expect_lost(all_nodes(), 0);
  else
    expect_lost(hidden || world.holder[0] > n / 2 ? half : all_nodes() & ~half, 2);
  return close_run(n);
}

static void test_witness(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int n = 2; n <= 4; n += 2)
    for (int hidden = 0; hidden < 3; hidden++)
      for (int i = 0; i < 5; i++)
        failed += one_witness(n, hidden);
  RGT_INT(failed, 0);
}

/* Nobody has a majority. */
static void test_all_cut(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int n = 3; n <= NODES; n++) {
    open_run(n, 1, 0);
    run_fault(FAULT_CUT, all_nodes(), all_nodes());
    expect_lost(all_nodes(), 0);
    for (int i = 0; i < n; i++)
      expect(world.of[i].state == GIVEN_UP, "a node goes on alone");
    failed += close_run(n);
  }
  RGT_INT(failed, 0);
}

/* Proven deaths need no majority: the last node goes on. */
static int one_last(int n, int last, double pause) {
  open_run(n, 2, 0);
  for (int i = 0, k = 0; i < n; i++)
    if (i != last)
      add_fault(FAULT_KILL, 1u << i, 0, 0.3 + k++ * part(pause), 0);
  run_plan(6);
  expect_lost(all_nodes() & ~(1u << last), 0);
  return close_run(last);
}

static void test_last(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int n = 2; n <= 5; n++)
    for (int last = 0; last < n; last++)
      for (int i = 0; i < 6; i++)
        failed += one_last(n, last, i % 3 ? 0.02 * i : 0);
  RGT_INT(failed, 0);
}

/* A node that comes back, or is connected again, after about the limit: it may be lost by then, but
 * no other node, although the straight paths to it have been down for the limit. */
static int one_return(int n, int back, fault_kind kind, double length) {
  open_run(n, 1 + back % 2, 0);
  plan.waits = WAITS_ALWAYS;
  add_fault(kind, 1u << back, kind == FAULT_CUT ? all_nodes() & ~(1u << back) : 0, 1,
            length * plan.limit);
  run_plan(4 * plan.limit + 3);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      expect(i == back || k == back || (world.of[i].state == RUNNING && is_in(k, i)),
             "another node is lost");
  return close_run(back);
}

static void test_return(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int n = 3; n <= 5; n++)
    for (int back = 0; back < n; back++)
      for (double length = 0.8; length < 1.9; length += 0.1)
        failed += one_return(n, back, FAULT_STOP, length) + one_return(n, back, FAULT_CUT, length);
  RGT_INT(failed, 0);
}

/* --- in quiet times --------------------------------------------------------------------------- */

static int is_up(const connection *c) {
  return c->state[0] == SIDE_UP && c->state[1] == SIDE_UP;
}

/* Each pair that has a connection has one, which one of the two keeps. Returns how many there are.
 */
static int check_connections(void) {
  int n = 0;
  for (const connection *c = world.first; c; c = c->next) {
    if (!is_up(c))
      continue;
    int a = c->node[0], b = c->node[1];
    n++;
    expect(world.of[a].peers[b].kept || world.of[b].peers[a].kept, "a connection is not needed");
    for (const connection *o = c->next; o; o = o->next)
      expect(!is_up(o) || o->node[0] + o->node[1] != a + b || (o->node[0] != a && o->node[0] != b),
             "two connections of one pair");
  }
  return n;
}

/* After a ballot, whose coordinator was connected with all, only neighbours send pings. */
static int one_idle(int lost) {
  open_run(NODES, 4, 0);
  int before = check_connections();
  expect(before == NODES * 3, "neighbours: at the distances 1, 2 and 4, both ways");
  run_fault(FAULT_KILL, 1u << lost, 0);
  expect_lost(1u << lost, 0);
  int after = check_connections();
  long pieces = world.pieces, pings = (long)(10 / rgi_connections_ping_seconds());
  run_until(world.time + 10);
  expect(world.pieces - pieces <= 2 * after * (pings + 1), "more is sent than pings");
  return close_run(lost);
}

static void test_idle(void) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < NODES; i++)
    failed += one_idle(i);
  RGT_INT(failed, 0);
}

/* --- a voter ---------------------------------------------------------------------------------- */

/* A message of node 2 to node 1, with a set of nodes. */
static void tell_voter(uint32_t kind, uint32_t number, int64_t ballot, unsigned set) {
  unsigned char message[sizeof(rgi_ballot_message) + 3] = {0};
  rgi_ballot_message head = {.number = number, .nodes = 3, .ballot = ballot};
  memcpy(message, &head, sizeof head);
  for (int i = 0; i < 3; i++)
    message[sizeof head + (size_t)i] = set >> i & 1;
  enter(1);
  rgi_presence_receive(2, kind, message, sizeof head + sets_of(kind) * 3);
  leave();
}

/* A promise holds: nothing of an earlier ballot counts, nor of another decision. */
static void test_voter(void) {
  enum { EARLY = 12, LATE = 17 };
  open_run(3, 1, 0);
  const host *voter = &world.of[1];
  tell_voter(MESSAGE_PREPARE, 1, LATE, 1);
  RGT_INT(voter->here.voting.promised, 0);
  tell_voter(MESSAGE_PREPARE, 0, LATE, 1);
  RGT_INT(voter->here.voting.promised, LATE);
  tell_voter(MESSAGE_PREPARE, 0, EARLY, 1);
  RGT_INT(voter->here.voting.promised, LATE);
  tell_voter(MESSAGE_ACCEPT, 0, EARLY, 1);
  RGT_INT(voter->here.voting.accepted, 0);
  tell_voter(MESSAGE_ACCEPT, 1, LATE, 1);
  RGT_INT(voter->here.voting.accepted, 0);
  tell_voter(MESSAGE_ACCEPT, 0, LATE, 1);
  RGT_INT(voter->here.voting.accepted, LATE);
  RGT_INT(voter->here.accepted_set[0], 1);
  RGT_INT(voter->decisions, 0);
  tell_voter(MESSAGE_PART, 0, EARLY, 7);
  tell_voter(MESSAGE_PART, 0, LATE, 6); /* node 0 is heard */
  RGT_TRUE(!voter->given_up);
  tell_voter(MESSAGE_PART, 0, LATE, 7);
  RGT_TRUE(voter->given_up);
  close_world();
}

/* Its own ballot has all votes when it has accepted the set of a later one: it gives its own up. */
static void test_coordinator(void) {
  open_run(3, 1, 0);
  const host *coordinator = &world.of[1];
  enter(1);
  begin_ballot();
  leave();
  int64_t later = coordinator->here.ballot + 1;
  tell_voter(MESSAGE_ACCEPT, 0, later, 1);
  enter(1);
  memset(here.votes.voted, 1, 3);
  coordinate();
  leave();
  RGT_INT(coordinator->here.state, IDLE);
  RGT_TRUE(coordinator->here.voting.accepted == later);
  RGT_TRUE(coordinator->here.voting.promised == later);
  close_world();
}

static void many(int runs, int (*one)(unsigned seed, int run)) {
  int failed = 0;
  for (int i = 0; i < runs; i++)
    failed += one((unsigned)rgt_seed() * 1000003u, i);
  RGT_INT(failed, 0);
}

static void test_random(void) {
  many(2000, one_random_run);
}

static void test_short(void) {
  many(300, one_short_run);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"one node", test_one_node},
                                   {"one path", test_path},
                                   {"a closed path", test_closed},
                                   {"two parts", test_parts},
                                   {"the witness", test_witness},
                                   {"all cut", test_all_cut},
                                   {"the last node", test_last},
                                   {"a node that returns", test_return},
                                   {"in quiet times", test_idle},
                                   {"a voter", test_voter},
                                   {"a coordinator", test_coordinator},
                                   {"short faults lose nobody", test_short},
                                   {"random faults", test_random},
                                   {"a late call", test_late_call},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "presence", tests);
}
