/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Global Arrays' groups. They are formed by their members alone. Global Arrays requires other
 * processes to call, too: a process that is not a member only notes who the members are. */
#include "ga/ga_group.h"

#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "ga/ga_handle.h"
#include "ga_core.h"

typedef struct {
  rg_group group; /* NULL: the caller is not in it */
  int n, *world;  /* then: its members */
} numbered_group;

int rgi_ga_group_default = RGI_GA_WORLD;
rg_group rgi_ga_group_current;
static rg_group world;
static numbered_group **groups; /* number i is groups[i - 1] */
static int groups_n, next_free;

static numbered_group *numbered(const char *call, int number) {
  numbered_group *found = number >= 1 && number <= groups_n ? groups[number - 1] : NULL;
  if (!found)
    rgi_ga_error_end(call, 0, "there is no group %d", number);
  return found;
}

rg_group rgi_ga_group_of(const char *call, int number) {
  if (number == RGI_GA_WORLD && world)
    return world;
  if (number == RGI_GA_WORLD)
    rgi_ga_error_end(call, 0, "GA_Initialize has not been called");
  rg_group group = numbered(call, number)->group;
  if (!group)
    rgi_ga_error_end(call, 0, "this process is not in group %d", number);
  return group;
}

void rgi_ga_group_synchronise(const char *call, int g, rg_group group) {
  rgi_ga_error_check(call, g, rg_array_fence(NULL));
  rgi_ga_error_check(call, g, rg_barrier(group));
}

int rgi_ga_group_start(void) {
  int code = rg_group_world(&world);
  rgi_ga_group_default = RGI_GA_WORLD;
  rgi_ga_group_current = world;
  return code;
}

int rgi_ga_group_replace(rg_group survivors) {
  rg_group copy;
  int code = rg_group_dup(survivors, &copy);
  if (code != RG_SUCCESS)
    return code;
  rg_group_free(&world);
  world = rgi_ga_group_current = copy;
  rgi_ga_group_default = RGI_GA_WORLD;
  return RG_SUCCESS;
}

static void free_group(int i) {
  rg_group_free(&groups[i]->group);
  free(groups[i]->world);
  free(groups[i]);
  groups[i] = NULL;
  next_free = i < next_free ? i : next_free;
}

void rgi_ga_group_stop(void) {
  for (int i = 0; i < groups_n; i++)
    if (groups[i])
      free_group(i);
  rg_group_free(&world);
  rgi_ga_group_current = NULL;
}

/* Gives the group a number. */
static int number_group(const char *call, rg_group group, int n, int *members) {
  while (next_free < groups_n && groups[next_free])
    next_free++;
  if (next_free == groups_n) {
    int more = groups_n ? 2 * groups_n : 16;
    numbered_group **grown = realloc(groups, (size_t)more * sizeof *groups);
    if (!grown)
      rgi_ga_error_end(call, 0, "no memory for a group");
    memset(grown + groups_n, 0, (size_t)(more - groups_n) * sizeof *groups);
    groups = grown;
    groups_n = more;
  }
  numbered_group *made = malloc(sizeof *made);
  if (!made)
    rgi_ga_error_end(call, 0, "no memory for a group");
  *made = (numbered_group){.group = group, .n = n, .world = members};
  groups[next_free] = made;
  return next_free + 1;
}

static int *translated(const char *call, rg_group group, int n, const int ranks[]) {
  int *members = malloc((size_t)(n > 0 ? n : 1) * sizeof *members);
  if (!members)
    rgi_ga_error_end(call, 0, "no memory for a group");
  rgi_ga_error_check(call, 0, rg_group_translate(group, n, ranks, world, members));
  return members;
}

int rgi_ga_pgroup_create(const int list[], int count) {
  rg_group made = NULL;
  RGI_GA_TRY(0, rg_group_create(rgi_ga_group_current, count, list, 0, &made));
  int *members = made ? NULL : translated(__func__, rgi_ga_group_current, count, list);
  return number_group(__func__, made, count, members);
}

int rgi_ga_pgroup_destroy(int grp) {
  numbered(__func__, grp);
  if (grp == rgi_ga_group_default)
    rgi_ga_error_end(__func__, 0, "group %d is the default group", grp);
  free_group(grp - 1);
  return 1;
}

int rgi_ga_pgroup_duplicate(int grp) {
  rg_group copy = NULL;
  RGI_GA_TRY(0, rg_group_dup(rgi_ga_group_of(__func__, grp), &copy));
  return number_group(__func__, copy, 0, NULL);
}

int rgi_ga_pgroup_self(void) {
  rg_group self = NULL;
  int rank = rgi_ga_nodeid();
  RGI_GA_TRY(0, rg_group_create_range(rgi_ga_group_current, rank, rank, 1, 0, &self));
  return number_group(__func__, self, 0, NULL);
}

/* Groups of neighbours, of as many each but for the last one; a member gets the number of its own.
 */
int rgi_ga_pgroup_split(int grp_id, int num_group) {
  rg_group parent = rgi_ga_group_of(__func__, grp_id), part = NULL;
  int size = rgi_ga_pgroup_nnodes(grp_id), rank = rgi_ga_pgroup_nodeid(grp_id);
  if (num_group == 0)
    return grp_id;
  if (num_group < 0)
    rgi_ga_error_end(__func__, 0, "num_group is %d", num_group);
  int each = size / num_group + (size % num_group != 0), first = rank / each * each;
  int last = first + each < size ? first + each - 1 : size - 1;
  RGI_GA_TRY(0, rg_group_create_range(parent, first, last, 1, 0, &part));
  return number_group(__func__, part, 0, NULL);
}

int rgi_ga_pgroup_split_irreg(int grp_id, int color) {
  rg_group part = NULL;
  if (color < 0)
    rgi_ga_error_end(__func__, 0, "color is %d", color);
  RGI_GA_TRY(0, rg_group_split(rgi_ga_group_of(__func__, grp_id), color, 0, &part));
  return number_group(__func__, part, 0, NULL);
}

void rgi_ga_pgroup_set_default(int p_handle) {
  rgi_ga_group_current = rgi_ga_group_of(__func__, p_handle);
  rgi_ga_group_default = p_handle;
}

int rgi_ga_pgroup_get_default(void) {
  return rgi_ga_group_default;
}

int rgi_ga_pgroup_get_world(void) {
  return RGI_GA_WORLD;
}

/* Nothing is mirrored: all processes. */
int rgi_ga_pgroup_get_mirror(void) {
  return RGI_GA_WORLD;
}

int rgi_ga_pgroup_nnodes(int grp_id) {
  int size;
  if (grp_id != RGI_GA_WORLD) {
    const numbered_group *found = numbered(__func__, grp_id);
    if (!found->group)
      return found->n;
  }
  RGI_GA_TRY(0, rg_group_size(rgi_ga_group_of(__func__, grp_id), &size));
  return size;
}

/* The caller's rank; -1 if it is not in the group. */
int rgi_ga_pgroup_nodeid(int grp_id) {
  int rank;
  if (grp_id != RGI_GA_WORLD && !numbered(__func__, grp_id)->group)
    return -1;
  RGI_GA_TRY(0, rg_group_rank(rgi_ga_group_of(__func__, grp_id), &rank));
  return rank;
}

int rgi_ga_get_pgroup_size(int grp_id) {
  return rgi_ga_pgroup_nnodes(grp_id);
}

int rgi_ga_pgroup_absolute_id(int pgroup, int pid) {
  int absolute;
  if (pid < 0 || pid >= rgi_ga_pgroup_nnodes(pgroup))
    rgi_ga_error_end(__func__, 0, "group %d has no process %d", pgroup, pid);
  if (pgroup != RGI_GA_WORLD && !numbered(__func__, pgroup)->group)
    return numbered(__func__, pgroup)->world[pid];
  RGI_GA_TRY(0, rg_group_translate(rgi_ga_group_of(__func__, pgroup), 1, &pid, world, &absolute));
  return absolute;
}

int rgi_ga_nodeid(void) {
  return rgi_ga_pgroup_nodeid(rgi_ga_group_default);
}

int rgi_ga_nnodes(void) {
  return rgi_ga_pgroup_nnodes(rgi_ga_group_default);
}

void rgi_ga_list_nodeid(int list[], int nprocs) {
  for (int i = 0; i < nprocs; i++)
    list[i] = i;
}

static MPI_Comm view(const char *call, int number) {
  MPI_Comm comm = MPI_COMM_NULL;
  rgi_ga_error_check(call, 0, rg_group_comm(rgi_ga_group_of(call, number), &comm));
  return comm;
}

MPI_Comm rgi_ga_mpi_comm(void) {
  return view(__func__, RGI_GA_WORLD);
}

MPI_Comm rgi_ga_mpi_comm_pgroup(int pgroup) {
  return view(__func__, pgroup);
}

MPI_Comm rgi_ga_mpi_comm_pgroup_default(void) {
  return view(__func__, rgi_ga_group_default);
}
