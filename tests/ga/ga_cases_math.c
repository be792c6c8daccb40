/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whole arrays, patches, numbers and matrices through Global Arrays' interface. */
#include <ga.h>
#include <math.h>
#include <stdlib.h>

#include "ga_cases.h"
#include "tests/check/check.h"

/* A matrix with element (i, j) = 10 i + j + 1, set by process 0. */
static int matrix(int type, int rows, int columns) {
  int g = NGA_Create(type, 2, (int[]){rows, columns}, "matrix", NULL);
  for (int i = 0; i < rows && rgt_rank == 0; i++)
    for (int j = 0; j < columns; j++) {
      int at[2] = {i, j}, ld = 1, integer = 10 * i + j + 1;
      double number = integer;
      NGA_Put(g, at, at, type == C_INT ? (void *)&integer : (void *)&number, &ld);
    }
  GA_Sync();
  return g;
}

static double number_at(int g, int i, int j) {
  int ld = 1, at[2] = {i, j};
  double number;
  NGA_Get(g, at, at, &number, &ld);
  return number;
}

static int integer_at(int g, int i) {
  int value;
  NGA_Get(g, &i, &i, &value, NULL);
  return value;
}

void test_whole(void) {
  double two = 2, half = .5, seven = 7;
  int g = matrix(C_DBL, 2 * rgt_size, 4), h = GA_Duplicate(g, "h"), last = 2 * rgt_size - 1;
  int lo[2] = {1, 1}, hi[2] = {last, 2}, hlo[2] = {0, 0}, hhi[2] = {last - 1, 1};
  GA_Copy(g, h);
  GA_Scale(h, &two);
  RGT_DBL(number_at(h, last, 3), 2 * (10 * last + 4), 0);
  GA_Add(&half, h, &two, g, h);
  RGT_DBL(number_at(h, last, 3), 3 * (10 * last + 4), 0);
  GA_Add_constant(h, &seven);
  RGT_DBL(number_at(h, 0, 0), 10, 0);
  NGA_Fill_patch(h, lo, hi, &seven);
  RGT_DBL(number_at(h, last, 2), 7, 0);
  RGT_DBL(number_at(h, last, 3), 3 * (10 * last + 4) + 7, 0);
  NGA_Scale_patch(h, lo, hi, &two);
  GA_Add_constant_patch(h, lo, hi, &half);
  RGT_DBL(number_at(h, 1, 1), 14.5, 0);
  NGA_Copy_patch('n', g, lo, hi, h, hlo, hhi);
  RGT_DBL(number_at(h, 0, 0), 12, 0);
  NGA_Add_patch(&two, g, lo, hi, &half, g, lo, hi, h, hlo, hhi);
  RGT_DBL(number_at(h, last - 1, 1), 2.5 * (10 * last + 3), 0);
  NGA_Zero_patch(h, lo, hi);
  RGT_DBL(number_at(h, 1, 1), 0, 0);
  GA_Zero(h);
  RGT_DBL(GA_Ddot(h, h), 0, 0);
  GA_Fill(h, &seven);
  RGT_DBL(GA_Ddot(h, h), 49 * 8 * rgt_size, 0);
  GA_Randomize(h, &two);
  double largest, least;
  int index[2];
  NGA_Select_elem(h, "max", &largest, index);
  NGA_Select_elem(h, "min", &least, index);
  RGT_TRUE(0 <= least && least < largest && largest < 2);
  GA_Destroy(g);
  GA_Destroy(h);
}

void test_combine(void) {
  int a = matrix(C_DBL, 4, rgt_size), b = GA_Duplicate(a, "b"), c = GA_Duplicate(a, "c"),
      m = GA_Duplicate(a, "m"), last = rgt_size - 1;
  double minus = -1, twenty = 20, x = 30 + last + 1;
  GA_Fill(b, &twenty);
  GA_Elem_multiply(a, b, c);
  RGT_DBL(number_at(c, 3, last), 20 * x, 0);
  GA_Elem_divide(a, b, c);
  RGT_DBL(number_at(c, 3, last), x / 20, 1e-15);
  GA_Elem_minimum(a, b, c);
  RGT_DBL(number_at(c, 3, last), 20, 0);
  GA_Elem_maximum(a, b, c);
  RGT_DBL(number_at(c, 0, 0), 20, 0);
  RGT_DBL(number_at(c, 3, last), x, 0);
  GA_Zero(c);
  GA_Median(a, b, c, m);
  RGT_DBL(number_at(m, 0, 0), 1, 0);
  RGT_DBL(number_at(m, 3, last), 20, 0);
  GA_Scale(a, &minus);
  GA_Abs_value(a);
  RGT_DBL(number_at(a, 3, last), x, 0);
  GA_Recip(a);
  RGT_DBL(number_at(a, 3, last), 1 / x, 1e-15);
  int lo[2] = {1, 0}, hi[2] = {2, last};
  GA_Fill(a, &twenty);
  GA_Elem_multiply_patch(a, lo, hi, b, lo, hi, c, lo, hi);
  RGT_DBL(number_at(c, 2, last), 400, 0);
  RGT_DBL(number_at(c, 3, last), 0, 0);
  int64_t lo64[2] = {1, 0}, hi64[2] = {2, last};
  GA_Recip_patch64(c, lo64, hi64);
  RGT_DBL(number_at(c, 1, 0), 1. / 400, 1e-18);
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(c);
  GA_Destroy(m);
}

void test_scans(void) {
  int n = 3 * rgt_size, ten = 10, two = 2, one = 1, last = n - 1, icount = 0;
  int a = NGA_Create(C_INT, 1, &n, "a", NULL), mask = GA_Duplicate(a, "mask"),
      b = GA_Duplicate(a, "b");
  GA_Patch_enum(a, 0, last, &ten, &two);
  RGT_INT(integer_at(a, last), 10 + 2 * last);
  GA_Zero(mask);
  for (int i = 0; i < n && rgt_rank == 0; i += 3)
    NGA_Put(mask, &i, &i, &one, NULL);
  GA_Sync();
  GA_Scan_add(a, b, mask, 0, last, 0);
  RGT_INT(integer_at(b, last), 3 * (10 + 2 * last) - 6);
  GA_Scan_add(a, b, mask, 0, last, 1);
  RGT_INT(integer_at(b, last), 2 * (10 + 2 * last) - 6);
  RGT_INT(integer_at(b, last - 2), 0);
  GA_Scan_copy(a, b, mask, 0, last);
  RGT_INT(integer_at(b, last), 10 + 2 * (last - 2));
  GA_Scan_add(a, b, mask, 1, last, 0); /* from the mask's first 1 on, which is at 3 */
  RGT_INT(integer_at(b, 1), 10);
  int flags = NGA_Create(C_FLOAT, 1, &n, "flags", NULL), at = 2;
  float real = .5;
  GA_Zero(flags);
  if (rgt_rank == 0)
    NGA_Put(flags, &at, &at, &real, NULL);
  GA_Sync();
  GA_Scan_copy(a, b, flags, 0, last);
  RGT_INT(integer_at(b, 2), 14);
  RGT_INT(integer_at(b, last), 14);
  GA_Destroy(flags);
  GA_Pack(a, b, mask, 0, last, &icount);
  RGT_INT(icount, rgt_size);
  RGT_INT(integer_at(b, rgt_size - 1), 10 + 2 * (last - 2));
  GA_Zero(a);
  GA_Unpack(b, a, mask, 0, last, &icount);
  RGT_INT(icount, rgt_size);
  RGT_INT(integer_at(a, last - 2), 10 + 2 * (last - 2));
  RGT_INT(integer_at(a, last), 0);
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(mask);
}

void test_numbers(void) {
  int n = 4 * rgt_size, index = -1, value, three = 3, one = 1;
  int a = NGA_Create(C_INT, 1, &n, "a", NULL);
  GA_Patch_enum(a, 0, n - 1, &one, &one);
  RGT_INT(GA_Idot(a, a), n * (n + 1) * (2 * n + 1) / 6);
  NGA_Select_elem(a, "max", &value, &index);
  RGT_INT(value, n);
  RGT_INT(index, n - 1);
  RGT_INT(NGA_Idot_patch(a, 'n', (int[]){1}, (int[]){2}, a, 'n', (int[]){0}, (int[]){1}), 8);
  double norm;
  GA_Norm1(a, &norm);
  RGT_DBL(norm, n * (n + 1) / 2, 0);
  GA_Norm_infinity(a, &norm);
  RGT_DBL(norm, n, 0);
  GA_Destroy(a);
  int x = matrix(C_DBL, 2, n), v = GA_Duplicate(x, "v"), y = GA_Duplicate(x, "y");
  double minus = -2, zero = 0, hundred = 1000, step = 0, bounds[3];
  GA_Fill(v, &minus);
  GA_Step_max(x, v, &step);
  RGT_DBL(step, .5, 0);
  GA_Fill(v, &zero);
  GA_Fill(y, &hundred);
  GA_Shift_diagonal(v, &hundred);
  GA_Zero(v);
  GA_Add_constant(v, &hundred);
  int low = GA_Duplicate(x, "low");
  GA_Zero(low);
  GA_Step_bound_info(x, v, low, y, bounds, bounds + 1, bounds + 2);
  RGT_DBL(bounds[2], .999, 1e-12);
  RGT_DBL(bounds[0], bounds[1], 0);
  SingleComplex c[1] = {{0, 1}}, sum;
  int z = NGA_Create(C_SCPL, 1, &three, "z", NULL);
  GA_Fill(z, c);
  sum = GA_Cdot(z, z);
  RGT_DBL(sum.real, -3, 0);
  RGT_DBL(sum.imag, 0, 0);
  GA_Destroy(z);
  GA_Destroy(x);
  GA_Destroy(v);
  GA_Destroy(y);
  GA_Destroy(low);
}

void test_matrices(void) {
  int n = 3 + rgt_size, a = matrix(C_DBL, n, n), b = GA_Duplicate(a, "b"), c = GA_Duplicate(a, "c");
  double one = 1, zero = 0, two = 2, expected = 0;
  GA_Transpose(a, b);
  RGT_DBL(number_at(b, 1, n - 1), 10 * (n - 1) + 2, 0);
  GA_Dgemm('n', 't', n, n, n, 1, a, b, 0, c); /* a * a */
  for (int k = 0; k < n; k++)
    expected += (10 + k + 1) * (10 * k + 3);
  RGT_DBL(number_at(c, 1, 2), expected, 1e-9);
  GA_Matmul_patch('n', 'n', &one, &zero, a, 0, 0, 0, n - 1, a, 0, n - 1, 1, 1, c, 0, 0, 0, 0);
  for (int k = 0, sum = 0; k < n; k++) {
    sum += (k + 1) * (10 * k + 2);
    expected = sum;
  }
  RGT_DBL(number_at(c, 0, 0), expected, 1e-9);
  int shape[3] = {2, n, n}, deep = NGA_Create(C_DBL, 3, shape, "deep", NULL);
  int lo[3] = {1, 0, 0}, hi[3] = {1, n - 1, n - 1}, alo[2] = {0, 0}, ahi[2] = {n - 1, n - 1};
  NGA_Matmul_patch('n', 'n', &one, &zero, a, alo, ahi, b, alo, ahi, deep, lo, hi);
  NGA_Copy_patch('n', deep, lo, hi, c, alo, ahi);
  for (int k = 0, sum = 0; k < n; k++) {
    sum += (10 + k + 1) * (10 + k + 1);
    expected = sum;
  }
  RGT_DBL(number_at(c, 1, 1), expected, 1e-9);
  GA_Destroy(deep);
  GA_Symmetrize(a);
  RGT_DBL(number_at(a, 0, 2), (3 + 21) / 2., 0);
  int v = NGA_Create(C_DBL, 1, &n, "v", NULL), at = n - 1;
  double value;
  GA_Get_diag(a, v);
  NGA_Get(v, &at, &at, &value, NULL);
  RGT_DBL(value, 11 * (n - 1) + 1, 0);
  GA_Scale_rows(a, v);
  RGT_DBL(number_at(a, 1, 0), 12 * (11 + 2) / 2., 0);
  GA_Scale_cols(b, v); /* b is the transpose of the first matrix */
  RGT_DBL(number_at(b, 0, 1), 12 * 11, 0);
  GA_Zero_diagonal(a);
  GA_Shift_diagonal(a, &two);
  RGT_DBL(number_at(a, n - 1, n - 1), 2, 0);
  GA_Add_diagonal(a, v);
  GA_Set_diagonal(b, v);
  RGT_DBL(number_at(a, 1, 1) - number_at(b, 1, 1), 2, 0);
  GA_Destroy(v);
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(c);
}

/* g's patch with its dimensions in reverse order, which is h's patch, in an array of 1 dimension.
 */
static void turn_to_line(int g, int lo[], int hi[], int h, int blo[], int bhi[], int squares) {
  int rows = 2 * rgt_size, length = 18 * rows, begin = 0, end = length - 1, wrong = 0;
  int line = NGA_Create(C_INT, 1, &length, "line", NULL);
  NGA_Copy_patch('t', g, lo, hi, line, &begin, &end);
  for (int l = 0; l < length; l++) {
    int i = l % rows + 1, j = l / rows % 3, k = l / rows / 3 % 2, last = l / rows / 6 + 1;
    wrong += integer_at(line, l) != i * 24 + j * 8 + k * 4 + last;
  }
  RGT_INT(wrong, 0);
  RGT_INT(NGA_Idot_patch(line, 'n', &begin, &end, g, 't', lo, hi), squares);
  RGT_INT(NGA_Idot_patch(h, 'n', blo, bhi, line, 't', &begin, &end), squares);
  RGT_INT(NGA_Idot_patch(h, 'n', blo, bhi, line, 'n', &begin, &end), squares);
  GA_Destroy(line);
}

/* Patches of an array of 4 dimensions, with the dimensions in reverse order. */
void test_transposed(void) {
  int shape[4] = {2 * rgt_size + 1, 3, 2, 4}, lo[4] = {1, 0, 0, 1}, hi[4] = {2 * rgt_size, 2, 1, 3};
  int back[4] = {4, 2, 3, 2 * rgt_size + 1}, blo[4], bhi[4], wrong = 0, value, n = 0,
      ld[3] = {1, 1, 1};
  int g = NGA_Create(C_INT, 4, shape, "a", NULL), h = NGA_Create(C_INT, 4, back, "b", NULL);
  for (int i = 0; i < shape[0] * 24 && rgt_rank == 0; i++) {
    int at[4] = {i / 24, i / 8 % 3, i / 4 % 2, i % 4};
    NGA_Put(g, at, at, &i, ld);
  }
  for (int d = 0; d < 4; d++) {
    blo[3 - d] = d == 3 ? 0 : lo[d];
    bhi[3 - d] = d == 3 ? 2 : hi[d];
  }
  GA_Zero(h);
  NGA_Copy_patch('t', g, lo, hi, h, blo, bhi);
  for (int i = 0; i < shape[0] * 24; i++) {
    int at[4] = {(i + 3) % 4, i / 4 % 2, i / 8 % 3, i / 24};
    NGA_Get(h, at, at, &value, ld);
    int copied = i / 24 > 0 && i % 4 > 0;
    wrong += value != (copied ? i : 0);
    n += copied ? i * i : 0;
  }
  RGT_INT(wrong, 0);
  RGT_INT(NGA_Idot_patch(g, 'n', lo, hi, h, 't', blo, bhi), n);
  turn_to_line(g, lo, hi, h, blo, bhi, n);
  GA_Destroy(g);
  GA_Destroy(h);
}

/* The matrix 2 on, and -1 beside the diagonal, whose eigenvalues are known. */
void test_solvers(void) {
  enum { N = 6 };
  int dims[2] = {N, N}, a = NGA_Create(C_DBL, 2, dims, "a", NULL), v = GA_Duplicate(a, "v");
  double two = 2, minus = -1, values[N], pi = acos(-1);
  GA_Zero(a);
  GA_Shift_diagonal(a, &two);
  for (int i = 1; i < N && rgt_rank == 0; i++) {
    NGA_Put(a, (int[]){i, i - 1}, (int[]){i, i - 1}, &minus, (int[]){1});
    NGA_Put(a, (int[]){i - 1, i}, (int[]){i - 1, i}, &minus, (int[]){1});
  }
  GA_Sync();
  GA_Diag_std(a, v, values);
  for (int i = 0; i < N; i++)
    RGT_DBL(values[i], 2 - 2 * cos((i + 1) * pi / (N + 1)), 1e-12);
  /* Eigenvectors are rows of v: a v[1] = values[1] v[1]. */
  RGT_DBL(2 * number_at(v, 1, 0) - number_at(v, 1, 1), values[1] * number_at(v, 1, 0), 1e-12);
  int rhs[2] = {1, N}, b = NGA_Create(C_DBL, 2, rhs, "b", NULL), k = 0;
  double one = 1;
  for (k = 0; k < 3; k++) { /* the solution of a x = 1 is x[i] = (i + 1) (N - i) / 2 */
    GA_Fill(b, &one);
    if (k == 0)
      GA_Lu_solve('n', a, b);
    else
      RGT_INT(k == 1 ? GA_Llt_solve(a, b) : GA_Solve(a, b), 0);
    for (int i = 0; i < N; i++)
      RGT_DBL(number_at(b, 0, i), (i + 1) * (N - i) / 2., 1e-12);
  }
  RGT_INT(GA_Spd_invert(a), 0);
  RGT_DBL(number_at(a, 0, 0), N / (N + 1.), 1e-12);
  GA_Zero(a);
  RGT_INT(GA_Llt_solve(a, b), 1);
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(v);
}
