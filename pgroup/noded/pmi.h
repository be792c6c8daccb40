/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The launcher's end of a process: what MPI_Finalize says to it. */
#ifndef RGI_PMI_H
#define RGI_PMI_H

/* Tells the launcher that this process ends well: it takes an end without this for a
 * failure. Waits for the answer, 5 s at most. Nothing without a launcher that speaks
 * PMI on the descriptor PMI_FD. Uses nothing of MPI. */
void rgi_pmi_finalize(void);

#endif
