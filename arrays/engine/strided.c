/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches with as few dimensions as possible: adjacent dimensions that are contiguous on both sides
 * become one, so that a patch of whole rows is one run of bytes for the transport. */
#include "engine/strided.h"
#include <complex.h>

#include "base/error.h"
#include "engine/scalar.h"
#include "progress/mpi_error.h"

/* Whether dimension d and the one inside it are one on both sides. */
static int runs_on(const rgi_strided *p, int d) {
  int inner = d + 1, bytes = inner == p->dims - 1;
  int64_t origin = p->extent[inner] * (bytes ? 1 : p->origin_stride[inner]);
  int64_t target = p->extent[inner] * (bytes ? 1 : p->target_stride[inner]);
  return p->origin_stride[d] == origin && p->target_stride[d] == target;
}

/* Removes dimension d: its extent becomes part of the inner one's, with which it is contiguous. */
static void drop_dimension(rgi_strided *p, int d) {
  p->extent[d + 1] *= p->extent[d];
  for (int i = d; i < p->dims - 1; i++) {
    p->extent[i] = p->extent[i + 1];
    p->origin_stride[i] = p->origin_stride[i + 1];
    p->target_stride[i] = p->target_stride[i + 1];
  }
  p->dims--;
}

int64_t rgi_strided_simplify(const rgi_strided *p, rgi_strided *simple) {
  int64_t bytes = 1;
  *simple = *p;
  for (int d = 0; d < p->dims; d++)
    bytes *= p->extent[d];
  for (int d = simple->dims - 2; d >= 0 && bytes; d--)
    if (simple->extent[d] == 1 || runs_on(simple, d))
      drop_dimension(simple, d);
  return bytes;
}

uint64_t rgi_strided_reach(const rgi_strided *p, const int64_t stride[]) {
  int64_t reach = p->extent[p->dims - 1];
  for (int d = 0; d < p->dims - 1; d++)
    reach += (p->extent[d] - 1) * stride[d];
  return (uint64_t)reach;
}

int rgi_strided_is_contiguous(const rgi_strided *p, const int64_t stride[]) {
  int64_t inside = p->extent[p->dims - 1];
  for (int d = p->dims - 2; d >= 0; d--) {
    if (stride[d] != inside)
      return 0;
    inside *= p->extent[d];
  }
  return 1;
}

int rgi_strided_mpi_type(const rgi_strided *p, const int64_t stride[], MPI_Datatype element,
                         size_t size, int *count, MPI_Datatype *type) {
  *count = (int)(p->extent[p->dims - 1] / (int64_t)size);
  *type = element;
  for (int d = p->dims - 2; d >= 0; d--) {
    MPI_Datatype inner = *type;
    int code = MPI_Type_create_hvector((int)p->extent[d], *count, stride[d], inner, type);
    if (inner != element)
      MPI_Type_free(&inner);
    if (code != MPI_SUCCESS)
      return rgi_mpi_error(code, "MPI_Type_create_hvector");
    *count = 1;
  }
  if (*type != element)
    RGI_TRY_MPI(MPI_Type_commit(type));
  return RG_SUCCESS;
}

static char *scale_rows(const rgi_strided *p, int d, const char *from, rg_array_type type,
                        const void *alpha, char *to) {
  size_t size;
  if (d == p->dims - 1) {
    rgi_scalar_mpi_type(type, &size);
    rgi_scalar_multiply(type, alpha, (size_t)p->extent[d] / size, from, to);
    return to + p->extent[d];
  }
  for (int64_t i = 0; i < p->extent[d]; i++)
    to = scale_rows(p, d + 1, from + i * p->origin_stride[d], type, alpha, to);
  return to;
}

void rgi_strided_scale(const rgi_strided *p, const char *from, rg_array_type type,
                       const void *alpha, char *to) {
  scale_rows(p, 0, from, type, alpha, to);
}
