/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A level below a communicator: of each process the largest part of the communicator that shares
 * some resource and is smaller than the communicator. For the first level each process knows
 * only its own node's places, so all gather their requests (level_request). Further levels lie
 * within one node, and each process works out the requests of all. An error of one process must
 * not keep the others waiting: every process takes part in each collective call of a level,
 * and at the end they exchange their errors; after one, all free what they have made. */
#include "topology/descent.h"

#include <stdlib.h>

#include "base/error.h"
#include "formation/comm.h"
#include "formation/errhandler.h"
#include "progress/comm_error.h"
#include "progress/mpi_error.h"
#include "topology/exchange.h"

/* What a process contributes to making a level. */
typedef struct {
  int error;
  int filter;
  int shape; /* of the call: levels and roots */
  int key;
  int first; /* the lowest rank of its level, or -1 */
} level_request;

static int first_below(const rgi_places *p, int row, int filter) {
  rgi_places_level level;
  return rgi_places_level_below(p, row, filter, &level) ? level.first : -1;
}

static int check_requests(const rgi_descent *d, const level_request all[], int size) {
  for (int r = 0; r < size; r++)
    if (all[r].error)
      return rgi_comm_error_tell(d->comm, d->call, rgi_error_report_word(all[r].error, r),
                                 d->error);
  for (int r = 0; r < size; r++) {
    if (all[r].filter != all[0].filter)
      return rgi_error(RG_ERR_MISMATCH, "%s: rank %d has the filter %d, rank 0 has %d", d->call, r,
                       all[r].filter, all[0].filter);
    if (all[r].shape != all[0].shape)
      return rgi_error(RG_ERR_MISMATCH,
                       "%s: rank %d and rank 0 made different calls, or ask for different numbers "
                       "of levels or roots",
                       d->call, r);
  }
  return RG_SUCCESS;
}

/* The first level: a process knows the places on its own node only. */
static int gather_requests(const rgi_descent *d, const rgi_places *p, level_request all[]) {
  level_request mine = {d->error, d->filter, 2 * d->most + d->rooted, d->key, -1};
  if (!d->error)
    mine.first = first_below(p, p->me, d->filter);
  RGI_TRY_MPI(
      MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, d->comm));
  return check_requests(d, all, p->size);
}

/* Further levels lie within a node, whose places each process knows. */
static void work_out_requests(const rgi_descent *d, const rgi_places *p, level_request all[]) {
  for (int r = 0; r < p->size; r++)
    all[r] = (level_request){.first = first_below(p, r, d->filter)};
}

static int describe_level(const rgi_descent *d, const rgi_places *p, const level_request all[],
                          MPI_Comm newcomm) {
  rgi_places_level level;
  rgi_topo_attr *a;
  int *keys = malloc((size_t)p->size * sizeof *keys);
  for (int r = 0; keys && r < p->size; r++)
    keys[r] = all[r].key;
  rgi_places_level_below(p, p->me, d->filter, &level);
  int error = rgi_topo_attr_set(d->call, newcomm,
                                keys ? rgi_places_below(p, p->me, &level, keys) : NULL, &a);
  free(keys);
  if (error)
    return error;
  a->type = rgi_places_level_types(p, p->me, d->filter, &level, a->types);
  for (int r = 0; r < p->size; r++)
    if (all[r].first == r) {
      a->siblings++;
      a->index += r < level.first;
    }
  return rgi_comm_track(newcomm);
}

static int make_roots(MPI_Comm comm, MPI_Comm level, MPI_Comm *roots) {
  int rank = -1;
  if (level != MPI_COMM_NULL)
    MPI_Comm_rank(level, &rank);
  RGI_TRY_MPI(MPI_Comm_split(comm, rank == 0 ? 0 : MPI_UNDEFINED, 0, roots));
  return *roots == MPI_COMM_NULL ? RG_SUCCESS : rgi_comm_track(*roots);
}

/* Collective over comm, also for processes that have no level below. */
static int make_level(const rgi_descent *d, MPI_Comm comm, const rgi_places *p,
                      const level_request all[], MPI_Comm *level, MPI_Comm *roots) {
  int any = 0, error = RG_SUCCESS;
  const level_request *mine = &all[p->at[p->me].rank];
  for (int r = 0; r < p->size; r++)
    any |= all[r].first >= 0;
  if (!any)
    return RG_SUCCESS;
  RGI_TRY_MPI(
      MPI_Comm_split(comm, mine->first < 0 ? MPI_UNDEFINED : mine->first, mine->key, level));
  if (*level != MPI_COMM_NULL)
    error = describe_level(d, p, all, *level);
  int roots_error = d->rooted ? make_roots(comm, *level, roots) : RG_SUCCESS;
  return error ? error : roots_error;
}

/* From the level above (at the first: d->comm) to the next. */
static int descend_once(const rgi_descent *d, int k, MPI_Comm above, MPI_Comm *level,
                        MPI_Comm *roots) {
  const rgi_places *p;
  RGI_TRY(rgi_exchange_places(d->call, above, &p));
  level_request *all = malloc((size_t)p->size * sizeof *all);
  int error = all ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", d->call);
  if (!error && k == 0)
    error = gather_requests(d, p, all);
  else if (!error)
    work_out_requests(d, p, all);
  if (!error)
    error = make_level(d, above, p, all, level, roots);
  free(all);
  return error;
}

static void free_comm(MPI_Comm *comm) {
  if (*comm != MPI_COMM_NULL)
    MPI_Comm_free(comm);
}

static int descend_quietly(const rgi_descent *d, MPI_Comm comms[], MPI_Comm roots[], int *levels) {
  int n = 0, error = RG_SUCCESS;
  MPI_Comm above = d->comm;
  while (n < d->most && above != MPI_COMM_NULL && !error) {
    comms[n] = roots[n] = MPI_COMM_NULL;
    error = descend_once(d, n, above, &comms[n], &roots[n]);
    above = comms[n++];
  }
  error = rgi_comm_error_share(d->comm, d->call, error);
  for (int k = 0; k < n && error; k++) {
    free_comm(&comms[k]);
    free_comm(&roots[k]);
  }
  *levels = n > 0 && comms[n - 1] == MPI_COMM_NULL ? n - 1 : n;
  return error;
}

int rgi_descent_run(const rgi_descent *d, MPI_Comm comms[], MPI_Comm roots[], int *levels) {
  MPI_Errhandler handler;
  int entry = rgi_errhandler_begin(d->comm), n;
  int error = descend_quietly(d, comms, roots, &n);
  rgi_errhandler_end(entry, MPI_COMM_NULL);
  if (error)
    return error;
  MPI_Comm_get_errhandler(d->comm, &handler);
  for (int k = 0; k < n; k++) {
    MPI_Comm_set_errhandler(comms[k], handler);
    if (roots[k] != MPI_COMM_NULL)
      MPI_Comm_set_errhandler(roots[k], handler);
  }
  MPI_Errhandler_free(&handler);
  *levels = n;
  return RG_SUCCESS;
}
