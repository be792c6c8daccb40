/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The harness's report: the failures that CUnit recorded on all ranks, each printed once. */
#ifndef RGT_REPORT_H
#define RGT_REPORT_H

#include <mpi.h>

#include "check.h"

/* Collective over comm, after CUnit's run. Rank 0 prints
 *   FAIL ranks 1-3 tests/x/test_y.c:34 suite/test: RGT_INT(size, 3): 4 is not 3
 * for each failure (equal ones of several ranks in one line), and at the end
 *   RGT suite tests=N failed=M
 * Returns M, the number of test functions that failed on any rank, on all. */
int rgt_report(MPI_Comm comm, const char *suite, const rgt_test *tests);

#endif
