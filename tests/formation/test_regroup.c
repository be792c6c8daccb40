/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * env: RG_TIMEOUT=60
 * ranks: 1 2 3 4 7 16
 * Merging, splitting and reassigning groups. */
#include "comm_cases.h"
#include "tests/check/world.h"

static void expect_members(rg_group g, int n, const int ranks[]) {
  int size = -1, rank = -2, members[RANKS_MOST];
  RGT_OK(rg_group_size(g, &size));
  RGT_INT(size, n);
  RGT_OK(rg_group_rank(g, &rank));
  RGT_INT(rank, place_of(n, ranks, rgt_rank));
  if (size != n)
    return;
  RGT_OK(rg_group_members(g, members));
  for (int i = 0; i < n; i++)
    RGT_INT(members[i], ranks[i]);
}

/* The members of a group can communicate through its MPI view. */
static void expect_talk(rg_group g, int n, const int ranks[]) {
  MPI_Comm comm;
  if (RGT_OK(rg_group_comm(g, &comm)))
    expect_comm(comm, n, ranks);
}

/* The world as a drawn order, cut in two: ranks[0..cut-1] and the rest. */
static int draw_cut(int ranks[]) {
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  for (int i = 0; i < rgt_size; i++) {
    int j = i + (int)(random() % (rgt_size - i)), t = ranks[i];
    ranks[i] = ranks[j];
    ranks[j] = t;
  }
  return 1 + (int)(random() % (rgt_size - 1));
}

static void test_merge(void) {
  int ranks[RANKS_MOST];
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 20 && rgt_size > 1; turn++) {
    int cut = draw_cut(ranks), first = place_of(rgt_size, ranks, rgt_rank) < cut;
    rg_group mine, merged = NULL;
    RGT_OK(first ? rg_group_create(world, cut, ranks, 1, &mine)
                 : rg_group_create(world, rgt_size - cut, ranks + cut, 1, &mine));
    RGT_OK(rg_group_merge(mine, world, ranks[first ? cut : 0], !first, turn, &merged));
    if (merged)
      expect_members(merged, rgt_size, ranks);
    if (merged && turn < 3)
      expect_talk(merged, rgt_size, ranks);
    rg_group_free(&merged);
    rg_group_free(&mine);
  }
}

/* Each alone at first, then by pairs, by fours, ...: the recursion by hand. Not
 * every process takes part in each round. */
static void test_merge_up(void) {
  int ranks[RANKS_MOST];
  rg_group mine;
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  RGT_OK(rg_group_create(world, 1, &rgt_rank, 1, &mine));
  for (int size = 1; size < rgt_size; size *= 2) {
    int odd = rgt_rank / size % 2, start = rgt_rank / size * size;
    int other = odd ? start - size : start + size;
    rg_group merged = NULL;
    if (other >= rgt_size)
      continue;
    RGT_OK(rg_group_merge(mine, world, other, odd, size, &merged));
    rg_group_free(&mine);
    mine = merged;
  }
  expect_members(mine, rgt_size, ranks);
  expect_talk(mine, rgt_size, ranks);
  rg_group_free(&mine);
}

static void test_split(void) {
  srandom((unsigned)rgt_seed() + 1);
  for (int turn = 0; turn < 20; turn++) {
    int color[RANKS_MOST], key[RANKS_MOST], want[RANKS_MOST], n = 0;
    rg_group part = NULL;
    for (int i = 0; i < rgt_size; i++) {
      color[i] = (int)(random() % 4);
      if (color[i] == 3)
        color[i] = RG_UNDEFINED;
      key[i] = (int)(random() % 3) - 1;
    }
    for (int k = -1; k <= 1; k++) /* stable by key */
      for (int i = 0; i < rgt_size; i++)
        if (color[i] == color[rgt_rank] && key[i] == k)
          want[n++] = i;
    RGT_OK(rg_group_split(world, color[rgt_rank], key[rgt_rank], &part));
    RGT_TRUE((part == NULL) == (color[rgt_rank] == RG_UNDEFINED));
    if (part)
      expect_members(part, n, want);
    if (part && turn < 3)
      expect_talk(part, n, want);
    rg_group_free(&part);
  }
}

static void test_split_error(void) {
  rg_group part = world;
  int bad = rgt_rank == rgt_size - 1 ? -7 : 0; /* one rank's mistake is an error on all */
  RGT_FAILS(rg_group_split(world, bad, 0, &part), RG_ERR_ARG);
  RGT_TRUE(part == world);
}

/* What a group looks like afterwards: stayers, then comers. */
static int after(int n, const int home[], int k, const int leaving[], const int away[], int m,
                 const int coming[], int out[]) {
  int count = 0;
  for (int i = 0; i < n; i++)
    if (place_of(k, leaving, i) < 0)
      out[count++] = home[i];
  for (int i = 0; i < m; i++)
    out[count++] = away[coming[i]];
  return count;
}

/* Drawn ranks of 0 .. n-1. */
static int draw_leavers(int n, int out[]) {
  int count = 0;
  for (int i = n - 1; i >= 0; i--)
    if (random() % 2)
      out[count++] = i;
  return count;
}

static void test_reassign(void) {
  int ranks[RANKS_MOST], leave_a[RANKS_MOST], leave_b[RANKS_MOST], want[RANKS_MOST];
  srandom((unsigned)rgt_seed() + 2);
  for (int turn = 0; turn < 30 && rgt_size > 1; turn++) {
    int cut = draw_cut(ranks), at = place_of(rgt_size, ranks, rgt_rank), in_a = at < cut, n;
    const int *a = ranks, *b = ranks + cut;
    int size_a = cut, size_b = rgt_size - cut;
    int k = draw_leavers(size_a, leave_a), m = turn % 3 ? draw_leavers(size_b, leave_b) : 0;
    rg_group mine, now = NULL;
    RGT_OK(rg_group_create(world, in_a ? size_a : size_b, in_a ? a : b, 1, &mine));
    RGT_OK(rg_group_reassign(mine, world, in_a ? b[0] : a[0], in_a ? k : m,
                             in_a ? leave_a : leave_b, turn, &now));
    int leaves = in_a ? place_of(k, leave_a, at) >= 0 : place_of(m, leave_b, at - cut) >= 0;
    if (in_a != leaves)
      n = after(size_a, a, k, leave_a, b, m, leave_b, want);
    else
      n = after(size_b, b, m, leave_b, a, k, leave_a, want);
    if (now)
      expect_members(now, n, want);
    if (now && turn < 3)
      expect_talk(now, n, want);
    rg_group_free(&now);
    rg_group_free(&mine);
  }
}

/* Errors are the same on all members of both groups, and nothing is lost. */
static void halves(rg_group *mine, int *other, int *high) {
  int half = rgt_size / 2;
  *high = rgt_rank >= half;
  *other = *high ? 0 : half;
  RGT_OK(*high ? rg_group_create_range(world, half, rgt_size - 1, 1, 3, mine)
               : rg_group_create_range(world, 0, half - 1, 1, 3, mine));
}

static void test_merge_errors(void) {
  rg_group mine, merged = NULL;
  int other, high, leavers[] = {0, 0}, none = -1;
  if (rgt_size < 2)
    return;
  halves(&mine, &other, &high);
  RGT_FAILS(rg_group_merge(mine, world, other, 0, 5, &merged), RG_ERR_MISMATCH); /* both low */
  RGT_FAILS(rg_group_merge(mine, world, other, 2 + high, 5, &merged), RG_ERR_ARG);
  RGT_FAILS(rg_group_merge(mine, world, other, high ? 7 : 0, 5, &merged), RG_ERR_ARG);
  RGT_FAILS(rg_group_merge(mine, world, rgt_size, high, 5, &merged), RG_ERR_RANK);
  RGT_FAILS(rg_group_merge(mine, world, other, high, -5, &merged), RG_ERR_TAG);
  RGT_FAILS(rg_group_merge(mine, world, high ? rgt_size / 2 : 0, high, 5, &merged), RG_ERR_RANK);
  RGT_FAILS(high ? rg_group_merge(mine, world, other, 1, 5, &merged)
                 : rg_group_reassign(mine, world, other, 0, NULL, 5, &merged),
            RG_ERR_MISMATCH);
  RGT_FAILS(rg_group_reassign(mine, world, other, high ? 2 : 0, leavers, 5, &merged), RG_ERR_RANK);
  RGT_FAILS(rg_group_reassign(mine, world, other, high ? 1 : 0, &none, 5, &merged), RG_ERR_RANK);
  RGT_FAILS(rg_group_reassign(mine, world, other, -1, NULL, 5, &merged), RG_ERR_ARG);
  RGT_PTR_NULL(merged);
  RGT_OK(rg_group_merge(mine, world, other, high, 5, &merged)); /* all still works */
  rg_group_free(&merged);
  rg_group_free(&mine);
}

/* One member's call, which differs from the others' or is wrong: all members of both groups get an
 * error, and go on. */
typedef enum {
  TAG_WRONG,
  TAG_OTHER,
  OUTPUT_NULL,
  HIGH_WRONG,
  HIGH_OTHER,
  CALL_OTHER,
  LIST_WRONG,
  LIST_OTHER,
  LIST_NULL,
  CALL_SPLIT,
  KINDS
} wrong_kind;

static int call_rightly(wrong_kind kind, rg_group mine, int other, int high, rg_group *g) {
  return kind == LIST_WRONG || kind == LIST_OTHER || kind == LIST_NULL
             ? rg_group_reassign(mine, world, other, 0, NULL, 7, g)
             : rg_group_merge(mine, world, other, high, 8, g);
}

static int call_wrongly(wrong_kind kind, rg_group mine, int other, int high, rg_group *g) {
  int wrong = 99, first = 0;
  switch (kind) {
  case TAG_WRONG:
    return rg_group_merge(mine, world, other, high, -1, g);
  case TAG_OTHER:
    return rg_group_merge(mine, world, other, high, 9, g);
  case OUTPUT_NULL:
    return rg_group_merge(mine, world, other, high, 8, NULL);
  case HIGH_WRONG:
    return rg_group_merge(mine, world, other, (1 << 28) - 1, 8, g);
  case HIGH_OTHER:
    return rg_group_merge(mine, world, other, !high, 8, g);
  case CALL_OTHER:
    return rg_group_reassign(mine, world, other, 0, NULL, 8, g);
  case LIST_WRONG:
    return rg_group_reassign(mine, world, other, 1, &wrong, 7, g);
  case LIST_OTHER:
    return rg_group_reassign(mine, world, other, 1, &first, 7, g);
  case LIST_NULL:
    return rg_group_reassign(mine, world, other, 0, NULL, 7, NULL);
  default:
    return rg_group_split(mine, 0, 0, g);
  }
}

static void expect_error_on_all(wrong_kind kind, int who) {
  static const int expected[KINDS] = {
      RG_ERR_TAG,      RG_ERR_MISMATCH, RG_ERR_ARG,      RG_ERR_ARG, RG_ERR_MISMATCH,
      RG_ERR_MISMATCH, RG_ERR_RANK,     RG_ERR_MISMATCH, RG_ERR_ARG, RG_ERR_MISMATCH};
  rg_group mine, g = NULL;
  int other, high;
  halves(&mine, &other, &high);
  RGT_FAILS((rgt_rank == who ? call_wrongly : call_rightly)(kind, mine, other, high, &g),
            expected[kind]);
  RGT_PTR_NULL(g);
  RGT_OK(call_rightly(kind, mine, other, high, &g));
  RGT_OK(rg_barrier(g));
  rg_group_free(&g);
  rg_group_free(&mine);
}

/* Leaders that do not find each other wait: one that splits its group, and where threads may lead
 * at the same time, one with another tag. */
static int is_found(wrong_kind kind, int who) {
  int half = rgt_size / 2, leads = who == 0 || who == half, level,
      alone = who < half ? half == 1 : rgt_size - half == 1;
  MPI_Query_thread(&level);
  if (leads && (kind == CALL_SPLIT || (kind == TAG_OTHER && level == MPI_THREAD_MULTIPLE)))
    return 0;
  return kind != LIST_OTHER || !alone;
}

static void test_one_wrong(void) {
  if (rgt_size < 2)
    return;
  for (int kind = 0; kind < KINDS; kind++)
    for (int who = 0; who < rgt_size; who++)
      if (is_found((wrong_kind)kind, who))
        expect_error_on_all((wrong_kind)kind, who);
}

static void test_split_null(void) {
  for (int who = 0; who < rgt_size; who++) {
    rg_group part = NULL;
    RGT_FAILS(rg_group_split(world, 0, 0, rgt_rank == who ? NULL : &part), RG_ERR_ARG);
    RGT_PTR_NULL(part);
  }
}

/* The handshake detects that the two groups overlap. */
static void test_merge_overlap(void) {
  rg_group mine = NULL, merged = NULL;
  int list[] = {2, 1};
  if (rgt_size < 3 || rgt_rank > 2)
    return;
  if (rgt_rank < 2)
    RGT_OK(rg_group_create_range(world, 0, 1, 1, 4, &mine));
  else
    RGT_OK(rg_group_create(world, 2, list, 4, &mine));
  if (rgt_rank != 1) { /* the leaders; rank 1 gets the error from rank 0 */
    RGT_FAILS(rg_group_merge(mine, world, rgt_rank == 0 ? 2 : 0, rgt_rank == 2, 6, &merged),
              RG_ERR_MISMATCH);
  } else {
    RGT_FAILS(rg_group_merge(mine, world, 2, 0, 6, &merged), RG_ERR_MISMATCH);
  }
  RGT_PTR_NULL(merged);
  rg_group_free(&mine);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_begin},
                                   {"merge", test_merge},
                                   {"merge up from single processes", test_merge_up},
                                   {"split", test_split},
                                   {"split, one rank wrong", test_split_error},
                                   {"split, one rank without output", test_split_null},
                                   {"reassign", test_reassign},
                                   {"merge and reassign, wrong use", test_merge_errors},
                                   {"one member's wrong call", test_one_wrong},
                                   {"merge of overlapping groups", test_merge_overlap},
                                   {"stop", test_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "regroup", tests);
}
