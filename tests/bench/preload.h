/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Starting the program again with libregroup-mpi.so preloaded. */
#ifndef BENCH_PRELOAD_H
#define BENCH_PRELOAD_H

/* Before MPI_Init, for windows. Comes back where the library is there already, or where it is not
 * found beside the program; bench_preloaded tells the two apart. */
void bench_preload(char **argv);

/* Whether the preloaded library serves this function of MPI: with Open MPI it serves no windows. */
int bench_preloaded(const char *function);

/* A function of MPI: the one that a program gets which does not use the library itself. */
void *bench_preload_find(const char *function);

/* MPI's own. */
void *bench_preload_find_mpi(const char *function);

#endif
