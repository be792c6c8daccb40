/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whether all processes of MPI_COMM_WORLD have this library. The calls that start it are
 * collective: they would wait for ever for a process that is not preloaded, or that takes MPI's
 * functions from MPI's library by dlsym.
 *
 * A process that has the library leaves a mark in the launcher's space before MPI_Init. MPI_Init's
 * own exchange makes the marks visible to all. After it each process looks for those of its
 * neighbours in a tree, and the neighbours that have the library tell one another by messages. This
 * needs MPICH's launcher (hydra); with another one all processes are taken to have the library. */
#ifndef RGI_PRELOADED_H
#define RGI_PRELOADED_H

/* Before MPI_Init, once. */
void rgi_preloaded_tell(void);

/* After MPI_Init, by all processes that have the library: a rank of MPI_COMM_WORLD that does not
 * have it, or -1. *first: whether the caller is the one to report that, among those that find the
 * same. All callers find that there is such a process, or none does. */
int rgi_preloaded_find_missing(int *first);

#endif
