/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finalizing without MPI, in a job that survives deaths: MPI_Finalize would wait for the dead. */
#ifndef RGI_FINALIZE_H
#define RGI_FINALIZE_H

/* Instead of a barrier of the world: returns when each process has called it or
 * died. RG_ERR_TIMEOUT. */
int rgi_finalize_wait(void);

/* The last step of such a rg_finalize: from now on MPI_Finalize does not wait for others. */
void rgi_finalize_without_mpi(void);

#endif
