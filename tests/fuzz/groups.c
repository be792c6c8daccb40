/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Groups: forming them, their queries, and what recovery and topology do with them. */
#include <limits.h>
#include <mpi.h>

#include "draw.h"
#include "fuzz.h"
#include "tests/check/check.h"

/* One of the batch's, or not valid. */
static int draw_tag(void) {
  return draw_chance(8) ? draw_int() : fuzz.tag + 2 + draw_below(4);
}

static rg_group draw_group(void) {
  return draw_chance(24) ? NULL : draw_chance(3) ? fuzz.world : fuzz.g;
}

static void free_group(rg_group *g) {
  if (g)
    FUZZ(rg_group_free(g));
}

/* A group that the call before has made, if it has made one. */
static void use_group(int error, rg_group *g) {
  int rank, size;
  if (error || !g || !*g)
    return;
  if (!FUZZ(rg_group_rank(*g, &rank)) && rank >= 0 && !FUZZ(rg_group_size(*g, &size)))
    FUZZ(rg_barrier(*g));
  free_group(g);
}

static void from_world(void) {
  rg_group *g = fuzz_out(sizeof *g);
  use_group(FUZZ(rg_group_world(g)), g);
}

static void from_comm(void) {
  rg_group *g = fuzz_out(sizeof *g);
  use_group(FUZZ(rg_group_from_comm(draw_chance(4) ? MPI_COMM_NULL : MPI_COMM_WORLD, g)), g);
}

static void from_mpi_group(void) {
  rg_group *g = fuzz_out(sizeof *g);
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int drawn = draw_below(6);
  use_group(FUZZ(rg_group_from_mpi_group(drawn == 0   ? MPI_GROUP_NULL
                                         : drawn == 1 ? MPI_GROUP_EMPTY
                                                      : all,
                                         draw_tag(), g)),
            g);
  MPI_Group_free(&all);
}

/* n ranks, mostly those of the group in some order; NULL now and then. */
static int *draw_ranks(int n) {
  int *ranks = fuzz_in((size_t)(n > 0 ? n : 1) * sizeof *ranks);
  int from = draw_below(rgt_size), step = draw_chance(2) ? 1 : rgt_size - 1;
  for (int i = 0; i < n; i++)
    ranks[i] = draw_chance(12) ? draw_near(rgt_size) : (from + i * step) % rgt_size;
  return draw_chance(24) ? NULL : ranks;
}

static void create(void) {
  rg_group *g = fuzz_out(sizeof *g), parent = draw_group();
  int n = draw_chance(6) ? draw_int() : draw_below(rgt_size + 2);
  int *ranks = draw_ranks(n < 64 ? n : 64);
  use_group(FUZZ(rg_group_create(parent, n, ranks, draw_tag(), g)), g);
}

static void create_range(void) {
  rg_group *g = fuzz_out(sizeof *g), parent = draw_group();
  int first = draw_near(rgt_size), last = draw_near(rgt_size);
  int stride = draw_chance(3) ? draw_int() : draw_below(5) - 2;
  use_group(FUZZ(rg_group_create_range(parent, first, last, stride, draw_tag(), g)), g);
}

static void split(void) {
  rg_group *g = fuzz_out(sizeof *g), parent = draw_group();
  int color = draw_chance(4) ? draw_int() : draw_chance(6) ? RG_UNDEFINED : draw_below(3);
  int key = draw_int();
  use_group(FUZZ(rg_group_split(parent, color, key, g)), g);
}

static void split_topology(void) {
  rg_group *g = fuzz_out(sizeof *g), parent = draw_group();
  int filter = draw_chance(3) ? draw_int() : 1 + draw_below(7), key = draw_int();
  use_group(FUZZ(rg_group_split_topology(parent, filter, key, g)), g);
}

static void hierarchy(void) {
  enum { ROOM = RG_LEVELS_MOST };
  int filter = draw_chance(3) ? draw_int() : 1 + draw_below(7);
  int max = draw_chance(3) ? draw_below(4) - 1 : ROOM;
  rg_group *parts = fuzz_out(ROOM * sizeof *parts);
  rg_group *roots = draw_chance(2) ? fuzz_out_some(ROOM * sizeof *roots) : NULL;
  int *levels = fuzz_out(sizeof *levels);
  if (FUZZ(rg_group_hierarchy(draw_group(), filter, max, parts, roots, levels)))
    return;
  for (int i = *levels - 1; i >= 0; i--) {
    FUZZ(rg_group_hlevel_info(parts[i], NULL, NULL, NULL));
    free_group(&parts[i]);
    if (roots)
      free_group(&roots[i]);
  }
}

static void merge(void) {
  rg_group half = NULL, *g = fuzz_out(sizeof *g);
  int low = rgt_rank < rgt_size / 2, middle = rgt_size / 2;
  RGT_OK(rg_group_create_range(fuzz.g, low ? 0 : middle, low ? middle - 1 : rgt_size - 1, 1,
                               fuzz.tag + 8, &half));
  int wrong = draw_below(8), tag = draw_tag();
  int leader = low ? middle : 0, high = !low;
  if (wrong == 0)
    leader = draw_chance(2) ? rgt_size : INT_MIN;
  if (wrong == 1)
    high = draw_int();
  use_group(FUZZ(rg_group_merge(half, fuzz.g, leader, high, tag, g)), g);
  free_group(&half);
}

static void reassign(void) {
  rg_group half = NULL, *g = fuzz_out(sizeof *g);
  int low = rgt_rank < rgt_size / 2, middle = rgt_size / 2;
  RGT_OK(rg_group_create_range(fuzz.g, low ? 0 : middle, low ? middle - 1 : rgt_size - 1, 1,
                               fuzz.tag + 9, &half));
  int n = draw_chance(6) ? draw_int() : draw_below(3), tag = draw_tag();
  int *leaving = draw_ranks(n < 64 ? n : 64), leader = low ? middle : 0;
  if (draw_chance(8))
    leader = draw_chance(2) ? -1 : INT_MAX;
  use_group(FUZZ(rg_group_reassign(half, fuzz.g, leader, n, leaving, tag, g)), g);
  free_group(&half);
}

static void sets(void) {
  rg_group *g = fuzz_out(sizeof *g), a = draw_group(), b = draw_group();
  int call = draw_below(4), error;
  if (call == 0)
    error = FUZZ(rg_group_union(a, b, g));
  else if (call == 1)
    error = FUZZ(rg_group_intersection(a, b, g));
  else if (call == 2)
    error = FUZZ(rg_group_difference(a, b, g));
  else
    error = FUZZ(rg_group_dup(a, g));
  use_group(error, g);
}

static void translate(void) {
  int n = draw_below(rgt_size + 3), *ranks = draw_ranks(n), *to = fuzz_out((size_t)n * sizeof *to);
  FUZZ(rg_group_translate(draw_group(), draw_chance(8) ? -n - 1 : n, ranks, draw_group(), to));
}

static void names(void) {
  static const char *const words[] = {"a", "name", "0123456789012345678901234567890", NULL};
  char text[200];
  draw_text(words, text, sizeof text);
  const char **name = fuzz_out(sizeof *name);
  FUZZ(rg_group_set_name(draw_group(), draw_chance(8) ? NULL : text));
  FUZZ(rg_group_name(draw_group(), name));
}

static void queries(void) {
  rg_group g = draw_group();
  int *n = fuzz_out(sizeof *n);
  FUZZ(rg_group_rank(g, n));
  FUZZ(rg_group_size(g, n));
  FUZZ(rg_group_leader(g, n));
  FUZZ(rg_group_compare(g, draw_group(), n));
  FUZZ(rg_group_tag(g, n));
  FUZZ(rg_group_node(g, draw_near(rgt_size), n));
  FUZZ(rg_group_node_count(g, n));
  FUZZ(rg_group_is_valid(g, n));
  FUZZ(rg_group_members(g, fuzz_out((size_t)rgt_size * sizeof(int))));
  FUZZ(rg_group_hlevel_info(g, n, n, NULL));
}

static void min_hlevel(void) {
  int n = draw_below(rgt_size + 2), *ranks = draw_ranks(n);
  const char **type = fuzz_out(sizeof *type);
  FUZZ(rg_group_min_hlevel(draw_group(), draw_chance(8) ? -1 - n : n, ranks, type));
}

static void mpi_group(void) {
  MPI_Group *group = fuzz_out(sizeof *group);
  if (!FUZZ(rg_group_mpi_group(draw_group(), group)))
    MPI_Group_free(group);
}

static void recovery(void) {
  unsigned *word = fuzz_in(sizeof *word);
  int *n = fuzz_out(sizeof *n), max = draw_chance(4) ? draw_int() : draw_below(4);
  int *ranks = fuzz_out(sizeof *ranks * (size_t)rgt_size);
  FUZZ(rg_group_failed(draw_group(), max, ranks, n));
  FUZZ(rg_group_agree(draw_group(), draw_chance(12) ? NULL : word, NULL));
}

static void shrink(void) {
  rg_group *g = fuzz_out(sizeof *g);
  use_group(FUZZ(rg_group_shrink(draw_group(), g)), g);
  g = fuzz_out(sizeof *g);
  use_group(FUZZ(rg_group_replace(draw_group(), g)), g);
}

/* Of members in an order that no other group has: groups of the same members share state. */
static void revoke(void) {
  rg_group g = NULL;
  FUZZ(rg_group_revoke(NULL));
  if (rgt_size == 1)
    return;
  RGT_OK(rg_group_create_range(fuzz.g, rgt_size - 1, 0, -1, fuzz.tag + 10, &g));
  FUZZ(rg_group_revoke(g));
  FUZZ(rg_bcast(g, NULL, 0, MPI_INT, 0));
  free_group(&g);
  RGT_OK(rg_barrier(fuzz.world));
}

static void grow(void) {
  rg_group *g = fuzz_out(sizeof *g);
  FUZZ(rg_group_grow(draw_group(), draw_int(), g));
}

static void comms(void) {
  MPI_Comm *comm = fuzz_out(sizeof *comm), parent = draw_chance(8) ? MPI_COMM_NULL : MPI_COMM_WORLD;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int method = draw_chance(3) ? draw_int() : draw_below(3);
  int tag =
      draw_chance(4) ? (int[]){-1, INT_MIN, INT_MAX}[draw_below(3)] : fuzz.tag + draw_below(4);
  MPI_Group group = draw_chance(8) ? MPI_GROUP_NULL : draw_chance(8) ? MPI_GROUP_EMPTY : all;
  if (!FUZZ(rg_comm_create_group(parent, group, tag, (rg_comm_method)method, comm)) &&
      *comm != MPI_COMM_NULL)
    MPI_Comm_free(comm);
  comm = fuzz_out(sizeof *comm);
  FUZZ(rg_intercomm_create_group(parent, group, all, tag, (rg_comm_method)method, comm));
  MPI_Group_free(&all);
  FUZZ(rg_comm_count(fuzz_out(sizeof(int))));
}

static void comm_topology(void) {
  MPI_Comm comm = draw_chance(8) ? MPI_COMM_NULL : MPI_COMM_WORLD, *made = fuzz_out(sizeof *made);
  int filter = draw_chance(3) ? draw_int() : 1 + draw_below(7), key = draw_int();
  if (!FUZZ(rg_comm_split_topology(comm, filter, key, made)) && *made != MPI_COMM_NULL)
    MPI_Comm_free(made);
  FUZZ(rg_comm_hlevel_info(comm, NULL, NULL, NULL));
  FUZZ(rg_comm_hlevel_mpi_info(comm, fuzz_out(sizeof(MPI_Info))));
  int n = draw_below(rgt_size + 2), *ranks = draw_ranks(n);
  FUZZ(rg_comm_min_hlevel(comm, draw_chance(8) ? -1 - n : n, ranks, fuzz_out(sizeof(char *))));
}

static void comm_hierarchy(void) {
  MPI_Comm comm = draw_chance(8) ? MPI_COMM_NULL : MPI_COMM_WORLD;
  MPI_Comm *made = fuzz_out(RG_LEVELS_MOST * sizeof *made);
  int filter = draw_chance(3) ? draw_int() : 1 + draw_below(7), *levels = fuzz_out(sizeof *levels);
  int max = draw_chance(3) ? draw_below(4) - 1 : RG_LEVELS_MOST;
  if (!FUZZ(rg_comm_hierarchy(comm, filter, max, made, NULL, levels)))
    for (int i = *levels - 1; i >= 0; i--)
      MPI_Comm_free(&made[i]);
  made = fuzz_out(sizeof *made);
  MPI_Comm *roots = fuzz_out(sizeof *roots);
  if (FUZZ(rg_comm_hsplit_with_roots(comm, MPI_INFO_NULL, made, roots)))
    return;
  if (*made != MPI_COMM_NULL)
    MPI_Comm_free(made);
  if (*roots != MPI_COMM_NULL)
    MPI_Comm_free(roots);
}

static void group_comm(void) {
  MPI_Comm *comm = fuzz_out(sizeof *comm);
  rg_group *g = fuzz_out(sizeof *g);
  FUZZ(rg_group_comm(draw_chance(8) ? NULL : fuzz.world, comm));
  FUZZ(rg_comm_group(draw_chance(4) ? MPI_COMM_NULL : MPI_COMM_WORLD, g));
}

const fuzz_case fuzz_group_cases[] = {{"group_world", from_world, FUZZ_SAME},
                                      {"group_from_comm", from_comm, FUZZ_SAME},
                                      {"group_from_mpi_group", from_mpi_group, FUZZ_SAME},
                                      {"group_create", create, FUZZ_ANY},
                                      {"group_create_range", create_range, FUZZ_ANY},
                                      {"group_split", split, FUZZ_ANY},
                                      {"group_split_topology", split_topology, FUZZ_ANY},
                                      {"group_hierarchy", hierarchy, FUZZ_ANY},
                                      {"group_merge", merge, FUZZ_ANY},
                                      {"group_reassign", reassign, FUZZ_ANY},
                                      {"group_sets", sets, FUZZ_SAME},
                                      {"group_translate", translate, FUZZ_LOCAL},
                                      {"group_names", names, FUZZ_LOCAL},
                                      {"group_queries", queries, FUZZ_LOCAL},
                                      {"group_min_hlevel", min_hlevel, FUZZ_SAME},
                                      {"group_mpi_group", mpi_group, FUZZ_LOCAL},
                                      {"group_recovery", recovery, FUZZ_SAME},
                                      {"group_shrink", shrink, FUZZ_SAME},
                                      {"group_revoke", revoke, FUZZ_SAME},
                                      {"group_grow", grow, FUZZ_SAME},
                                      {"group_comms", comms, FUZZ_ANY},
                                      {"group_comm_topology", comm_topology, FUZZ_SAME},
                                      {"group_comm_hierarchy", comm_hierarchy, FUZZ_SAME},
                                      {"group_comm", group_comm, FUZZ_SAME},
                                      {0}};
