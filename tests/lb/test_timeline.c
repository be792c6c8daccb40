/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Recording, gathering and writing a timeline. */
#include <jansson.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static rg_group world;

static rg_span work(int64_t key, int group) {
  return (rg_span){.kind = RG_SPAN_WORK, .key = key, .size = 1, .group = group};
}

static void mark(rg_timeline t, double when, rg_span span) {
  RGT_OK(rg_timeline_mark_at(t, &span, when));
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
  static char text[100000];
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

/* The ranks of a span are the caller's: the highest may lie beyond 2^31. */
static void test_high_ranks(void) {
  char path[RGT_PATH];
  rg_timeline t;
  rg_group self;
  RGT_OK(rg_group_create_range(world, rgt_rank, rgt_rank, 1, 6, &self));
  RGT_OK(rg_timeline_create(&t));
  mark(t, 10, (rg_span){.kind = RG_SPAN_WORK, .first = INT32_MAX, .size = 3, .together = 1});
  RGT_OK(rg_timeline_end(t, 15));
  RGT_OK(rg_timeline_gather(t, self, 10, 0));
  rgt_temporary(path);
  close(mkstemp(path));
  RGT_OK(rg_timeline_write(t, path, RG_TIMELINE_SVG, NULL));
  RGT_INT(occurrences(contents(path), "in ranks 2147483647 to 2147483649,"), 1);
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
                                   {"high ranks", test_high_ranks},
                                   {"files", test_files},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "timeline", tests);
}
