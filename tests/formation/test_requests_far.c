/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * The same as test_requests.c on pretended nodes. */
#define SUITE "requests_far"
#include "test_requests.c"
