/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "math/section.h"
#include "distribution/piece.h"

void rgi_section_patch(const rgi_operand *o, rg_array_form form, rgi_section part, int64_t lo[2],
                       int64_t hi[2]) {
  int row = form == RG_FORM_NORMAL ? 0 : 1, column = 1 - row;
  lo[row] = o->lo[row] + part.i0;
  hi[row] = o->lo[row] + part.i1;
  lo[column] = o->lo[column] + part.k0;
  hi[column] = o->lo[column] + part.k1;
}

rgi_section rgi_section_of(const rgi_operand *o, rg_array_form form, const rgi_piece *piece) {
  int row = form == RG_FORM_NORMAL ? 0 : 1, column = 1 - row;
  return (rgi_section){piece->lo[row] - o->lo[row], piece->hi[row] - o->lo[row],
                       piece->lo[column] - o->lo[column], piece->hi[column] - o->lo[column]};
}
