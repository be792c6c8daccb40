/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * The same over two nodes, where the last process holds the reserve's directory. */
#include "test_reserve.c"
