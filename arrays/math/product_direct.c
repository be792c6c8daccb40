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

#define WORTH (32.0 * 32.0 * 32.0) /* multiplications that make a call of CBLAS worth it */
#define FEW 64                     /* so many calls are fine in any case */

static int64_t pieces_of(const rgi_operand *operand, rg_array_form form, rgi_product_section part) {
  int64_t lo[2], hi[2];
  rgi_product_section_patch(operand, form, part, lo, hi);
  return rgi_pieces_count(&operand->a->d, lo, hi);
}

static int fits_blas(const rgi_operand *operand) {
  return operand->a->one_node && operand->a->d.shape[0] + 2 * operand->a->d.ghosts[0] <= INT_MAX &&
         operand->a->d.shape[1] + 2 * operand->a->d.ghosts[1] <= INT_MAX;
}

int rgi_product_is_direct(const rgi_product *product) {
  rgi_pieces own;
  rgi_piece c;
  double calls = 0, work = 0;
  if (!fits_blas(&product->a) || !fits_blas(&product->b) || !fits_blas(&product->c))
    return 0;
  for (rgi_own_start(&own, &product->c); rgi_pieces_next(&own, &c);) {
    rgi_product_section part = rgi_product_section_of(&product->c, RG_FORM_NORMAL, &c);
    const rgi_product_section rows = {.i0 = part.i0, .i1 = part.i1, .k1 = product->k},
                              columns = {.i1 = product->k, .k0 = part.k0, .k1 = part.k1};
    calls += (double)pieces_of(&product->a, product->form_a, rows) *
             (double)pieces_of(&product->b, product->form_b, columns);
    work += (double)(part.i1 - part.i0) * (double)(part.k1 - part.k0) * (double)product->k;
  }
  return calls <= FEW || work >= calls * WORTH;
}

/* A piece in memory, as an argument for CBLAS. */
static rgi_blas_matrix matrix_of(const rgi_operand *operand, rg_array_form form,
                                 const rgi_piece *piece) {
  const char *memory = rgi_array_memory(operand->a, piece->rank);
  return (rgi_blas_matrix){form, memory + piece->offset * (int64_t)operand->a->element,
                           piece->ld[0]};
}

/* Adds what a piece of a contributes to the piece of c that is section c, at memory. */
static void times_b(const rgi_product *product, const rgi_piece *a, rgi_product_section c,
                    char *memory, int64_t ld) {
  rgi_product_section left = rgi_product_section_of(&product->a, product->form_a, a);
  int64_t lo[2], hi[2], element = (int64_t)product->c.a->element;
  rgi_pieces pieces;
  rgi_piece b, part = *a;
  int column = product->form_a == RG_FORM_NORMAL ? 1 : 0;
  int64_t stride = column ? 1 : a->ld[0];
  rgi_product_section_patch(
      &product->b, product->form_b,
      (rgi_product_section){.i0 = left.k0, .i1 = left.k1, .k0 = c.k0, .k1 = c.k1}, lo, hi);
  rgi_pieces_start(&pieces, &product->b.a->d, lo, hi);
  while (rgi_pieces_next(&pieces, &b)) {
    rgi_product_section right = rgi_product_section_of(&product->b, product->form_b, &b);
    part.offset = a->offset + (right.i0 - left.k0) * stride;
    /* The contribution with k = 0 is the first one to each element of c: only it takes beta. */
    rgi_blas_multiply(&(rgi_blas_product){
        .type = product->c.a->type,
        .m = left.i1 - left.i0,
        .n = right.k1 - right.k0,
        .k = right.i1 - right.i0,
        .alpha = product->alpha,
        .beta = right.i0 == 0 ? product->beta : rgi_blas_one(product->c.a->type),
        .a = matrix_of(&product->a, product->form_a, &part),
        .b = matrix_of(&product->b, product->form_b, &b),
        .c = memory + ((left.i0 - c.i0) * ld + right.k0 - c.k0) * element,
        .ldc = ld});
  }
}

void rgi_product_direct(const rgi_product *product) {
  rgi_pieces own;
  rgi_piece c, a;
  for (rgi_own_start(&own, &product->c); rgi_pieces_next(&own, &c);) {
    rgi_product_section part = rgi_product_section_of(&product->c, RG_FORM_NORMAL, &c);
    int64_t lo[2], hi[2];
    rgi_pieces pieces;
    rgi_product_section_patch(&product->a, product->form_a,
                              (rgi_product_section){.i0 = part.i0, .i1 = part.i1, .k1 = product->k},
                              lo, hi);
    rgi_pieces_start(&pieces, &product->a.a->d, lo, hi);
    while (rgi_pieces_next(&pieces, &a))
      times_b(product, &a, part, rgi_own_memory(&product->c, &c), c.ld[0]);
  }
}
