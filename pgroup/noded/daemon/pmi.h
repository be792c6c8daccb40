/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The launcher's protocol, PMI: what MPI_Finalize and MPI_Abort tell the launcher. Runs in guards,
 * for a rank that was killed, and in ranks, at the end of a job that has survived. Uses no MPI. */
#ifndef RGI_PMI_H
#define RGI_PMI_H

/* Tells the launcher that this process ends well: without this it takes the end for a failure.
 * Waits for the answer, 5 s at most. Does nothing where PMI_FD names no descriptor. */
void rgi_pmi_finalize(void);

/* Whether the launcher is Slurm's, which may be told (srun --kill-on-bad-exit=0) to let a job go on
 * when a process that it has started ends by a signal. MPICH's launcher always ends the job. */
int rgi_pmi_is_slurm(void);

/* Whether the launcher has taken the end of this process: it closes its end then. */
int rgi_pmi_has_finalized(void);

/* Tells the launcher to end the whole job with this status, as MPI_Abort does. has_begun: the rank
 * is known to have begun the protocol, in MPI_Init. */
void rgi_pmi_abort(int has_begun, int status);

#endif
