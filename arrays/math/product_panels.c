/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The caller's rows and columns of c are cut into strips, and strips that together have at most
 * TILE rows and columns are multiplied as one tile in a buffer. For each tile the panels of op(a)
 * and op(b), DEPTH deep, are got by non-blocking gets into one of two buffers, while CBLAS works on
 * the other one. */
#include <regroup/request.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "distribution/piece.h"
#include "math/own.h"
#include "math/product.h"

#define TILE 1024 /* rows and columns of c that are multiplied at once */
#define DEPTH 256 /* of a panel */

/* Adjacent rows, or columns, of c that the caller owns, at most TILE of them. */
typedef struct {
  int64_t lo, hi;
} k_strip;
typedef struct {
  k_strip *s;
  int64_t n, room;
} strip_list;

/* Some strips of rows and some of columns. */
typedef struct {
  const k_strip *rows, *columns;
  int64_t row_strips, column_strips, m, n;
} c_tile;

/* A panel of a and one of b, and the gets that are under way for them. */
typedef struct {
  char *a, *b;
  int64_t depth;
  rg_request *requests;
  int open;
} panel_buffers;

typedef struct {
  const rgi_product *p;
  strip_list rows, columns;
  panel_buffers panels[2];
  char *c; /* the tile */
} panel_work;

static int add_strip(strip_list *list, int64_t lo, int64_t hi) {
  for (; lo < hi; lo += TILE) {
    RGI_TRY(rgi_grow(&list->s, list->n, &list->room, sizeof *list->s,
                     "no memory for %lld parts of a matrix"));
    list->s[list->n++] = (k_strip){lo, hi - lo < TILE ? hi : lo + TILE};
  }
  return RG_SUCCESS;
}

/* The caller's blocks are the cross product of its rows and its columns, in C order. */
static int find_strips(panel_work *work) {
  rgi_pieces own;
  rgi_piece c;
  int64_t first = -1, last = -1;
  for (rgi_own_start(&own, &work->p->c); rgi_pieces_next(&own, &c);) {
    rgi_product_section part = rgi_product_section_of(&work->p->c, RG_FORM_NORMAL, &c);
    if (first < 0)
      first = part.i0;
    if (part.i0 == first)
      RGI_TRY(add_strip(&work->columns, part.k0, part.k1));
    if (part.i0 != last)
      RGI_TRY(add_strip(&work->rows, part.i0, part.i1));
    last = part.i0;
  }
  return RG_SUCCESS;
}

/* How many strips from strip[0] on fit into a tile, and how long they are together. */
static int64_t take_strips(const k_strip *strip, int64_t n, int64_t *length) {
  int64_t i = 0;
  *length = 0;
  for (; i < n && *length + strip[i].hi - strip[i].lo <= TILE; i++)
    *length += strip[i].hi - strip[i].lo;
  return i;
}

/* --- panels ------------------------------------------------------------------------------ */

/* What a panel consists of: strips of rows of op(o), or (along) strips of columns. */
typedef struct {
  const rgi_operand *o;
  rg_array_form form;
  int along;
  const k_strip *strips;
  int64_t n, length; /* of the strips together */
} panel_source;

/* Starts to get the strips, columns k0 to k0 + depth (along: rows), into memory, one after the
 * other. */
static int start_panel(panel_buffers *panel, const panel_source *f, int64_t k0, char *memory) {
  int across = (f->form == RG_FORM_NORMAL) == f->along; /* strips are columns of the array */
  int64_t at = 0, k1 = k0 + panel->depth;
  int64_t ld = across ? f->length : panel->depth, element = (int64_t)f->o->a->element;
  for (const k_strip *s = f->strips; s < f->strips + f->n; s++) {
    rgi_product_section part =
        f->along ? (rgi_product_section){.i0 = k0, .i1 = k1, .k0 = s->lo, .k1 = s->hi}
                 : (rgi_product_section){.i0 = s->lo, .i1 = s->hi, .k0 = k0, .k1 = k1};
    int64_t lo[2], hi[2];
    rgi_product_section_patch(f->o, f->form, part, lo, hi);
    char *to = memory + (across ? at : at * ld) * element;
    at += s->hi - s->lo;
    panel->requests[panel->open] = NULL;
    RGI_TRY(rg_array_iget(f->o->a, lo, hi, to, &ld, &panel->requests[panel->open++]));
  }
  return RG_SUCCESS;
}

static int start_panels(const rgi_product *product, const c_tile *tile, panel_buffers *panel,
                        int64_t k0) {
  const panel_source a = {.o = &product->a,
                          .form = product->form_a,
                          .strips = tile->rows,
                          .n = tile->row_strips,
                          .length = tile->m};
  const panel_source b = {.o = &product->b,
                          .form = product->form_b,
                          .along = 1,
                          .strips = tile->columns,
                          .n = tile->column_strips,
                          .length = tile->n};
  panel->depth = product->k - k0 < DEPTH ? product->k - k0 : DEPTH;
  RGI_TRY(start_panel(panel, &a, k0, panel->a));
  return start_panel(panel, &b, k0, panel->b);
}

static int finish_panels(panel_buffers *panel) {
  int open = panel->open;
  panel->open = 0;
  return open ? rg_wait_all(open, panel->requests, NULL) : RG_SUCCESS;
}

/* --- tiles -------------------------------------------------------------------------------- */

/* The tile of c from the array to the buffer, or (there) back. */
static int move_c(const panel_work *work, const c_tile *tile, int there) {
  int64_t element = (int64_t)work->p->c.a->element;
  for (int64_t i = 0, row = 0; i < tile->row_strips;
       row += tile->rows[i].hi - tile->rows[i].lo, i++)
    for (int64_t j = 0, column = 0; j < tile->column_strips;
         column += tile->columns[j].hi - tile->columns[j].lo, j++) {
      int64_t lo[2], hi[2];
      char *memory = work->c + (row * tile->n + column) * element;
      rgi_product_section part = {.i0 = tile->rows[i].lo,
                                  .i1 = tile->rows[i].hi,
                                  .k0 = tile->columns[j].lo,
                                  .k1 = tile->columns[j].hi};
      rgi_product_section_patch(&work->p->c, RG_FORM_NORMAL, part, lo, hi);
      RGI_TRY(there ? rg_array_put(work->p->c.a, lo, hi, memory, &tile->n)
                    : rg_array_get(work->p->c.a, lo, hi, memory, &tile->n));
    }
  return RG_SUCCESS;
}

static int multiply_panels(panel_work *work, const c_tile *tile) {
  const rgi_product *product = work->p;
  const void *beta = product->beta;
  RGI_TRY(start_panels(product, tile, &work->panels[0], 0));
  for (int64_t k = 0; k < product->k; k += DEPTH) {
    panel_buffers *x = &work->panels[k / DEPTH % 2];
    if (product->k - k > DEPTH)
      RGI_TRY(start_panels(product, tile, &work->panels[(k / DEPTH + 1) % 2], k + DEPTH));
    RGI_TRY(finish_panels(x));
    rgi_blas_multiply(&(rgi_blas_product){
        .type = product->c.a->type,
        .m = tile->m,
        .n = tile->n,
        .k = x->depth,
        .alpha = product->alpha,
        .beta = beta,
        .a = {product->form_a, x->a, product->form_a == RG_FORM_NORMAL ? x->depth : tile->m},
        .b = {product->form_b, x->b, product->form_b == RG_FORM_NORMAL ? tile->n : x->depth},
        .c = work->c,
        .ldc = tile->n});
    beta = rgi_blas_one(product->c.a->type);
  }
  return RG_SUCCESS;
}

static int multiply_tile(panel_work *work, const c_tile *tile) {
  RGI_TRY(move_c(work, tile, 0));
  int error = multiply_panels(work, tile);
  for (int i = 0; i < 2; i++) {
    int end = finish_panels(&work->panels[i]);
    error = error ? error : end;
  }
  return error ? error : move_c(work, tile, 1);
}

static int multiply_tiles(panel_work *work) {
  c_tile t;
  for (int64_t i = 0; i < work->rows.n; i += t.row_strips) {
    t.rows = work->rows.s + i;
    t.row_strips = take_strips(t.rows, work->rows.n - i, &t.m);
    for (int64_t j = 0; j < work->columns.n; j += t.column_strips) {
      t.columns = work->columns.s + j;
      t.column_strips = take_strips(t.columns, work->columns.n - j, &t.n);
      RGI_TRY(multiply_tile(work, &t));
    }
  }
  return RG_SUCCESS;
}

static int64_t total_length(const strip_list *strips) {
  int64_t length = 0;
  for (int64_t i = 0; i < strips->n && length < TILE; i++)
    length += strips->s[i].hi - strips->s[i].lo;
  return length < TILE ? length : TILE;
}

/* Buffers for the largest tile and its panels. */
static int make_room(panel_work *work) {
  int64_t m = total_length(&work->rows), n = total_length(&work->columns),
          element = (int64_t)work->p->c.a->element;
  int64_t depth = work->p->k < DEPTH ? work->p->k : DEPTH;
  int there = (work->c = malloc((size_t)(m * n * element + 1))) != NULL;
  for (int i = 0; i < 2; i++) {
    panel_buffers *x = &work->panels[i];
    x->a = malloc((size_t)(m * depth * element + 1));
    x->b = malloc((size_t)(n * depth * element + 1));
    x->requests = malloc((size_t)(m + n + 1) * sizeof(rg_request));
    there = there && x->a && x->b && x->requests;
  }
  return there ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for panels of a product");
}

int rgi_product_panels(const rgi_product *product) {
  panel_work work = {.p = product};
  int error = find_strips(&work);
  if (!error)
    error = make_room(&work);
  if (!error)
    error = multiply_tiles(&work);
  free(work.rows.s);
  free(work.columns.s);
  free(work.c);
  for (int i = 0; i < 2; i++) {
    free(work.panels[i].a);
    free(work.panels[i].b);
    free(work.panels[i].requests);
  }
  return error;
}
