/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

const post_model_kind post_models[] = {
    {"poisson", "the source of -u'' = f from noisy values of u; walkers with different grids",
     post_model_poisson_labels, 1000, 1, post_model_poisson_make},
    {"eight-schools", "effects of coaching in eight schools, partially pooled",
     post_model_schools_labels, 2000, 0, post_model_schools_make},
    {"regression", "linear regression with unknown noise, its data divided among the group",
     post_model_regression_labels, 1000, 0, post_model_regression_make},
    {NULL, NULL, NULL, 0, 0, NULL}};

const post_model_kind *post_model_find(const char *name) {
  for (const post_model_kind *k = post_models; k->name; k++)
    if (strcmp(k->name, name) == 0)
      return k;
  return NULL;
}

void post_model_free(post_model *m) {
  if (m)
    free(m->data);
  free(m);
}
