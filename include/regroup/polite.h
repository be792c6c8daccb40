/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Polite waiting inside MPI.
 *
 * MPICH polls while it waits and never yields its processor, so a blocking call
 * takes milliseconds to seconds as soon as a node has more ranks than processors.
 * This module intercepts the polls of MPICH's transport (UCX or libfabric). When a poll finds
 * nothing to do, the module spins for a short time if each rank has a processor,
 * otherwise yields, and after a while sleeps, but not longer than a sixteenth of
 * the time that the wait has lasted so far. Over libfabric it only yields, where the node has
 * more ranks than processors.
 *
 * The module is a part of libregroup. It is also a separate library for programs
 * that use nothing else of libregroup:
 *
 *     mpiexec -n 32 -genv LD_PRELOAD libregroup-polite.so ./app
 *     mpicc app.c -lregroup-polite          (before the MPI library)
 *
 * RG_POLITE=0 in the environment turns it off. On an MPI library that uses neither UCX nor
 * libfabric it does nothing. */
#ifndef REGROUP_POLITE_H
#define REGROUP_POLITE_H

#include <stdint.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *active is 1 if MPI's waits in this process use this module and it is not turned
 * off, else 0. The result is known once MPI has polled for the first time: after rg_init, or
 * after an MPI call that waits. Local; any thread; needs no rg_init. Errors: RG_ERR_ARG. */
RG_API int rg_polite_active(int *active);

/* How often this process's waits inside MPI have polled without result, yielded and
 * slept since its start. Any pointer may be NULL. Local; any thread. */
RG_API int rg_polite_counts(int64_t *polls, int64_t *yields, int64_t *sleeps);

/* For a loop that polls MPI (MPI_Test, MPI_Iprobe) and pauses by itself. From
 * rg_polite_polling(1) to rg_polite_polling(0), polls of the calling thread that find
 * nothing do not pause inside MPI, and are not counted. Pairs may be nested. The caller
 * makes no blocking MPI calls between them, since these would not be polite. Local. */
RG_API int rg_polite_polling(int polling);

#ifdef __cplusplus
}
#endif
#endif
