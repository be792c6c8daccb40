/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The running job: rank 0 gathers the place of each rank. A pretended one: the library places each
 * rank of each node on the pretended machine. */
#include "tool.h"

#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/option_table.h"
#include "machine/machine.h"
#include "progress/mpi_error.h"
#include "topology/topo_attr.h"

/* What each process of the running job sends. */
typedef struct {
  int node; /* the lowest rank there */
  char name[TOPO_JOB_NAME];
  rgi_machine_place place;
} rank_info;

static int no_memory(const char *program) {
  return rgi_error(RG_ERR_NOMEM, "%s: no memory for the job", program);
}

/* --- the running job ------------------------------------------------------- */

static int count_on_node(const rank_info infos[], int ranks, int node) {
  int n = 0;
  for (int r = 0; r < ranks; r++)
    n += infos[r].node == node;
  return n;
}

static int fill_node(const rank_info infos[], int ranks, int lowest, topo_job_node *node) {
  int n = 0;
  memcpy(node->name, infos[lowest].name, sizeof node->name);
  node->places = rgi_places_new(ranks, count_on_node(infos, ranks, lowest));
  for (int r = lowest; r < ranks && node->places; r++)
    if (infos[r].node == lowest)
      node->places->at[n++] = infos[r].place;
  return node->places != NULL;
}

static const char *given_text(rgi_options_id id) {
  const char *text = rgi_option_text(id);
  return *text ? text : NULL;
}

static int job_from_infos(const char *program, const rank_info infos[], int ranks, topo_job *job) {
  *job = (topo_job){.ranks = ranks,
                    .machine = given_text(RGI_OPT_TOPOLOGY),
                    .binding = given_text(RGI_OPT_BIND),
                    .node = calloc((size_t)ranks, sizeof *job->node)};
  int good = job->node != NULL;
  for (int r = 0; r < ranks && good; r++)
    if (infos[r].node == r)
      good = fill_node(infos, ranks, r, &job->node[job->nodes++]);
  if (good)
    return RG_SUCCESS;
  topo_job_free(job);
  return no_memory(program);
}

static void fill_rank_info(const rgi_places *places, rank_info *mine) {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length;
  MPI_Get_processor_name(name, &length);
  *mine = (rank_info){.node = places->at[0].rank, .place = places->at[places->me]};
  snprintf(mine->name, sizeof mine->name, "%.*s", TOPO_JOB_NAME - 1, name);
}

int topo_job_running(const char *program, topo_job *job) {
  const rgi_places *places;
  rank_info mine, *infos = NULL;
  int rank, size;
  RGI_TRY(rgi_topo_attr_exchange(program, MPI_COMM_WORLD, &places));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  fill_rank_info(places, &mine);
  if (rank == 0)
    infos = malloc((size_t)size * sizeof *infos);
  RGI_TRY(rgi_mpi_error_share(MPI_COMM_WORLD, program,
                              rank == 0 && !infos ? no_memory(program) : RG_SUCCESS));
  MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, infos, (int)sizeof mine, MPI_BYTE, 0,
             MPI_COMM_WORLD);
  int error = rank == 0 ? job_from_infos(program, infos, size, job) : RG_SUCCESS;
  free(infos);
  return error;
}

/* --- a pretended job ------------------------------------------------------- */

/* The next node of the job, of `nodes`, with its block of ranks. */
static int pretend_node(const char *program, const rgi_machine *machine, int nodes, topo_job *job) {
  long k = job->nodes++;
  int first = (int)(k * job->ranks / nodes), end = (int)((k + 1) * job->ranks / nodes);
  topo_job_node *node = &job->node[k];
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  int error = RG_SUCCESS;
  snprintf(node->name, sizeof node->name, "node%ld", k);
  node->places = rgi_places_new(job->ranks, end - first);
  if (!set || !node->places)
    error = no_memory(program);
  for (int r = first; r < end && !error; r++) {
    error = rgi_machine_bind_pretended(program, machine, job->binding,
                                       (rgi_machine_process){r - first, end - first}, set);
    if (!error)
      rgi_machine_place_of(machine, set, &node->places->at[r - first]);
    node->places->at[r - first].rank = r;
  }
  hwloc_bitmap_free(set);
  return error;
}

static int pretend_nodes(const char *program, const rgi_machine *machine,
                         const topo_job_options *pretended, topo_job *job) {
  int threads = hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_PU), error = RG_SUCCESS;
  int nodes = pretended->nodes == TOPO_JOB_DEFAULT ? 1 : pretended->nodes;
  int ranks = pretended->ranks == TOPO_JOB_DEFAULT ? threads * nodes : pretended->ranks;
  if (ranks < nodes)
    return rgi_error(RG_ERR_ARG, "%s: --ranks %d: each of the %d nodes needs one", program, ranks,
                     nodes);
  *job = (topo_job){.ranks = ranks,
                    .machine = pretended->machine,
                    .binding = pretended->bind ? pretended->bind : "compact",
                    .node = calloc((size_t)nodes, sizeof *job->node)};
  if (!job->node)
    return no_memory(program);
  while (job->nodes < nodes && !error)
    error = pretend_node(program, machine, nodes, job);
  if (error)
    topo_job_free(job);
  return error;
}

int topo_job_pretended(const char *program, const topo_job_options *pretended, topo_job *job) {
  rgi_machine machine;
  RGI_TRY(rgi_machine_open(program, pretended->machine, &machine));
  int error = pretend_nodes(program, &machine, pretended, job);
  rgi_machine_close(&machine);
  return error;
}

void topo_job_free(topo_job *job) {
  for (int i = 0; i < job->nodes; i++)
    rgi_places_release(job->node[i].places);
  free(job->node);
  *job = (topo_job){0};
}
