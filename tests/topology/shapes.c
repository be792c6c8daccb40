/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "shapes.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "tests/check/check.h"

const shape shapes[] = {
    {"pack:2 [numa] l3:1 l2:4 core:1 pu:1", "compact"},
    {"pack:2 [numa] l3:1 l2:4 core:1 pu:1", "scatter"},
    {"pack:2 [numa] l3:1 l2:4 core:1 pu:1", NULL}, /* no rank is bound */
    {"pack:2 [numa] l3:2 l2:2 core:1 pu:2", "compact"},
    {"numa:4 l3:1 core:2 pu:1", "compact"},
    {"group:2 pack:2 [numa] die:2 core:2 pu:1", "scatter"},
    {"pack:2 l3:2 core:2 pu:1", "0-3;0;1;none;4,6;4;6-7;5"}, /* wide and narrow ones, none */
    {"pack:2 core:2 pu:1", "0"},                             /* all on one core */
    {"pack:1 core:2 pu:2", "0;0;1;2;2;none"},                /* several on one core */
    {"core:1 pu:1", "none"},                                 /* nothing to be divided */
    {"pack:2 core:1 pu:1", "compact"},                       /* more ranks than cores */
    {"[numa] [numa] pack:2 [numa] core:4 pu:1", "compact"},  /* memory at several depths */
    {"tests/topology/lopsided.xml", "compact"},
    {"tests/topology/lopsided.xml", "0;5;1;6;2;none;4;0-1"},
};
const int shape_count = (int)(sizeof shapes / sizeof shapes[0]);

/* --- setting up ------------------------------------------------------------ */

static void load_machine(const char *machine, hwloc_topology_t *topology) {
  hwloc_topology_init(topology);
  if (strstr(machine, ".xml"))
    RGT_INT(hwloc_topology_set_xml(*topology, machine), 0);
  else
    RGT_INT(hwloc_topology_set_synthetic(*topology, machine), 0);
  RGT_INT(hwloc_topology_load(*topology), 0);
}

static void bind_to(oracle *o, int rank, int first, int last) {
  if (!o->bound[rank])
    o->bound[rank] = hwloc_bitmap_alloc();
  for (int i = first; i <= last; i++)
    hwloc_bitmap_or(o->bound[rank], o->bound[rank],
                    hwloc_get_obj_by_type(o->machine, HWLOC_OBJ_PU, (unsigned)i)->cpuset);
}

/* The part of a list that belongs to the rank. */
static void bind_by_list(oracle *o, int rank, int turn, const char *list) {
  char *copy = strdup(list), *parts[64];
  int n = 0;
  for (char *p = strtok(copy, ";"); p; p = strtok(NULL, ";"))
    parts[n++] = p;
  char *part = parts[turn % n];
  if (strcmp(part, "none") != 0)
    for (char *p = strtok(part, ","); p; p = strtok(NULL, ",")) {
      char *dash = strchr(p, '-');
      bind_to(o, rank, atoi(p), atoi(dash ? dash + 1 : p));
    }
  free(copy);
}

/* `local`: which rank on its node, of how many. */
static void bind_rank(oracle *o, int rank, const int local[2], const char *how) {
  int threads = hwloc_get_nbobjs_by_type(o->machine, HWLOC_OBJ_PU);
  int at = local[0] % threads;
  if (!how)
    return;
  if (strcmp(how, "scatter") == 0 && local[1] <= threads)
    at = local[0] * threads / local[1];
  if (strcmp(how, "compact") == 0 || strcmp(how, "scatter") == 0)
    bind_to(o, rank, at, at);
  else
    bind_by_list(o, rank, local[0], how);
}

static void set_environment(const shape *s) {
  setenv("RG_TOPOLOGY", s->machine, 1);
  if (s->bind)
    setenv("RG_BIND", s->bind, 1);
  else
    unsetenv("RG_BIND");
  rgi_machine_forget();
}

/* The launcher's value, where it sets one. */
static int from_launcher(const char *variable, int otherwise) {
  const char *text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

void shape_begin(const shape *s, oracle *o) {
  int mine[2] = {from_launcher("MPI_LOCALRANKID", rgt_rank),
                 from_launcher("MPI_LOCALNRANKS", rgt_size)};
  int local[ORACLE_RANKS][2], first = rgt_rank;
  MPI_Comm node;
  *o = (oracle){.ranks = rgt_size};
  set_environment(s);
  load_machine(s->machine, &o->machine);
  MPI_Allgather(mine, 2, MPI_INT, local, 2, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < rgt_size; r++)
    bind_rank(o, r, local[r], s->bind);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  MPI_Allgather(&first, 1, MPI_INT, o->node, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Comm_free(&node);
}

void shape_end(oracle *o) {
  for (int r = 0; r < o->ranks; r++)
    hwloc_bitmap_free(o->bound[r]);
  hwloc_topology_destroy(o->machine);
  unsetenv("RG_TOPOLOGY");
  unsetenv("RG_BIND");
  rgi_machine_forget();
}

/* --- expecting ------------------------------------------------------------- */

static rank_set set_of(MPI_Comm comm) {
  uint64_t mine = (uint64_t)1 << rgt_rank, all = 0;
  if (comm != MPI_COMM_NULL)
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, comm);
  return all;
}

/* `level` is what is below `above` for this rank. Returns its ranks. */
static rank_set expect_level(const oracle *o, rank_set above, int filter, MPI_Comm level) {
  rank_set want = oracle_below(o, above, rgt_rank, filter), have = set_of(level);
  RGT_INT(have, want);
  if (!want || !have)
    return 0;
  int number = -1, index = -1, want_index, want_number, rank;
  const char *type = NULL;
  RGT_OK(rg_comm_hlevel_info(level, &number, &index, &type));
  want_number = oracle_siblings(o, above, filter, want, &want_index);
  RGT_INT(number, want_number);
  RGT_INT(index, want_index);
  RGT_TRUE(type && oracle_is_outermost(o, above, want, filter, type));
  MPI_Comm_rank(level, &rank);
  RGT_INT(rank, __builtin_popcountll(want & (((rank_set)1 << rgt_rank) - 1)));
  return have;
}

/* The roots of what is below `above`: the lowest ranks of every part. */
static void expect_roots(const oracle *o, rank_set above, int filter, MPI_Comm roots) {
  rank_set want = 0;
  for (int r = 0; r < o->ranks; r++) {
    rank_set part = above >> r & 1 ? oracle_below(o, above, r, filter) : 0;
    if (part && __builtin_ctzll(part) == r)
      want |= (rank_set)1 << r;
  }
  RGT_INT(set_of(roots), want >> rgt_rank & 1 ? want : 0);
}

void expect_descent(const oracle *o, MPI_Comm comm, int filter) {
  MPI_Comm above = comm, level, copy, made[RG_LEVELS_MOST];
  rank_set set = set_of(comm);
  int n = 0, result, before, after;
  RGT_OK(rg_comm_count(&before));
  while (above != MPI_COMM_NULL && n < RG_LEVELS_MOST) {
    level = MPI_COMM_SELF;
    RGT_OK(rg_comm_split_topology(above, filter, rgt_rank, &level));
    set = expect_level(o, set, filter, level);
    if (level != MPI_COMM_NULL) {
      MPI_Comm_compare(above, level, &result);
      RGT_INT(result, MPI_UNEQUAL);
      MPI_Comm_dup(level,
                   &copy); /* a duplicate keeps the attribute, also after the original is freed */
      made[n++] = copy;
    }
    if (above != comm)
      MPI_Comm_free(&above);
    above = level;
  }
  for (int i = 0; i < n; i++) {
    RGT_OK(rg_comm_hlevel_info(made[i], &result, NULL, NULL));
    MPI_Comm_free(&made[i]);
  }
  RGT_OK(rg_comm_count(&after));
  RGT_INT(after, before);
}

void expect_hierarchy(const oracle *o, MPI_Comm comm, int filter) {
  MPI_Comm level[RG_LEVELS_MOST], roots[RG_LEVELS_MOST], next, next_roots;
  rank_set above = set_of(comm);
  int n = -1, before, after;
  RGT_OK(rg_comm_count(&before));
  RGT_OK(rg_comm_hierarchy(comm, filter, RG_LEVELS_MOST, level, roots, &n));
  RGT_OK(rg_comm_count(&after));
  for (int i = 0; i < n; i++)
    before += 1 + (roots[i] != MPI_COMM_NULL);
  RGT_INT(after, before);
  for (int i = 0; i < n; i++) {
    rank_set below = expect_level(o, above, filter, level[i]);
    expect_roots(o, above, filter, roots[i]);
    above = below;
  }
  RGT_INT(oracle_below(o, above, rgt_rank, filter), 0);
  if (filter == RG_LEVEL_ALL) {
    RGT_OK(rg_comm_hsplit_with_roots(comm, MPI_INFO_NULL, &next, &next_roots));
    above = set_of(comm);
    expect_level(o, above, filter, next);
    expect_roots(o, above, filter, next_roots);
    if (next != MPI_COMM_NULL)
      MPI_Comm_free(&next);
    if (next_roots != MPI_COMM_NULL)
      MPI_Comm_free(&next_roots);
  }
  for (int i = 0; i < n; i++) {
    MPI_Comm_free(&level[i]);
    if (roots[i] != MPI_COMM_NULL)
      MPI_Comm_free(&roots[i]);
  }
}

static rank_set set_of_group(rg_group g) {
  uint64_t mine = (uint64_t)1 << rgt_rank, all = 0;
  if (g)
    RGT_OK(rg_allreduce(g, &mine, &all, 1, MPI_UINT64_T, MPI_BOR));
  return all;
}

void expect_named(const oracle *o, MPI_Comm comm, rg_group g) {
  static const struct {
    const char *name;
    hwloc_obj_type_t type;
  } types[] = {{"Machine", HWLOC_OBJ_MACHINE}, {"package", HWLOC_OBJ_PACKAGE},
               {"DIE", HWLOC_OBJ_DIE},         {"NUMANode", HWLOC_OBJ_NUMANODE},
               {"L3Cache", HWLOC_OBJ_L3CACHE}, {"l2cache", HWLOC_OBJ_L2CACHE},
               {"core", HWLOC_OBJ_CORE},       {"PU", HWLOC_OBJ_PU}};
  rank_set everyone = o->ranks == 64 ? ~(rank_set)0 : ((rank_set)1 << o->ranks) - 1;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    MPI_Comm level = MPI_COMM_SELF;
    rg_group part;
    const char *type;
    rank_set want = oracle_sharing(o, everyone, rgt_rank, types[i].type);
    RGT_OK(rg_comm_split_level(comm, types[i].name, -rgt_rank, &level));
    RGT_OK(rg_group_split_level(g, types[i].name, 0, &part));
    RGT_TRUE(set_of(level) == want);
    RGT_TRUE(set_of_group(part) == want);
    if (level != MPI_COMM_NULL) {
      RGT_OK(rg_comm_hlevel_info(level, NULL, NULL, &type));
      RGT_STR(type, hwloc_obj_type_string(types[i].type));
      MPI_Comm_free(&level);
    }
    RGT_OK(rg_group_free(&part));
  }
}

void expect_lowest(const oracle *o, MPI_Comm comm) {
  int ranks[ORACLE_RANKS];
  const char *type;
  for (int turn = 0; turn < 20; turn++) {
    rank_set set = 0;
    int n = 0;
    for (int r = 0; r < o->ranks; r++)
      if (random() % 2) {
        ranks[n++] = r;
        set |= (rank_set)1 << r;
      }
    type = NULL;
    RGT_OK(rg_comm_min_hlevel(comm, n, ranks, &type));
    if (!type || !(set >> rgt_rank & 1))
      RGT_STR(type, "Unknown");
    else
      RGT_TRUE(oracle_is_lowest(o, set, type));
  }
}
