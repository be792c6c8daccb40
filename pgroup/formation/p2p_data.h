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
} rgi_p2p_data;

/* Checks the arguments of a call and describes its data. RG_ERR_ARG; RG_ERR_UNSUPPORTED. */
int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *data);

#endif
