/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench coll, and barrier, bcast, ... with the operation fixed: the
 * collectives against MPI's own, against what the model predicts, and against the
 * least that is possible. */
#include <mpi.h>
#include <regroup.h>
#include <string.h>

#include "command.h"
#include "contest.h"
#include "job.h"
#include "settings.h"

#define SIZES 64
#define WARMUP 5

static struct {
  const char *operations, *sizes, *algorithms, *ranks;
  int fresh, each, stream;
  char excluded[200]; /* what is not measured between groups, and why */
  rg_operation operation[RG_OP_COUNT];
  int size[SIZES], place[BENCH_PLACES];
  int operations_n, sizes_n, places_n;
} given = {.operations = "all", .sizes = "8,1024,65536,1048576"};

static const struct poptOption common[] = {
    {"sizes", 0, POPT_ARG_STRING, &given.sizes, 0,
     "Bytes of a block or vector (8,1024,65536,1048576)", "LIST"},
    {"ranks", 'n', POPT_ARG_STRING, &given.ranks, 0,
     "On so many of the job's first ranks, one number after the other (all)", "LIST"},
    {"algorithms", 'a', POPT_ARG_STRING, &given.algorithms, 0,
     "Besides MPI's own and the automatic choice: algorithms by name, or all that can serve",
     "LIST|all"},
    {"fresh", 'f', POPT_ARG_NONE, &given.fresh, 0,
     "Also the first call on a group that is formed for it, forming included; no call is "
     "repeated then",
     NULL},
    {"each", 0, POPT_ARG_NONE, &given.each, 0,
     "Time each call alone, with rank 0 as root, and a barrier after it that is not timed; the "
     "mean of the ranks",
     NULL},
    {"stream", 0, POPT_ARG_NONE, &given.stream, 0,
     "Calls back to back with rank 0 as root, without barriers", NULL},
    BENCH_VERIFY_OPTION,
    POPT_TABLEEND};

static const struct poptOption options[] = {
    {"operation", 'o', POPT_ARG_STRING, &given.operations, 0,
     "barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, "
     "scan, exscan (all)",
     "LIST|all"},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(size_t)common, 0, NULL, NULL},
    POPT_TABLEEND};

static bench_timing timing(void) {
  return given.each     ? BENCH_EACH
         : given.stream ? BENCH_STREAM
         : given.fresh  ? BENCH_ONCE
                        : BENCH_ROTATING;
}

/* --- the command line ------------------------------------------------------------------ */

/* "auto" and then the operation's own; closed by NULL. Returns how many. */
static int name_algorithms(rg_operation operation, const char *names[BENCH_PICKS + 1]) {
  int count = 0;
  rg_algorithm_count(operation, &count);
  for (int i = 0; i <= BENCH_PICKS; i++)
    names[i] = NULL;
  names[0] = "auto";
  for (int i = 0; i < count && i < BENCH_PICKS - 1; i++)
    rg_algorithm_get(operation, i, &names[i + 1], NULL, NULL);
  return 1 + (count < BENCH_PICKS ? count : BENCH_PICKS - 1);
}

/* Which algorithms an operation is measured with. Returns 0, or non-zero as check. */
static int choose(bench_contest *contest, char text[RGP_TEXT]) {
  const char *names[BENCH_PICKS + 1];
  int pick[BENCH_PICKS], n = 1, all = name_algorithms(contest->operation, names);
  contest->serving = given.algorithms && strcmp(given.algorithms, "all") == 0;
  contest->algorithms[0] = names[0];
  for (int i = 1; contest->serving && i < all; i++)
    contest->algorithms[n++] = names[i];
  if (given.algorithms && !contest->serving) {
    int picks = bench_words("--algorithms", given.algorithms, names + 1, pick, text);
    for (int i = 0; i < picks; i++)
      contest->algorithms[n++] = names[1 + pick[i]];
    if (picks < 0)
      return 1;
  }
  contest->algorithms_n = n;
  return 0;
}

/* MPI has no scans between groups. Non-zero when nothing else is left. */
static int exclude(char text[RGP_TEXT]) {
  int n = 0;
  for (int i = 0; i < given.operations_n; i++) {
    size_t used = strlen(given.excluded);
    if (given.operation[i] != RG_OP_SCAN && given.operation[i] != RG_OP_EXSCAN) {
      given.operation[n++] = given.operation[i];
      continue;
    }
    snprintf(given.excluded + used, sizeof given.excluded - used,
             "%s%s is left out: MPI does not define it for inter-communicators (%s)",
             used ? "\n" : "", rg_operation_name(given.operation[i]), bench_job_option());
  }
  given.operations_n = n;
  return n ? 0
           : snprintf(text, RGP_TEXT, "%.*s", (int)strcspn(given.excluded, "\n"), given.excluded);
}

static int check(char text[RGP_TEXT]) {
  if (given.each + given.stream + given.fresh > 1)
    return snprintf(text, RGP_TEXT, "%s and %s: only one of them can be measured in a run",
                    given.each ? "--each" : "--stream",
                    given.each && given.stream ? "--stream" : "--fresh");
  given.operations_n = bench_operations_parse(given.operations, given.operation, text);
  if (given.operations_n < 0 || (bench_job_grouped() && exclude(text)))
    return 1;
  for (int i = 0; i < given.operations_n; i++) {
    bench_contest c = {.operation = given.operation[i]};
    if (choose(&c, text))
      return 1;
  }
  given.sizes_n = bench_numbers("--sizes", given.sizes, 0, 1 << 30, SIZES, given.size, text);
  if (given.sizes_n < 0)
    return 1;
  given.places_n = bench_places(given.ranks, 1, given.place, text);
  return given.places_n < 0;
}

/* --- measuring ------------------------------------------------------------------------ */

typedef struct {
  bench_report *report;
  rgp_progress *progress;
  double deadline;
  int done, all;
} course;

/* A barrier has one size. */
static int sizes_of(rg_operation operation) {
  return operation == RG_OP_BARRIER ? 1 : given.sizes_n;
}

static int measure_sizes(course *k, bench_contest *contest) {
  int good = 1;
  for (int i = 0; i < sizes_of(contest->operation) && good; i++) {
    bench_plan plan = bench_plan_for(k->done++, k->all, WARMUP, k->deadline, k->progress);
    contest->bytes = contest->operation == RG_OP_BARRIER ? 0 : given.size[i];
    good = bench_contest_run(contest, &plan, k->report);
  }
  return good;
}

static int measure_place(course *k, int ranks) {
  char text[RGP_TEXT];
  bench_place place;
  int good = 1;
  if (bench_place_begin(&place, ranks))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  k->report->floor |= bench_contest_has_floor(&place, timing());
  for (int i = 0; i < given.operations_n && good; i++) {
    bench_contest c = {.place = &place,
                       .operation = given.operation[i],
                       .fresh = given.fresh,
                       .timing = timing(),
                       .verify = bench_given.verify};
    choose(&c, text);
    good = measure_sizes(k, &c);
  }
  bench_place_end(&place);
  return good;
}

static void tell_groups(bench_report *report, const char *what) {
  char where[64];
  bench_job_describe(report->ranks, where);
  snprintf(report->title, sizeof report->title, "%.60s%s", what, where);
  snprintf(report->note, sizeof report->note,
           "%s: between the groups; global: by both together; all others: by the initiators%s%s",
           bench_job_contender(), given.excluded[0] ? "\n" : "", given.excluded);
}

static void tell(bench_report *report) {
  report->x_name = report->x_key = "bytes";
  report->timing = bench_timing_name[timing()];
  report->predicts = !report->timing;
  if (report->timing)
    json_object_set_new(report->facts, "timing", json_string(report->timing));
  json_object_set_new(report->facts, "operation", json_string(given.operations));
  json_object_set_new(report->facts, "verified", json_boolean(bench_given.verify));
  if (bench_all.view.is_inter)
    tell_groups(report, given.operations_n == 1 ? given.operations : "Collectives");
  else if (given.operations_n == 1 && given.places_n == 1)
    snprintf(report->title, sizeof report->title, "%s on %d ranks", given.operations,
             given.place[0]);
  else
    snprintf(report->title, sizeof report->title, "Collectives on a job of %d ranks",
             report->ranks);
}

static int run(bench_report *report, rgp_progress *progress) {
  course k = {report, progress, rgp_now() + bench_given.time_limit, 0, 0};
  int good = 1;
  tell(report);
  for (int i = 0; i < given.operations_n; i++)
    k.all += sizes_of(given.operation[i]) * given.places_n;
  for (int i = 0; i < given.places_n && good; i++)
    good = measure_place(&k, given.place[i]);
  return good;
}

const bench_command bench_coll = {.name = "coll",
                                  .summary = "The collectives of groups against MPI's own, the "
                                             "model's prediction and the least possible.",
                                  .options = options,
                                  .pictured = 1,
                                  .between = 1,
                                  .check = check,
                                  .run = run};

/* --- the operations as commands ------------------------------------------------------- */

#define CHECK(operation)                                                                           \
  static int check_##operation(char text[RGP_TEXT]) {                                              \
    given.operations = #operation;                                                                 \
    return check(text);                                                                            \
  }
CHECK(barrier)
CHECK(bcast)
CHECK(reduce)
CHECK(allreduce)
CHECK(gather)
CHECK(scatter)
CHECK(allgather)
CHECK(alltoall)
CHECK(reduce_scatter)
CHECK(scan)
CHECK(exscan)

#define COMMAND(operation, text)                                                                   \
  {                                                                                                \
    .name = #operation, .summary = text, .options = common, .pictured = 1, .between = 1,           \
    .check = check_##operation, .run = run                                                         \
  }
const bench_command bench_fixed[BENCH_FIXED] = {
    COMMAND(barrier, "Barriers, as coll."),
    COMMAND(bcast, "Broadcasts, as coll."),
    COMMAND(reduce, "Sums to a root, as coll."),
    COMMAND(allreduce, "Sums to all, as coll."),
    COMMAND(gather, "Blocks to a root, as coll."),
    COMMAND(scatter, "Blocks from a root, as coll."),
    COMMAND(allgather, "Blocks to all, as coll."),
    COMMAND(alltoall, "Blocks from each to each, as coll."),
    COMMAND(reduce_scatter, "Sums whose blocks are dealt out, as coll."),
    COMMAND(scan, "Sums over all ranks up to each, as coll."),
    COMMAND(exscan, "Sums over all ranks before each, as coll.")};
