/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The test harness: CUnit under MPI. Every rank runs every test function; rank 0 collects the
 * failures of all ranks and prints each once.
 *
 *     static void test_sum(void) {
 *       int sum;
 *       RGT_OK(rg_something(&sum));
 *       RGT_INT(sum, rgt_size * (rgt_size - 1) / 2);
 *     }
 *     int main(int argc, char **argv) {
 *       static const rgt_test tests[] = {{"sum", test_sum}, {NULL, NULL}};
 *       return rgt_main(argc, argv, "something", tests);
 *     }
 *
 * A failed check does not end the test function, so that the ranks stay in step;
 * each check is an expression, true if the check held. tests/run_tests.py says what a
 * comment near the top of a test file may ask for (ranks, time, env). */
#ifndef RGT_CHECK_H
#define RGT_CHECK_H

typedef struct {
  const char *name;
  void (*run)(void);
} rgt_test;

/* Rank and size in MPI_COMM_WORLD. */
extern int rgt_rank, rgt_size;

/* Starts MPI (with the thread level RGT_THREADS: single, funneled, serialized or
 * multiple, the last unless it is set), runs the tests, which are closed by
 * {NULL, NULL}, reports, and ends MPI. Returns the exit status of main: 0, or 1
 * on all ranks if a check failed on any. */
int rgt_main(int argc, char **argv, const char *suite, const rgt_test *tests);

/* RGT_SEED, the same on all ranks; the runner draws one for each run. It is
 * printed with a failure. */
unsigned long long rgt_seed(void);

/* A template for mkstemp or mkdtemp in the run's own directory for files, TMPDIR, which the
 * runner removes. */
enum { RGT_PATH = 128 };
void rgt_temporary(char path[RGT_PATH]);

#define RGT_TRUE(cond) rgt_true(!!(cond), #cond, __FILE__, __LINE__)
#define RGT_INT(actual, expected)                                                                  \
  rgt_int((long long)(actual), (long long)(expected), "RGT_INT(" #actual ", " #expected ")",       \
          __FILE__, __LINE__)
/* |actual - expected| <= tol; never true for a NaN. */
#define RGT_DBL(actual, expected, tol)                                                             \
  rgt_dbl(actual, expected, tol, "RGT_DBL(" #actual ", " #expected ", " #tol ")", __FILE__,        \
          __LINE__)
/* Equal texts; NULL equals only NULL. */
#define RGT_STR(actual, expected)                                                                  \
  rgt_str(actual, expected, "RGT_STR(" #actual ", " #expected ")", __FILE__, __LINE__)
#define RGT_PTR_NULL(ptr) rgt_null(ptr, 1, "RGT_PTR_NULL(" #ptr ")", __FILE__, __LINE__)
#define RGT_PTR_NOT_NULL(ptr) rgt_null(ptr, 0, "RGT_PTR_NOT_NULL(" #ptr ")", __FILE__, __LINE__)
/* A call of the library's that must succeed. */
#define RGT_OK(call) rgt_ok(call, "RGT_OK(" #call ")", __FILE__, __LINE__)
/* A call that must return this error, with a text in rg_error_detail. */
#define RGT_FAILS(call, code)                                                                      \
  rgt_fails(call, code, "RGT_FAILS(" #call ", " #code ")", __FILE__, __LINE__)

/* What the macros call. */
int rgt_true(int cond, const char *expr, const char *file, int line);
int rgt_int(long long actual, long long expected, const char *expr, const char *file, int line);
int rgt_dbl(double actual, double expected, double tol, const char *expr, const char *file,
            int line);
int rgt_str(const char *actual, const char *expected, const char *expr, const char *file, int line);
int rgt_null(const void *ptr, int want_null, const char *expr, const char *file, int line);
int rgt_ok(int code, const char *expr, const char *file, int line);
int rgt_fails(int code, int expected, const char *expr, const char *file, int line);

#endif
