/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The end of a job in which somebody has died. MPI_Finalize would wait for the dead:
 * after rg_finalize it is replaced by leaving the launcher well. */
#ifndef RGI_FINALIZE_H
#define RGI_FINALIZE_H

/* Instead of a barrier of the world: until every process has come here or
 * died. RG_ERR_TIMEOUT. */
int rgi_finalize_wait(void);

/* The last thing that rg_finalize does, when there were deaths. */
void rgi_finalize_without_mpi(void);

#endif
