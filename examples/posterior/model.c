/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The models by name, and the evaluation of one on a group. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

const post_model *post_model_find(const char *name) {
  static const post_model *const all[] = {&post_model_schools, &post_model_regression};
  for (int i = 0; i < 2; i++)
    if (strcmp(all[i]->name, name) == 0) {
      if (all[i]->prepare)
        all[i]->prepare();
      return all[i];
    }
  return NULL;
}

/* Each member evaluates the same number of blocks, except that the last ones may have fewer, or
 * none. So block b's numbers are at all[b * stride] on every member. */
int post_density_evaluate(rg_group group, const post_model *model,
                          const double position[POST_CHAINS][POST_PARAMETERS],
                          post_density value[POST_CHAINS]) {
  int columns = model->columns, stride = POST_CHAINS * columns, size, rank;
  int error = rg_group_size(group, &size);
  if (error || (error = rg_group_rank(group, &rank)))
    return error;
  int each = (model->blocks + size - 1) / size;
  double *all = calloc((size_t)(each * size * stride), sizeof *all);
  if (!all)
    return RG_ERR_NOMEM;
  for (int b = rank * each; b < (rank + 1) * each && b < model->blocks; b++)
    for (int c = 0; c < POST_CHAINS; c++)
      model->block(b, position[c], &all[b * stride + c * columns]);
  error =
      rg_allgather(group, MPI_IN_PLACE, 0, MPI_DOUBLE, all, (MPI_Count)each * stride, MPI_DOUBLE);
  for (int c = 0; c < POST_CHAINS && !error; c++)
    model->combine(&all[c * columns], stride, position[c], &value[c]);
  free(all);
  return error;
}
