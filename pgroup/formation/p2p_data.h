/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The data of a message: count elements of an MPI datatype, which travel as dense
 * bytes, as MPI_Pack lays them out. For most types that is how they lie in memory
 * anyway. */
#ifndef RGI_P2P_DATA_H
#define RGI_P2P_DATA_H

#include <mpi.h>
#include <stddef.h>

typedef struct {
  MPI_Datatype type;
  size_t size, bytes; /* dense bytes of an element; of all */
  MPI_Aint extent;    /* from one element to the next */
  int dense;          /* they lie so in memory */
} rgi_p2p_data;

/* Looks at the arguments of a call: RG_ERR_ARG for those that cannot be. */
int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *d);

/* All of buf to dense bytes; the dense bytes that came to buf. Only for data that
 * is not dense. */
int rgi_p2p_data_pack(const rgi_p2p_data *d, const void *buf, char *dense);
int rgi_p2p_data_unpack(const rgi_p2p_data *d, char *dense, size_t bytes, void *buf);

#endif
