/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ARMCI's window over memory of ours. ARMCI allocates what it registers by
 * MPI_Win_allocate; that function is stepped in front of, so that one allocation
 * gets memory that is there already, and its window is known to us. */
#ifndef RGI_ARMCI_WINDOW_H
#define RGI_ARMCI_WINDOW_H

#include <mpi.h>
#include <stddef.h>

/* The next MPI_Win_allocate of so many bytes by this thread gets this memory. */
void rgi_armci_window_offer(void *memory, size_t bytes);

/* Takes the offer back; the window that was made over it, or MPI_WIN_NULL. */
MPI_Win rgi_armci_window_taken(void);

/* ARMCI does not look at what MPI returns. The errors of this thread's calls on the
 * window are kept: this returns the first of them, as an error of ours, and
 * forgets it. */
int rgi_armci_window_error(const char *call);

#endif
