/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * HDF5's types for those of arrays. Complex numbers are compounds of r and i, as h5py writes
 * them. */
#ifndef RGI_H5_TYPE_H
#define RGI_H5_TYPE_H

#include <regroup/array.h>

#include "file/h5.h"

/* A type in memory, to be closed; negative on failure. */
hid_t rgi_h5_type(rg_array_type type, size_t element);

/* The array's type for a type of HDF5; RG_TYPE_COUNT: there is none. */
rg_array_type rgi_h5_type_recognise(hid_t type);

#endif
