/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The balancer as an object. */
#ifndef RGI_BALANCER_BALANCER_H
#define RGI_BALANCER_BALANCER_H

#include <regroup/balance.h>

int rgi_balancer_check(const char *call, rg_balancer balancer);
/* As rgi_balancer_check at the beginning of a call that all members make, whose name errors have.
 */
int rgi_balancer_enter(const char *call, rg_balancer balancer);
/* Whether it has not begun, or its last run has ended. */
int rgi_balancer_rests(rg_balancer balancer);
/* The next walkers are those of another run. */
void rgi_balancer_forget_ids(rg_balancer balancer);

/* rg_balance_outcomes returns this process's own again. */
void rgi_balancer_forget_gathered(rg_balancer balancer);

#endif
