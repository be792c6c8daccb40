/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/p2p_data.h"

#include "base/error.h"

int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *data) {
  RGI_TRY(rgi_datatype_of(call, type, &data->datatype));
  RGI_TRY(rgi_datatype_bytes(call, &data->datatype, count, &data->bytes));
  return rgi_datatype_check_memory(call, &data->datatype, buf, data->bytes);
}
