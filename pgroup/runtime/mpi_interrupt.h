/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Leaving MPI. A blocking call of MPI's never returns when one of those it needs has died
 * (MPI_Comm_create_group, for one). In a job that survives, with MPICH 4.0 over UCX, such a call
 * is brought to its end: when a death or a revocation concerns the group whose call this thread is
 * in, the receives that MPI waits for are completed, as by messages that carry MPICH's own mark
 * of a failed process, and what it still sends is dropped. So it runs through its own error path,
 * with its state in order, and returns. Elsewhere these functions do nothing, and such a call
 * waits until RG_PATIENCE ends the job. */
#ifndef RGI_MPI_INTERRUPT_H
#define RGI_MPI_INTERRUPT_H

/* What is called until rgi_mpi_interrupt_end: MPI_Comm_create_group, the messages of which are told
 * from those on the new communicator, or any call. */
typedef enum { RGI_MPI_INTERRUPT_CREATION, RGI_MPI_INTERRUPT_ANY } rgi_mpi_interrupt_kind;

/* Whether it can be done here. */
int rgi_mpi_interrupt_possible(void);

/* Until rgi_mpi_interrupt_end this thread only calls MPI. */
void rgi_mpi_interrupt_begin(rgi_mpi_interrupt_kind kind);

/* The error of the calls between; RG_ERR_PROC_FAILED, RG_ERR_REVOKED: they were left, whatever
 * they said. Others may not have left them. Messages of theirs may come still: the communicators
 * that they were on must not be freed, or their numbers are given to new ones. (For
 * MPI_Comm_create_group a tag that is not used again will do.) */
int rgi_mpi_interrupt_end(int error, const char *call);

#endif
