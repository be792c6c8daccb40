/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * The same as test_message.c on pretended nodes: messages between them go by MPI. */
#define SUITE "message_far"
#include "test_message.c"
