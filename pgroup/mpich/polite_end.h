/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * UCX's workers while MPI_Finalize waits for the other processes (polite_end.c). */
#ifndef RGI_POLITE_END_H
#define RGI_POLITE_END_H

#include <stdatomic.h>

#pragma GCC visibility push(hidden)

typedef unsigned rgi_polite_end_progress(void *worker);

/* MPI_Finalize would close the connections now: from here on each poll is given to
 * rgi_polite_end_poll. */
void rgi_polite_end_begin(void);
extern atomic_int rgi_polite_end_now;
static inline int rgi_polite_end_begun(void) {
  return atomic_load_explicit(&rgi_polite_end_now, memory_order_relaxed);
}

/* Polls the worker by UCX's function, and lets a thread poll it until it is destroyed. */
unsigned rgi_polite_end_poll(rgi_polite_end_progress *progress, void *worker);

#pragma GCC visibility pop

#endif
