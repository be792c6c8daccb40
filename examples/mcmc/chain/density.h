/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The density of several chains at once, the work divided among a group. */
#ifndef POST_DENSITY_H
#define POST_DENSITY_H

#include <regroup.h>

#include "../models/model.h"

/* The chains of a walker. A message carries the numbers of all. */
enum { POST_CHAINS = 8 };

typedef struct {
  double log_density;
  double gradient[POST_PARAMETERS];
} post_density;

/* The values at so many positions as a walker has chains; the same bits on all
 * members and for any group. want_gradient 0: the gradients are not set.
 * Collective over g, with the same positions. Cost: an allgather of
 * 8 blocks columns chains bytes for each stage of the model; from as many members
 * on as there are blocks, more do not help. Errors: RG_ERR_NOMEM, those of
 * rg_allgather. */
int post_density_evaluate(rg_group g, const post_model *m,
                          const double position[POST_CHAINS][POST_PARAMETERS], int want_gradient,
                          post_density value[POST_CHAINS]);

#endif
