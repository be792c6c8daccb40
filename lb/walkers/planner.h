/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asking the policy. */
#ifndef RGI_WALKERS_PLANNER_H
#define RGI_WALKERS_PLANNER_H

#include <regroup/balance.h>

/* Puts the policy's plan into b->plan; once the policy has been wrong, the plan of "none". */
int rgi_planner_ask(rg_balancer b, const rg_load_table *table);

#endif
