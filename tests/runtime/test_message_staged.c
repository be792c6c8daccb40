/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_SURVIVE=1 UCX_TLS=tcp,self
 * The same as test_message.c on pretended nodes in a job that survives: long messages between them
 * go through memory of the library's own. */
#define SUITE "message_staged"
#include "test_message.c"
