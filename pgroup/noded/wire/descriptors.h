/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How many descriptors this process may have. */
#ifndef RGI_DESCRIPTORS_H
#define RGI_DESCRIPTORS_H

/* Whether an errno says that no descriptor is left. */
int rgi_descriptors_ran_out(int error);

/* Raises the limit of this process as far as it goes. 0: it was there. */
int rgi_descriptors_raise(void);

/* The limit, RLIMIT_NOFILE. */
long long rgi_descriptors_limit(void);

/* By a process that listens, where it cannot accept a connection since no descriptor is left: ends
 * the connection that waits, so that the listener is not readable for ever, and says so the first
 * time. For that it keeps one descriptor from the first call of rgi_descriptors_spare on. */
void rgi_descriptors_spare(void);
void rgi_descriptors_turn_away(int listener);

#endif
