/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The public calls that make communicators of hardware levels: each checks its arguments and
 * describes a descent. */
#include <mpi.h>
#include <regroup/topology.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/comm.h"
#include "formation/errhandler.h"
#include "formation/failure_scope.h"
#include "progress/mpi_error.h"
#include "topology/level_call.h"
#include "topology/topo_attr.h"

/* --- the descent ---------------------------------------------------------------------- */

/* A level below a communicator: of each process the largest part of the communicator that shares
 * some resource and is smaller than the communicator. An error of one process must not keep the
 * others waiting: every process takes part in each collective call of a level, and at the end they
 * exchange their errors; after one, all free what they have made. */

/* The step from a communicator to the level below it. */
typedef struct {
  const rgi_level_call *split;
  MPI_Comm above;
  const rgi_places *places;
  rgi_level_call_part *all; /* of the processes of above, by rank */
} comm_step;

/* The first level: a process knows the places on its own node only. */
static int gather_parts(const comm_step *step) {
  rgi_level_call_part mine = rgi_level_call_mine(step->split, step->places);
  RGI_TRY(rgi_failure_scope_meet(step->split->call, step->above));
  RGI_TRY_MPI(MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, step->all, (int)sizeof mine,
                            MPI_BYTE, step->above));
  int64_t word = rgi_level_call_word(step->all, step->places->size);
  RGI_TRY(rgi_mpi_error_tell(step->above, step->split->call, word, step->split->error));
  return rgi_level_call_check(step->split, step->all, step->places->size);
}

static int describe_level(const comm_step *step, MPI_Comm newcomm) {
  const rgi_places *places = step->places;
  rgi_places_level level;
  rgi_topo_attr *attr;
  int *keys = rgi_spare_alloc((size_t)places->size * sizeof *keys);
  for (int r = 0; keys && r < places->size; r++)
    keys[r] = step->all[r].key;
  rgi_places_level_below(places, places->me, step->split->choice, &level);
  int error =
      rgi_topo_attr_set(step->split->call, newcomm,
                        keys ? rgi_places_below(places, places->me, &level, keys) : NULL, &attr);
  rgi_spare_free(keys);
  if (error)
    return error;
  attr->type = rgi_places_level_types(places, places->me, step->split->choice, &level, attr->types);
  attr->siblings = rgi_level_call_siblings(step->all, places->size, level.first, &attr->index);
  return rgi_comm_track(newcomm);
}

static int make_roots(MPI_Comm comm, MPI_Comm level, MPI_Comm *roots) {
  int rank = -1;
  if (level != MPI_COMM_NULL)
    MPI_Comm_rank(level, &rank);
  RGI_TRY_MPI(MPI_Comm_split(comm, rank == 0 ? 0 : MPI_UNDEFINED, 0, roots));
  return *roots == MPI_COMM_NULL ? RG_SUCCESS : rgi_comm_track(*roots);
}

/* Collective over the communicator above, also for processes that have no level below. */
static int make_level(const comm_step *step, MPI_Comm *level, MPI_Comm *roots) {
  const rgi_places *places = step->places;
  int any = 0, error = RG_SUCCESS;
  const rgi_level_call_part *mine = &step->all[places->at[places->me].rank];
  for (int r = 0; r < places->size; r++)
    any |= step->all[r].first >= 0;
  if (!any)
    return RG_SUCCESS;
  RGI_TRY_MPI(
      MPI_Comm_split(step->above, mine->first < 0 ? MPI_UNDEFINED : mine->first, mine->key, level));
  if (*level != MPI_COMM_NULL)
    error = describe_level(step, *level);
  int roots_error = step->split->rooted ? make_roots(step->above, *level, roots) : RG_SUCCESS;
  return error ? error : roots_error;
}

/* From the communicator above, of level k - 1 (the first: that of the call), to the next. */
static int descend_once(const rgi_level_call *split, int k, MPI_Comm above, MPI_Comm *level,
                        MPI_Comm *roots) {
  comm_step step = {.split = split, .above = above};
  RGI_TRY(rgi_topo_attr_exchange(split->call, above, &step.places));
  step.all = rgi_spare_alloc((size_t)step.places->size * sizeof *step.all);
  int error = step.all ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", split->call);
  if (!error && k == 0)
    error = gather_parts(&step);
  else if (!error)
    rgi_level_call_below(split, step.places, step.all);
  if (!error)
    error = make_level(&step, level, roots);
  rgi_spare_free(step.all);
  return error;
}

static void free_comm(MPI_Comm *comm) {
  if (*comm != MPI_COMM_NULL)
    MPI_Comm_free(comm);
}

static int descend_quietly(const rgi_level_call *split, MPI_Comm comm, MPI_Comm comms[],
                           MPI_Comm roots[], int *levels) {
  int n = 0, error = RG_SUCCESS;
  MPI_Comm above = comm;
  while (n < split->most && above != MPI_COMM_NULL && !error) {
    comms[n] = roots[n] = MPI_COMM_NULL;
    error = descend_once(split, n, above, &comms[n], &roots[n]);
    above = comms[n++];
  }
  error = rgi_mpi_error_share(comm, split->call, error);
  for (int k = 0; k < n && error; k++) {
    free_comm(&comms[k]);
    free_comm(&roots[k]);
  }
  *levels = n > 0 && comms[n - 1] == MPI_COMM_NULL ? n - 1 : n;
  return error;
}

static void tell_none(const rgi_level_call *split, MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  rgi_level_call_tell_none(split, rank);
}

/* Collective over comm. Fills comms and, if rooted, roots: *levels of them. */
static int descend(const rgi_level_call *split, MPI_Comm comm, MPI_Comm comms[], MPI_Comm roots[],
                   int *levels) {
  MPI_Errhandler handler;
  int entry = rgi_errhandler_begin(comm), n;
  int error = descend_quietly(split, comm, comms, roots, &n);
  rgi_errhandler_end(entry, MPI_COMM_NULL);
  if (error)
    return error;
  MPI_Comm_get_errhandler(comm, &handler);
  for (int k = 0; k < n; k++) {
    MPI_Comm_set_errhandler(comms[k], handler);
    if (roots[k] != MPI_COMM_NULL)
      MPI_Comm_set_errhandler(roots[k], handler);
  }
  MPI_Errhandler_free(&handler);
  if (n == 0)
    tell_none(split, comm);
  *levels = n;
  return RG_SUCCESS;
}

static int split_once(const rgi_level_call *split, MPI_Comm comm, MPI_Comm *newcomm) {
  MPI_Comm level, roots;
  int levels;
  RGI_TRY(descend(split, comm, &level, &roots, &levels));
  *newcomm = levels ? level : MPI_COMM_NULL;
  return RG_SUCCESS;
}

int rg_comm_split_topology(MPI_Comm comm, int filter, int key, MPI_Comm *newcomm) {
  RGI_REQUIRE(newcomm);
  RGI_TRY(rgi_topo_attr_check_comm(__func__, comm));
  rgi_level_call c = rgi_level_call_of(__func__, filter, key, 1, 0);
  return split_once(&c, comm, newcomm);
}

int rg_comm_split_level(MPI_Comm comm, const char *type, int key, MPI_Comm *newcomm) {
  RGI_REQUIRE(newcomm);
  RGI_TRY(rgi_topo_attr_check_comm(__func__, comm));
  rgi_level_call c = rgi_level_call_named(__func__, type, key);
  return split_once(&c, comm, newcomm);
}

static int filter_from_info(const char *call, MPI_Info info, int *filter) {
  char value[128];
  int found = 0;
  *filter = RG_LEVEL_ALL;
  if (info != MPI_INFO_NULL)
    RGI_TRY_MPI(MPI_Info_get(info, "rg_level_filter", (int)sizeof value - 1, value, &found));
  return found ? rgi_level_filter_parse(call, value, filter) : RG_SUCCESS;
}

int rg_comm_hsplit_with_roots(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                              MPI_Comm *rootscomm) {
  MPI_Comm level, roots;
  int levels;
  RGI_REQUIRE(newcomm);
  RGI_REQUIRE(rootscomm);
  RGI_TRY(rgi_topo_attr_check_comm(__func__, comm));
  rgi_level_call c = {.call = __func__, .most = 1, .rooted = 1};
  c.error = filter_from_info(c.call, info, &c.choice.filter);
  RGI_TRY(descend(&c, comm, &level, &roots, &levels));
  *newcomm = levels ? level : MPI_COMM_NULL;
  *rootscomm = levels ? roots : MPI_COMM_NULL;
  return RG_SUCCESS;
}

int rg_comm_hierarchy(MPI_Comm comm, int filter, int max, MPI_Comm comms[], MPI_Comm roots[],
                      int *levels) {
  MPI_Comm made[RG_LEVELS_MOST], made_roots[RG_LEVELS_MOST];
  int n;
  RGI_REQUIRE(comms);
  RGI_REQUIRE(levels);
  RGI_TRY(rgi_topo_attr_check_comm(__func__, comm));
  rgi_level_call c = rgi_level_call_of(__func__, filter, 0, max, roots != NULL);
  RGI_TRY(descend(&c, comm, made, made_roots, &n));
  for (int k = 0; k < n; k++) {
    comms[k] = made[k];
    if (roots)
      roots[k] = made_roots[k];
  }
  *levels = n;
  return RG_SUCCESS;
}
