/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * HDF5's types for those of arrays: complex numbers are compounds of r and i, as h5py
 * and others have them. */
#ifndef RGI_HDF5_TYPE_H
#define RGI_HDF5_TYPE_H

#include <regroup/array.h>

#include "file/hdf5_library.h"

/* A type in memory, to be closed; negative on failure. */
hid_t rgi_hdf5_type(rg_type type, size_t element);

/* RG_TYPE_COUNT: none of ours. */
rg_type rgi_hdf5_recognise(hid_t type);

#endif
