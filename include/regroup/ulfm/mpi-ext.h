/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For programs that include <mpi-ext.h>, as Open MPI's manual says: regroup/mpi-ext.h. */
#include <regroup/mpi-ext.h>
