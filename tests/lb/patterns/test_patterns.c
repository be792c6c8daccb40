/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * sources: lb/patterns/pattern.c
 * Patterns of work: closed forms, exact totals, names. */
#include <regroup/error.h>
#include <stddef.h>

#include "lb/patterns/pattern.h"
#include "tests/check/check.h"

static rgi_pattern made(const char *name, int64_t groups, int64_t total) {
  rgi_pattern p = {0};
  RGT_OK(rgi_pattern_make(name, groups, 4, total, &p));
  int64_t sum = 0;
  for (int64_t j = 0; j < p.walkers; j++) {
    RGT_TRUE(p.units[j] >= 0);
    sum += p.units[j];
  }
  RGT_INT(sum, p.total);
  if (total)
    RGT_INT(p.total, total);
  return p;
}

static void test_published(void) {
  for (int groups = 1; groups < 30; groups++) {
    rgi_pattern p = made("published", groups, 0);
    RGT_INT(p.walkers, groups);
    for (int64_t j = 0; j < groups; j++)
      RGT_INT(p.units[j], j * 4 % 32 * 10);
    rgi_pattern_free(&p);
  }
  rgi_pattern p = made("published", 8, 1120);
  for (int64_t j = 0; j < 8; j++)
    RGT_INT(p.units[j], 40 * j);
  rgi_pattern_free(&p);
}

static void test_shapes(void) {
  rgi_pattern up = made("ascending", 8, 36), down = made("descending", 8, 36);
  rgi_pattern huge = made("huge", 8, 140), queue = made("queue", 8, 1000);
  for (int64_t j = 0; j < 8; j++) {
    RGT_INT(up.units[j], j + 1);
    RGT_INT(down.units[j], 8 - j);
    RGT_INT(huge.units[j], j == 4 ? 70 : 10);
  }
  RGT_INT(queue.walkers, 40);
  for (int64_t j = 1; j < 40; j++)
    RGT_TRUE(queue.units[j - 1] >= queue.units[j]);
  rgi_pattern_free(&up);
  rgi_pattern_free(&down);
  rgi_pattern_free(&huge);
  rgi_pattern_free(&queue);
}

static void test_seeds(void) {
  rgi_pattern a = made("random", 100, 0), b = made("random:1", 100, 0);
  rgi_pattern c = made("random:2", 100, 0), d = made("heavy-tail:7", 100, 14001);
  int64_t differ = 0, largest = 0;
  RGT_INT(a.total, 14000);
  for (int64_t j = 0; j < 100; j++) {
    RGT_INT(a.units[j], b.units[j]);
    differ += a.units[j] != c.units[j];
    largest = d.units[j] > largest ? d.units[j] : largest;
  }
  RGT_TRUE(differ > 90);
  RGT_TRUE(largest > 3 * 140);
  rgi_pattern_free(&a);
  rgi_pattern_free(&b);
  rgi_pattern_free(&c);
  rgi_pattern_free(&d);
}

static void test_wrong(void) {
  static const char *const names[] = {
      "", "publish", "huge:1", "random:", "random:x", "random:-1", "random:1 ", "published:1"};
  rgi_pattern p = {.walkers = 7};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    RGT_FAILS(rgi_pattern_make(names[i], 8, 4, 0, &p), RG_ERR_ARG);
  RGT_FAILS(rgi_pattern_make("huge", 0, 4, 0, &p), RG_ERR_ARG);
  RGT_FAILS(rgi_pattern_make("huge", 8, 0, 0, &p), RG_ERR_ARG);
  RGT_FAILS(rgi_pattern_make("huge", 8, 4, -1, &p), RG_ERR_ARG);
  RGT_INT(p.walkers, 7);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"published", test_published},
                                   {"shapes", test_shapes},
                                   {"seeds", test_seeds},
                                   {"wrong names", test_wrong},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "patterns", tests);
}
