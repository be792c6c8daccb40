/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Butterfly algorithms for any number of ranks. Of the first ranks, pairs (0 and 1, 2 and 3,
 * ...) are folded into one member until a power of two is left, whose members are numbered
 * anew, in the order of ranks. So operands stay in order. */
#ifndef RGI_FOLD_H
#define RGI_FOLD_H

#include "collectives/schedule/algorithm.h"

typedef struct {
  int size;  /* the power of two */
  int extra; /* how many pairs are folded */
  int me;    /* new number, or -1: folded away */
  int keep;  /* a rank that is not folded away, or -1 */
} rgi_fold;

rgi_fold rgi_fold_of(const rgi_subgroup *subgroup, int keep);

/* The rank in the subgroup behind a new number. */
int rgi_fold_rank(const rgi_fold *fold, int number);

/* The new number that stands for a rank. */
int rgi_fold_number(const rgi_fold *fold, int rank);

/* The vector that is combined: the member's operand and later its result, and as much memory to
 * receive in. Its elements, or blocks, have one size or begin at given places. */
typedef struct {
  char *acc, *room;
  size_t bytes, units;
  size_t unit;      /* bytes of an element */
  const size_t *at; /* or: where each begins, and the last one ends */
} rgi_fold_vector;

/* A vector of the elements of the schedule's reduction. */
rgi_fold_vector rgi_fold_vector_of(rgi_sched *sched, char *acc, size_t bytes);

/* Combines acc with another member's operand, in the order of ranks, into acc. */
void rgi_fold_combine(rgi_sched *sched, int theirs_first, char *acc, char *theirs, size_t bytes);

/* The pairs combine their operands. */
void rgi_fold_in(rgi_sched *sched, const rgi_subgroup *subgroup, const rgi_fold *fold,
                 const rgi_fold_vector *vector);

/* The members that were folded away get the result. */
void rgi_fold_out(rgi_sched *sched, const rgi_subgroup *subgroup, const rgi_fold *fold,
                  const rgi_fold_vector *vector);

/* Elements [low, high) of a vector. */
typedef struct {
  size_t low, high;
} rgi_fold_range;

/* Reduce-scatter by recursive halving over the new numbers: at step k partners
 * differ in bit k, one keeps the lower half of what both have and the other the
 * upper one. part[k] is what the caller has before step k, part[log size] after
 * all. */
void rgi_fold_reduce_scatter(rgi_sched *sched, const rgi_subgroup *subgroup, const rgi_fold *fold,
                             const rgi_fold_vector *vector, rgi_fold_range part[]);

#define RGI_FOLD_HALVINGS 32

/* What the partner of step k keeps. */
rgi_fold_range rgi_fold_other_half(const rgi_fold_range part[], int k);

#endif
