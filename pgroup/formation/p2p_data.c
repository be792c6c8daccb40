/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/p2p_data.h"

#include "base/error.h"

int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *d) {
  RGI_TRY(rgi_datatype_of(call, type, &d->datatype));
  RGI_TRY(rgi_datatype_bytes(call, &d->datatype, count, &d->bytes));
  return rgi_datatype_check_memory(call, &d->datatype, buf, d->bytes);
}
