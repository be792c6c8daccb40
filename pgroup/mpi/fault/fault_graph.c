/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Dist_graph_create. MPI's own waits by probes, which cannot be interrupted: here all members
 * get all edges, by collectives that can, and each makes the graph of those that it has. */
#include <mpi.h>
#include <stdlib.h>

#include "base/error.h"
#include "mpi/fault/fault_comm.h"
#include "mpi/intercept.h"

enum { SOURCE, TARGET, WEIGHT, EDGE };

typedef int graph_edge[EDGE];

typedef struct {
  graph_edge *own, *all;
  int *counts, *displs, *in, *out; /* in, out: the neighbours, and behind them the weights */
  int size, n, total, n_in, n_out;
} graph;

static void free_graph(graph *g) {
  void *all[] = {g->own, g->all, g->counts, g->displs, g->in, g->out};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
}

static int lack_memory(MPI_Comm comm) {
  return rgi_intercept_raise_code(comm, MPI_ERR_NO_MEM,
                                  "regroup: MPI_Dist_graph_create: no memory");
}

static int list_own(graph *g, int n, const int sources[], const int degrees[], const int targets[],
                    const int weights[]) {
  for (int i = 0; i < n; i++)
    g->n += degrees[i];
  g->own = malloc(((size_t)g->n + 1) * sizeof *g->own);
  g->counts = malloc((size_t)g->size * sizeof *g->counts);
  g->displs = malloc((size_t)g->size * sizeof *g->displs);
  if (!g->own || !g->counts || !g->displs)
    return 0;
  for (int i = 0, at = 0; i < n; i++)
    for (int k = 0; k < degrees[i]; k++, at++) {
      g->own[at][SOURCE] = sources[i];
      g->own[at][TARGET] = targets[at];
      g->own[at][WEIGHT] = weights == MPI_UNWEIGHTED ? 1 : weights[at];
    }
  return 1;
}

/* Returns MPI's code, after the handler. */
static int share(graph *g, MPI_Comm comm) {
  int mine = g->n * EDGE, code = MPI_Allgather(&mine, 1, MPI_INT, g->counts, 1, MPI_INT, comm);
  if (code)
    return code;
  for (int i = 0; i < g->size; i++) {
    g->displs[i] = g->total;
    g->total += g->counts[i];
  }
  g->all = malloc(((size_t)g->total + 1) * sizeof(int));
  if (!g->all)
    return lack_memory(comm);
  return MPI_Allgatherv(g->own, mine, MPI_INT, g->all, g->counts, g->displs, MPI_INT, comm);
}

/* Those of the caller's edges that come in or go out. */
static int *pick(const graph *g, int end, int me, int other_end, int *n) {
  int edges = g->total / EDGE, *found = malloc(2 * ((size_t)edges + 1) * sizeof *found);
  for (int i = 0; found && i < edges; i++)
    if (g->all[i][end] == me) {
      found[*n] = g->all[i][other_end];
      found[edges + (*n)++] = g->all[i][WEIGHT];
    }
  return found;
}

static int make(graph *g, MPI_Comm comm, int weighted, MPI_Info info, int reorder,
                MPI_Comm *newcomm) {
  int me, edges = g->total / EDGE;
  PMPI_Comm_rank(comm, &me);
  g->in = pick(g, TARGET, me, SOURCE, &g->n_in);
  g->out = pick(g, SOURCE, me, TARGET, &g->n_out);
  if (!g->in || !g->out)
    return lack_memory(comm);
  return MPI_Dist_graph_create_adjacent(
      comm, g->n_in, g->in, weighted ? g->in + edges : MPI_UNWEIGHTED, g->n_out, g->out,
      weighted ? g->out + edges : MPI_UNWEIGHTED, info, reorder, newcomm);
}

/* MPI tells what is wrong with them. */
static int are_wrong(int n, const int degrees[], const MPI_Comm *newcomm) {
  for (int i = 0; i < n; i++)
    if (degrees[i] < 0)
      return 1;
  return n < 0 || !newcomm;
}

RG_API int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                 const int targets[], const int weights[], MPI_Info info,
                                 int reorder, MPI_Comm *newcomm) {
  graph g = {0};
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  if (!state || state->is_inter || are_wrong(n, degrees, newcomm))
    return RGI_INTERCEPT_NEXT(MPI_Dist_graph_create)(comm, n, sources, degrees, targets, weights,
                                                     info, reorder, newcomm);
  PMPI_Comm_size(comm, &g.size);
  int code =
      list_own(&g, n, sources, degrees, targets, weights) ? share(&g, comm) : lack_memory(comm);
  if (!code)
    code = make(&g, comm, weights != MPI_UNWEIGHTED, info, reorder, newcomm);
  else
    *newcomm = MPI_COMM_NULL;
  free_graph(&g);
  return code;
}
