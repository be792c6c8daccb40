/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * HDF5's library, loaded at run time when the first file needs it. It loads some forty other
 * libraries, which programs without such files should not have to load, or to have installed. */
#ifndef RGI_H5_H
#define RGI_H5_H

#include <hdf5.h>
#include <regroup/array.h>

/* HDF5's constants are macros that call these two functions. */
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

/* The functions that are used, and the variables: types and property lists. */
#define RGI_H5_FUNCTIONS(F)                                                                        \
  F(H5open)                                                                                        \
  F(H5Eget_auto2)                                                                                  \
  F(H5Eset_auto2)                                                                                  \
  F(H5Ewalk2)                                                                                      \
  F(H5Fcreate)                                                                                     \
  F(H5Fopen)                                                                                       \
  F(H5Fclose)                                                                                      \
  F(H5Pcreate)                                                                                     \
  F(H5Pclose)                                                                                      \
  F(H5Pset_alloc_time)                                                                             \
  F(H5Pset_fill_time)                                                                              \
  F(H5Screate)                                                                                     \
  F(H5Screate_simple)                                                                              \
  F(H5Sclose)                                                                                      \
  F(H5Sis_simple)                                                                                  \
  F(H5Sget_simple_extent_ndims)                                                                    \
  F(H5Sget_simple_extent_dims)                                                                     \
  F(H5Sget_simple_extent_npoints)                                                                  \
  F(H5Sselect_hyperslab)                                                                           \
  F(H5Tcreate)                                                                                     \
  F(H5Tcopy)                                                                                       \
  F(H5Tclose)                                                                                      \
  F(H5Tinsert)                                                                                     \
  F(H5Tset_tag)                                                                                    \
  F(H5Tget_class)                                                                                  \
  F(H5Tget_size)                                                                                   \
  F(H5Tget_sign)                                                                                   \
  F(H5Tget_nmembers)                                                                               \
  F(H5Tget_member_index)                                                                           \
  F(H5Tget_member_class)                                                                           \
  F(H5Acreate2)                                                                                    \
  F(H5Aexists)                                                                                     \
  F(H5Aopen)                                                                                       \
  F(H5Aget_space)                                                                                  \
  F(H5Aget_type)                                                                                   \
  F(H5Aread)                                                                                       \
  F(H5Awrite)                                                                                      \
  F(H5Aclose)                                                                                      \
  F(H5Dcreate2)                                                                                    \
  F(H5Dopen2)                                                                                      \
  F(H5Dclose)                                                                                      \
  F(H5Dget_type)                                                                                   \
  F(H5Dget_space)                                                                                  \
  F(H5Dget_offset)                                                                                 \
  F(H5Dread)

#define RGI_H5_VARIABLES(F)                                                                        \
  F(H5T_NATIVE_INT32_g)                                                                            \
  F(H5T_NATIVE_INT64_g)                                                                            \
  F(H5T_NATIVE_UINT64_g)                                                                           \
  F(H5T_NATIVE_FLOAT_g)                                                                            \
  F(H5T_NATIVE_DOUBLE_g)                                                                           \
  F(H5P_CLS_DATASET_CREATE_ID_g)

#define RGI_H5_POINTER(name) __typeof__(name) *p##name;
typedef struct {
  RGI_H5_FUNCTIONS(RGI_H5_POINTER)
  RGI_H5_VARIABLES(RGI_H5_POINTER)
} rgi_h5_library;
#undef RGI_H5_POINTER

/* The table of functions and variables, filled by the first rgi_h5_begin. */
extern rgi_h5_library rgi_h5;

/* Loads the library the first time. From _begin to _end the calling thread alone uses HDF5, which
 * is not thread-safe, and HDF5 does not print its errors. RG_ERR_UNSUPPORTED: it cannot be loaded.
 */
int rgi_h5_begin(void);
void rgi_h5_end(void);

/* RG_ERR_FILE with HDF5's own text for its last error. */
int rgi_h5_error(const char *what, const char *path);

/* A type in memory, to be closed; negative on failure. */
hid_t rgi_h5_type(rg_array_type type, size_t element);

/* The array's type for a type of HDF5; RG_TYPE_COUNT: there is none. */
rg_array_type rgi_h5_type_recognise(hid_t type);

#endif
