/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Algorithms that the user asks for by name. */
#ifndef RGI_FORCE_H
#define RGI_FORCE_H

#include <regroup/collectives.h>

#include "collectives/schedule/coll_state.h"

/* A name as rg_group_set_algorithm takes it. RG_ERR_OPTION. */
int rgi_force_parse(const char *call, rg_operation op, const char *name, rgi_coll_forced *force);

/* Overwrites entries of forced[RG_OP_COUNT] by what RG_COLL asks for; sets *any if the option
 * asks for anything. */
void rgi_force_environment(rgi_coll_forced forced[], int *any);

#endif
