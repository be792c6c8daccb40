/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Cholesky's factor of a matrix. */
#ifndef RGI_CHOLESKY_H
#define RGI_CHOLESKY_H

#include "linalg/matrix.h"

/* Every process of the grid: the factor in place of the elements in and below the diagonal.
 * RG_ERR_NUMERIC, on all of them. name: the matrix, for the text. */
int rgi_cholesky_factor(const char *call, const char *name, const rgi_matrix *a);

#endif
