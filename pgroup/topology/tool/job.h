/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The job to be drawn: its nodes, and the places of its ranks on them. It is the running job or a
 * pretended one. */
#ifndef TOPO_JOB_H
#define TOPO_JOB_H

#include "machine/places.h"
#include <limits.h>

#define TOPO_JOB_NAME 64

/* The ranks of one node. */
typedef struct {
  char name[TOPO_JOB_NAME];
  rgi_places *places; /* the rank in a place is the job's */
} topo_job_node;

typedef struct {
  int ranks, nodes;
  topo_job_node *node;
  const char *machine, *binding; /* pretended ones, or NULL */
} topo_job;

/* What the command line pretends. */
#define TOPO_JOB_DEFAULT INT_MIN
typedef struct {
  char *machine, *bind;
  int ranks, nodes;
} topo_job_options;

/* The job of MPI_COMM_WORLD. Collective; only rank 0 gets it. Errors as in
 * regroup/topology.h. */
int topo_job_running(const char *program, topo_job *job);

/* A job of processes (by default one for each hardware thread) on nodes of one kind (by default
 * one), in blocks: the first ones on the first node. Local. */
int topo_job_pretended(const char *program, const topo_job_options *pretended, topo_job *job);

void topo_job_free(topo_job *job);

#endif
