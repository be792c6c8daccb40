/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The HDF5 format: one dataset "array", with an attribute "regroup_checksum". Rank 0 creates the
 * file with room for all elements and gets their offset from HDF5. All members write them by
 * MPI-IO, as in the native format. */
#include "base/error.h"
#include "file/file.h"

#ifndef RG_HDF5

static int without_hdf5(void) {
  return rgi_error(RG_ERR_UNSUPPORTED, "this library was built without HDF5");
}

int rgi_file_hdf5_create(const char *path, const rgi_file_info *info, int64_t *start) {
  (void)path, (void)info, (void)start;
  return without_hdf5();
}

int rgi_file_hdf5_inspect(const char *path, rgi_file_info *info) {
  (void)path, (void)info;
  return without_hdf5();
}

int rgi_file_hdf5_read(rg_array a, const char *path, const rgi_file_info *info) {
  (void)a, (void)path, (void)info;
  return without_hdf5();
}

#else

#include <stdlib.h>

#include "access/patch.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "file/h5.h"

enum {
  BOX = 16 << 20, /* bytes that are read at once */
  EXTRA = 8192    /* upper bound of what HDF5 writes beside the elements */
};
#define DATASET "array"
#define CHECKSUM "regroup_checksum"

/* --- writing ----------------------------------------------------------------------- */

static int write_checksum(hid_t dataset, uint64_t checksum) {
  hid_t type = *rgi_h5.pH5T_NATIVE_UINT64_g, space = rgi_h5.pH5Screate(H5S_SCALAR);
  hid_t attribute = rgi_h5.pH5Acreate2(dataset, CHECKSUM, type, space, H5P_DEFAULT, H5P_DEFAULT);
  int failed = attribute < 0 || rgi_h5.pH5Awrite(attribute, type, &checksum) < 0;
  if (attribute >= 0)
    failed |= rgi_h5.pH5Aclose(attribute) < 0;
  rgi_h5.pH5Sclose(space);
  return failed;
}

/* Adds the dataset without its elements. *start: where they belong. */
static int add_dataset(hid_t file, const rgi_file_info *info, int64_t *start) {
  hsize_t shape[RG_ARRAY_MAX_DIMS];
  int failed = 1;
  for (int k = 0; k < info->dims; k++)
    shape[k] = (hsize_t)info->shape[k];
  hid_t type = rgi_h5_type(info->type, info->element);
  hid_t space = rgi_h5.pH5Screate_simple(info->dims, shape, NULL);
  hid_t how = rgi_h5.pH5Pcreate(*rgi_h5.pH5P_CLS_DATASET_CREATE_ID_g);
  rgi_h5.pH5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  rgi_h5.pH5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
  hid_t dataset = rgi_h5.pH5Dcreate2(file, DATASET, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  if (dataset >= 0) {
    failed = write_checksum(dataset, info->checksum);
    haddr_t at = rgi_h5.pH5Dget_offset(dataset);
    *start = at == HADDR_UNDEF ? 0 : (int64_t)at; /* an empty one has no offset */
    failed |= rgi_h5.pH5Dclose(dataset) < 0;
  }
  rgi_h5.pH5Pclose(how);
  rgi_h5.pH5Sclose(space);
  rgi_h5.pH5Tclose(type);
  return failed;
}

static int create_file(const char *path, const rgi_file_info *info, int64_t *start) {
  hid_t file = rgi_h5.pH5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  int code = RG_SUCCESS;
  if (file < 0 || add_dataset(file, info, start))
    code = rgi_h5_error("cannot create", path);
  if (file >= 0 && rgi_h5.pH5Fclose(file) < 0 && code == RG_SUCCESS)
    code = rgi_h5_error("cannot write", path);
  return code;
}

/* Reserves the room first, so that a full disk is noticed before HDF5 writes: a file that HDF5
 * fails to write stays open in it for ever, and makes MPI_Finalize fail. */
int rgi_file_hdf5_create(const char *path, const rgi_file_info *info, int64_t *start) {
  RGI_TRY(rgi_h5_begin());
  int code = rgi_file_reserve(path, rgi_file_bytes(info) + EXTRA);
  if (code == RG_SUCCESS)
    code = create_file(path, info, start);
  rgi_h5_end();
  return code;
}

/* --- inspecting ------------------------------------------------------------------------ */

static int inspect_shape(hid_t space, const char *path, rgi_file_info *info) {
  hsize_t shape[H5S_MAX_RANK];
  int dims = rgi_h5.pH5Sget_simple_extent_ndims(space);
  if (rgi_h5.pH5Sis_simple(space) <= 0 || dims < 1 || dims > RG_ARRAY_MAX_DIMS)
    return rgi_error(RG_ERR_FILE, "cannot read %s: its dataset has %d dimensions", path, dims);
  rgi_h5.pH5Sget_simple_extent_dims(space, shape, NULL);
  info->dims = dims;
  for (int k = 0; k < dims; k++) {
    if (shape[k] > INT64_MAX)
      return rgi_error(RG_ERR_FILE, "cannot read %s: dimension %d has %llu elements", path, k,
                       (unsigned long long)shape[k]);
    info->shape[k] = (int64_t)shape[k];
  }
  return RG_SUCCESS;
}

static int inspect_type(hid_t type, const char *path, rgi_file_info *info) {
  info->type = rgi_h5_type_recognise(type);
  info->element = rgi_h5.pH5Tget_size(type);
  if (info->type == RG_TYPE_COUNT)
    return rgi_error(RG_ERR_FILE, "cannot read %s: arrays cannot have its dataset's type", path);
  return RG_SUCCESS;
}

/* Whether an attribute is one unsigned integer of 8 bytes: HDF5 reads whatever is there. */
static int is_one_word(hid_t attribute) {
  hid_t space = rgi_h5.pH5Aget_space(attribute), type = rgi_h5.pH5Aget_type(attribute);
  int one = rgi_h5.pH5Sget_simple_extent_npoints(space) == 1 &&
            rgi_h5.pH5Tget_class(type) == H5T_INTEGER &&
            rgi_h5.pH5Tget_sign(type) == H5T_SGN_NONE && rgi_h5.pH5Tget_size(type) == 8;
  rgi_h5.pH5Tclose(type);
  rgi_h5.pH5Sclose(space);
  return one;
}

static int read_checksum(hid_t attribute, const char *path, rgi_file_info *info) {
  if (!is_one_word(attribute))
    return rgi_error(
        RG_ERR_FILE,
        "cannot read %s: its attribute " CHECKSUM " is not one unsigned integer of 8 bytes", path);
  if (rgi_h5.pH5Aread(attribute, *rgi_h5.pH5T_NATIVE_UINT64_g, &info->checksum) < 0)
    return rgi_h5_error("cannot read the checksum of", path);
  info->has_checksum = 1;
  return RG_SUCCESS;
}

static int inspect_checksum(hid_t dataset, const char *path, rgi_file_info *info) {
  if (rgi_h5.pH5Aexists(dataset, CHECKSUM) <= 0)
    return RG_SUCCESS;
  hid_t attribute = rgi_h5.pH5Aopen(dataset, CHECKSUM, H5P_DEFAULT);
  if (attribute < 0)
    return rgi_h5_error("cannot read the checksum of", path);
  int code = read_checksum(attribute, path, info);
  rgi_h5.pH5Aclose(attribute);
  return code;
}

static int inspect_dataset(hid_t dataset, const char *path, rgi_file_info *info) {
  hid_t space = rgi_h5.pH5Dget_space(dataset), type = rgi_h5.pH5Dget_type(dataset);
  *info = (rgi_file_info){.format = RG_FILE_HDF5};
  int code = inspect_shape(space, path, info);
  if (code == RG_SUCCESS)
    code = inspect_type(type, path, info);
  if (code == RG_SUCCESS)
    code = inspect_checksum(dataset, path, info);
  rgi_h5.pH5Tclose(type);
  rgi_h5.pH5Sclose(space);
  return code;
}

/* --- reading ------------------------------------------------------------------------------ */

typedef struct {
  rg_array a;
  const char *path;
  hid_t dataset, space, type;
  char *buffer;
} hdf5_reading;

/* Reads a box inside one of the caller's blocks. */
static int read_box(hdf5_reading *reading, const int64_t lo[], const int64_t extent[]) {
  hsize_t start[RG_ARRAY_MAX_DIMS], count[RG_ARRAY_MAX_DIMS];
  int64_t hi[RG_ARRAY_MAX_DIMS];
  int dims = reading->a->d.dims;
  rgi_pieces it;
  rgi_piece place;
  for (int k = 0; k < dims; k++) {
    start[k] = (hsize_t)lo[k];
    count[k] = (hsize_t)extent[k];
    hi[k] = lo[k] + extent[k];
  }
  rgi_h5.pH5Sselect_hyperslab(reading->space, H5S_SELECT_SET, start, NULL, count, NULL);
  hid_t memory = rgi_h5.pH5Screate_simple(dims, count, NULL);
  int failed = rgi_h5.pH5Dread(reading->dataset, reading->type, memory, reading->space, H5P_DEFAULT,
                               reading->buffer) < 0;
  rgi_h5.pH5Sclose(memory);
  if (failed)
    return rgi_h5_error("cannot read", reading->path);
  rgi_pieces_start(&it, &reading->a->d, lo, hi);
  rgi_pieces_next(&it, &place);
  char *to = rgi_array_mine(reading->a) + place.offset * (int64_t)reading->a->element;
  rgi_strided patch = rgi_strided_make(dims, extent, reading->a->element, NULL, place.ld);
  rgi_patch_put(&patch, to, reading->buffer);
  return RG_SUCCESS;
}

/* Chooses the extents of boxes that fit into the buffer: whole rows if possible. */
static void choose_box(const hdf5_reading *reading, const int64_t lo[], const int64_t hi[],
                       int64_t box[]) {
  int64_t left = BOX / (int64_t)reading->a->element;
  for (int k = reading->a->d.dims - 1; k >= 0; k--) {
    int64_t most = left > 1 ? left : 1;
    box[k] = hi[k] - lo[k] < most ? hi[k] - lo[k] : most;
    left /= box[k];
  }
}

static int read_block(hdf5_reading *reading, const int64_t lo[], const int64_t hi[]) {
  int64_t box[RG_ARRAY_MAX_DIMS], at[RG_ARRAY_MAX_DIMS], extent[RG_ARRAY_MAX_DIMS];
  int dims = reading->a->d.dims, k = 0;
  for (int j = 0; j < dims; j++) {
    if (lo[j] == hi[j])
      return RG_SUCCESS;
    at[j] = lo[j];
  }
  choose_box(reading, lo, hi, box);
  while (k >= 0) {
    for (int j = 0; j < dims; j++)
      extent[j] = hi[j] - at[j] < box[j] ? hi[j] - at[j] : box[j];
    RGI_TRY(read_box(reading, at, extent));
    for (k = dims - 1; k >= 0 && (at[k] += box[k]) >= hi[k]; k--)
      at[k] = lo[k];
  }
  return RG_SUCCESS;
}

static int read_blocks(hdf5_reading *reading) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  int64_t blocks = rgi_distribution_blocks(&reading->a->d, reading->a->me);
  for (int64_t i = 0; i < blocks; i++) {
    rgi_distribution_block(&reading->a->d, reading->a->me, i, lo, hi);
    RGI_TRY(read_block(reading, lo, hi));
  }
  return RG_SUCCESS;
}

static int read_dataset(rg_array a, hid_t dataset, const char *path, const rgi_file_info *info) {
  hdf5_reading reading = {.a = a, .path = path, .dataset = dataset};
  reading.buffer = malloc(a->element > BOX ? a->element : BOX);
  if (!reading.buffer)
    return rgi_error(RG_ERR_NOMEM, "no memory for the buffers of %s", path);
  reading.space = rgi_h5.pH5Dget_space(dataset);
  reading.type = rgi_h5_type(info->type, info->element);
  int code = read_blocks(&reading);
  rgi_h5.pH5Tclose(reading.type);
  rgi_h5.pH5Sclose(reading.space);
  free(reading.buffer);
  return code;
}

/* --- with the dataset open ------------------------------------------------------------------ */

/* a NULL: inspect, else read. */
static int with_dataset(rg_array a, hid_t file, const char *path, rgi_file_info *inspected,
                        const rgi_file_info *info) {
  hid_t dataset = rgi_h5.pH5Dopen2(file, DATASET, H5P_DEFAULT);
  if (dataset < 0)
    return rgi_h5_error("cannot find the dataset \"" DATASET "\" in", path);
  int code = a ? read_dataset(a, dataset, path, info) : inspect_dataset(dataset, path, inspected);
  rgi_h5.pH5Dclose(dataset);
  return code;
}

static int with_file(rg_array a, const char *path, rgi_file_info *inspected,
                     const rgi_file_info *info) {
  RGI_TRY(rgi_h5_begin());
  hid_t file = rgi_h5.pH5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  int code =
      file < 0 ? rgi_h5_error("cannot open", path) : with_dataset(a, file, path, inspected, info);
  if (file >= 0)
    rgi_h5.pH5Fclose(file);
  rgi_h5_end();
  return code;
}

int rgi_file_hdf5_inspect(const char *path, rgi_file_info *info) {
  return with_file(NULL, path, info, NULL);
}

int rgi_file_hdf5_read(rg_array a, const char *path, const rgi_file_info *info) {
  return with_file(a, path, NULL, info);
}

#endif
