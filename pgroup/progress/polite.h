/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the library hears of polite.c, besides regroup/polite.h. */
#ifndef RGI_POLITE_H
#define RGI_POLITE_H

#define RGI_HIDDEN __attribute__((visibility("hidden")))

/* If not NULL, told of each poll in vain inside one of MPI's own waits: when the polls in vain
 * began, and now. */
extern RGI_HIDDEN void (*rgi_polite_waits)(double since, double now);

/* If not NULL, called after each poll of this thread's in vain. */
extern RGI_HIDDEN _Thread_local void (*rgi_polite_polled)(void);

/* Of how many polls this thread knows that something moved; 0: it sees none, as MPI is not
 * MPICH with UCX, or another copy of polite.c was preloaded. */
RGI_HIDDEN unsigned long rgi_polite_moves(void);

#endif
