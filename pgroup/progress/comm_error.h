/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The error of one process as that of all, over a communicator (base/error_report.h). */
#ifndef RGI_COMM_ERROR_H
#define RGI_COMM_ERROR_H

#include <mpi.h>

#include "base/error_report.h"

/* Collective over comm. error: the caller's own, or RG_SUCCESS. Returns the error of the lowest
 * rank that has one, on every process, with a text that names the rank. Cost: an allreduce of 8
 * bytes; after an error a broadcast of the text. */
int rgi_comm_error_share(MPI_Comm comm, const char *call, int error);

/* The same where all processes know the word already. word 0: RG_SUCCESS, at no cost. */
int rgi_comm_error_tell(MPI_Comm comm, const char *call, int64_t word, int error);

/* The caller's word. */
int64_t rgi_comm_error_word(MPI_Comm comm, int error);

#endif
