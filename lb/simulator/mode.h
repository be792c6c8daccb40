/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The two modes of balancing. Both run until no unit is left. */
#ifndef SIM_MODE_H
#define SIM_MODE_H

#include "world.h"

/* Asynchronous: groups that become idle ask the policy, and then other groups, by messages. */
int sim_mode_async(sim_world *world);

/* Synchronous: after every policy.interval units all groups are formed anew by one plan. */
int sim_mode_sync(sim_world *world);

#endif
