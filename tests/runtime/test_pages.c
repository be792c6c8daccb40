/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The table of pages against a plain array: random takes, gives, and memory. */
#include <stdlib.h>
#include <string.h>

#include "shm/pages.h"
#include "tests/check/check.h"

enum { PAGES = 700, HELD = 40, TURNS = 20000 };

static char taken[PAGES], backed[PAGES];

/* The first place that the rules name, or PAGES. */
static uint64_t expected(uint64_t n, uint64_t limit) {
  for (uint64_t at = 0; at + n <= limit; at++) {
    uint64_t k = 0;
    while (k < n && !taken[at + k])
      k++;
    if (k == n)
      return at;
  }
  return PAGES;
}

static void back_all(rgi_pages *pages, uint64_t first, uint64_t n) {
  for (uint64_t at = first, end = first + n; rgi_pages_bare(pages, &at, &end);
       at = end, end = first + n) {
    for (uint64_t i = at; i < end; i++)
      RGT_INT(backed[i], 0);
    rgi_pages_back(pages, at, end - at);
  }
  memset(backed + first, 1, n);
}

static int counts_are_right(const rgi_pages *pages) {
  uint64_t all = 0, spare = 0;
  for (int i = 0; i < PAGES; i++) {
    all += backed[i] != 0;
    spare += backed[i] && !taken[i];
  }
  return all == pages->backed && spare == pages->spare;
}

static void test_random(void) {
  struct {
    uint64_t first, n;
  } held[HELD] = {{0}};
  rgi_pages *p = calloc(1, rgi_pages_bytes(PAGES));
  p->count = PAGES;
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < TURNS; turn++) {
    int i = (int)(random() % HELD);
    uint64_t first = PAGES, n = held[i].n;
    if (n > 0) {
      rgi_pages_free(p, held[i].first, n);
      memset(taken + held[i].first, 0, n);
      if (random() % 3 == 0) {
        rgi_pages_unback(p, held[i].first, n);
        memset(backed + held[i].first, 0, n);
      }
      held[i].n = 0;
    } else {
      n = 1 + (uint64_t)random() % (random() % 4 ? 30 : 200);
      uint64_t limit = random() % 2 ? PAGES : PAGES - 20, want = expected(n, limit);
      RGT_INT(rgi_pages_alloc(p, n, (rgi_pages_range){0, limit}, &first), want < PAGES);
      if (want == PAGES)
        continue;
      RGT_INT(first, want);
      held[i].first = first;
      held[i].n = n;
      memset(taken + first, 1, n);
      back_all(p, first, n);
    }
    if (turn % 50 == 0)
      RGT_TRUE(counts_are_right(p));
  }
  free(p);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"random", test_random}, {NULL, NULL}};
  return rgt_main(argc, argv, "pages", tests);
}
