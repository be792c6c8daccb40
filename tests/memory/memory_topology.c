/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Hardware levels, and an inter-communicator by a split, while a process lacks memory:
 * test_memory.py. RG_TOPOLOGY pretends two packages of two cores. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/intercomm.h>
#include <regroup/topology.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

static MPI_Comm comm = MPI_COMM_NULL, level[RG_LEVELS_MOST], roots[RG_LEVELS_MOST];
static MPI_Info info = MPI_INFO_NULL;
static rg_group part[RG_LEVELS_MOST], part_roots[RG_LEVELS_MOST];
static int levels;

/* --- communicators -------------------------------------------------------------------- */

static int dup_comm(void) {
  for (int i = 0; i < RG_LEVELS_MOST; i++)
    level[i] = roots[i] = MPI_COMM_NULL;
  levels = 0;
  return MPI_Comm_dup(MPI_COMM_WORLD, &comm) ? RG_ERR_MPI : RG_SUCCESS;
}

static int free_comms(void) {
  for (int i = 0; i < RG_LEVELS_MOST; i++) {
    if (level[i] != MPI_COMM_NULL)
      MPI_Comm_free(&level[i]);
    if (roots[i] != MPI_COMM_NULL)
      MPI_Comm_free(&roots[i]);
  }
  return MPI_Comm_free(&comm) ? RG_ERR_MPI : RG_SUCCESS;
}

static int split_comm(void) {
  return rg_comm_split_topology(comm, RG_LEVEL_ALL, 0, &level[0]);
}

static int split_by_name(void) {
  return rg_comm_split_level(comm, "PU", 0, &level[0]);
}

static int split_with_roots(void) {
  return rg_comm_hsplit_with_roots(comm, MPI_INFO_NULL, &level[0], &roots[0]);
}

static int comm_hierarchy(void) {
  return rg_comm_hierarchy(comm, RG_LEVEL_ALL, RG_LEVELS_MOST, level, roots, &levels);
}

static int dup_and_split(void) {
  int error = dup_comm();
  return error ? error : split_comm();
}

/* A level has fewer members than what it is a level of. */
static int is_level(void) {
  int one = 1, size = rgt_size, sum = 0;
  if (level[0] == MPI_COMM_NULL)
    return rgt_size == 1;
  MPI_Comm_size(level[0], &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, level[0]);
  return sum == size && (size < rgt_size || rgt_size == 1);
}

static int all_ranks[2] = {0, 0};
static const char *type;
static int number, place;

static int least_level(void) {
  all_ranks[1] = rgt_rank;
  return rg_comm_min_hlevel(comm, 2, all_ranks, &type);
}

static int has_type(void) {
  return type != NULL && *type;
}

SHORTAGE_TWICE(level_info, rg_comm_hlevel_info(level[0], &number, &place, &type))
SHORTAGE_TWICE(level_mpi_info, rg_comm_hlevel_mpi_info(level[0], &info))

static int free_info(void) {
  MPI_Info_free(&info);
  return free_comms();
}

/* --- groups --------------------------------------------------------------------------- */

static int split_group(void) {
  return rg_group_split_topology(shortage_group, RG_LEVEL_ALL, 0, &part[0]);
}

static int split_group_by_name(void) {
  return rg_group_split_level(shortage_group, "PU", 0, &part[0]);
}

static int group_hierarchy(void) {
  return rg_group_hierarchy(shortage_group, RG_LEVEL_ALL, RG_LEVELS_MOST, part, part_roots,
                            &levels);
}

static int is_group_level(void) {
  int one = 1, size = rgt_size, sum = 0;
  return part[0] && rg_group_size(part[0], &size) == RG_SUCCESS &&
         rg_allreduce(part[0], &one, &sum, 1, MPI_INT, MPI_SUM) == RG_SUCCESS && sum == size &&
         (size < rgt_size || rgt_size == 1);
}

static int free_parts(void) {
  int error = RG_SUCCESS;
  for (int i = 0; i < RG_LEVELS_MOST && !error; i++) {
    error = rg_group_free(&part[i]);
    error = error ? error : rg_group_free(&part_roots[i]);
  }
  return error;
}

static int least_group_level(void) {
  all_ranks[1] = rgt_rank;
  return rg_group_min_hlevel(shortage_group, 2, all_ranks, &type);
}

SHORTAGE_TWICE(group_level_info, rg_group_hlevel_info(part[0], &number, &place, &type))

/* --- an inter-communicator ------------------------------------------------------------------ */

static int takes_part;
static MPI_Comm world = MPI_COMM_NULL, parent = MPI_COMM_NULL;

static int start_split(void) {
  rg_inter_options how = {.size = sizeof how, .kind = RG_INTER_SPLIT};
  return rg_inter_start(rgt_size > 1 ? &how : NULL, &takes_part);
}

static int is_split(void) {
  int size = 0, global = 0;
  return rg_inter_local_size(&size) == RG_SUCCESS && rg_inter_global_size(&global) == RG_SUCCESS &&
         global == rgt_size && size == (rgt_size > 1 ? (rgt_size + (rgt_rank % 2 == 0)) / 2 : 1);
}

static int start(void) {
  int error = start_split();
  return error ? error : is_split() ? RG_SUCCESS : RG_ERR_INTERNAL;
}

SHORTAGE_TWICE(end, rg_inter_end())

static int find_parent(void) {
  int started = 0;
  return rg_intercomm_parent(&world, &parent, &started);
}

static int has_no_parent(void) {
  return parent == MPI_COMM_NULL && world != MPI_COMM_NULL;
}

static int parse(void) {
  char words[2][16] = {"program", "--split=1"}, *argv[] = {words[0], words[1], NULL};
  rg_inter_options how = {.size = sizeof how};
  int argc = 2;
  return rg_inter_parse(&argc, argv, &how);
}

static const shortage_call calls[] = {
    {"rg_comm_split_topology", SHORTAGE_ALL, dup_comm, split_comm, is_level, free_comms},
    {"rg_comm_split_level", SHORTAGE_ALL, dup_comm, split_by_name, is_level, free_comms},
    {"rg_comm_hsplit_with_roots", SHORTAGE_ALL, dup_comm, split_with_roots, is_level, free_comms},
    {"rg_comm_hierarchy", SHORTAGE_ALL, dup_comm, comm_hierarchy, is_level, free_comms},
    {"rg_comm_min_hlevel", SHORTAGE_ALL, dup_comm, least_level, has_type, free_comms},
    {"rg_comm_hlevel_info", SHORTAGE_ONE, dup_and_split, level_info, has_type, free_comms},
    {"rg_comm_hlevel_mpi_info", SHORTAGE_ONE, dup_and_split, level_mpi_info, NULL, free_info},
    {"rg_group_split_topology", SHORTAGE_EACH, NULL, split_group, is_group_level, free_parts},
    {"rg_group_split_level", SHORTAGE_EACH, NULL, split_group_by_name, is_group_level, free_parts},
    {"rg_group_hierarchy", SHORTAGE_EACH, NULL, group_hierarchy, is_group_level, free_parts},
    {"rg_group_min_hlevel", SHORTAGE_EACH, NULL, least_group_level, has_type, NULL},
    {"rg_group_hlevel_info", SHORTAGE_ONE, split_group, group_level_info, has_type, free_parts},
    {"rg_inter_start", SHORTAGE_ALL, NULL, start_split, is_split, rg_inter_end},
    {"rg_inter_end", SHORTAGE_ONE, start, end, NULL, NULL},
    {"rg_intercomm_parent", SHORTAGE_ALL, NULL, find_parent, has_no_parent, NULL},
    {"rg_inter_parse", SHORTAGE_ONE, NULL, parse, NULL, NULL},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_topology", calls);
}
