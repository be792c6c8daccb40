/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * sources: tests/topology/shapes.c tests/topology/oracle.c
 * The same as test_topology_groups.c on pretended nodes. */
#define SUITE "topology_groups_far"
#include "test_topology_groups.c"
