/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: default
 * ranks: 2 4
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * The same as test_p2p.c in a job that survives deaths, which also starts the library again. */
#define SUITE "p2p_survivable"
#include "test_p2p.c"
