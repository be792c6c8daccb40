/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A level below a communicator: of each process the largest part of the communicator that shares
 * some resource and is smaller than the communicator. An error of one process must not keep the
 * others waiting: every process takes part in each collective call of a level, and at the end they
 * exchange their errors; after one, all free what they have made. */
#include "topology/descent.h"

#include <stdlib.h>

#include "base/error.h"
#include "formation/comm.h"
#include "formation/errhandler.h"
#include "formation/failure_scope.h"
#include "progress/comm_error.h"
#include "progress/mpi_error.h"
#include "topology/exchange.h"

/* The step from a communicator to the level below it. */
typedef struct {
  const rgi_level_call *c;
  MPI_Comm above;
  const rgi_places *places;
  rgi_level_call_part *all; /* of the processes of above, by rank */
} comm_step;

/* The first level: a process knows the places on its own node only. */
static int gather_parts(const comm_step *step) {
  rgi_level_call_part mine = rgi_level_call_mine(step->c, step->places);
  RGI_TRY(rgi_failure_scope_meet(step->c->call, step->above));
  RGI_TRY_MPI(MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, step->all, (int)sizeof mine,
                            MPI_BYTE, step->above));
  int64_t word = rgi_level_call_word(step->all, step->places->size);
  RGI_TRY(rgi_comm_error_tell(step->above, step->c->call, word, step->c->error));
  return rgi_level_call_check(step->c, step->all, step->places->size);
}

static int describe_level(const comm_step *step, MPI_Comm newcomm) {
  const rgi_places *places = step->places;
  rgi_places_level level;
  rgi_topo_attr *attr;
  int *keys = malloc((size_t)places->size * sizeof *keys);
  for (int r = 0; keys && r < places->size; r++)
    keys[r] = step->all[r].key;
  rgi_places_level_below(places, places->me, step->c->filter, &level);
  int error =
      rgi_topo_attr_set(step->c->call, newcomm,
                        keys ? rgi_places_below(places, places->me, &level, keys) : NULL, &attr);
  free(keys);
  if (error)
    return error;
  attr->type = rgi_places_level_types(places, places->me, step->c->filter, &level, attr->types);
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
  int roots_error = step->c->rooted ? make_roots(step->above, *level, roots) : RG_SUCCESS;
  return error ? error : roots_error;
}

/* From the communicator above, of level k - 1 (the first: that of the call), to the next. */
static int descend_once(const rgi_level_call *c, int k, MPI_Comm above, MPI_Comm *level,
                        MPI_Comm *roots) {
  comm_step step = {.c = c, .above = above};
  RGI_TRY(rgi_exchange_places(c->call, above, &step.places));
  step.all = malloc((size_t)step.places->size * sizeof *step.all);
  int error = step.all ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", c->call);
  if (!error && k == 0)
    error = gather_parts(&step);
  else if (!error)
    rgi_level_call_below(c, step.places, step.all);
  if (!error)
    error = make_level(&step, level, roots);
  free(step.all);
  return error;
}

static void free_comm(MPI_Comm *comm) {
  if (*comm != MPI_COMM_NULL)
    MPI_Comm_free(comm);
}

static int descend_quietly(const rgi_level_call *c, MPI_Comm comm, MPI_Comm comms[],
                           MPI_Comm roots[], int *levels) {
  int n = 0, error = RG_SUCCESS;
  MPI_Comm above = comm;
  while (n < c->most && above != MPI_COMM_NULL && !error) {
    comms[n] = roots[n] = MPI_COMM_NULL;
    error = descend_once(c, n, above, &comms[n], &roots[n]);
    above = comms[n++];
  }
  error = rgi_comm_error_share(comm, c->call, error);
  for (int k = 0; k < n && error; k++) {
    free_comm(&comms[k]);
    free_comm(&roots[k]);
  }
  *levels = n > 0 && comms[n - 1] == MPI_COMM_NULL ? n - 1 : n;
  return error;
}

int rgi_descent_run(const rgi_level_call *c, MPI_Comm comm, MPI_Comm comms[], MPI_Comm roots[],
                    int *levels) {
  MPI_Errhandler handler;
  int entry = rgi_errhandler_begin(comm), n;
  int error = descend_quietly(c, comm, comms, roots, &n);
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
  *levels = n;
  return RG_SUCCESS;
}
