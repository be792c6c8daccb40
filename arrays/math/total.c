/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "math/total.h"

#include <regroup/collectives.h>
#include <string.h>

#include "base/error.h"
#include "distribution/type.h"
#include "math/typed_loops.h"

int rgi_total_all(rg_array a, rgi_total *total) {
  if (rgi_type_is_integer(a->type))
    return rg_allreduce(a->group, MPI_IN_PLACE, &total->integer, 1, MPI_UINT64_T, MPI_SUM);
  double mine[2] = {total->real, total->imaginary}, all[2];
  RGI_TRY(
      rg_allreduce(a->group, mine, all, rgi_type_is_complex(a->type) ? 2 : 1, MPI_DOUBLE, MPI_SUM));
  total->real = all[0];
  total->imaginary = rgi_type_is_complex(a->type) ? all[1] : 0;
  return RG_SUCCESS;
}

void rgi_total_store(rg_array_type type, const rgi_total *total, void *to) {
  const double wide[2] = {total->real, total->imaginary};
  const float narrow[2] = {(float)total->real, (float)total->imaginary};
  if (rgi_type_is_integer(type))
    memcpy(to, &total->integer, sizeof total->integer);
  else if (type == RG_TYPE_FLOAT || type == RG_TYPE_FLOAT_COMPLEX)
    memcpy(to, narrow, type == RG_TYPE_FLOAT ? sizeof(float) : sizeof narrow);
  else
    memcpy(to, wide, type == RG_TYPE_DOUBLE ? sizeof(double) : sizeof wide);
}
