/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whether a checkpoint is due, as far as this process knows. Any thread. */
#ifndef RGI_CHECKPOINT_DUE_H
#define RGI_CHECKPOINT_DUE_H

#include <regroup/checkpoint_due.h>

/* Whether one is due: a signal has come, another process has said so, or time runs out for callers
 * that ask as often as they have done so far. Needs the options. */
int rgi_checkpoint_due_here(void);

/* From now on one is due. */
void rgi_checkpoint_due_note(void);

/* A checkpoint has taken so many seconds. */
void rgi_checkpoint_due_cost(double seconds);

#endif
