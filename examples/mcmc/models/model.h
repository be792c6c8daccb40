/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A posterior density whose evaluation is divided among a group.
 *
 * The work of an evaluation is cut into blocks whose number does not depend on
 * the group. A block gives a few numbers; those of all blocks come to every
 * member, and each member combines them in the order of the blocks. So the
 * density has the same bits on any number of ranks. An evaluation has one stage,
 * or two when the gradient needs what all blocks of the first gave.
 *
 * A model is read-only after it is made and may be used by several threads. */
#ifndef POST_MODEL_H
#define POST_MODEL_H

#include <stdint.h>

/* The limits of all models. */
enum { POST_PARAMETERS = 10, POST_QUANTITIES = 10, POST_BLOCKS = 16, POST_COLUMNS = 8 };
enum { POST_CARRIED = POST_BLOCKS + 1 };

/* Mean and standard deviation of a quantity. */
typedef struct {
  double mean, sd;
} post_model_moments;

typedef struct post_model post_model;

/* One block's numbers, out[0 .. columns-1], at a position. carried: what the
 * first stage left for the second. */
typedef void post_model_block(const post_model *m, int stage, int block, const double position[],
                              const double carried[POST_CARRIED], double out[]);

/* Combines all blocks' numbers: block b's begin at blocks[b * stride]. The first
 * stage sets *log_density (up to a constant) and may leave something in carried;
 * the last one sets gradient[0 .. parameters-1]. */
typedef void post_model_combine(const post_model *m, int stage, const double *blocks, int stride,
                                const double position[], double carried[POST_CARRIED],
                                double *log_density, double gradient[]);

struct post_model {
  int parameters, quantities; /* of a position; and what is reported of it */
  int blocks;
  int stages, columns[2]; /* how many numbers a block gives in each stage */
  post_model_block *block;
  post_model_combine *combine;
  void (*quantity)(const post_model *m, const double position[], double q[]);
  /* The true moments of all quantities, computed without sampling. */
  void (*truth)(const post_model *m, post_model_moments t[]);
  void *data; /* the model's own */
};

typedef struct {
  const char *name, *summary;
  const char *const *labels;      /* of the quantities */
  int samples;                    /* draws of a chain that make 10,000 independent ones in all */
  int scales;                     /* the work grows with the scale; else that is ignored */
  post_model *(*make)(int scale); /* NULL: no memory */
} post_model_kind;

/* The models, closed by an entry without name. */
extern const post_model_kind post_models[];

/* By its name, or NULL. */
const post_model_kind *post_model_find(const char *name);

/* NULL is allowed. */
void post_model_free(post_model *m);

post_model *post_model_poisson_make(int scale);
post_model *post_model_schools_make(int scale);
post_model *post_model_regression_make(int scale);
extern const char *const post_model_poisson_labels[];
extern const char *const post_model_schools_labels[];
extern const char *const post_model_regression_labels[];

#endif
