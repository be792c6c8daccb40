/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Butterfly algorithms for any number of ranks. Of the first ranks, pairs (0 and 1, 2 and 3,
 * ...) are folded into one member until a power of two is left, whose members are numbered
 * anew, in the order of ranks. So operands stay in order. */
#ifndef RGI_FOLD_H
#define RGI_FOLD_H

#include "collectives/algorithm.h"

typedef struct {
  int size;  /* the power of two */
  int extra; /* how many pairs are folded */
  int me;    /* new number, or -1: folded away */
  int keep;  /* a rank that is not folded away, or -1 */
} rgi_fold;

rgi_fold rgi_fold_of(const rgi_subgroup *t, int keep);

/* The rank in the subgroup behind a new number. */
int rgi_fold_rank(const rgi_fold *f, int number);

/* The new number that stands for a rank. */
int rgi_fold_number(const rgi_fold *f, int rank);

/* The pairs combine their operands into acc; room is memory to receive in. */
void rgi_fold_in(rgi_sched *s, const rgi_subgroup *t, const rgi_fold *f, char *acc, char *room,
                 size_t bytes);

/* The members that were folded away get the result. */
void rgi_fold_out(rgi_sched *s, const rgi_subgroup *t, const rgi_fold *f, char *acc, size_t bytes);

/* Elements [low, high) of a vector. */
typedef struct {
  size_t low, high;
} rgi_fold_range;

/* Reduce-scatter by recursive halving over the new numbers: at step k partners
 * differ in bit k, one keeps the lower half of what both have and the other the
 * upper one. part[k] is what the caller has before step k, part[log size] after
 * all. at[i]: where element or block i begins, in bytes. */
void rgi_fold_reduce_scatter(rgi_sched *s, const rgi_subgroup *t, const rgi_fold *f, char *acc,
                             char *room, size_t units, size_t unit, const size_t at[],
                             rgi_fold_range part[]);

#define RGI_FOLD_HALVINGS 32

/* What the partner of step k keeps. */
rgi_fold_range rgi_fold_other_half(const rgi_fold_range part[], int k);

#endif
