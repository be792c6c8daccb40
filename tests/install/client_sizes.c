/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A program that uses every public struct that may grow. test_sizes.py compiles it with headers
 * whose structs are shorter than the library's, or longer, and links it with the library.
 *
 *     client_sizes arrays | balance | inter | reserve | unset
 *
 * LATER is defined where the structs are longer: they have a member `later` at their end. A guard
 * behind each struct shows whether the library has written more than the program knows. */
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void fail(int line, const char *what) {
  fprintf(stderr, "rank %d, line %d: %s: %s\n", rank, line, what, rg_error_detail());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define TRUE(x)                                                                                    \
  do {                                                                                             \
    if (!(x))                                                                                      \
      fail(__LINE__, #x);                                                                          \
  } while (0)
#define FAILS(call, code) TRUE((call) == (code))
#define UNSET(call)                                                                                \
  do {                                                                                             \
    FAILS(call, RG_ERR_ARG);                                                                       \
    TRUE(strstr(rg_error_detail(), "initialise the struct with {sizeof x}"));                      \
  } while (0)

enum { GUARD = 64 };

/* name.x: a struct with its size and zeros; its guard is behind it. */
#define GUARDED(type, name)                                                                        \
  struct {                                                                                         \
    type x;                                                                                        \
    unsigned char guard[GUARD];                                                                    \
  } name;                                                                                          \
  memset(&name, 0xa5, sizeof name);                                                                \
  memset(&name.x, 0, sizeof name.x);                                                               \
  name.x.size = sizeof name.x
#define INTACT(name) TRUE(is_intact(name.guard) && name.x.size == sizeof name.x)

#ifdef LATER
/* A member that the library does not know is refused if it is not zero. */
#define REFUSED(name, call)                                                                        \
  do {                                                                                             \
    name.x.later = 1;                                                                              \
    FAILS(call, RG_ERR_UNSUPPORTED);                                                               \
    name.x.later = 0;                                                                              \
  } while (0)
#else
#define REFUSED(name, call) ((void)0)
#endif

static int is_intact(const unsigned char guard[GUARD]) {
  for (int i = 0; i < GUARD; i++)
    if (guard[i] != 0xa5)
      return 0;
  return 1;
}

/* --- arrays -------------------------------------------------------------------------------- */

static void use_arrays(void) {
  GUARDED(rg_array_spec, spec);
  GUARDED(rg_array_spec, info);
  const int64_t shape[2] = {8, 9}, lo[2] = {0, 0}, row[2] = {1, 9};
  double values[9] = {0};
  rg_group world;
  rg_array a = NULL;
  TRUE(!rg_init(MPI_COMM_WORLD, NULL) && !rg_group_world(&world));
  TRUE(!rg_array_spec_set(&spec.x, RG_TYPE_DOUBLE, 2, shape));
  TRUE(spec.x.dims == 2 && spec.x.shape[1] == 9 && spec.x.layout == RG_LAYOUT_BLOCK);
  spec.x.ghosts[1] = 1;
  REFUSED(spec, rg_array_create(world, &spec.x, &a));
  TRUE(!rg_array_create(world, &spec.x, &a));
  const double one = 1;
  TRUE(!rg_array_fill(a, NULL, NULL, &one) && !rg_array_get(a, lo, row, values, NULL));
  TRUE(values[0] == 1 && values[8] == 1);
  memset(spec.x.grid, 0, sizeof spec.x.grid);
  spec.x.ghosts[0] = 2;
  REFUSED(spec, rg_array_regroup(world, world, &spec.x, &a));
  TRUE(!rg_array_regroup(world, world, &spec.x, &a));
  TRUE(!rg_array_info(a, &info.x));
  TRUE(info.x.shape[0] == 8 && info.x.ghosts[0] == 2 && info.x.ghosts[1] == 1);
  TRUE(info.x.grid[0] * info.x.grid[1] <= ranks && info.x.element_size == sizeof(double));
  TRUE(!rg_array_get(a, lo, row, values, NULL) && values[0] == 1 && values[8] == 1);
  INTACT(spec);
  INTACT(info);
  TRUE(!rg_array_sync(a) && !rg_array_free(&a) && !rg_group_free(&world) && !rg_finalize());
}

/* --- balancing ----------------------------------------------------------------------------- */

enum { UNITS = 5 };

static int64_t units_done;
static int asked;
static rg_policy inner; /* of the library */

static int do_unit(rg_walker *walker, rg_group g, void *context) {
  int64_t *done = walker->state, own = *done + 1;
  (void)context;
  units_done++;
  return rg_allreduce(g, &own, done, 1, MPI_INT64_T, MPI_MAX);
}

static double units_left(const rg_walker *walker, void *context) {
  const int64_t *done = walker->state;
  (void)context;
  return (double)(UNITS + walker->id - *done);
}

/* The program's own policy: that of the library with a table of its own, in which no group can be
 * joined by more processes than there are. */
static int plan_as_inner(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  GUARDED(rg_load_table, t);
  rg_policy copy = *policy;
  asked++;
  TRUE(copy.size <= sizeof copy && copy.plan == plan_as_inner && table->count <= ranks);
  memcpy(&t.x, table, table->size < sizeof t.x ? table->size : sizeof t.x);
  t.x.size = sizeof t.x;
  int error = rg_policy_plan(&inner, &t.x, plan);
  INTACT(t);
  return error;
}

static void make_plan(void) {
  GUARDED(rg_load_table, t);
  GUARDED(rg_policy, policy);
  const rg_load rows[2] = {{.ranks = 3}, {.ranks = 1, .state = 3, .left = 9, .unit = 1}};
  rg_plan plan = {0};
  t.x.load = rows;
  t.x.count = 2;
  TRUE(!rg_policy_parse("join-right", &policy.x) && !strcmp(policy.x.name, "join-right"));
  REFUSED(policy, rg_policy_plan(&policy.x, &t.x, &plan));
  REFUSED(t, rg_policy_plan(&policy.x, &t.x, &plan));
  TRUE(!rg_policy_plan(&policy.x, &t.x, &plan));
  TRUE(plan.count == 1 && plan.move[0].from == 0 && plan.move[0].to == 1 &&
       plan.move[0].ranks == 3);
  TRUE(!rg_plan_check(&plan, &t.x) && !rg_plan_free(&plan));
  INTACT(t);
  INTACT(policy);
}

static void check_outcomes(rg_balancer balancer) {
  const rg_balance_outcome *o;
  int64_t count;
  TRUE(!rg_balance_gather(balancer, 0) && !rg_balance_outcomes(balancer, &count, &o));
  TRUE(rank != 0 || count == 2 * ranks);
  for (int64_t i = 0; rank == 0 && i < count; i++)
    TRUE(o[i].id == i && o[i].done == UNITS + i && *(const int64_t *)o[i].state == UNITS + i);
}

static void write_timeline(rg_group world, rg_timeline timeline) {
  GUARDED(rg_timeline_words, words);
  char name[64], line[200] = "";
  snprintf(name, sizeof name, "timeline-%d.json", ranks);
  words.x.title = "short or long";
  words.x.ideal = 2;
  TRUE(!rg_timeline_gather(timeline, world, 0, 0));
  if (rank > 0)
    return;
  REFUSED(words, rg_timeline_write(timeline, name, RG_TIMELINE_JSON, &words.x));
  TRUE(!rg_timeline_write(timeline, name, RG_TIMELINE_JSON, &words.x));
  FILE *f = fopen(name, "r");
  TRUE(f && fgets(line, sizeof line, f) && strstr(line, "short or long") && strstr(line, "2.000"));
  fclose(f);
  remove(name);
  INTACT(words);
}

static void add_walkers(rg_balancer balancer) {
  for (int w = 0; w < 2 * ranks; w++) {
    GUARDED(rg_walker_new, walker);
    walker.x.id = w;
    walker.x.left = UNITS + w;
    REFUSED(walker, rg_balance_add(balancer, &walker.x));
    TRUE(!rg_balance_add(balancer, &walker.x));
    INTACT(walker);
  }
}

static void use_balancer(void) {
  GUARDED(rg_walker_kind, kind);
  GUARDED(rg_balance_options, options);
  GUARDED(rg_balance_statistics, statistics);
  GUARDED(rg_policy, policy);
  rg_group world;
  rg_balancer b;
  rg_timeline t;
  make_plan();
  inner.size = sizeof inner;
  TRUE(!rg_policy_parse("most-work", &inner));
  policy.x.name = "own";
  policy.x.plan = plan_as_inner;
  kind.x.bytes = sizeof(int64_t);
  kind.x.unit = do_unit;
  kind.x.left = units_left;
  options.x.policy = &policy.x;
  options.x.group = 1;
  TRUE(!rg_init(MPI_COMM_WORLD, NULL) && !rg_group_world(&world) && !rg_timeline_create(&t));
  options.x.timeline = t;
  REFUSED(kind, rg_balance_create(world, &kind.x, &options.x, &b));
  REFUSED(options, rg_balance_create(world, &kind.x, &options.x, &b));
  REFUSED(policy, rg_balance_create(world, &kind.x, &options.x, &b));
  TRUE(!rg_balance_create(world, &kind.x, &options.x, &b));
  add_walkers(b);
  TRUE(!rg_balance_run(b) && !rg_balance_get_statistics(b, &statistics.x));
  TRUE(statistics.x.groups >= 1 && statistics.x.units == units_done);
  MPI_Allreduce(MPI_IN_PLACE, &asked, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  TRUE(asked > 0);
  check_outcomes(b);
  write_timeline(world, t);
  INTACT(kind);
  INTACT(options);
  INTACT(statistics);
  INTACT(policy);
  TRUE(!rg_balance_free(&b) && !rg_timeline_free(&t) && !rg_group_free(&world) && !rg_finalize());
}

/* --- inter-communicators and processes in reserve --------------------------------------------- */

static void use_inter(void) {
  GUARDED(rg_inter_options, how);
  GUARDED(rg_inter_view, view);
  char name[] = "program", option[] = "--split=1", *argv[] = {name, option, NULL};
  int argc = 2, part;
  TRUE(!rg_inter_parse(&argc, argv, &how.x) && argc == 1);
  TRUE(how.x.kind == RG_INTER_SPLIT && how.x.n == 1);
  REFUSED(how, rg_inter_start(&how.x, &part));
  TRUE(!rg_inter_start(&how.x, &part) && part);
  TRUE(!rg_inter_get_view(&view.x));
  TRUE(view.x.is_inter && view.x.initiator_size == ranks - 1 && view.x.responder_size == 1);
  TRUE(view.x.is_responder == (rank == ranks - 1) && view.x.global_size == ranks);
  INTACT(how);
  INTACT(view);
  TRUE(!rg_inter_end());
}

static void check_grown(rg_group g) {
  int size;
  TRUE(!rg_group_size(g, &size) && size == ranks && !rg_barrier(g) && !rg_group_free(&g));
}

static void use_reserve(void) {
  GUARDED(rg_acquisition, drawn);
  GUARDED(rg_acquisition, again);
  rg_group team, grown;
  TRUE(!rg_init(MPI_COMM_WORLD, NULL) && !rg_reserve_open(1, &team));
  if (team) {
    TRUE(!rg_group_grow(team, 1, &grown));
    check_grown(grown);
    TRUE(!rg_group_free(&team) && !rg_reserve_leave());
  } else {
    TRUE(!rg_reserve_park(&drawn.x) && drawn.x.group && drawn.x.world == MPI_COMM_NULL);
    TRUE(!rg_reserve_acquisition(&again.x) && again.x.group == drawn.x.group);
    check_grown(drawn.x.group);
    TRUE(!rg_reserve_park(&drawn.x) && !drawn.x.group);
  }
  INTACT(drawn);
  INTACT(again);
  TRUE(!rg_finalize());
}

/* --- a size that is not set ------------------------------------------------------------------- */

static void unset_arrays(rg_group world) {
  const int64_t shape[1] = {10};
  rg_array_spec none = {0}, spec = {.size = sizeof spec};
  rg_array a = NULL;
  UNSET(rg_array_spec_set(&none, RG_TYPE_INT64, 1, shape));
  UNSET(rg_array_create(world, &none, &a));
  TRUE(!rg_array_spec_set(&spec, RG_TYPE_INT64, 1, shape) && !rg_array_create(world, &spec, &a));
  UNSET(rg_array_info(a, &none));
  UNSET(rg_array_regroup(world, world, &none, &a));
  TRUE(!rg_array_free(&a));
}

static void unset_balancing(rg_group world) {
  rg_policy none = {.name = "own", .plan = plan_as_inner}, policy = {.size = sizeof policy};
  rg_load_table t = {0};
  rg_plan plan = {0};
  rg_balancer b = NULL;
  rg_walker_kind no_kind = {.unit = do_unit, .left = units_left}, kind = no_kind;
  rg_balance_options no_options = {0}, options = {.size = sizeof options, .policy = &none};
  rg_walker_new walker = {0};
  rg_balance_statistics statistics = {0};
  kind.size = sizeof kind;
  TRUE(!rg_policy_parse("none", &policy));
  UNSET(rg_policy_parse("none", &none));
  UNSET(rg_policy_plan(&policy, &t, &plan));
  UNSET(rg_plan_check(&plan, &t));
  t.size = sizeof t;
  UNSET(rg_policy_plan(&none, &t, &plan));
  UNSET(rg_balance_create(world, &no_kind, NULL, &b));
  UNSET(rg_balance_create(world, &kind, &no_options, &b));
  UNSET(rg_balance_create(world, &kind, &options, &b));
  TRUE(!b && !rg_balance_create(world, &kind, NULL, &b));
  UNSET(rg_balance_add(b, &walker));
  UNSET(rg_balance_get_statistics(b, &statistics));
  TRUE(!rg_balance_free(&b));
}

static void unset_timeline(rg_group world) {
  rg_timeline_words words = {0};
  rg_timeline t;
  TRUE(!rg_timeline_create(&t) && !rg_timeline_gather(t, world, 0, 0));
  if (rank == 0)
    UNSET(rg_timeline_write(t, "timeline.json", RG_TIMELINE_JSON, &words));
  TRUE(!rg_timeline_free(&t));
}

static void use_unset(void) {
  rg_group world, team;
  rg_inter_options how = {0};
  rg_inter_view view = {0};
  rg_acquisition drawn = {0};
  char name[] = "program", *argv[] = {name, NULL};
  int argc = 1, part;
  UNSET(rg_inter_parse(&argc, argv, &how));
  UNSET(rg_inter_start(&how, &part));
  UNSET(rg_inter_get_view(&view));
  TRUE(!rg_init(MPI_COMM_WORLD, NULL) && !rg_group_world(&world));
  unset_arrays(world);
  unset_balancing(world);
  unset_timeline(world);
  TRUE(!rg_reserve_open(1, &team));
  UNSET(rg_reserve_park(&drawn));
  UNSET(rg_reserve_acquisition(&drawn));
  drawn.size = sizeof drawn;
  if (team)
    TRUE(!rg_group_free(&team));
  else
    TRUE(!rg_reserve_park(&drawn));
  TRUE(!rg_group_free(&world) && !rg_finalize());
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*use)(void);
  } parts[] = {{"arrays", use_arrays},
               {"balance", use_balancer},
               {"inter", use_inter},
               {"reserve", use_reserve},
               {"unset", use_unset}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
    if (!strcmp(argv[1], parts[i].name))
      parts[i].use();
  MPI_Finalize();
  return 0;
}
