/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "check.h"

#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <regroup/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

int rgt_rank, rgt_size;

void rgt_temporary(char path[RGT_PATH]) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, RGT_PATH, "%s/rgt-XXXXXX", folder ? folder : "/tmp");
}

unsigned long long rgt_seed(void) {
  const char *text = getenv("RGT_SEED");
  return text ? strtoull(text, NULL, 0) : 1;
}

/* --- checks ---------------------------------------------------------------- */

/* Hands the outcome to CUnit, which copies the text. CUnit is not thread-safe. */
static int judge(int good, const char *file, int line, const char *format, ...) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  char text[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  pthread_mutex_lock(&lock);
  CU_assertImplementation(good ? CU_TRUE : CU_FALSE, (unsigned)line, text, file, "", CU_FALSE);
  pthread_mutex_unlock(&lock);
  return good;
}

int rgt_true(int cond, const char *expr, const char *file, int line) {
  return judge(cond, file, line, "RGT_TRUE(%s): it is false", expr);
}

int rgt_int(long long actual, long long expected, const char *expr, const char *file, int line) {
  return judge(actual == expected, file, line, "%s: %lld is not %lld", expr, actual, expected);
}

int rgt_dbl(double actual, double expected, double tol, const char *expr, const char *file,
            int line) {
  int good = fabs(actual - expected) <= tol;
  return judge(good, file, line, "%s: %.17g is not within %g of %.17g", expr, actual, tol,
               expected);
}

int rgt_str(const char *actual, const char *expected, const char *expr, const char *file,
            int line) {
  int good = actual && expected ? strcmp(actual, expected) == 0 : actual == expected;
  return judge(good, file, line, "%s: \"%s\" is not \"%s\"", expr, actual ? actual : "(null)",
               expected ? expected : "(null)");
}

int rgt_null(const void *ptr, int want_null, const char *expr, const char *file, int line) {
  return judge((ptr == NULL) == want_null, file, line, "%s: it is %s", expr,
               ptr ? "not null" : "null");
}

int rgt_ok(int code, const char *expr, const char *file, int line) {
  if (code == RG_SUCCESS)
    return judge(1, file, line, "%s", expr);
  return judge(0, file, line, "%s: error %d, %s; %s", expr, code, rg_error_string(code),
               rg_error_detail());
}

int rgt_fails(int code, int expected, const char *expr, const char *file, int line) {
  if (code != expected)
    return judge(0, file, line, "%s: %d (%s) is not %d (%s)", expr, code, rg_error_string(code),
                 expected, rg_error_string(expected));
  return judge(rg_error_detail()[0] != '\0', file, line, "%s: rg_error_detail() is empty", expr);
}

/* --- running --------------------------------------------------------------- */

static MPI_Comm own_comm = MPI_COMM_NULL;

/* Says which test is running, for the runner to report if it never ends. The
 * barrier keeps the ranks in the same test. */
static void announce(const CU_pTest test, const CU_pSuite suite) {
  MPI_Barrier(own_comm);
  if (rgt_rank == 0) {
    printf("RGT begin %s/%s\n", suite->pName, test->pName);
    fflush(stdout);
  }
}

static int start_mpi(int *argc, char ***argv) {
  static const struct {
    const char *name;
    int level;
  } levels[] = {{"single", MPI_THREAD_SINGLE},
                {"funneled", MPI_THREAD_FUNNELED},
                {"serialized", MPI_THREAD_SERIALIZED},
                {"multiple", MPI_THREAD_MULTIPLE}};
  const char *wanted = getenv("RGT_THREADS");
  int level = MPI_THREAD_MULTIPLE, provided;
  for (size_t i = 0; wanted && i < sizeof levels / sizeof levels[0]; i++)
    if (strcmp(wanted, levels[i].name) == 0)
      level = levels[i].level;
  if (MPI_Init_thread(argc, argv, level, &provided) != MPI_SUCCESS)
    return 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rgt_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rgt_size);
  MPI_Comm_dup(MPI_COMM_WORLD, &own_comm);
  return 1;
}

static int register_tests(const char *name, const rgt_test *tests) {
  CU_initialize_registry();
  CU_pSuite suite = CU_add_suite(name, NULL, NULL);
  for (const rgt_test *t = tests; suite && t->name; t++)
    if (!CU_add_test(suite, t->name, t->run) || CU_get_error() != CUE_SUCCESS) {
      fprintf(stderr, "%s/%s: %s\n", name, t->name, CU_get_error_msg());
      return 0;
    }
  return suite != NULL;
}

int rgt_main(int argc, char **argv, const char *suite, const rgt_test *tests) {
  if (!start_mpi(&argc, &argv))
    return 1;
  int failed = 1;
  if (register_tests(suite, tests)) {
    CU_set_test_start_handler(announce);
    CU_run_all_tests();
    failed = rgt_report(own_comm, suite, tests);
  }
  CU_cleanup_registry();
  MPI_Comm_free(&own_comm);
  MPI_Finalize();
  return failed > 0;
}
