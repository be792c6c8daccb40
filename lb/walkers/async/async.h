/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: each group without work asks the policy, and then another group. */
#ifndef RGI_ASYNC_ASYNC_H
#define RGI_ASYNC_ASYNC_H

#include <regroup/balance.h>

int rgi_async_begin(rg_balancer balancer);
int rgi_async_step(rg_balancer balancer, int wait, int *what);
int rgi_async_end(rg_balancer balancer);

#endif
