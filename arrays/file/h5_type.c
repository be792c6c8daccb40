/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Types by their class and size; a compound counts as complex if its members are the reals r and i.
 */
#ifdef RG_HDF5
#include "file/h5_type.h"

static hid_t complex_type(hid_t part, size_t size) {
  hid_t type = rgi_h5.pH5Tcreate(H5T_COMPOUND, 2 * size);
  rgi_h5.pH5Tinsert(type, "r", 0, part);
  rgi_h5.pH5Tinsert(type, "i", size, part);
  return type;
}

static hid_t opaque_type(size_t size) {
  hid_t type = rgi_h5.pH5Tcreate(H5T_OPAQUE, size);
  rgi_h5.pH5Tset_tag(type, "");
  return type;
}

hid_t rgi_h5_type(rg_array_type type, size_t element) {
  switch (type) {
  case RG_TYPE_INT32:
    return rgi_h5.pH5Tcopy(*rgi_h5.pH5T_NATIVE_INT32_g);
  case RG_TYPE_INT64:
    return rgi_h5.pH5Tcopy(*rgi_h5.pH5T_NATIVE_INT64_g);
  case RG_TYPE_FLOAT:
    return rgi_h5.pH5Tcopy(*rgi_h5.pH5T_NATIVE_FLOAT_g);
  case RG_TYPE_DOUBLE:
    return rgi_h5.pH5Tcopy(*rgi_h5.pH5T_NATIVE_DOUBLE_g);
  case RG_TYPE_FLOAT_COMPLEX:
    return complex_type(*rgi_h5.pH5T_NATIVE_FLOAT_g, sizeof(float));
  case RG_TYPE_DOUBLE_COMPLEX:
    return complex_type(*rgi_h5.pH5T_NATIVE_DOUBLE_g, sizeof(double));
  default:
    return opaque_type(element);
  }
}

static int is_complex(hid_t type) {
  int r = rgi_h5.pH5Tget_member_index(type, "r"), i = rgi_h5.pH5Tget_member_index(type, "i");
  return rgi_h5.pH5Tget_nmembers(type) == 2 && r >= 0 && i >= 0 &&
         rgi_h5.pH5Tget_member_class(type, (unsigned)r) == H5T_FLOAT &&
         rgi_h5.pH5Tget_member_class(type, (unsigned)i) == H5T_FLOAT;
}

rg_array_type rgi_h5_type_recognise(hid_t type) {
  size_t size = rgi_h5.pH5Tget_size(type);
  switch (rgi_h5.pH5Tget_class(type)) {
  case H5T_INTEGER:
    if (rgi_h5.pH5Tget_sign(type) != H5T_SGN_2)
      return RG_TYPE_COUNT;
    return size == 4 ? RG_TYPE_INT32 : size == 8 ? RG_TYPE_INT64 : RG_TYPE_COUNT;
  case H5T_FLOAT:
    return size == 4 ? RG_TYPE_FLOAT : size == 8 ? RG_TYPE_DOUBLE : RG_TYPE_COUNT;
  case H5T_COMPOUND:
    if (!is_complex(type))
      return RG_TYPE_COUNT;
    return size == 8 ? RG_TYPE_FLOAT_COMPLEX : size == 16 ? RG_TYPE_DOUBLE_COMPLEX : RG_TYPE_COUNT;
  case H5T_OPAQUE:
    return RG_TYPE_OPAQUE;
  default:
    return RG_TYPE_COUNT;
  }
}
#endif
