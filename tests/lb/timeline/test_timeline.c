/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Recording, gathering and writing a timeline.
 * nodes: 2 4
 */
#include <jansson.h>
#include <math.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "shm/node.h"
#include "timeline/timeline_picture.h"

static rg_group world;

static rg_span work(int64_t key, int group) {
  return (rg_span){.kind = RG_SPAN_WORK, .key = key, .size = 1, .group = group};
}

static void mark(rg_timeline timeline, double when, rg_span span) {
  RGT_OK(rg_timeline_mark_at(timeline, &span, when));
}

static void test_marks(void) {
  rg_timeline t;
  int64_t count;
  const rg_span *spans;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_timeline_create(&t));
  mark(t, 1, work(4, 1));
  mark(t, 2, work(4, 1)); /* nothing new */
  mark(t, 3, work(8, 1)); /* another walker */
  mark(t, 4, work(8, 2)); /* another group */
  mark(t, 5, (rg_span){.kind = RG_SPAN_IDLE, .group = 2});
  mark(t, 9, (rg_span){.kind = RG_SPAN_WAIT, .group = 2}); /* after the end */
  RGT_OK(rg_timeline_end(t, 6));
  RGT_OK(rg_timeline_spans(t, &count, &spans, NULL));
  RGT_INT(count, 4);
  for (int i = 0; i < count; i++) {
    RGT_DBL(spans[i].start, i ? i + 2 : 1, 0);
    RGT_DBL(spans[i].end, i + 3, 0);
  }
  RGT_OK(rg_timeline_free(&t));
  RGT_PTR_NULL(t);
  RGT_OK(rg_timeline_mark(NULL, NULL)); /* recording nothing */
}

/* Rank r records 100 r spans that begin at 1000 r. */
static void test_gather(void) {
  rg_timeline t;
  int64_t count;
  const rg_span *next;
  const int64_t *counts;
  RGT_OK(rg_timeline_create(&t));
  for (int i = 0; i < 100 * rgt_rank; i++)
    mark(t, 1000 * rgt_rank + i, work(i, rgt_rank));
  RGT_OK(rg_timeline_end(t, 1000 * rgt_rank + 100 * rgt_rank));
  RGT_FAILS(rg_timeline_gather(t, world, 0, rgt_size), RG_ERR_RANK);
  RGT_OK(rg_timeline_gather(t, world, 1000 * rgt_rank, 0));
  RGT_OK(rg_timeline_spans(t, &count, &next, &counts));
  RGT_TRUE((counts != NULL) == (rgt_rank == 0));
  for (int r = 0; rgt_rank == 0 && r < rgt_size; r++) {
    RGT_INT(counts[r], 100 * r);
    for (int i = 0; i < counts[r]; i++, next++) {
      RGT_INT(next->key, i);
      RGT_INT(next->group, r);
      RGT_DBL(next->start, i, 1e-9);
      RGT_DBL(next->end, i + 1, 1e-9);
    }
  }
  RGT_OK(rg_timeline_free(&t));
}

static char *contents(const char *path) {
  static char text[400000];
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  text[n] = 0;
  if (f)
    fclose(f);
  return text;
}

static int occurrences(const char *text, const char *what) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, what)); at++)
    n++;
  return n;
}

static void check_picture(const char *path) {
  const char *text = contents(path);
  RGT_INT(occurrences(text, "a &lt; b &amp; \"c\""), 2);
  RGT_INT(occurrences(text, "works for walker 4 "), 1);
  RGT_INT(occurrences(text, "works for walker 8 "), 2);
  RGT_INT(occurrences(text, "regroups in"), 1);
  RGT_INT(occurrences(text, "waits in a group of 2 ranks"), 1);
  RGT_INT(occurrences(text, "ideal 3.00 s"), 1);
  RGT_INT(occurrences(text, "</svg>"), 1);
}

static void check_chrome(const char *path) {
  json_t *j = json_loads(contents(path), 0, NULL), *events = json_object_get(j, "traceEvents");
  RGT_STR(json_string_value(json_object_get(json_object_get(j, "otherData"), "title")),
          "a < b & \"c\"");
  RGT_INT(json_array_size(events), 1 + 6);
  json_t *first = json_array_get(events, 1);
  RGT_STR(json_string_value(json_object_get(first, "name")), "walker 4");
  RGT_DBL(json_number_value(json_object_get(first, "dur")), 1e6, 1e-3);
  json_decref(j);
}

static void check_json(const char *path) {
  json_t *j = json_loads(contents(path), 0, NULL);
  json_t *totals = json_array_get(json_object_get(j, "totals"), 0);
  RGT_INT(json_array_size(json_object_get(j, "spans")), 6);
  RGT_DBL(json_number_value(json_object_get(totals, "work")), 3, 1e-6);
  RGT_DBL(json_number_value(json_object_get(totals, "regroup")), 1, 1e-6);
  RGT_DBL(json_number_value(json_object_get(totals, "wait")), 0.5, 1e-6);
  RGT_DBL(json_number_value(json_object_get(totals, "idle")), 0.5, 1e-6);
  RGT_DBL(json_number_value(json_object_get(j, "seconds")), 5, 1e-6);
  json_decref(j);
}

/* --- several balancers ------------------------------------------------------------------------ */

static int unit(rg_walker *walker, rg_group g, void *context) {
  (void)context;
  ++*(int64_t *)walker->state;
  return rg_barrier(g);
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(3 - *(const int64_t *)walker->state);
}

/* A walker on all processes of g, and its spans on t. */
static void balance(rg_timeline t, rg_group g, int64_t id) {
  rg_balancer b;
  rg_walker_kind kind = {.size = sizeof kind, .bytes = sizeof(int64_t), .unit = unit, .left = left};
  rg_balance_options options = {.size = sizeof options, .timeline = t};
  rg_walker_new walker = {.size = sizeof walker, .id = id, .left = 3};
  RGT_OK(rg_balance_create(g, &kind, &options, &b));
  RGT_OK(rg_balance_add(b, &walker));
  RGT_OK(rg_balance_run(b));
  RGT_OK(rg_balance_free(&b));
}

/* The spans of work of a rank: for the walkers keys[0..n-1] one after the other, each in a group of
 * its own that has these first ranks and sizes. */
static void check_work(const rg_span *span, int64_t count, int n, const int64_t keys[],
                       const int first[], const int size[], const int together[]) {
  int found = -1;
  int64_t group = 0;
  for (int64_t i = 0; i < count; i++) {
    if (span[i].kind != RG_SPAN_WORK)
      continue;
    if (found < 0 || span[i].key != keys[found]) {
      found++;
      RGT_TRUE(found < n && span[i].group > group);
    }
    group = span[i].group;
    if (!RGT_TRUE(found < n))
      return;
    RGT_INT(span[i].key, keys[found]);
    RGT_INT(span[i].size, size[found]);
    RGT_INT(span[i].together, together[found]);
    if (together[found])
      RGT_INT(span[i].first, first[found]);
  }
  RGT_INT(found, n - 1);
}

/* Two balancers at the same time on the two halves, then two on all, the second in reverse order.
 */
static void test_balancers(void) {
  rg_timeline t;
  rg_group half, reverse;
  int64_t count;
  const rg_span *spans;
  const int64_t *counts;
  int middle = (rgt_size + 1) / 2, upper = rgt_rank >= middle, ranks[64];
  RGT_OK(rg_timeline_create(&t));
  RGT_OK(rg_group_create_range(world, upper ? middle : 0, (upper ? rgt_size : middle) - 1, 1, 3,
                               &half));
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = rgt_size - 1 - i;
  RGT_OK(rg_group_create(world, rgt_size, ranks, 4, &reverse));
  balance(t, half, 10 + upper);
  balance(t, world, 12);
  balance(t, reverse, 13);
  RGT_OK(rg_timeline_gather(t, world, RG_TIMELINE_CLOCK, 0));
  RGT_OK(rg_timeline_spans(t, &count, &spans, &counts));
  for (int r = 0; rgt_rank == 0 && r < rgt_size; spans += counts[r], r++) {
    int high = r >= middle;
    const int64_t keys[] = {10 + high, 12, 13};
    const int first[] = {high ? middle : 0, 0, 0};
    const int size[] = {high ? rgt_size - middle : middle, rgt_size, rgt_size};
    check_work(spans, counts[r], 3, keys, first, size, (int[]){1, 1, rgt_size == 1});
  }
  RGT_FAILS(rg_timeline_gather(t, world, RG_TIMELINE_CLOCK, 0), RG_ERR_ARG);
  RGT_OK(rg_group_free(&half));
  RGT_OK(rg_group_free(&reverse));
  RGT_OK(rg_timeline_free(&t));
}

/* --- the timeline's own clock ----------------------------------------------------------------- */

#define APART 1000.0 /* seconds between the clocks of two nodes */

static double clock_shift;

/* Takes the place of the C library's: the nodes, which are one machine, get clocks of their own. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t) {
  int error = (int)syscall(SYS_clock_gettime, clock, t);
  if (clock == CLOCK_MONOTONIC)
    t->tv_sec += (time_t)clock_shift;
  return error;
}

/* Ranks begin one after the other: their spans are in this order on one node, and near one another
 * on all. */
static void test_clock(void) {
  rg_timeline t;
  int64_t count;
  const rg_span *spans;
  const int64_t *counts;
  double before = 0;
  int node = rgi_node_of(rgt_rank), nodes[64];
  clock_shift = APART * node;
  RGT_OK(rg_timeline_create(&t));
  RGT_OK(rg_gather(world, &node, 1, MPI_INT, nodes, 1, MPI_INT, rgt_size - 1));
  for (int r = 0; r < rgt_size; r++) {
    rg_span span = work(r, 1);
    if (r == rgt_rank)
      RGT_OK(rg_timeline_mark(t, &span));
    RGT_OK(rg_barrier(world));
  }
  RGT_OK(rg_timeline_gather(t, world, RG_TIMELINE_CLOCK, rgt_size - 1));
  RGT_OK(rg_timeline_spans(t, &count, &spans, &counts));
  for (int r = 0, first = 0; rgt_rank == rgt_size - 1 && r < rgt_size; r++) {
    RGT_INT(counts[r], 1);
    RGT_TRUE(spans[r].start >= 0 && spans[r].start < APART / 2);
    first += spans[r].start == 0.0;
    RGT_TRUE(r == 0 || nodes[r] != nodes[r - 1] || spans[r].start >= before);
    before = spans[r].start;
    RGT_TRUE(r < rgt_size - 1 || first >= 1);
  }
  RGT_OK(rg_timeline_free(&t));
}

/* Two kinds of origin are a mistake on all, after which the spans are as they were. */
static void test_origins(void) {
  rg_timeline t;
  int64_t count;
  const rg_span *spans;
  RGT_OK(rg_timeline_create(&t));
  mark(t, 1, work(1, 1));
  if (rgt_size > 1) {
    double origin = rgt_rank == 1 ? 5 : RG_TIMELINE_CLOCK;
    RGT_FAILS(rg_timeline_gather(t, world, origin, 0), RG_ERR_ARG);
  }
  RGT_OK(rg_timeline_spans(t, &count, &spans, NULL));
  RGT_TRUE(count == 1 && spans->start == 1);
  RGT_OK(rg_timeline_gather(t, world, RG_TIMELINE_CLOCK, 0));
  RGT_OK(rg_timeline_free(&t));
}

/* --- names and colours --------------------------------------------------------------------- */

/* A gathered timeline with walkers 0 to n - 1, one after the other. */
static rg_timeline with_walkers(rg_group self, int n) {
  rg_timeline t;
  RGT_OK(rg_timeline_create(&t));
  for (int i = 0; i < n; i++)
    mark(t, i, work(i, 1));
  RGT_OK(rg_timeline_end(t, n));
  RGT_OK(rg_timeline_gather(t, self, 0, 0));
  return t;
}

static void test_names(void) {
  char path[RGT_PATH];
  rg_group self;
  static const char long_name[] = "a walker with a very long name \xc3\xa4\xc3\xb6\xc3\xbc";
  rg_timeline_walker own[] = {{.key = 2, .name = "cold & slow", .colour = "#12abEF"},
                              {.key = 1, .colour = "#000000"},
                              {.key = 0, .name = long_name},
                              {.key = 9, .name = "nowhere"}};
  rg_timeline_words words = {.size = sizeof words, .walkers = 4, .walker = own};
  RGT_OK(rg_group_create_range(world, rgt_rank, rgt_rank, 1, 6, &self));
  rg_timeline t = with_walkers(self, 4);
  rgt_temporary(path);
  close(mkstemp(path));
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_SVG, &words));
  const char *text = contents(path);
  RGT_INT(occurrences(text, "works for cold &amp; slow in"), 1);
  RGT_INT(occurrences(text, "fill='#12abEF'"), 2); /* the span and the legend */
  RGT_INT(occurrences(text, "works for walker 1 in"), 1);
  RGT_INT(occurrences(text, "fill='#000000'"), 2);
  RGT_INT(occurrences(text, long_name), 2); /* titles */
  RGT_INT(occurrences(text, "a walker with a very long nam\xe2\x80\xa6</text>"), 1);
  RGT_INT(occurrences(text, "nowhere"), 0);
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_CHROME, &words));
  RGT_INT(occurrences(contents(path), "\"name\": \"cold & slow\""), 1);
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_JSON, &words));
  json_t *j = json_loads(contents(path), 0, NULL), *names = json_object_get(j, "names");
  RGT_STR(json_string_value(json_object_get(names, "2")), "cold & slow");
  RGT_INT(json_object_size(names), 3);
  json_decref(j);
  own[1].key = 2;
  RGT_FAILS(rg_timeline_write(t, path, RG_TIMELINE_SVG, &words), RG_ERR_ARG);
  own[1] = (rg_timeline_walker){.key = 1, .colour = "#00'/><"};
  RGT_FAILS(rg_timeline_write(t, path, RG_TIMELINE_SVG, &words), RG_ERR_ARG);
  words.walker = NULL;
  RGT_FAILS(rg_timeline_write(t, path, RG_TIMELINE_SVG, &words), RG_ERR_ARG);
  remove(path);
  RGT_OK(rg_timeline_free(&t));
  RGT_OK(rg_group_free(&self));
}

/* How the legend fills the box of a walker: its colour and texture. */
/* Times that are none are refused. */
static void test_wrong_times(rg_timeline timeline) {
  rg_span span = {.kind = RG_SPAN_WORK, .size = 1};
  RGT_FAILS(rg_timeline_mark_at(timeline, &span, NAN), RG_ERR_ARG);
  RGT_FAILS(rg_timeline_mark_at(timeline, &span, INFINITY), RG_ERR_ARG);
  RGT_OK(rg_timeline_mark_at(timeline, &span, 1));
  RGT_FAILS(rg_timeline_end(timeline, NAN), RG_ERR_ARG);
  RGT_OK(rg_timeline_end(timeline, 2));
  RGT_FAILS(rg_timeline_gather(timeline, world, INFINITY, 0), RG_ERR_ARG);
  RGT_OK(rg_timeline_gather(timeline, world, 1, 0));
}

static void write_words(rg_timeline timeline, rg_timeline_words *words, char *text, size_t bytes) {
  char path[RGT_PATH];
  rgt_temporary(path);
  close(mkstemp(path));
  RGT_OK(rg_timeline_write(timeline, path, RG_TIMELINE_JSON, words));
  FILE *f = fopen(path, "r");
  text[f ? fread(text, 1, bytes - 1, f) : 0] = '\0';
  if (f)
    fclose(f);
  words->seconds = INFINITY;
  RGT_FAILS(rg_timeline_write(timeline, path, RG_TIMELINE_JSON, words), RG_ERR_ARG);
  words->seconds = 0;
  words->ideal = NAN;
  RGT_FAILS(rg_timeline_write(timeline, path, RG_TIMELINE_JSON, words), RG_ERR_ARG);
  remove(path);
}

/* Bytes that are no UTF-8 are replaced. */
#define WRONG "\xef\xbf\xbd"
static void test_wrong_bytes(void) {
  static const struct {
    const char *name, *written;
  } texts[] = {
      {"bad\xff\xc3", "\"bad" WRONG WRONG "\""},     {"\xed\xa0\x80", "\"" WRONG WRONG WRONG "\""},
      {"\xef\xbf\xbf", "\"" WRONG WRONG WRONG "\""}, {"\xf8\x88", "\"" WRONG WRONG "\""},
      {"\xc0\xaf", "\"" WRONG WRONG "\""},           {"\xe6\xbc\xa2", "\"\xe6\xbc\xa2\""}};
  rg_timeline t;
  char text[4096];
  RGT_OK(rg_timeline_create(&t));
  test_wrong_times(t);
  for (size_t i = 0; i < sizeof texts / sizeof *texts && rgt_rank == 0; i++) {
    rg_timeline_walker walker = {.name = texts[i].name};
    rg_timeline_words words = {.size = sizeof words, .walkers = 1, .walker = &walker};
    write_words(t, &words, text, sizeof text);
    RGT_TRUE(strstr(text, texts[i].written) != NULL);
  }
  RGT_OK(rg_timeline_free(&t));
}

static void fill_of(const char *text, int walker, char fill[32]) {
  char title[64];
  snprintf(title, sizeof title, "data-walker='w%d'><title>walker %d</title>", walker, walker);
  const char *at = strstr(text, title), *end = at ? strstr(at, "fill='none'") : NULL;
  int colour = 0;
  RGT_TRUE(at && end);
  fill[0] = 0;
  for (at = at ? strstr(at, "fill='") : NULL; at && at < end; at = strstr(at + 1, "fill='"))
    colour += sprintf(fill + colour, "%.*s", (int)strcspn(at + 6, "'"), at + 6);
}

/* 100 walkers have a name in the legend, and look different. */
static void test_legend(void) {
  enum { MANY = 100, MORE = 200 };
  static char fill[MANY][32];
  char path[RGT_PATH];
  rg_group self;
  int alike = 0;
  RGT_OK(rg_group_create_range(world, rgt_rank, rgt_rank, 1, 6, &self));
  rg_timeline t = with_walkers(self, MANY), u = with_walkers(self, MORE);
  rgt_temporary(path);
  close(mkstemp(path));
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_SVG, NULL));
  const char *text = contents(path);
  RGT_INT(occurrences(text, "data-walker='w"), MANY);
  RGT_INT(occurrences(text, "more walkers"), 0);
  for (int i = 0; i < MANY; i++) {
    fill_of(text, i, fill[i]);
    for (int k = 0; k < i; k++)
      alike += strcmp(fill[i], fill[k]) == 0;
  }
  RGT_INT(alike, 0);
  RGT_OK(rg_timeline_write(u, path, RG_TIMELINE_SVG, NULL));
  RGT_INT(occurrences(contents(path), "and 72 more walkers"), 1);
  remove(path);
  RGT_OK(rg_timeline_free(&t));
  RGT_OK(rg_timeline_free(&u));
  RGT_OK(rg_group_free(&self));
}

static int count_written(rg_timeline t, const char *path, rg_timeline_format format,
                         const rg_timeline_words *words, const char *what) {
  RGT_OK(rg_timeline_write(t, path, format, words));
  return occurrences(contents(path), what);
}

/* Ranks 0 and 2 are a group, all others alone; the last rank dies. */
static void test_frames(void) {
  int apart = rgt_size > 2, is_member = apart && rgt_rank % 2 == 0 && rgt_rank < 3;
  rg_timeline_death death = {.rank = rgt_size - 1, .when = 1};
  rg_timeline_words words = {.size = sizeof words}, dead = words;
  char path[RGT_PATH];
  rg_timeline t;
  dead.deaths = 1;
  dead.death = &death;
  RGT_OK(rg_timeline_create(&t));
  mark(t, 10,
       (rg_span){.kind = RG_SPAN_WORK,
                 .first = is_member ? 0 : rgt_rank,
                 .size = 1 + is_member,
                 .together = !is_member});
  RGT_OK(rg_timeline_end(t, 12));
  RGT_OK(rg_timeline_gather(t, world, 10, 0));
  rgt_temporary(path);
  close(mkstemp(path));
  if (rgt_rank == 0) {
    RGT_INT(count_written(t, path, RG_TIMELINE_SVG, &words, RGI_TIMELINE_APART), apart * 3);
    RGT_INT(count_written(t, path, RG_TIMELINE_SVG, &words, ">ranks of one group<"), apart);
    RGT_INT(count_written(t, path, RG_TIMELINE_SVG, &words, ">dead<"), 0);
    RGT_INT(count_written(t, path, RG_TIMELINE_SVG, &words, "ranks</text>"), 2 * apart);
    RGT_INT(count_written(t, path, RG_TIMELINE_SVG, &dead, ">dead<"), 1);
    RGT_INT(count_written(t, path, RG_TIMELINE_HTML, &dead, ">dead<"), 1);
    /* On a telephone: as wide as that, and two fingers zoom. */
    RGT_INT(count_written(t, path, RG_TIMELINE_HTML, &dead, "content='width=device-width"), 1);
    RGT_INT(occurrences(contents(path), "{margin:0 auto;max-width:"), 1);
    RGT_INT(occurrences(contents(path), "touch-action:none"), 1);
    RGT_TRUE(occurrences(contents(path), "'pointerdown'") > 0);
  }
  remove(path);
  RGT_OK(rg_timeline_free(&t));
}

/* The ranks of a span are the caller's: they may lie beyond 2^31. */
static void test_high_ranks(void) {
  char path[RGT_PATH];
  rg_timeline t;
  rg_group self;
  RGT_OK(rg_group_create_range(world, rgt_rank, rgt_rank, 1, 6, &self));
  RGT_OK(rg_timeline_create(&t));
  mark(t, 10, (rg_span){.kind = RG_SPAN_WORK, .first = INT32_MAX, .size = 3, .together = 1});
  mark(t, 12, (rg_span){.kind = RG_SPAN_WORK, .size = INT32_MAX, .together = 1, .group = 1});
  RGT_OK(rg_timeline_end(t, 15));
  RGT_OK(rg_timeline_gather(t, self, 10, 0));
  rgt_temporary(path);
  close(mkstemp(path));
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_SVG, NULL));
  RGT_INT(occurrences(contents(path), "in a group of 3 ranks,"), 1);
  RGT_INT(occurrences(contents(path), "in a group of 2147483647 ranks,"), 1);
  remove(path);
  RGT_OK(rg_timeline_free(&t));
  RGT_OK(rg_group_free(&self));
}

static void test_files(void) {
  char path[RGT_PATH];
  rg_timeline t;
  rg_group self;
  rg_timeline_words words = {
      .size = sizeof words, .title = "a < b & \"c\"", .subtitle = "sub", .ideal = 3};
  RGT_OK(rg_group_create_range(world, rgt_rank, rgt_rank, 1, 5, &self));
  RGT_OK(rg_timeline_create(&t));
  mark(t, 10, work(4, 1));
  mark(t, 11, work(8, 1));
  mark(t, 12, (rg_span){.kind = RG_SPAN_REGROUP, .size = 1, .group = 1, .together = 1});
  mark(t, 13, work(8, 2));
  mark(t, 14, (rg_span){.kind = RG_SPAN_WAIT, .size = 2, .group = 2});
  mark(t, 14.5, (rg_span){.kind = RG_SPAN_IDLE, .size = 2, .group = 2});
  RGT_OK(rg_timeline_end(t, 15));
  RGT_FAILS(rg_timeline_write(t, path, RG_TIMELINE_SVG, &words), RG_ERR_ARG);
  RGT_OK(rg_timeline_gather(t, self, 10, 0));
  rgt_temporary(path);
  close(mkstemp(path));
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_SVG, &words));
  check_picture(path);
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_CHROME, &words));
  check_chrome(path);
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_JSON, NULL));
  check_json(path);
  RGT_FAILS(rg_timeline_write(t, path, (rg_timeline_format)7, &words), RG_ERR_ARG);
  words.deaths = 1;
  RGT_FAILS(rg_timeline_write(t, path, RG_TIMELINE_SVG, &words), RG_ERR_ARG);
  words.death = &(rg_timeline_death){.rank = 1, .when = 1};
  RGT_FAILS(rg_timeline_write(t, path, RG_TIMELINE_SVG, &words), RG_ERR_RANK);
  words.deaths = 0;
  RGT_FAILS(rg_timeline_write(t, "/nonexistent/x", RG_TIMELINE_SVG, NULL), RG_ERR_FILE);
  remove(path);
  RGT_OK(rg_timeline_free(&t));
  RGT_OK(rg_group_free(&self));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"marks", test_marks},
                                   {"gather", test_gather},
                                   {"balancers", test_balancers},
                                   {"origins", test_origins},
                                   {"wrong bytes", test_wrong_bytes},
                                   {"names", test_names},
                                   {"legend", test_legend},
                                   {"frames", test_frames},
                                   {"clock", test_clock},
                                   {"high ranks", test_high_ranks},
                                   {"files", test_files},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "timeline", tests);
}
