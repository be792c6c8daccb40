/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Polite waiting inside MPI.
 *
 * MPICH polls while it waits and never gives its processor away, so that a
 * blocking call takes milliseconds to seconds as soon as a node has more ranks
 * than processors. This module steps between MPICH and its transport (UCX): when
 * a poll of MPICH's found nothing to do, it spins for a moment where there is a
 * processor to spin on, otherwise yields, and after a while sleeps, never longer
 * than a sixteenth of what the wait has lasted so far.
 *
 * It is a part of libregroup, and a library of its own for programs that want
 * nothing else of it:
 *
 *     mpiexec -n 32 -genv LD_PRELOAD libregroup-polite.so ./app
 *     mpicc app.c -lregroup-polite          (before the MPI library)
 *
 * RG_POLITE=0 in the environment turns it off. On an MPI library that does not
 * use UCX it does nothing. */
#ifndef REGROUP_POLITE_H
#define REGROUP_POLITE_H

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *active is 1 when MPI's waits in this process go through this module and it
 * is not turned off: known once MPI has waited for the first time, so ask after
 * MPI_Init. Local; any thread; needs no rg_init. Errors: RG_ERR_ARG. */
RG_API int rg_polite_active(int *active);

/* How often this process's waits inside MPI polled in vain, yielded and slept
 * since it started. Any pointer may be NULL. Local; any thread. */
RG_API int rg_polite_counts(unsigned long *polls, unsigned long *yields, unsigned long *sleeps);

/* For a loop that polls MPI (MPI_Test, MPI_Iprobe) and pauses by itself: from
 * rg_polite_polling(1) to rg_polite_polling(0) the calling thread's polls in vain
 * do not pause inside MPI, nor are they counted. Pairs nest. Blocking calls of
 * MPI's do not belong between them: they would not be polite. Local. */
RG_API int rg_polite_polling(int polling);

#ifdef __cplusplus
}
#endif
#endif
