/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A posterior density whose evaluation is divided among a group: cut into blocks whose number does
 * not depend on the group. A block gives a few numbers; those of all blocks come to every member,
 * which combines them in the order of the blocks. So the density has the same bits on any number of
 * ranks. */
#ifndef POST_MODEL_H
#define POST_MODEL_H

#include <regroup.h>

/* The limits of all models; and the chains of a walker, which are evaluated together. */
enum { POST_PARAMETERS = 10, POST_BLOCKS = 16, POST_COLUMNS = 8, POST_CHAINS = 8 };

/* Mean and standard deviation of a quantity. */
typedef struct {
  double mean, sd;
} post_model_moments;

typedef struct {
  double log_density; /* up to a constant */
  double gradient[POST_PARAMETERS];
} post_density;

typedef struct {
  const char *name;
  int samples;                         /* of a chain: 10,000 independent ones in all */
  int parameters;                      /* of a position; as many quantities are reported of it: */
  const char *labels[POST_PARAMETERS]; /* their names */
  int blocks, columns;                 /* how many numbers a block gives */
  void (*prepare)(void);               /* the data, or NULL */
  /* One block's numbers, out[0 .. columns-1]. */
  void (*block)(int block, const double position[], double out[]);
  /* Combines all blocks' numbers: block b's begin at blocks[b * stride]. */
  void (*combine)(const double *blocks, int stride, const double position[], post_density *value);
  void (*quantities)(const double position[], double out[]);
  /* The true moments of all quantities, computed without sampling. */
  void (*truth)(post_model_moments moments[]);
} post_model;

extern const post_model post_model_schools, post_model_regression;
/* By its name, with its data prepared; or NULL. */
const post_model *post_model_find(const char *name);

/* The values at the positions of a walker's chains; the same bits on all members and for any group.
 * Collective over group, with the same positions. Cost: an allgather of 8 blocks columns chains
 * bytes. */
int post_density_evaluate(rg_group group, const post_model *model,
                          const double position[POST_CHAINS][POST_PARAMETERS],
                          post_density value[POST_CHAINS]);

#endif
