/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Passing a descriptor to the processes of a node. */
#ifndef RGI_PASS_FD_H
#define RGI_PASS_FD_H

#include <mpi.h>

/* Collective over node, whose processes share a machine. *fd: on the first process its descriptor,
 * which stays its own, or -1: then the call does nothing. On the others it becomes a descriptor of
 * the same open file, closed by exec; -1 after an error. Cost: two small broadcasts and a
 * reduction, and as many messages of a socket as there are others. RG_ERR_SYSTEM; RG_ERR_MPI. */
int rgi_pass_fd_share(MPI_Comm node, int *fd);

#endif
