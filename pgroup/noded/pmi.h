/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The launcher's protocol, PMI: what MPI_Finalize tells the launcher. Runs in guards, for a rank
 * that was killed, and in ranks, at the end of a job that has survived. Uses no MPI. */
#ifndef RGI_PMI_H
#define RGI_PMI_H

/* Tells the launcher that this process ends well: without this it takes the end for a failure.
 * Waits for the answer, 5 s at most. Does nothing where PMI_FD names no descriptor. */
void rgi_pmi_finalize(void);

#endif
