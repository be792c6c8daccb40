/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * ranks: 2 3 4 7
 * Agreeing, shrinking and revoking over two pretended nodes. */
#define SUITE "recovery_nodes"
#define ON_ONE_NODE 0
#include "test_recovery.c"
