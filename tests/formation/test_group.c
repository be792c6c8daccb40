/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * Groups: creation, queries, set operations, the MPI view. */
#include <string.h>

#include "comm_cases.h"

#ifndef SUITE
#define SUITE "group"
#endif

static rg_group world;

/* g has exactly these world ranks, in this order, by every question. */
static void expect_group(rg_group g, int n, const int ranks[]) {
  int size = -1, rank = -2, leader = -1, valid = 0, members[RANKS_MOST], back[RANKS_MOST];
  RGT_OK(rg_group_size(g, &size));
  RGT_INT(size, n);
  RGT_OK(rg_group_rank(g, &rank));
  RGT_INT(rank, place_of(n, ranks, rgt_rank));
  RGT_OK(rg_group_leader(g, &leader));
  RGT_INT(leader, ranks[0]);
  RGT_OK(rg_group_members(g, members));
  RGT_OK(rg_group_translate(world, n, members, g, back));
  for (int i = 0; i < n && size == n; i++) {
    RGT_INT(members[i], ranks[i]);
    RGT_INT(back[i], i);
  }
  RGT_OK(rg_group_is_valid(g, &valid));
  RGT_TRUE(valid);
}

static void test_world(void) {
  rg_group again;
  int ranks[RANKS_MOST], how = -1;
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  expect_group(world, rgt_size, ranks);
  RGT_OK(rg_group_world(&again));
  RGT_OK(rg_group_compare(world, again, &how));
  RGT_INT(how, RG_CONGRUENT);
  RGT_OK(rg_group_compare(world, world, &how));
  RGT_INT(how, RG_IDENT);
  RGT_OK(rg_group_free(&again));
  RGT_PTR_NULL(again);
  RGT_OK(rg_group_free(&again)); /* NULL is fine */
}

static void test_lists(void) {
  int ranks[RANKS_MOST], tag = -1;
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 50; turn++) {
    int n = draw_ranks(ranks), member = place_of(n, ranks, rgt_rank) >= 0;
    rg_group g = NULL, copy = NULL;
    MPI_Comm comm;
    RGT_OK(rg_group_create(world, n, ranks, turn, &g));
    RGT_TRUE((g != NULL) == member);
    if (!g)
      continue;
    expect_group(g, n, ranks);
    RGT_OK(rg_group_tag(g, &tag));
    RGT_INT(tag, turn);
    RGT_OK(rg_group_dup(g, &copy));
    expect_group(copy, n, ranks);
    if (turn < 10) {
      RGT_OK(rg_group_comm(g, &comm));
      expect_comm(comm, n, ranks);
      RGT_OK(rg_group_comm(copy, &comm));
      expect_comm(comm, n, ranks);
    }
    RGT_OK(rg_group_free(&g));
    expect_group(copy, n, ranks);
    RGT_OK(rg_group_free(&copy));
  }
}

/* Every range of the world, and ranges of a list, against plain counting. */
static void expect_range(rg_group parent, const int of[], int first, int last, int stride) {
  int ranks[RANKS_MOST], n = 0;
  rg_group g;
  for (int r = first; stride > 0 ? r <= last : r >= last; r += stride)
    ranks[n++] = of[r];
  RGT_OK(rg_group_create_range(parent, first, last, stride, 1, &g));
  RGT_TRUE((g != NULL) == (place_of(n, ranks, rgt_rank) >= 0));
  if (g)
    expect_group(g, n, ranks);
  RGT_OK(rg_group_free(&g));
}

static void test_ranges(void) {
  int ranks[RANKS_MOST], mixed[RANKS_MOST];
  rg_group list;
  for (int i = 0; i < rgt_size; i++) {
    ranks[i] = i;
    mixed[i] = (i ^ 1) < rgt_size ? i ^ 1 : i; /* 1 0 3 2 ... is no range */
  }
  RGT_OK(rg_group_create(world, rgt_size, mixed, 2, &list));
  for (int first = 0; first < rgt_size; first++)
    for (int last = 0; last < rgt_size; last++)
      for (int stride = 1; stride <= 3; stride++) {
        int s = first <= last ? stride : -stride;
        expect_range(world, ranks, first, last, s);
        expect_range(list, mixed, first, last, s);
      }
  RGT_OK(rg_group_free(&list));
}

static void test_from_mpi(void) {
  int ranks[RANKS_MOST];
  rg_group g;
  MPI_Comm comm;
  srandom((unsigned)rgt_seed() + 1);
  for (int turn = 0; turn < 10; turn++) {
    int n = draw_ranks(ranks), me = place_of(n, ranks, rgt_rank);
    MPI_Group group = group_of(n, ranks);
    RGT_OK(rg_group_from_mpi_group(group, turn, &g));
    RGT_TRUE((g != NULL) == (me >= 0));
    if (g)
      expect_group(g, n, ranks);
    RGT_OK(rg_group_free(&g));
    MPI_Comm_split(MPI_COMM_WORLD, me >= 0 ? 0 : MPI_UNDEFINED, me, &comm);
    if (comm != MPI_COMM_NULL) {
      RGT_OK(rg_group_from_comm(comm, &g));
      expect_group(g, n, ranks);
      RGT_OK(rg_group_free(&g));
      MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
  }
}

/* Against membership tables. */
static void expect_set(rg_group g, const int a[], int n, const int b[], int m, int kind) {
  int want[2 * RANKS_MOST], count = 0, size = 0, members[RANKS_MOST];
  for (int i = 0; i < n; i++)
    if (kind == 0 || (place_of(m, b, a[i]) >= 0) == (kind == 1))
      want[count++] = a[i];
  for (int i = 0; i < m && kind == 0; i++)
    if (place_of(n, a, b[i]) < 0)
      want[count++] = b[i];
  RGT_TRUE((g == NULL) == (count == 0));
  if (!g)
    return;
  RGT_OK(rg_group_size(g, &size));
  RGT_INT(size, count);
  RGT_OK(rg_group_members(g, members));
  for (int i = 0; i < count; i++)
    RGT_INT(members[i], want[i]);
}

static void test_sets(void) {
  typedef int operation(rg_group, rg_group, rg_group *);
  static operation *const operations[] = {rg_group_union, rg_group_intersection,
                                          rg_group_difference};
  int a[RANKS_MOST], b[RANKS_MOST];
  srandom((unsigned)rgt_seed() + 2);
  for (int turn = 0; turn < 30; turn++) {
    int n = draw_ranks(a), m = draw_ranks(b);
    rg_group ga = NULL, gb = NULL, none, result;
    RGT_OK(rg_group_create(world, n, a, 1, &ga));
    RGT_OK(rg_group_create(world, m, b, 1, &gb));
    for (int k = 0; k < 3 && ga && gb; k++) {
      RGT_OK(operations[k](ga, gb, &result));
      expect_set(result, a, n, b, m, k);
      RGT_OK(rg_group_free(&result));
    }
    if (ga) {
      RGT_OK(rg_group_difference(ga, ga, &none));
      RGT_PTR_NULL(none);
    }
    rg_group_free(&ga);
    rg_group_free(&gb);
  }
}

/* A member that looks at results by itself does not change those of other calls. */
static void test_sets_alone(void) {
  rg_group a, b, first, looked, g;
  RGT_OK(rg_group_dup(world, &a));
  RGT_OK(rg_group_dup(world, &b));
  if (rgt_rank == 0) {
    RGT_OK(rg_group_create(world, 1, &rgt_rank, 1, &first));
    RGT_OK(rg_group_intersection(a, b, &looked));
    RGT_OK(rg_group_free(&looked));
    RGT_OK(rg_group_union(a, first, &looked)); /* of the same members as that of a and b */
    RGT_OK(rg_group_free(&looked));
    RGT_OK(rg_group_free(&first));
  }
  RGT_OK(rg_group_union(a, b, &g));
  RGT_OK(rg_barrier(g));
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_group_free(&b));
  RGT_OK(rg_group_free(&a));
}

/* A result without the caller answers questions but does not communicate. */
static void test_outsider(void) {
  rg_group me, others;
  MPI_Comm comm;
  int rank = 0, n = 0;
  RGT_OK(rg_group_create(world, 1, &rgt_rank, 1, &me));
  RGT_OK(rg_group_difference(world, me, &others));
  if (rgt_size == 1) {
    RGT_PTR_NULL(others);
  } else {
    RGT_OK(rg_group_rank(others, &rank));
    RGT_INT(rank, RG_UNDEFINED);
    RGT_OK(rg_group_size(others, &n));
    RGT_INT(n, rgt_size - 1);
    RGT_FAILS(rg_group_comm(others, &comm), RG_ERR_GROUP);
    RGT_FAILS(rg_group_split(others, 0, 0, &me), RG_ERR_GROUP);
  }
  rg_group_free(&others);
  rg_group_free(&me);
}

static void test_compare(void) {
  int up[RANKS_MOST], mixed[RANKS_MOST], how = -1;
  rg_group a, b, c = NULL;
  for (int i = 0; i < rgt_size; i++)
    up[i] = mixed[rgt_size - 1 - i] = i;
  RGT_OK(rg_group_create(world, rgt_size, up, 1, &a));
  RGT_OK(rg_group_create(world, rgt_size, mixed, 1, &b));
  RGT_OK(rg_group_compare(a, b, &how));
  RGT_INT(how, rgt_size > 1 ? RG_SIMILAR : RG_CONGRUENT);
  RGT_OK(rg_group_create(world, 1, &rgt_rank, 1, &c));
  RGT_OK(rg_group_compare(a, c, &how));
  RGT_INT(how, rgt_size > 1 ? RG_UNEQUAL : RG_CONGRUENT);
  RGT_INT(RG_IDENT, MPI_IDENT);
  RGT_INT(RG_CONGRUENT, MPI_CONGRUENT);
  RGT_INT(RG_SIMILAR, MPI_SIMILAR);
  RGT_INT(RG_UNEQUAL, MPI_UNEQUAL);
  rg_group_free(&a);
  rg_group_free(&b);
  rg_group_free(&c);
}

/* A name belongs to one handle, and to its communicator. */
static void test_name(void) {
  char longest[RG_GROUP_NAME_MOST + 2], given[MPI_MAX_OBJECT_NAME];
  const char *name = "unset";
  rg_group g, copy;
  MPI_Comm comm;
  int length;
  memset(longest, 'x', sizeof longest);
  longest[RG_GROUP_NAME_MOST + 1] = 0;
  RGT_OK(rg_group_dup(world, &g));
  RGT_OK(rg_group_name(g, &name));
  RGT_STR(name, "");
  RGT_OK(rg_group_set_name(g, "walkers"));
  RGT_OK(rg_group_dup(g, &copy));
  RGT_OK(rg_group_name(copy, &name));
  RGT_STR(name, "");
  RGT_FAILS(rg_group_set_name(g, longest), RG_ERR_LIMIT);
  RGT_OK(rg_group_name(g, &name));
  RGT_STR(name, "walkers");
  RGT_OK(rg_group_comm(g, &comm));
  MPI_Comm_get_name(comm, given, &length);
  RGT_STR(given, "walkers");
  longest[RG_GROUP_NAME_MOST] = 0;
  RGT_OK(rg_group_set_name(g, longest));
  RGT_OK(rg_group_set_name(copy, longest));
  RGT_OK(rg_group_name(g, &name));
  RGT_STR(name, longest);
  MPI_Comm_get_name(comm, given, &length);
  RGT_STR(given, longest);
  RGT_OK(rg_group_set_name(g, NULL));
  RGT_OK(rg_group_name(g, &name));
  RGT_STR(name, "");
  RGT_FAILS(rg_group_set_name(NULL, "x"), RG_ERR_GROUP);
  RGT_FAILS(rg_group_name(g, NULL), RG_ERR_ARG);
  RGT_OK(rg_group_free(&copy));
  RGT_OK(rg_group_free(&g));
}

static void test_mpi_group(void) {
  int ranks[RANKS_MOST];
  for (int turn = 0; turn < 10; turn++) {
    int n = draw_ranks(ranks), how = -1;
    rg_group g = NULL, back = NULL;
    MPI_Group mpi, want = group_of(n, ranks);
    RGT_OK(rg_group_create(world, n, ranks, turn, &g));
    if (g) {
      RGT_OK(rg_group_mpi_group(g, &mpi));
      MPI_Group_compare(mpi, want, &how);
      RGT_INT(how, MPI_IDENT);
      RGT_OK(rg_group_from_mpi_group(mpi, turn, &back));
      RGT_OK(rg_group_compare(g, back, &how));
      RGT_INT(how, RG_CONGRUENT);
      MPI_Group_free(&mpi);
    }
    MPI_Group_free(&want);
    rg_group_free(&back);
    rg_group_free(&g);
  }
}

/* The nodes of the world, as MPI finds them: numbered by their lowest ranks. */
static int number_nodes(int nodes[]) {
  int lowest = rgt_rank, all[RANKS_MOST], n = 0;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  MPI_Allgather(&lowest, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Comm_free(&node);
  for (int r = 0; r < rgt_size; r++)
    nodes[r] = all[r] == r ? n++ : nodes[all[r]];
  return n;
}

static void test_nodes(void) {
  int ranks[RANKS_MOST], nodes[RANKS_MOST], count = number_nodes(nodes), node = -1, out = 77;
  RGT_OK(rg_group_node_count(world, &node));
  RGT_INT(node, count);
  for (int turn = 0; turn < 20; turn++) {
    int n = draw_ranks(ranks), seen[RANKS_MOST] = {0}, want = 0;
    rg_group g = NULL;
    RGT_OK(rg_group_create(world, n, ranks, 1, &g));
    if (!g)
      continue;
    for (int i = 0; i < n; i++) {
      RGT_OK(rg_group_node(g, i, &node));
      RGT_INT(node, nodes[ranks[i]]);
      want += !seen[node]++;
    }
    RGT_OK(rg_group_node_count(g, &node));
    RGT_INT(node, want);
    RGT_OK(rg_group_free(&g));
  }
  RGT_FAILS(rg_group_node(world, rgt_size, &out), RG_ERR_RANK);
  RGT_FAILS(rg_group_node(world, -1, &out), RG_ERR_RANK);
  RGT_FAILS(rg_group_node(NULL, 0, &out), RG_ERR_GROUP);
  RGT_FAILS(rg_group_node(world, 0, NULL), RG_ERR_ARG);
  RGT_INT(out, 77);
}

static void test_errors(void) {
  rg_group g = world;
  int out = 77, twice[] = {0, 0}, high = rgt_size, low = -1;
  RGT_FAILS(rg_group_create(world, 2, twice, 1, &g), RG_ERR_RANK);
  RGT_FAILS(rg_group_create(world, 1, &high, 1, &g), RG_ERR_RANK);
  RGT_FAILS(rg_group_create(world, 1, &low, 1, &g), RG_ERR_RANK);
  RGT_FAILS(rg_group_create(world, -1, &low, 1, &g), RG_ERR_ARG);
  RGT_FAILS(rg_group_create(world, 1, NULL, 1, &g), RG_ERR_ARG);
  RGT_FAILS(rg_group_create(world, 1, &rgt_rank, -1, &g), RG_ERR_TAG);
  RGT_FAILS(rg_group_create(world, 1, &rgt_rank, 1 << 28, &g), RG_ERR_TAG);
  RGT_FAILS(rg_group_create(NULL, 1, &rgt_rank, 1, &g), RG_ERR_GROUP);
  RGT_FAILS(rg_group_create(world, 1, &rgt_rank, 1, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_group_create_range(world, 0, rgt_size, 1, 1, &g), RG_ERR_RANK);
  RGT_FAILS(rg_group_create_range(world, -1, 0, 1, 1, &g), RG_ERR_RANK);
  RGT_FAILS(rg_group_create_range(world, 0, 0, 0, 1, &g), RG_ERR_ARG);
  if (rgt_size > 1) {
    RGT_FAILS(rg_group_create_range(world, 0, 1, -1, 1, &g), RG_ERR_ARG);
    RGT_FAILS(rg_group_create_range(world, 1, 0, 1, 1, &g), RG_ERR_ARG);
  }
  RGT_FAILS(rg_group_from_comm(MPI_COMM_NULL, &g), RG_ERR_COMM);
  RGT_FAILS(rg_group_from_mpi_group(MPI_GROUP_NULL, 1, &g), RG_ERR_GROUP);
  RGT_FAILS(rg_group_from_mpi_group(MPI_GROUP_EMPTY, -1, &g), RG_ERR_TAG);
  RGT_FAILS(rg_group_translate(world, 1, &high, world, &out), RG_ERR_RANK);
  RGT_FAILS(rg_group_translate(world, -1, &high, world, &out), RG_ERR_ARG);
  RGT_FAILS(rg_group_size(NULL, &out), RG_ERR_GROUP);
  RGT_FAILS(rg_group_size(world, NULL), RG_ERR_ARG);
  RGT_TRUE(g == world);
  RGT_INT(out, 77);
  RGT_OK(rg_group_is_valid(NULL, &out));
  RGT_INT(out, 0);
  RGT_OK(rg_group_from_mpi_group(MPI_GROUP_EMPTY, 1, &g));
  RGT_PTR_NULL(g);
  RGT_OK(rg_group_create(world, 0, NULL, 1, &g));
  RGT_PTR_NULL(g);
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void test_stop(void) {
  rg_group late = NULL;
  MPI_Comm comm;
  MPI_Group mpi;
  int size = 0, node;
  const char *name = "";
  RGT_OK(rg_group_set_name(world, "kept"));
  RGT_OK(rg_finalize());
  RGT_FAILS(rg_group_world(&late), RG_ERR_NOT_INIT);
  RGT_FAILS(rg_group_comm(world, &comm), RG_ERR_NOT_INIT);
  RGT_FAILS(rg_group_create(world, 1, &rgt_rank, 1, &late), RG_ERR_NOT_INIT);
  RGT_OK(rg_group_size(world, &size)); /* local questions are still answered */
  RGT_INT(size, rgt_size);
  RGT_OK(rg_group_name(world, &name));
  RGT_STR(name, "kept");
  RGT_FAILS(rg_group_node(world, 0, &node), RG_ERR_NOT_INIT);
  RGT_FAILS(rg_group_node_count(world, &node), RG_ERR_NOT_INIT);
  RGT_FAILS(rg_group_mpi_group(world, &mpi), RG_ERR_NOT_INIT);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_FAILS(rg_group_node(world, 0, &node), RG_ERR_GROUP);
  RGT_FAILS(rg_group_comm(world, &comm), RG_ERR_GROUP); /* of an earlier start */
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"world", test_world},
                                   {"lists", test_lists},
                                   {"ranges", test_ranges},
                                   {"from MPI", test_from_mpi},
                                   {"sets", test_sets},
                                   {"sets on one member", test_sets_alone},
                                   {"outsider", test_outsider},
                                   {"compare", test_compare},
                                   {"name", test_name},
                                   {"MPI group", test_mpi_group},
                                   {"nodes", test_nodes},
                                   {"errors", test_errors},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, SUITE, tests);
}
