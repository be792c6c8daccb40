/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * HDF5 files: damaged ones, and those of other programs, which may be stored in
 * compressed pieces and with another order of bytes.
 *
 * env: RG_TIMEOUT=60
 * sources: tests/arrays/file_cases.c */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "file_cases.h"
#include "tests/check/check.h"

#ifdef RG_HDF5
#include <dlfcn.h>

#include "file/h5.h"

enum { ROWS = 40, COLUMNS = 30 };

static rg_array new_array(rg_array_type type) {
  rg_array a = NULL;
  RGT_OK(rg_array_create_simple(rgt_world, type, 2, (int64_t[]){ROWS, COLUMNS}, &a));
  return a;
}

static void test_damaged(void) {
  rg_array a = new_array(RG_TYPE_DOUBLE);
  const char *path = rgt_path("bad");
  rgt_fill(a, 3);
  RGT_OK(rg_array_save(a, path, RG_FILE_HDF5));
  rgt_spoil(path, rgt_file_size(path) / 2, "spoilt", 6);
  rgt_load_fails(a, path, "checksum of its elements differs");
  RGT_OK(rg_array_save(a, path, RG_FILE_HDF5));
  rgt_resize(path, rgt_file_size(path) - 100);
  rgt_load_fails(a, path, "truncated");
  rgt_resize(path, 100);
  rgt_load_fails(a, path, "HDF5");
  RGT_OK(rg_array_free(&a));
}

/* --- files of other programs ------------------------------------------------------------ */

typedef struct {
  const char *path, *dataset;
  int dims;
  const char *type; /* in the file: a variable of HDF5's */
  int compressed;
} foreign;

static void *hdf5(const char *name) {
  void *library = dlopen(RG_HDF5, RTLD_NOW | RTLD_LOCAL), *found = dlsym(library, name);
  RGT_PTR_NOT_NULL(found);
  return found;
}

static void compress(hid_t how) {
  __typeof__(H5Pset_chunk) *set_chunk = hdf5("H5Pset_chunk");
  __typeof__(H5Pset_deflate) *set_deflate = hdf5("H5Pset_deflate");
  set_chunk(how, 2, (hsize_t[]){7, 11});
  set_deflate(how, 4);
}

/* Rank 0: a dataset whose element i is i, as a double of this program's. */
static void write_foreign(const foreign *f) {
  __typeof__(H5Dwrite) *write = hdf5("H5Dwrite");
  hid_t type = *(hid_t *)hdf5(f->type);
  double *data = malloc(ROWS * COLUMNS * sizeof *data);
  hsize_t shape[8] = {ROWS, COLUMNS, 1, 1, 1, 1, 1, 1};
  for (int i = 0; i < ROWS * COLUMNS; i++)
    data[i] = i;
  RGT_OK(rgi_h5_begin());
  hid_t file = rgi_h5.pH5Fcreate(f->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space =
      f->dims ? rgi_h5.pH5Screate_simple(f->dims, shape, NULL) : rgi_h5.pH5Screate(H5S_SCALAR);
  hid_t how = rgi_h5.pH5Pcreate(*rgi_h5.pH5P_CLS_DATASET_CREATE_ID_g);
  if (f->compressed)
    compress(how);
  hid_t dataset = rgi_h5.pH5Dcreate2(file, f->dataset, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  RGT_TRUE(write(dataset, *rgi_h5.pH5T_NATIVE_DOUBLE_g, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  rgi_h5.pH5Dclose(dataset);
  rgi_h5.pH5Pclose(how);
  rgi_h5.pH5Sclose(space);
  rgi_h5.pH5Fclose(file);
  rgi_h5_end();
  free(data);
}

static void make(const foreign *f) {
  if (rgt_rank == 0)
    write_foreign(f);
  MPI_Barrier(MPI_COMM_WORLD);
}

static double element(rg_array a, rg_array_type type, int64_t i, int64_t j) {
  union {
    double d;
    float f;
    int32_t i;
    int64_t l;
  } v;
  RGT_OK(rg_array_get(a, (int64_t[]){i, j}, (int64_t[]){i + 1, j + 1}, &v, NULL));
  return type == RG_TYPE_DOUBLE  ? v.d
         : type == RG_TYPE_FLOAT ? v.f
         : type == RG_TYPE_INT32 ? v.i
                                 : (double)v.l;
}

static void test_others(void) {
  static const struct {
    const char *name;
    rg_array_type type;
  } types[] = {{"H5T_IEEE_F64BE_g", RG_TYPE_DOUBLE}, {"H5T_IEEE_F64LE_g", RG_TYPE_DOUBLE},
               {"H5T_IEEE_F32BE_g", RG_TYPE_FLOAT},  {"H5T_STD_I32BE_g", RG_TYPE_INT32},
               {"H5T_STD_I32LE_g", RG_TYPE_INT32},   {"H5T_STD_I64BE_g", RG_TYPE_INT64}};
  for (int t = 0; t < 12; t++) {
    rg_array_type type = types[t / 2].type;
    rg_array a;
    make(&(foreign){rgt_path("other"), "array", 2, types[t / 2].name, t % 2});
    if (!RGT_OK(rg_array_open(rgt_world, rgt_path("other"), &a)))
      continue;
    for (int64_t i = 0; i < ROWS; i++)
      for (int64_t j = 0; j < COLUMNS; j += 7)
        RGT_DBL(element(a, type, i, j), (double)(i * COLUMNS + j), 0);
    RGT_OK(rg_array_free(&a));
  }
}

static void test_strange(void) {
  rg_array a = new_array(RG_TYPE_DOUBLE);
  const char *path = rgt_path("strange");
  make(&(foreign){path, "something", 2, "H5T_IEEE_F64LE_g", 0});
  rgt_load_fails(a, path, "dataset \"array\"");
  make(&(foreign){path, "array", 0, "H5T_IEEE_F64LE_g", 0});
  rgt_load_fails(a, path, "0 dimensions");
  make(&(foreign){path, "array", 8, "H5T_IEEE_F64LE_g", 0});
  rgt_load_fails(a, path, "8 dimensions");
  make(&(foreign){path, "array", 2, "H5T_STD_U32LE_g", 0});
  rgt_load_fails(a, path, "type");
  make(&(foreign){path, "array", 2, "H5T_STD_I16LE_g", 0});
  rgt_load_fails(a, path, "type");
  RGT_OK(rg_array_free(&a));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", rgt_files_start},
                                   {"damaged files", test_damaged},
                                   {"files of other programs", test_others},
                                   {"files that are no arrays", test_strange},
                                   {"end", rgt_files_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "file_hdf5", tests);
}

#else

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"start", rgt_files_start}, {"end", rgt_files_end}, {NULL, NULL}};
  return rgt_main(argc, argv, "file_hdf5", tests);
}

#endif
