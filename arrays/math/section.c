/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "math/section.h"
#include "distribution/piece.h"

void rgi_section_patch(const rgi_operand *operand, rg_array_form form, rgi_section part,
                       int64_t lo[2], int64_t hi[2]) {
  int row = form == RG_FORM_NORMAL ? 0 : 1, column = 1 - row;
  lo[row] = operand->lo[row] + part.i0;
  hi[row] = operand->lo[row] + part.i1;
  lo[column] = operand->lo[column] + part.k0;
  hi[column] = operand->lo[column] + part.k1;
}

rgi_section rgi_section_of(const rgi_operand *operand, rg_array_form form, const rgi_piece *piece) {
  int row = form == RG_FORM_NORMAL ? 0 : 1, column = 1 - row;
  return (rgi_section){piece->lo[row] - operand->lo[row], piece->hi[row] - operand->lo[row],
                       piece->lo[column] - operand->lo[column],
                       piece->hi[column] - operand->lo[column]};
}
