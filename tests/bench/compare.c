/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench compare: what has become faster or slower from one file of results to
 * another. Measures nothing. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "settings.h"
#include "verdict.h"

static struct {
  double threshold; /* per cent */
  int fail_slower;
} given = {.threshold = 5};

static const struct poptOption options[] = {{"threshold", 0, POPT_ARG_DOUBLE, &given.threshold, 0,
                                             "Medians that differ by less are the same (5)",
                                             "PERCENT"},
                                            {"fail-slower", 0, POPT_ARG_NONE, &given.fail_slower, 0,
                                             "Exit status 1 if a row is slower", NULL},
                                            POPT_TABLEEND};

/* A row that both files have. */
typedef struct {
  char *name;
  bench_time a, b;
  bench_verdict verdict;
} pair;

typedef struct {
  char path[200]; /* the words of the command line do not last */
  json_t *json;
  json_t *rows;
  size_t n;
  char **name; /* of each row */
} file;

/* Stays until the program ends. */
static struct {
  file a, b;
  int n, lone_a, lone_b; /* pairs, and rows that one file alone has */
  int count[BENCH_VERDICTS];
  pair *pair;
} found;

/* --- reading ------------------------------------------------------------------------------ */

/* What tells a row from others, in words: "allreduce auto ranks=4 bytes=8", and "allreduce auto
 * each ..." where its calls are timed in another way. The file says it where all rows are alike. To
 * be freed. */
static char *name_of(const json_t *all, const json_t *row) {
  static const char *const words[] = {"operation", "contender", "inter", "timing"};
  static const char *const numbers[] = {"initiators", "responders", "ranks",
                                        "size",       "processes",  "bytes"};
  enum { WORDS = sizeof words / sizeof *words, NUMBERS = sizeof numbers / sizeof *numbers };
  char text[512] = "";
  size_t used = 0;
  for (int i = 0; i < WORDS; i++) {
    const json_t *o = json_object_get(row, words[i]);
    const char *word = json_string_value(o ? o : json_object_get(all, words[i]));
    if (word)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%.100s", used ? " " : "", word);
  }
  for (int i = 0; i < NUMBERS; i++) {
    const json_t *o = json_object_get(row, numbers[i]);
    if (!o)
      o = json_object_get(all, numbers[i]);
    if (json_is_integer(o))
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%lld", used ? " " : "",
                               numbers[i], (long long)json_integer_value(o));
  }
  return strdup(text);
}

/* Returns 1 if the row has a median with an interval around it. */
static int time_of(const json_t *row, bench_time *time) {
  time->median = json_number_value(json_object_get(row, "median"));
  time->low = json_number_value(json_object_get(row, "low"));
  time->high = json_number_value(json_object_get(row, "high"));
  return time->low > 0 && time->low <= time->median && time->median <= time->high &&
         isfinite(time->high);
}

/* The row of this name; NULL: there is none. */
static const json_t *row_named(const file *f, const char *name) {
  for (size_t i = 0; i < f->n; i++)
    if (strcmp(f->name[i], name) == 0)
      return json_array_get(f->rows, i);
  return NULL;
}

static int load(const char *path, file *f, char text[RGP_TEXT]) {
  snprintf(f->path, sizeof f->path, "%s", path);
  f->json = rgp_read_json(path, text);
  if (!f->json)
    return 1;
  f->rows = json_object_get(f->json, "results");
  if (!json_is_array(f->rows))
    return snprintf(text, RGP_TEXT, "%.200s: no results of regroup-bench", path);
  f->name = calloc(json_array_size(f->rows) + 1, sizeof *f->name);
  for (size_t i = 0; f->name && i < json_array_size(f->rows); i++) {
    char *name = f->name[i] = name_of(f->json, json_array_get(f->rows, i));
    if (!name)
      break;
    if (row_named(f, name))
      return snprintf(text, RGP_TEXT, "%.200s: more than one row %.200s", path, name);
    f->n++;
  }
  return f->n < json_array_size(f->rows) ? snprintf(text, RGP_TEXT, "no memory for %.200s", path)
                                         : 0;
}

/* --- judging ------------------------------------------------------------------------------- */

static int judge(const json_t *row, const json_t *other, char *name, char text[RGP_TEXT]) {
  pair p = {.name = name};
  int good = time_of(row, &p.a);
  if (!good || !time_of(other, &p.b))
    return snprintf(text, RGP_TEXT, "%.150s: row %.150s has no median within its interval",
                    good ? found.b.path : found.a.path, name);
  p.verdict = bench_judge(&p.a, &p.b, given.threshold / 100);
  found.count[p.verdict]++;
  found.pair[found.n++] = p;
  return 0;
}

/* Each row of the first file with that of the second. */
static int judge_all(char text[RGP_TEXT]) {
  found.pair = calloc(found.a.n + 1, sizeof *found.pair);
  if (!found.pair)
    return snprintf(text, RGP_TEXT, "no memory for %zu rows", found.a.n);
  for (size_t i = 0; i < found.a.n; i++) {
    const json_t *other = row_named(&found.b, found.a.name[i]);
    if (other && judge(json_array_get(found.a.rows, i), other, found.a.name[i], text))
      return 1;
    found.lone_a += !other;
  }
  found.lone_b = (int)found.b.n - found.n;
  if (!found.n)
    return snprintf(text, RGP_TEXT, "%.200s and %.200s have no row in common", found.a.path,
                    found.b.path);
  return 0;
}

static int read_both(const char *const words[], char text[RGP_TEXT]) {
  if (!(given.threshold >= 0 && given.threshold <= 1e6))
    return snprintf(text, RGP_TEXT, "--threshold: %g is not from 0 to 1e6 per cent",
                    given.threshold);
  if (!words[0] || !words[1] || words[2])
    return snprintf(text, RGP_TEXT, "two files of results are needed: compare a.json b.json");
  return load(words[0], &found.a, text) || load(words[1], &found.b, text) || judge_all(text);
}

/* --- telling ---------------------------------------------------------------------------------- */

static void print(const bench_report *report) {
  int width = 20;
  for (int i = 0; i < found.n; i++)
    width = (int)strlen(found.pair[i].name) > width ? (int)strlen(found.pair[i].name) : width;
  printf("%s; medians in us\n\n%-*s %11s %11s %8s  verdict\n", report->title, width, "", "before",
         "now", "now / b.");
  for (int i = 0; i < found.n; i++) {
    const pair *p = &found.pair[i];
    printf("%-*s %11.4g %11.4g %8.3f  %s\n", width, p->name, 1e6 * p->a.median, 1e6 * p->b.median,
           p->b.median / p->a.median, bench_verdict_name[p->verdict]);
  }
  printf("\n%d slower, %d faster, %d the same", found.count[BENCH_SLOWER],
         found.count[BENCH_FASTER], found.count[BENCH_SAME]);
  if (found.lone_a || found.lone_b)
    printf("; %d only before, %d only now", found.lone_a, found.lone_b);
  printf("\n%s\n", report->note);
}

static void tell(json_t *facts) {
  json_t *rows = json_array();
  for (int i = 0; i < found.n; i++) {
    const pair *p = &found.pair[i];
    json_array_append_new(rows, json_pack("{ss sf sf sf ss}", "row", p->name, "before", p->a.median,
                                          "now", p->b.median, "ratio", p->b.median / p->a.median,
                                          "verdict", bench_verdict_name[p->verdict]));
  }
  json_t *all = json_pack("{sf si si si si si so}", "threshold", given.threshold, "slower",
                          found.count[BENCH_SLOWER], "faster", found.count[BENCH_FASTER], "same",
                          found.count[BENCH_SAME], "only_before", found.lone_a, "only_now",
                          found.lone_b, "rows", rows);
  json_object_update(facts, all);
  json_decref(all);
}

static int run(bench_report *report, rgp_progress *progress) {
  (void)progress;
  snprintf(report->title, sizeof report->title, "%.50s (before) and %.50s (now)", found.a.path,
           found.b.path);
  snprintf(report->note, sizeof report->note,
           "Another verdict than same: the 95 %% intervals do not overlap, and the medians differ "
           "by more than %g %%.",
           given.threshold);
  report->print = print;
  report->failed = given.fail_slower && found.count[BENCH_SLOWER] > 0;
  tell(report->facts);
  return 1;
}

const bench_command bench_compare = {
    .name = "compare",
    .summary = "What became faster or slower between two JSON files, beyond the noise.",
    .options = options,
    .reads = 1,
    .arguments = "[OPTION...] BEFORE.json NOW.json",
    .read = read_both,
    .run = run};
