/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The data of a message: count elements of an MPI datatype, sent as dense bytes (datatype.h). */
#ifndef RGI_P2P_DATA_H
#define RGI_P2P_DATA_H

#include "formation/datatype.h"

typedef struct {
  rgi_datatype datatype;
  size_t bytes; /* dense bytes of all elements */
  int dense;    /* they need no packing: they lie dense in memory, or have no bytes */
} rgi_p2p_data;

/* Checks the arguments of a call and describes its data. RG_ERR_ARG; RG_ERR_UNSUPPORTED. */
int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *d);

/* Unpacks the first `bytes` dense bytes, which may end inside an element, to buf. Only for data
 * that are not dense; rgi_datatype_pack packs them. */
int rgi_p2p_data_unpack(const rgi_p2p_data *d, const char *dense, size_t bytes, void *buf);

#endif
