/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Algorithms that the user asks for by name. */
#ifndef RGI_FORCE_H
#define RGI_FORCE_H

#include <regroup/collectives.h>

/* A row of the operation's table; -1: automatic. between, inside: for the
 * hierarchical one, rows of the tables of rgi_force_op_between and rgi_force_op_inside. */
typedef struct {
  signed char row, between, inside;
} rgi_force;

#define RGI_FORCE_NONE ((rgi_force){-1, -1, -1})

/* What the hierarchical form of an operation does between the nodes, and inside
 * a node first. */
rg_operation rgi_force_op_between(rg_operation op);
rg_operation rgi_force_op_inside(rg_operation op);

/* A name as rg_group_set_algorithm takes it. RG_ERR_OPTION. */
int rgi_force_parse(const char *call, rg_operation op, const char *name, rgi_force *force);

/* Puts what RG_COLL asks for over forced[RG_OP_COUNT]; *any: whether there is
 * something. Reads the variable once. RG_ERR_OPTION. */
int rgi_force_environment(rgi_force forced[], int *any);

#endif
