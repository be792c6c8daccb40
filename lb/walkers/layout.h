/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Before beginning: the groups at first, and the order of walkers. */
#ifndef RGI_WALKERS_LAYOUT_H
#define RGI_WALKERS_LAYOUT_H

#include <regroup/balance.h>

/* Whether all processes say the same of walkers and options. */
int rgi_layout_agree(rg_balancer b);
/* The size of the groups; those that wait, the longest first. */
int rgi_layout_make(rg_balancer b);

#endif
