/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "place.h"

#include <stdlib.h>

#include "job.h"
#include "settings.h"
#include "shm/node.h"

#define TAG 6

/* Nodes are numbered in the order of their lowest ranks. */
static int count_nodes(int ranks) {
  int nodes = 0;
  for (int r = 0; r < ranks; r++)
    nodes += rgi_node_of(r) == nodes; /* the first rank of the next node */
  return nodes;
}

/* The same of processes that are not the first ones. */
static int count_nodes_of(rg_group g, int ranks) {
  int *list = malloc((size_t)ranks * sizeof *list), nodes = 0;
  if (!list)
    return 1;
  rg_group_members(g, list);
  for (int r = 0, earlier; r < ranks; r++) {
    for (earlier = 0; earlier < r && rgi_node_of(list[earlier]) != rgi_node_of(list[r]); earlier++)
      continue;
    nodes += earlier == r;
  }
  free(list);
  return nodes;
}

static int begin_with_initiators(bench_place *place) {
  const rg_inter_view *v = &bench_all.view;
  *place = (bench_place){.ranks = v->initiator_size,
                         .member = v->is_initiator,
                         .rank = v->global_rank,
                         .comm = MPI_COMM_NULL};
  if (!place->member)
    return RG_SUCCESS;
  MPI_Comm_dup(v->local, &place->comm);
  int error = rg_group_from_comm(v->local, &place->group);
  if (!error)
    place->nodes = count_nodes_of(place->group, place->ranks);
  return error;
}

int bench_place_begin(bench_place *place, int ranks) {
  rg_group world;
  if (bench_all.view.is_inter)
    return begin_with_initiators(place);
  int error = rg_group_world(&world);
  *place = (bench_place){.ranks = ranks, .comm = MPI_COMM_NULL};
  if (error)
    return error;
  MPI_Comm_rank(MPI_COMM_WORLD, &place->rank);
  place->member = place->rank < ranks;
  place->nodes = count_nodes(ranks);
  MPI_Comm_split(MPI_COMM_WORLD, place->member ? 0 : MPI_UNDEFINED, place->rank, &place->comm);
  if (place->member)
    error = rg_group_create_range(world, 0, ranks - 1, 1, TAG, &place->group);
  rg_group_free(&world);
  return error;
}

void bench_place_end(bench_place *place) {
  rg_group_free(&place->group);
  if (place->comm != MPI_COMM_NULL)
    MPI_Comm_free(&place->comm);
}

int bench_places(const char *text, int least, int out[BENCH_PLACES], char why[RGP_TEXT]) {
  int np;
  if (bench_job_grouped()) {
    out[0] = least;
    if (text)
      snprintf(why, RGP_TEXT, "--ranks: with %s the groups are measured as they are",
               bench_job_option());
    return text ? -1 : 1;
  }
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  if (np < least) {
    snprintf(why, RGP_TEXT, "at least %d ranks are needed: mpiexec -n %d ...", least, least);
    return -1;
  }
  if (text)
    return bench_numbers("--ranks", text, least, np, BENCH_PLACES, out, why);
  out[0] = np;
  return 1;
}
