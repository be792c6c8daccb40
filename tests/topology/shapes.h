/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pretended machines and what must hold on each of them. */
#ifndef SHAPES_H
#define SHAPES_H

#include "oracle.h"

/* A machine and a binding, in the words of RG_TOPOLOGY and RG_BIND. */
typedef struct {
  const char *machine, *bind;
} shape;

extern const shape shapes[];
extern const int shape_count;

/* Pretends the machine and the binding in this process, and gives them to the oracle.
 * Collective. */
void shape_begin(const shape *s, oracle *o);
void shape_end(oracle *o);

/* Everything below `comm`, a duplicate of the world, against the oracle: level by
 * level and in one call. */
void expect_descent(const oracle *o, MPI_Comm comm, int filter);
void expect_hierarchy(const oracle *o, MPI_Comm comm, int filter);

/* Levels by name: of communicators, and of the group g of the same processes. */
void expect_named(const oracle *o, MPI_Comm comm, rg_group g);

/* rg_comm_min_hlevel for random lists. */
void expect_lowest(const oracle *o, MPI_Comm comm);

#endif
