/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For each of the caller's blocks of c: each piece of a and b that contributes to it is multiplied
 * where it lies in the node's memory. The order of the additions depends on the blocks only, so
 * that the result is the same in every run. */
#include <limits.h>

#include "distribution/piece.h"
#include "math/own.h"
#include "math/product.h"
#include "math/section.h"

#define WORTH (32.0 * 32.0 * 32.0) /* multiplications that make a call of CBLAS worth it */
#define FEW 64                     /* so many calls are fine in any case */

static int64_t pieces_of(const rgi_operand *o, rg_array_form form, rgi_section part) {
  int64_t lo[2], hi[2];
  rgi_section_patch(o, form, part, lo, hi);
  return rgi_pieces_count(&o->a->d, lo, hi);
}

static int fits_blas(const rgi_operand *o) {
  return o->a->one_node && o->a->d.shape[0] + 2 * o->a->d.ghosts[0] <= INT_MAX &&
         o->a->d.shape[1] + 2 * o->a->d.ghosts[1] <= INT_MAX;
}

int rgi_product_is_direct(const rgi_product *p) {
  rgi_pieces own;
  rgi_piece c;
  double calls = 0, work = 0;
  if (!fits_blas(&p->a) || !fits_blas(&p->b) || !fits_blas(&p->c))
    return 0;
  for (rgi_own_start(&own, &p->c); rgi_pieces_next(&own, &c);) {
    rgi_section part = rgi_section_of(&p->c, RG_FORM_NORMAL, &c);
    const rgi_section rows = {part.i0, part.i1, 0, p->k}, columns = {0, p->k, part.k0, part.k1};
    calls +=
        (double)pieces_of(&p->a, p->form_a, rows) * (double)pieces_of(&p->b, p->form_b, columns);
    work += (double)(part.i1 - part.i0) * (double)(part.k1 - part.k0) * (double)p->k;
  }
  return calls <= FEW || work >= calls * WORTH;
}

/* A piece in memory, as an argument for CBLAS. */
static rgi_blas_matrix matrix_of(const rgi_operand *o, rg_array_form form, const rgi_piece *piece) {
  const char *memory = rgi_array_memory(o->a, piece->rank);
  return (rgi_blas_matrix){form, memory + piece->offset * (int64_t)o->a->element, piece->ld[0]};
}

/* Adds what a piece of a contributes to the piece of c that is section c, at memory. */
static void times_b(const rgi_product *p, const rgi_piece *a, rgi_section c, char *memory,
                    int64_t ld) {
  rgi_section left = rgi_section_of(&p->a, p->form_a, a);
  int64_t lo[2], hi[2], element = (int64_t)p->c.a->element;
  rgi_pieces pieces;
  rgi_piece b, part = *a;
  int column = p->form_a == RG_FORM_NORMAL ? 1 : 0;
  int64_t stride = column ? 1 : a->ld[0];
  rgi_section_patch(&p->b, p->form_b, (rgi_section){left.k0, left.k1, c.k0, c.k1}, lo, hi);
  rgi_pieces_start(&pieces, &p->b.a->d, lo, hi);
  while (rgi_pieces_next(&pieces, &b)) {
    rgi_section right = rgi_section_of(&p->b, p->form_b, &b);
    part.offset = a->offset + (right.i0 - left.k0) * stride;
    /* The contribution with k = 0 is the first one to each element of c: only it takes beta. */
    rgi_blas_multiply(
        &(rgi_blas_product){.type = p->c.a->type,
                            .m = left.i1 - left.i0,
                            .n = right.k1 - right.k0,
                            .k = right.i1 - right.i0,
                            .alpha = p->alpha,
                            .beta = right.i0 == 0 ? p->beta : rgi_blas_one(p->c.a->type),
                            .a = matrix_of(&p->a, p->form_a, &part),
                            .b = matrix_of(&p->b, p->form_b, &b),
                            .c = memory + ((left.i0 - c.i0) * ld + right.k0 - c.k0) * element,
                            .ldc = ld});
  }
}

void rgi_product_direct(const rgi_product *p) {
  rgi_pieces own;
  rgi_piece c, a;
  for (rgi_own_start(&own, &p->c); rgi_pieces_next(&own, &c);) {
    rgi_section part = rgi_section_of(&p->c, RG_FORM_NORMAL, &c);
    int64_t lo[2], hi[2];
    rgi_pieces pieces;
    rgi_section_patch(&p->a, p->form_a, (rgi_section){part.i0, part.i1, 0, p->k}, lo, hi);
    rgi_pieces_start(&pieces, &p->a.a->d, lo, hi);
    while (rgi_pieces_next(&pieces, &a))
      times_b(p, &a, part, rgi_own_memory(&p->c, &c), c.ld[0]);
  }
}
