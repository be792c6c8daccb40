/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-topo: the job to be drawn, its hierarchy as a tree, and drawing that. */
#ifndef TOPO_TOOL_H
#define TOPO_TOOL_H

#include <jansson.h>
#include <limits.h>
#include <stdio.h>

#include "machine/places.h"

/* --- the job: job.c --------------------------------------------------------------------------- */

/* The job to be drawn: its nodes, and the places of its ranks on them. It is the running job or a
 * pretended one. */

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

/* --- the tree: tree.c ------------------------------------------------------------------------- */

/* A job's hierarchy as a tree of levels: each is a communicator that
 * rg_comm_hierarchy would make of the job. */

#define TOPO_TREE_LABEL 96

typedef struct topo_tree_level {
  const char *type;            /* "Package" */
  char label[TOPO_TREE_LABEL]; /* "Package 1" */
  int also;                    /* resources shared by just the same ranks: their labels */
  char (*extra)[TOPO_TREE_LABEL];
  int count; /* ranks, ascending */
  int *ranks;
  int loose; /* those of them in no level below */
  int *loose_ranks;
  int below; /* levels below, by their lowest ranks */
  struct topo_tree_level **level;
} topo_tree_level;

/* The root is the whole job; below it are the levels that pass the filter. NULL for want of memory.
 */
topo_tree_level *topo_tree_build(const topo_job *job, int filter);
void topo_tree_free(topo_tree_level *root);

/* How many levels are below this one, at most. */
int topo_tree_depth(const topo_tree_level *level);

/* Ranks as "0-3,8", in at most `size` bytes; what is too long ends with "..". */
void topo_tree_ranks_text(int n, const int ranks[], char *text, size_t size);

/* --- drawing: draw_text.c, draw_svg.c, draw_json.c -------------------------------------------- */

/* A job's hierarchy as text, as a picture (SVG) and as JSON. */

void topo_draw_text(FILE *f, const topo_job *job, const topo_tree_level *root);

/* Self-contained SVG: boxes in boxes, a tile for each rank. Returns 0 if it could
 * not be written (or for want of memory). */
int topo_draw_svg(FILE *f, const topo_job *job, const topo_tree_level *root);

/* A new reference, or NULL for want of memory. */
json_t *topo_draw_json(const topo_job *job, const topo_tree_level *root);

#endif
