/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Layouts: evenly spaced runs that are added together are the same as runs that are added one after
 * the other, whatever was there before.
 * ranks: 1 */
#include "access/layout.h"

#include <string.h>

#include "base/mix.h"
#include "check.h"

enum { CASES = 2000, STEPS = 6 };

static uint64_t drawn;

static int64_t draw(int64_t n) {
  return (int64_t)(rgi_mix_bits(rgt_seed() + ++drawn) % (uint64_t)n);
}

static int is_same(const rgi_layout *a, const rgi_layout *b) {
  int same = a->size == b->size && a->runs == b->runs &&
             (a->size == 0 || (a->low == b->low && a->high == b->high));
  for (size_t i = 0; same && i < a->runs; i++)
    same = memcmp(&a->run[i], &b->run[i], sizeof *a->run) == 0;
  return same;
}

/* Often next to what is there, or as evenly spaced. */
static rgi_layout_run draw_runs(const rgi_layout *l) {
  rgi_layout_run r = {draw(40) - 20, draw(5), draw(6), draw(12) - 3};
  if (l->runs && draw(3)) {
    const rgi_layout_run *last = &l->run[l->runs - 1];
    r.offset = last->offset + last->n * last->stride;
    r.bytes = draw(2) ? last->bytes : r.bytes;
    r.stride = draw(2) ? last->stride : r.stride;
  }
  return r;
}

static void test_runs(void) {
  int wrong = 0;
  for (int i = 0; i < CASES; i++) {
    rgi_layout together = {0}, single = {0};
    for (int64_t step = draw(STEPS); step >= 0; step--) {
      rgi_layout_run r = draw_runs(&together);
      RGT_TRUE(rgi_layout_add_runs(&together, &r));
      for (int64_t k = 0; k < r.n; k++)
        RGT_TRUE(rgi_layout_add(&single, r.offset + k * r.stride, r.bytes));
    }
    wrong += !is_same(&together, &single);
    rgi_layout_free(&together);
    rgi_layout_free(&single);
  }
  RGT_INT(wrong, 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"runs", test_runs}, {NULL, NULL}};
  return rgt_main(argc, argv, "layout", tests);
}
