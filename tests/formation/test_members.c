/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Members and the binomial tree: pure modules, against a plain list. */
#include <limits.h>
#include <regroup/error.h>
#include <stdlib.h>
#include <string.h>

#include "formation/binomial.h"
#include "formation/members.h"
#include "tests/check/check.h"

#define MOST 40

static int draw(int below) {
  return (int)(random() % below);
}

/* n distinct ranks below `below`, in random order. */
static void draw_list(int n, int below, int list[]) {
  int pool[4 * MOST];
  for (int i = 0; i < below; i++)
    pool[i] = i;
  for (int i = 0; i < n; i++) {
    int j = i + draw(below - i), t = pool[i];
    pool[i] = list[i] = pool[j];
    pool[j] = t;
  }
}

static int position(int n, const int list[], int rank) {
  for (int i = 0; i < n; i++)
    if (list[i] == rank)
      return i;
  return -1;
}

static void expect(const rgi_members *members, int n, const int list[], int below) {
  RGT_INT(rgi_members_count(members), n);
  RGT_TRUE(rgi_members_valid(members));
  for (int i = 0; i < n; i++)
    RGT_INT(rgi_members_at(members, i), list[i]);
  for (int rank = -1; rank <= below; rank++)
    RGT_INT(rgi_members_find(members, rank), position(n, list, rank));
}

static void test_range(void) {
  rgi_members *m;
  int first, stride, list[MOST];
  for (int n = 1; n <= 9; n++)
    for (int step = -3; step <= 3; step++) {
      if (step == 0)
        continue;
      for (int i = 0; i < n; i++)
        list[i] = 30 + i * step;
      RGT_OK(rgi_members_list("test", n, list, &m));
      RGT_TRUE(rgi_members_is_range(m, &first, &stride));
      RGT_INT(first, 30);
      RGT_INT(stride, n == 1 ? 1 : step);
      RGT_INT(rgi_members_packed(m), 3); /* no list of ranks */
      expect(m, n, list, 60);
      rgi_members_drop(m);
    }
}

static void test_huge_range(void) {
  rgi_members *m;
  RGT_OK(rgi_members_range(2000000000, 7, 1, &m));
  RGT_INT(rgi_members_packed(m), 3); /* no list of ranks */
  RGT_INT(rgi_members_at(m, 1999999999), 2000000006);
  RGT_INT(rgi_members_find(m, 2000000006), 1999999999);
  RGT_INT(rgi_members_find(m, 2000000007), -1);
  RGT_INT(rgi_members_find(m, 6), -1);
  rgi_members_drop(m);
}

static void test_lists(void) {
  rgi_members *m, *again;
  int list[MOST], packed[2 * MOST];
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 300; turn++) {
    int n = 1 + draw(MOST - 1), below = n + draw(MOST);
    draw_list(n, below, list);
    RGT_OK(rgi_members_list("test", n, list, &m));
    expect(m, n, list, below);
    RGT_TRUE(rgi_members_packed(m) <= 3 + n);
    rgi_members_pack(m, packed);
    RGT_OK(rgi_members_unpack("test", packed, &again));
    RGT_TRUE(rgi_members_equal(m, again));
    expect(again, n, list, below);
    rgi_members_drop(again);
    rgi_members_drop(m);
  }
}

static void test_twice(void) {
  rgi_members *m = NULL;
  RGT_FAILS(rgi_members_list("test", 3, (int[]){4, 2, 4}, &m), RG_ERR_RANK);
  RGT_FAILS(rgi_members_list("test", 2, (int[]){4, 4}, &m), RG_ERR_RANK);
  RGT_PTR_NULL(m);
}

static void test_pick(void) {
  rgi_members *m, *part;
  int list[MOST], at[MOST], want[MOST];
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 300; turn++) {
    int n = 2 + draw(MOST - 2), k = 1 + draw(n);
    draw_list(n, n + 5, list);
    for (int i = 0; i < n && turn % 2; i++)
      list[i] = 3 + 2 * i; /* a range as parent */
    draw_list(k, n, at);
    for (int i = 0; i < k; i++)
      want[i] = list[at[i]];
    RGT_OK(rgi_members_list("test", n, list, &m));
    RGT_OK(rgi_members_pick("test", m, k, at, &part));
    expect(part, k, want, 2 * MOST + 5);
    rgi_members_drop(part);
    at[0] = n;
    RGT_FAILS(rgi_members_pick("test", m, k, at, &part), RG_ERR_RANK);
    RGT_FAILS(rgi_members_pick("test", m, INT_MAX, NULL, &part), RG_ERR_RANK); /* is not read */
    at[0] = -1;
    RGT_FAILS(rgi_members_pick("test", m, k, at, &part), RG_ERR_RANK);
    rgi_members_drop(m);
  }
}

static void test_concat(void) {
  rgi_members *a, *b, *all;
  int list[MOST], first, stride;
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 300; turn++) {
    int n = 2 + draw(MOST - 2), cut = 1 + draw(n - 1);
    draw_list(n, n + 5, list);
    for (int i = 0; i < n && turn % 2; i++)
      list[i] = 3 + 2 * i;
    RGT_OK(rgi_members_list("test", cut, list, &a));
    RGT_OK(rgi_members_list("test", n - cut, list + cut, &b));
    RGT_OK(rgi_members_concat("test", a, b, &all));
    if (turn % 2)
      RGT_TRUE(rgi_members_is_range(all, &first, &stride));
    expect(all, n, list, 2 * MOST + 5);
    RGT_FAILS(rgi_members_concat("test", all, b, &all), RG_ERR_RANK);
    rgi_members_drop(a);
    rgi_members_drop(b);
    rgi_members_drop(all);
  }
}

static void test_share(void) {
  rgi_members *m;
  RGT_OK(rgi_members_list("test", 3, (int[]){5, 1, 2}, &m));
  RGT_TRUE(rgi_members_share(m) == m);
  rgi_members_drop(m);
  RGT_INT(rgi_members_at(m, 1), 1);
  rgi_members_drop(m);
  rgi_members_drop(NULL);
}

/* Every rank but the root is the child of its parent, exactly once; and subtrees
 * are runs of ranks. */
static void test_tree(void) {
  for (int size = 1; size <= 130; size++) {
    int seen[130] = {0}, child[RGI_BINOMIAL_CHILDREN];
    for (int rank = 0; rank < size; rank++) {
      int n = rgi_binomial_children(rank, size, child);
      for (int i = 0; i < n; i++) {
        seen[child[i]]++;
        RGT_INT(rgi_binomial_parent(child[i]), rank);
        RGT_INT(child[i] - rank, 1 << i);
      }
    }
    RGT_INT(seen[0], 0);
    RGT_INT(rgi_binomial_parent(0), -1);
    for (int rank = 1; rank < size; rank++)
      RGT_INT(seen[rank], 1);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"range", test_range}, {"huge range", test_huge_range},
                                   {"lists", test_lists}, {"twice", test_twice},
                                   {"pick", test_pick},   {"concat", test_concat},
                                   {"share", test_share}, {"tree", test_tree},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "members", tests);
}
