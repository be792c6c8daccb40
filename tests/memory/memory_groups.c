/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Groups and their communicators while a process lacks memory: test_memory.py. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/comm.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { MOST = 16 };

static rg_group made, mine;
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Group mpi = MPI_GROUP_NULL, rest = MPI_GROUP_NULL;
static int list[MOST];

/* The lower half of the ranks, of which there is one at least, is one group, the upper half
 * another one. */
static int middle(void) {
  return (rgt_size + 1) / 2;
}

static int high(void) {
  return rgt_rank >= middle();
}

static int sum_of(rg_group g, int first, int last) {
  int me = rgt_rank, sum = -1;
  return g && rg_allreduce(g, &me, &sum, 1, MPI_INT, MPI_SUM) == RG_SUCCESS &&
         sum == (first + last) * (last - first + 1) / 2;
}

static int whole(void) {
  return sum_of(made, 0, rgt_size - 1);
}

static int own_half(void) {
  return sum_of(made, high() ? middle() : 0, high() ? rgt_size - 1 : middle() - 1);
}

static int free_groups(void) {
  int error = rg_group_free(&mine), code = rg_group_free(&made);
  return error ? error : code;
}

/* Irregular, so that it is kept as a list. */
static int make_list(void) {
  for (int i = 0; i < rgt_size; i++)
    list[i] = i;
  if (rgt_size > 2) {
    list[0] = 1;
    list[1] = 0;
  }
  return RG_SUCCESS;
}

static int make_half(void) {
  return rg_group_create_range(shortage_world, high() ? middle() : 0,
                               high() ? rgt_size - 1 : middle() - 1, 1, 5, &mine);
}

static int make_lists(void) {
  make_list();
  return rg_group_create(shortage_world, rgt_size, list, 6, &mine);
}

static int make_mpi(void) {
  make_list();
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, rgt_size, list, &mpi);
  return MPI_Group_free(&world) ? RG_ERR_MPI : RG_SUCCESS;
}

static int free_mpi(void) {
  if (comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  if (rest != MPI_GROUP_NULL)
    MPI_Group_free(&rest);
  MPI_Group_free(&mpi);
  return free_groups();
}

/* --- of one process alone ----------------------------------------------------------------- */

SHORTAGE_TWICE(world, rg_group_world(&made))
SHORTAGE_TWICE(from_comm, rg_group_from_comm(MPI_COMM_WORLD, &made))
SHORTAGE_TWICE(from_mpi_group, rg_group_from_mpi_group(mpi, 2, &made))
SHORTAGE_TWICE(create, rg_group_create(shortage_group, rgt_size, list, 1, &made))
SHORTAGE_TWICE(create_range, rg_group_create_range(shortage_group, 0, rgt_size - 1, 1, 1, &made))
SHORTAGE_TWICE(range_of_list, rg_group_create_range(mine, 0, rgt_size - 1, 1, 1, &made))
SHORTAGE_TWICE(dup, rg_group_dup(mine, &made))
SHORTAGE_TWICE(unite, rg_group_union(mine, shortage_group, &made))
SHORTAGE_TWICE(intersect, rg_group_intersection(shortage_group, mine, &made))
SHORTAGE_TWICE(subtract, rg_group_difference(shortage_group, mine, &made))
SHORTAGE_TWICE(group_of_comm, rg_comm_group(comm, &made))
SHORTAGE_TWICE(set_name, rg_group_set_name(shortage_group, "a name"))
SHORTAGE_TWICE(mpi_group, rg_group_mpi_group(mine, &rest))

static int node, compared, found, valid;
SHORTAGE_TWICE(node_count, rg_group_node_count(mine, &node))
SHORTAGE_TWICE(compare, rg_group_compare(mine, shortage_group, &compared))
SHORTAGE_TWICE(translate, rg_group_translate(mine, 1, (int[]){0}, shortage_group, &found))
SHORTAGE_TWICE(is_valid, rg_group_is_valid(mine, &valid))

static int compared_right(void) {
  return compared == (rgt_size > 2 ? RG_SIMILAR : RG_CONGRUENT);
}

static int found_right(void) {
  return found == list[0];
}

static int is_found_valid(void) {
  return valid == 1;
}

static int counted(void) {
  return node >= 1 && node <= rgt_size;
}

static int dup_comm(void) {
  return MPI_Comm_dup(MPI_COMM_WORLD, &comm) ? RG_ERR_MPI : RG_SUCCESS;
}

static int free_comm(void) {
  made = NULL; /* the communicator's */
  if (comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  return free_groups();
}

static int same_size(void) {
  int size = 0;
  return rest != MPI_GROUP_NULL && MPI_Group_size(rest, &size) == MPI_SUCCESS && size == rgt_size;
}

static int free_mpi_group(void) {
  if (rest != MPI_GROUP_NULL)
    MPI_Group_free(&rest);
  return free_groups();
}

/* --- of all members ------------------------------------------------------------------------ */

/* With one process there is no second group to merge with. */
static int merge(void) {
  if (rgt_size == 1)
    return rg_group_dup(mine, &made);
  return rg_group_merge(mine, shortage_group, high() ? 0 : middle(), high(), 7, &made);
}

/* The last of the lower half moves up. */
static int reassign(void) {
  if (rgt_size == 1)
    return rg_group_dup(mine, &made);
  return rg_group_reassign(mine, shortage_group, high() ? 0 : middle(), !high(),
                           (int[]){middle() - 1}, 8, &made);
}

static int reassigned(void) {
  if (rgt_size == 1)
    return whole();
  int first = middle() - 1;
  return rgt_rank >= first ? sum_of(made, first, rgt_size - 1) : sum_of(made, 0, first - 1);
}

static int split(void) {
  return rg_group_split(shortage_group, high(), -rgt_rank, &made);
}

static int split_list(void) {
  return rg_group_split(mine, rgt_rank % 3, 0, &made);
}

static int group_comm(void) {
  return rg_group_comm(shortage_group, &comm);
}

static int comm_works(void) {
  int me = rgt_rank, sum = 0;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum == rgt_size * (rgt_size - 1) / 2;
}

static int forget_comm(void) { /* the group's */
  comm = MPI_COMM_NULL;
  return RG_SUCCESS;
}

static int comm_native(void) {
  return rg_comm_create_group(MPI_COMM_WORLD, mpi, 9, RG_METHOD_NATIVE, &comm);
}

static int comm_recursive(void) {
  return rg_comm_create_group(MPI_COMM_WORLD, mpi, 9, RG_METHOD_RECURSIVE, &comm);
}

static int make_sides(void) {
  MPI_Group all;
  int sides[2][3] = {{0, middle() - 1, 1}, {middle(), rgt_size - 1, 1}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, rgt_size > 1 || !high(), &sides[high()], &mpi);
  MPI_Group_range_incl(all, rgt_size > 1, &sides[!high()], &rest);
  return MPI_Group_free(&all) ? RG_ERR_MPI : RG_SUCCESS;
}

static int intercomm(void) {
  return rg_intercomm_create_group(MPI_COMM_WORLD, mpi, rest, 10, RG_METHOD_AUTO, &comm);
}

static int intercomm_works(void) {
  int me = rgt_rank, first = -1, size;
  if (rgt_size == 1)
    return comm == MPI_COMM_NULL;
  MPI_Comm_remote_size(comm, &size);
  MPI_Allreduce(&me, &first, 1, MPI_INT, MPI_MIN, comm);
  return size == (high() ? middle() : rgt_size - middle()) && first == (high() ? 0 : middle());
}

static const shortage_call calls[] = {
    {"rg_group_world", SHORTAGE_ONE, NULL, world, whole, free_groups},
    {"rg_group_from_comm", SHORTAGE_ONE, NULL, from_comm, whole, free_groups},
    {"rg_group_from_mpi_group", SHORTAGE_ONE, make_mpi, from_mpi_group, whole, free_mpi},
    {"rg_group_create", SHORTAGE_ONE, make_list, create, whole, free_groups},
    {"rg_group_create_range", SHORTAGE_ONE, NULL, create_range, whole, free_groups},
    {"rg_group_create_range of a list", SHORTAGE_ONE, make_lists, range_of_list, whole,
     free_groups},
    {"rg_group_dup", SHORTAGE_ONE, make_lists, dup, whole, free_groups},
    {"rg_group_union", SHORTAGE_ONE, make_lists, unite, whole, free_groups},
    {"rg_group_intersection", SHORTAGE_ONE, make_lists, intersect, whole, free_groups},
    {"rg_group_difference", SHORTAGE_ONE, make_half, subtract, NULL, free_groups},
    {"rg_comm_group", SHORTAGE_ONE, dup_comm, group_of_comm, whole, free_comm},
    {"rg_group_set_name", SHORTAGE_ONE, NULL, set_name, NULL, NULL},
    {"rg_group_mpi_group", SHORTAGE_ONE, make_lists, mpi_group, same_size, free_mpi_group},
    {"rg_group_node_count", SHORTAGE_ONE, make_lists, node_count, counted, free_groups},
    {"rg_group_compare", SHORTAGE_ONE, make_lists, compare, compared_right, free_groups},
    {"rg_group_translate", SHORTAGE_ONE, make_lists, translate, found_right, free_groups},
    {"rg_group_is_valid", SHORTAGE_ONE, make_lists, is_valid, is_found_valid, free_groups},
    {"rg_group_merge", SHORTAGE_ALL, make_half, merge, whole, free_groups},
    {"rg_group_reassign", SHORTAGE_ALL, make_half, reassign, reassigned, free_groups},
    {"rg_group_split", SHORTAGE_ALL, NULL, split, own_half, free_groups},
    {"rg_group_split of a list", SHORTAGE_ALL, make_lists, split_list, NULL, free_groups},
    {"rg_group_comm", SHORTAGE_ALL, NULL, group_comm, comm_works, forget_comm},
    {"rg_comm_create_group, native", SHORTAGE_ALL, make_mpi, comm_native, comm_works, free_mpi},
    {"rg_comm_create_group, recursive", SHORTAGE_ALL, make_mpi, comm_recursive, comm_works,
     free_mpi},
    {"rg_intercomm_create_group", SHORTAGE_ALL, make_sides, intercomm, intercomm_works, free_mpi},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_groups", calls);
}
