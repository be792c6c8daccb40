/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The two ways of balancing. Both run until nothing is left to do. */
#ifndef SIM_MODE_H
#define SIM_MODE_H

#include "world.h"

/* Groups that become idle ask the policy, and then other groups, by messages. */
int sim_mode_async(sim_world *w);

/* In lock-step: after every policy.interval units all regroup by one plan. */
int sim_mode_sync(sim_world *w);

#endif
