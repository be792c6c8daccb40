/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: what the leader of a group without a walker tells it to do. */
#ifndef RGI_WALKERS_IDLE_COMMAND_H
#define RGI_WALKERS_IDLE_COMMAND_H

#include <regroup/balance.h>

enum {
  RGI_IDLE_COMMAND_JOIN = 1, /* another group, whose members the leader has in its search */
  RGI_IDLE_COMMAND_START,    /* the walker of the search */
  RGI_IDLE_COMMAND_SPLIT,    /* into parts of which each has something else to do; their number */
  RGI_IDLE_COMMAND_GATHER,   /* with other idle groups; the members are in the search */
  RGI_IDLE_COMMAND_END
};

/* Obeys a command and its number. All members call. */
int rgi_idle_command_obey(rg_balancer b, const int64_t command[2]);

#endif
