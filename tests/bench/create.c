/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench create: what it costs to make a communicator, or a group, of
 * some of the ranks. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "members.h"
#include "settings.h"

#define SIZES 64
#define TAG 1
#define WARMUP 3

/* What is measured at the moment; the context of all contenders. */
typedef struct {
  int size, rank; /* of the group; MPI_UNDEFINED where the caller is no member */
  int *ranks;     /* the members, in order */
  MPI_Group group;
  rg_group world, made_group;
  MPI_Comm made;
} creation;

static struct {
  const char *sizes, *contenders, *members;
  long long seed;
  int with_free;
  int size[SIZES], sizes_n; /* parsed */
  int pick[16], picks;
  bench_choice choice;
} given = {.members = "block", .seed = 1};

static const struct poptOption options[] = {
    {"sizes", 0, POPT_ARG_STRING, &given.sizes, 0, "Sizes of the groups (2,4,... and all ranks)",
     "LIST"},
    {"contenders", 'c', POPT_ARG_STRING, &given.contenders, 0,
     "Which to compare (all): recursive, native, auto, MPI_Comm_create_group, MPI_Comm_create, "
     "MPI_Comm_split, rg_group_create",
     "LIST"},
    {"members", 'm', POPT_ARG_STRING, &given.members, 0,
     "Which ranks are members: the first ones, evenly spread, or random (block)",
     "block|spread|random"},
    {"seed", 0, POPT_ARG_LONGLONG, &given.seed, 0, "Seed for --members random (1)", "N"},
    {"with-free", 0, POPT_ARG_NONE, &given.with_free, 0, "Time creating and freeing together",
     NULL},
    POPT_TABLEEND};

/* --- the contenders ------------------------------------------------------------ */

static const char *by_method(creation *c, rg_comm_method method) {
  int error = rg_comm_create_group(MPI_COMM_WORLD, c->group, TAG, method, &c->made);
  return error ? rg_error_detail() : NULL;
}

static const char *recursive(void *c) {
  return by_method(c, RG_METHOD_RECURSIVE);
}

static const char *native(void *c) {
  return by_method(c, RG_METHOD_NATIVE);
}

static const char *automatic(void *c) {
  return by_method(c, RG_METHOD_AUTO);
}

/* MPI's errors are fatal: the world keeps its error handler. */
static const char *mpi_create_group(void *context) {
  creation *c = context;
  MPI_Comm_create_group(MPI_COMM_WORLD, c->group, TAG, &c->made);
  return NULL;
}

static const char *mpi_create(void *context) {
  creation *c = context;
  MPI_Comm_create(MPI_COMM_WORLD, c->group, &c->made);
  return NULL;
}

static const char *mpi_split(void *context) {
  creation *c = context;
  MPI_Comm_split(MPI_COMM_WORLD, c->rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, c->rank, &c->made);
  return NULL;
}

static const char *group_create(void *context) {
  creation *c = context;
  int error = rg_group_create(c->world, c->size, c->ranks, TAG, &c->made_group);
  return error ? rg_error_detail() : NULL;
}

typedef enum { MEMBERS, ALL } callers;

static const struct {
  const char *name;
  callers callers;
  const char *(*run)(void *);
} contenders[] = {{"recursive", MEMBERS, recursive},
                  {"native", MEMBERS, native},
                  {"auto", MEMBERS, automatic},
                  {"MPI_Comm_create_group", MEMBERS, mpi_create_group},
                  {"MPI_Comm_create", ALL, mpi_create},
                  {"MPI_Comm_split", ALL, mpi_split},
                  {"rg_group_create", MEMBERS, group_create}};
enum { CONTENDERS = sizeof contenders / sizeof contenders[0] };

/* --- what they made --------------------------------------------------------------- */

static const char *check_comm(const creation *c) {
  MPI_Group group;
  int order;
  if (c->rank == MPI_UNDEFINED)
    return c->made == MPI_COMM_NULL ? NULL : "a rank that is no member got a communicator";
  if (c->made == MPI_COMM_NULL)
    return "a member got MPI_COMM_NULL";
  MPI_Comm_group(c->made, &group);
  MPI_Group_compare(group, c->group, &order); /* identical: size, ranks and order */
  MPI_Group_free(&group);
  return order == MPI_IDENT ? NULL : "the communicator has other members, or another order";
}

static const char *check_group(const creation *c) {
  int rank, size, members[c->size];
  if (rg_group_rank(c->made_group, &rank) || rg_group_size(c->made_group, &size))
    return rg_error_detail();
  if (rank != c->rank || size != c->size)
    return "the group has a wrong rank or size";
  rg_group_members(c->made_group, members);
  for (int i = 0; i < size; i++)
    if (members[i] != c->ranks[i])
      return "the group has other members, or another order";
  return NULL;
}

static const char *give_up(creation *c) {
  if (c->made != MPI_COMM_NULL)
    MPI_Comm_free(&c->made);
  return rg_group_free(&c->made_group) ? rg_error_detail() : NULL;
}

static const char *finish(void *context) {
  creation *c = context;
  const char *wrong = c->made_group ? check_group(c) : check_comm(c);
  const char *kept = give_up(c);
  return wrong ? wrong : kept;
}

/* With --with-free what is timed frees too, so that nothing is left to look at:
 * the results are checked in a round before. */
typedef struct {
  creation *c;
  const char *(*run)(void *);
} freeing;

static const char *run_and_free(void *context) {
  freeing *f = context;
  const char *wrong = f->run(f->c);
  return wrong ? wrong : give_up(f->c);
}

/* --- measuring --------------------------------------------------------------------- */

static int check(char text[RGP_TEXT]) {
  const char *names[CONTENDERS + 1] = {NULL};
  int np;
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  if (np < 2)
    return snprintf(text, RGP_TEXT, "at least 2 ranks are needed: mpiexec -n 2 ...");
  for (int i = 0; i < CONTENDERS; i++)
    names[i] = contenders[given.pick[i] = i].name;
  given.picks = CONTENDERS;
  if (given.contenders)
    given.picks = bench_words("--contenders", given.contenders, names, given.pick, text);
  given.sizes_n = bench_group_sizes(given.sizes, np, SIZES, given.size, text);
  for (given.choice = 0; given.choice < BENCH_CHOICES; given.choice++)
    if (strcmp(given.members, bench_choice_name[given.choice]) == 0)
      break;
  if (given.choice == BENCH_CHOICES)
    return snprintf(text, RGP_TEXT, "--members: '%.100s' is none of block, spread, random",
                    given.members);
  return given.picks < 0 || given.sizes_n < 0;
}

static void begin(creation *c, int size) {
  MPI_Group world;
  int np;
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  *c = (creation){.size = size, .made = MPI_COMM_NULL};
  c->ranks = calloc((size_t)size, sizeof *c->ranks);
  if (!c->ranks || rg_group_world(&c->world))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  bench_choose(given.choice, size, np, (uint64_t)given.seed, c->ranks);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, size, c->ranks, &c->group);
  MPI_Group_free(&world);
  MPI_Group_rank(c->group, &c->rank);
}

static void end(creation *c) {
  MPI_Group_free(&c->group);
  rg_group_free(&c->world);
  free(c->ranks);
}

static void line_up(creation *c, int with_free, freeing freeing_too[], bench_contender list[]) {
  for (int i = 0; i < given.picks; i++) {
    int k = given.pick[i];
    freeing_too[i] = (freeing){c, contenders[k].run};
    list[i] =
        (bench_contender){.name = contenders[k].name,
                          .takes_part = contenders[k].callers == ALL || c->rank != MPI_UNDEFINED,
                          .run = with_free ? run_and_free : contenders[k].run,
                          .finish = with_free ? NULL : finish,
                          .context = with_free ? (void *)&freeing_too[i] : (void *)c};
  }
}

static int measure(const bench_plan *plan, int size, bench_measured measured[]) {
  creation c;
  freeing freeing_too[CONTENDERS];
  bench_contender list[CONTENDERS];
  int good = 1;
  begin(&c, size);
  if (given.with_free) {
    bench_plan once = {.reps = 1, .seconds = 1};
    line_up(&c, 0, freeing_too, list);
    good = bench_measure(MPI_COMM_WORLD, &once, given.picks, list, measured);
  }
  line_up(&c, given.with_free, freeing_too, list);
  good = good && bench_measure(MPI_COMM_WORLD, plan, given.picks, list, measured);
  end(&c);
  return good;
}

static void tell(bench_report *report) {
  int agreement = 0;
  const char *name, *value;
  for (int i = 0; rg_option_get(i, &name, &value, NULL, NULL, NULL, NULL) == RG_SUCCESS; i++)
    if (strcmp(name, "RG_CHECK") == 0)
      agreement = strcmp(value, "0") != 0;
  report->x_name = "members";
  report->x_key = "size";
  json_object_set_new(report->facts, "members", json_string(given.members));
  json_object_set_new(report->facts, "seed", json_integer(given.seed));
  json_object_set_new(report->facts, "with_free", json_boolean(given.with_free));
  /* Of a library method's messages, 2 (g - 1) are then the agreement's. */
  json_object_set_new(report->facts, "agreement", json_boolean(agreement));
  snprintf(report->title, sizeof report->title, "Creating%s a communicator of g ranks out of %d",
           given.with_free ? " and freeing" : "", report->ranks);
  if (agreement)
    snprintf(report->note, sizeof report->note,
             "recursive, native and auto: 2 (g - 1) of the messages are the agreement's "
             "(RG_CHECK=0 leaves it out)");
}

static int run(bench_report *report, rgp_progress *progress) {
  double deadline = rgp_now() + bench_given.time_limit;
  bench_measured measured[CONTENDERS] = {0};
  tell(report);
  for (int i = 0; i < given.sizes_n; i++) {
    bench_plan plan = bench_plan_for(i, given.sizes_n, WARMUP, deadline, progress);
    if (!measure(&plan, given.size[i], measured))
      return 0;
    for (int k = 0; k < given.picks; k++)
      bench_report_add(report, given.size[i], contenders[given.pick[k]].name, &measured[k]);
  }
  return 1;
}

const bench_command bench_create = {
    .name = "create",
    .summary = "What it costs to make a communicator of some of the ranks, by each method.",
    .options = options,
    .pictured = 1,
    .check = check,
    .run = run};
