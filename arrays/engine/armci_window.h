/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ARMCI's window over the array heap. ARMCI can register only memory that it allocates itself,
 * by MPI_Win_allocate. The library defines that function in front of MPI's, so that one
 * allocation gets memory that exists already, and the library knows its window. */
#ifndef RGI_ARMCI_WINDOW_H
#define RGI_ARMCI_WINDOW_H

#include <mpi.h>
#include <stddef.h>

/* The next MPI_Win_allocate of so many bytes by this thread gets this memory. */
void rgi_armci_window_offer(void *memory, size_t bytes);

/* Whether an MPI_Win_allocate of so many bytes by this thread would get it. */
int rgi_armci_window_is_offered(MPI_Aint size);

/* Withdraws the offer. Returns the window that was made over it, or MPI_WIN_NULL. */
MPI_Win rgi_armci_window_taken(void);

/* ARMCI ignores what MPI returns. So an error handler on the window notes the first error of this
 * thread's calls; this function returns it, as an error of the library, and clears it. */
int rgi_armci_window_error(const char *call);

#endif
