/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * While the runtime starts: what each process knows of itself, for all. */
#ifndef RGI_GATHER_H
#define RGI_GATHER_H

#include <mpi.h>
#include <stddef.h>

/* Collective over comm, which has n processes: *all has what each of them gives, in the order of
 * ranks; the caller frees it. what: for the error's text. RG_ERR_NOMEM on all if one of them has no
 * memory for it; RG_ERR_MPI. */
int rgi_gather(MPI_Comm comm, int n, const char *what, const void *mine, size_t bytes, void *all);

#endif
