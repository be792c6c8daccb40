/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Recording and gathering a timeline; test_mcmc_output.py looks at pictures.
 * sources: lb/timeline/timeline.c lb/timeline/svg.c */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lb/timeline/svg.h"

static rgi_span work(int64_t key, int formation) {
  return (rgi_span){.kind = RGI_SPAN_WORK, .key = key, .size = 1, .formation = formation};
}

static void test_marks(void) {
  rgi_timeline t;
  rgi_timeline_start(&t, 1);
  rgi_timeline_mark(&t, 1, work(4, 1));
  rgi_timeline_mark(&t, 2, work(4, 1)); /* nothing new */
  rgi_timeline_mark(&t, 3, work(8, 1)); /* another walker */
  rgi_timeline_mark(&t, 4, work(8, 2)); /* another group */
  rgi_timeline_mark(&t, 5, (rgi_span){.kind = RGI_SPAN_IDLE, .formation = 2});
  rgi_timeline_end(&t, 6);
  RGT_INT(t.count, 4);
  for (int i = 0; i < t.count; i++) {
    RGT_DBL(t.spans[i].start, i ? i + 2 : 1, 0);
    RGT_DBL(t.spans[i].end, i + 3, 0);
  }
  rgi_timeline_free(&t);
  rgi_timeline_start(&t, 0);
  rgi_timeline_mark(&t, 1, work(4, 1));
  rgi_timeline_end(&t, 2);
  RGT_INT(t.count, 0);
  rgi_timeline_free(&t);
}

/* Rank r records 100 r spans that begin at 1000 r. */
static void test_gather(void) {
  rgi_timeline t;
  rgi_span *all, *next;
  int *counts;
  rgi_timeline_start(&t, 1);
  for (int i = 0; i < 100 * rgt_rank; i++)
    rgi_timeline_mark(&t, 1000 * rgt_rank + i, work(i, rgt_rank));
  rgi_timeline_end(&t, 1000 * rgt_rank + 100 * rgt_rank);
  RGT_TRUE(rgi_timeline_gather(&t, 1000 * rgt_rank, MPI_COMM_WORLD, &all, &counts));
  RGT_TRUE((all != NULL) == (rgt_rank == 0) && (counts != NULL) == (rgt_rank == 0));
  next = all;
  for (int r = 0; rgt_rank == 0 && r < rgt_size; r++) {
    RGT_INT(counts[r], 100 * r);
    for (int i = 0; i < counts[r]; i++, next++) {
      RGT_INT(next->key, i);
      RGT_INT(next->formation, r);
      RGT_DBL(next->start, i, 1e-9);
      RGT_DBL(next->end, i + 1, 1e-9);
    }
  }
  free(all);
  free(counts);
  rgi_timeline_free(&t);
}

static int occurrences(const char *text, const char *what) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, what)); at++)
    n++;
  return n;
}

/* Two ranks: one works for two walkers, then both for one; spans of the same kind
 * that follow each other at once are drawn as one. */
static void test_picture(void) {
  static const rgi_span spans[] = {
      {0, 1, 4, RGI_SPAN_WORK, 0, 1, 1},    {1, 2, 8, RGI_SPAN_WORK, 0, 1, 1},
      {2, 3, 0, RGI_SPAN_REGROUP, 0, 1, 1}, {3, 4, 8, RGI_SPAN_WORK, 0, 2, 2},
      {0, 3, 0, RGI_SPAN_IDLE, 1, 1, 1},    {3, 3.5, 8, RGI_SPAN_WORK, 0, 2, 2},
      {3.5, 4, 8, RGI_SPAN_WORK, 0, 2, 2}};
  static const int counts[] = {4, 3};
  rgi_picture p = {"a < b & c", "sub", 2, 4, 3};
  char *text = NULL;
  size_t length;
  FILE *f = open_memstream(&text, &length);
  RGT_TRUE(rgi_timeline_draw(f, &p, spans, counts));
  fclose(f);
  RGT_INT(occurrences(text, "a &lt; b &amp; c"), 2);
  RGT_INT(occurrences(text, "works for walker 4 "), 1);
  RGT_INT(occurrences(text, "works for walker 8 "), 3);
  RGT_INT(occurrences(text, "regroups in"), 1);
  RGT_INT(occurrences(text, "ideal 3.00 s"), 1);
  RGT_INT(occurrences(text, "</svg>"), 1);
  free(text);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"marks", test_marks}, {"gather", test_gather}, {"picture", test_picture}, {NULL, NULL}};
  return rgt_main(argc, argv, "timeline", tests);
}
