/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "density.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS = POST_CHAINS * POST_COLUMNS }; /* of a block, at most */

/* One stage: evaluates the member's own blocks and gathers those of all. Each member has the same
 * number of blocks, except that the last ones may have fewer, or none. So block b's numbers are at
 * all[b * stride] on every member. */
static int stage_of(rg_group g, const post_model *m, int stage, int per_member, int rank,
                    const double position[POST_CHAINS][POST_PARAMETERS],
                    double carried[POST_CHAINS][POST_CARRIED], double *all,
                    post_density value[POST_CHAINS]) {
  int columns = m->columns[stage], stride = POST_CHAINS * columns, error;
  memset(&all[rank * per_member * stride], 0, (size_t)(per_member * stride) * sizeof *all);
  for (int b = rank * per_member; b < (rank + 1) * per_member && b < m->blocks; b++)
    for (int c = 0; c < POST_CHAINS; c++)
      m->block(m, stage, b, position[c], carried[c], &all[b * stride + c * columns]);
  if ((error = rg_allgather(g, MPI_IN_PLACE, 0, MPI_DOUBLE, all, (MPI_Count)per_member * stride,
                            MPI_DOUBLE)))
    return error;
  for (int c = 0; c < POST_CHAINS; c++)
    m->combine(m, stage, &all[c * columns], stride, position[c], carried[c], &value[c].log_density,
               value[c].gradient);
  return RG_SUCCESS;
}

int post_density_evaluate(rg_group g, const post_model *m,
                          const double position[POST_CHAINS][POST_PARAMETERS], int want_gradient,
                          post_density value[POST_CHAINS]) {
  double few[POST_BLOCKS * NUMBERS], carried[POST_CHAINS][POST_CARRIED], *many = NULL;
  int size, rank, error;
  if ((error = rg_group_size(g, &size)) || (error = rg_group_rank(g, &rank)))
    return error;
  int per_member = (m->blocks + size - 1) / size, places = per_member * size;
  if (places > POST_BLOCKS && !(many = malloc((size_t)places * NUMBERS * sizeof *many)))
    return RG_ERR_NOMEM;
  for (int stage = 0; stage < (want_gradient ? m->stages : 1) && !error; stage++)
    error = stage_of(g, m, stage, per_member, rank, position, carried, many ? many : few, value);
  free(many);
  return error;
}
