/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * The same as test_group.c on pretended nodes. */
#define SUITE "group_far"
#include "test_group.c"
