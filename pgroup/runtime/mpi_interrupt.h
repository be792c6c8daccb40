/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Interrupting blocking calls of MPI. Such a call (MPI_Comm_create_group, for one) never returns
 * when a process that it needs has died. In a job that survives, with MPICH 4.0 or 4.2 over UCX, it
 * is ended when a death or a revocation concerns the group whose call this thread is in: it returns
 * through MPI's own error path (mpi_interrupt.c says how). Elsewhere these functions do nothing,
 * and such a call waits until RG_PATIENCE ends the job. */
#ifndef RGI_MPI_INTERRUPT_H
#define RGI_MPI_INTERRUPT_H

/* What the thread calls until rgi_mpi_interrupt_end: MPI_Comm_create_group, or any call. */
typedef enum { RGI_MPI_INTERRUPT_CREATION, RGI_MPI_INTERRUPT_ANY } rgi_mpi_interrupt_kind;

/* Whether this MPI is one whose calls can be interrupted: by its version, at once. */
int rgi_mpi_interrupt_known(void);

/* Whether calls can be interrupted in this job. */
int rgi_mpi_interrupt_possible(void);

/* Until rgi_mpi_interrupt_end this thread must only call MPI. */
void rgi_mpi_interrupt_begin(rgi_mpi_interrupt_kind kind);

/* error: of the calls in between. Returns it, or RG_ERR_PROC_FAILED or RG_ERR_REVOKED if the calls
 * were interrupted. Other members may have completed the same calls, and messages of theirs may
 * still arrive. So the communicator that the calls were on must not be freed, or MPI gives its
 * number to a new one. (After MPI_Comm_create_group it is enough not to use the tag again.) */
int rgi_mpi_interrupt_end(int error, const char *call);

#endif
