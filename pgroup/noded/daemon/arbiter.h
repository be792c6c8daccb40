/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which guard prints why the job ends: one of those that one process of the launcher has started,
 * however many of them end the job at once. Runs in guards. */
#ifndef RGI_ARBITER_H
#define RGI_ARBITER_H

/* Makes this guard the arbiter, unless another guard is. */
void rgi_arbiter_open(void);

/* A descriptor that is readable when there is something to do; the guard then calls serve. -1: this
 * guard is not the arbiter. */
int rgi_arbiter_fd(void);
void rgi_arbiter_serve(void);

/* Whether this guard may print: 1 for one guard only. If the arbiter is gone this guard takes its
 * place. Where strangers have taken all names it waits for so long; then the answer is 1. */
int rgi_arbiter_may_print(double seconds);

/* Sleeps, and serves. */
void rgi_arbiter_wait(double seconds);

#endif
