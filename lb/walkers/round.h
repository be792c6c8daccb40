/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing: all processes regroup together, after every i units. */
#ifndef RGI_WALKERS_ROUND_H
#define RGI_WALKERS_ROUND_H

#include <regroup/balance.h>

int rgi_round_begin(rg_balancer b);
int rgi_round_step(rg_balancer b, int wait, int *what);

#endif
