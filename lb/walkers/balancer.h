/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The balancer as an object. */
#ifndef RGI_WALKERS_BALANCER_H
#define RGI_WALKERS_BALANCER_H

#include <regroup/balance.h>

int rgi_balancer_check(const char *call, rg_balancer b);

#endif
