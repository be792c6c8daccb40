/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The early end of a run: a checkpoint is due (recovery/checkpoint_due.h), and the application
 * wants the walkers to end as far as they have come. */
#ifndef RGI_STATE_STOP_H
#define RGI_STATE_STOP_H

#include <regroup/balance.h>

/* Whether this process finds that the run is to end early. */
int rgi_stop_due(rg_balancer balancer);

/* It is: another process has found it. */
void rgi_stop_note(rg_balancer balancer);

/* Asynchronous balancing: looks whether it is, and tells all processes. */
int rgi_stop_look(rg_balancer balancer);

#endif
