/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Printing an array: rank 0 gets it row by row and writes it to a file of the program's, or to one
 * in memory, whose lines it passes on. */
#include <regroup/array_math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "math/operand.h"

typedef struct {
  const rgi_operand *o;
  FILE *file;
  char *row;
} print_call;

static void print_element(const struct rg_array_s *a, const char *at, FILE *file) {
  int32_t half;
  int64_t whole;
  float f[2];
  double d[2];
  switch (a->type) {
  case RG_TYPE_INT32:
    memcpy(&half, at, sizeof half);
    fprintf(file, " %11ld", (long)half);
    break;
  case RG_TYPE_INT64:
    memcpy(&whole, at, sizeof whole);
    fprintf(file, " %11lld", (long long)whole);
    break;
  case RG_TYPE_FLOAT:
    memcpy(f, at, sizeof *f);
    fprintf(file, " %12.5g", (double)f[0]);
    break;
  case RG_TYPE_DOUBLE:
    memcpy(d, at, sizeof *d);
    fprintf(file, " %12.5g", d[0]);
    break;
  case RG_TYPE_FLOAT_COMPLEX:
    memcpy(f, at, sizeof f);
    fprintf(file, " %12.5g%+.5gi", (double)f[0], (double)f[1]);
    break;
  case RG_TYPE_DOUBLE_COMPLEX:
    memcpy(d, at, sizeof d);
    fprintf(file, " %12.5g%+.5gi", d[0], d[1]);
    break;
  default:
    fputc(' ', file);
    for (size_t i = 0; i < a->element; i++)
      fprintf(file, "%02x", (unsigned)(unsigned char)at[i]);
  }
}

/* A row: the elements along the last dimension, at index `at` in the others. */
static int print_row(const print_call *printing, const int64_t at[]) {
  const rgi_operand *operand = printing->o;
  int last = operand->a->d.dims - 1;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  for (int d = 0; d < last; d++) {
    lo[d] = at[d];
    hi[d] = at[d] + 1;
  }
  lo[last] = operand->lo[last];
  hi[last] = operand->hi[last];
  RGI_TRY(rg_array_get(operand->a, lo, hi, printing->row, NULL));
  if (last > 0)
    fprintf(printing->file, "%6lld:", (long long)at[last - 1]);
  for (int64_t i = 0; i < hi[last] - lo[last]; i++)
    print_element(operand->a, printing->row + i * (int64_t)operand->a->element, printing->file);
  fputc('\n', printing->file);
  return RG_SUCCESS;
}

static void print_title(const print_call *printing, const int64_t at[]) {
  int dims = printing->o->a->d.dims;
  fputc('[', printing->file);
  for (int d = 0; d < dims - 2; d++)
    fprintf(printing->file, "%lld, ", (long long)at[d]);
  fprintf(printing->file, "%lld:%lld, %lld:%lld]\n", (long long)printing->o->lo[dims - 2],
          (long long)printing->o->hi[dims - 2], (long long)printing->o->lo[dims - 1],
          (long long)printing->o->hi[dims - 1]);
}

static int print_rows(const print_call *printing) {
  const rgi_operand *operand = printing->o;
  int dims = operand->a->d.dims, d;
  int64_t at[RG_ARRAY_MAX_DIMS];
  memcpy(at, operand->lo, sizeof at);
  if (rgi_operand_count(operand) == 0)
    return RG_SUCCESS;
  do {
    if (dims > 2 && at[dims - 2] == operand->lo[dims - 2])
      print_title(printing, at);
    RGI_TRY(print_row(printing, at));
    for (d = dims - 2; d >= 0 && ++at[d] == operand->hi[d]; d--)
      at[d] = operand->lo[d];
  } while (d >= 0);
  return RG_SUCCESS;
}

static int print_all(const char *call, const rgi_operand *operand, FILE *file) {
  int last = operand->a->d.dims - 1;
  if (!file)
    return rgi_error(RG_ERR_ARG, "%s: file is NULL on rank 0", call);
  print_call p = {
      operand, file,
      malloc((size_t)(operand->hi[last] - operand->lo[last]) * operand->a->element + 1)};
  if (!p.row)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a row", call);
  locale_t before = rgi_c_locale_enter();
  int error = print_rows(&p);
  rgi_c_locale_leave(before);
  free(p.row);
  if (!error && (fflush(file) != 0 || ferror(file)))
    error = rgi_error(RG_ERR_FILE, "%s: the file cannot be written", call);
  return error;
}

typedef struct {
  int (*take)(const char *text, void *context);
  void *context;
} line_taker;

static int pass_lines(char *text, const line_taker *line) {
  for (char *end; (end = strchr(text, '\n')); text = end + 1) {
    *end = 0;
    unsigned mark = rgi_error_mark();
    RGI_TRY(rgi_error_of_callback("line", line->take(text, line->context), mark));
  }
  return RG_SUCCESS;
}

static int print_to_memory(const char *call, const rgi_operand *operand, const line_taker *line) {
  char *text = NULL;
  size_t bytes;
  if (!line->take)
    return rgi_error(RG_ERR_ARG, "%s: line is NULL on rank 0", call);
  FILE *memory = open_memstream(&text, &bytes);
  if (!memory)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for the text", call);
  int error = print_all(call, operand, memory);
  fclose(memory);
  if (!error)
    error = pass_lines(text, line);
  free(text);
  return error;
}

int rg_array_print(rg_array a, const int64_t lo[], const int64_t hi[], FILE *file) {
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  return rgi_group_error_share(a->group, __func__,
                               a->me == 0 ? print_all(__func__, &operand, file) : RG_SUCCESS);
}

int rg_array_print_lines(rg_array a, const int64_t lo[], const int64_t hi[],
                         int (*line)(const char *text, void *context), void *context) {
  const line_taker taker = {line, context};
  rgi_operand operand;
  RGI_TRY(rgi_operand_make(__func__, a, lo, hi, &operand));
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  return rgi_group_error_share(
      a->group, __func__, a->me == 0 ? print_to_memory(__func__, &operand, &taker) : RG_SUCCESS);
}
