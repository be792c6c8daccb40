/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing: all processes regroup together, after every i units. */
#ifndef RGI_WALKERS_SYNCHRONOUS_H
#define RGI_WALKERS_SYNCHRONOUS_H

#include <regroup/balance.h>

int rgi_synchronous_begin(rg_balancer b);
int rgi_synchronous_step(rg_balancer b, int wait, int *what);

#endif
