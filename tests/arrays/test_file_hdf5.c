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
  const char *name, *type; /* type: a variable of HDF5's */
  hsize_t values;
} foreign_attribute;

typedef struct {
  const char *path, *dataset;
  int dims;
  const char *type; /* in the file: a variable of HDF5's */
  int compressed;
  const foreign_attribute *attribute; /* NULL: there is none */
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

static void write_attribute(hid_t dataset, const foreign_attribute *f) {
  hid_t type = *(hid_t *)hdf5(f->type);
  hid_t space = rgi_h5.pH5Screate_simple(1, &f->values, NULL);
  hid_t attribute = rgi_h5.pH5Acreate2(dataset, f->name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  void *values = calloc(f->values, 16);
  RGT_TRUE(rgi_h5.pH5Awrite(attribute, type, values) >= 0);
  rgi_h5.pH5Aclose(attribute);
  rgi_h5.pH5Sclose(space);
  free(values);
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
  if (f->attribute)
    write_attribute(dataset, f->attribute);
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
    make(&(foreign){rgt_path("other"), "array", 2, types[t / 2].name, t % 2, NULL});
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
  make(&(foreign){path, "something", 2, "H5T_IEEE_F64LE_g", 0, NULL});
  rgt_load_fails(a, path, "dataset \"array\"");
  make(&(foreign){path, "array", 0, "H5T_IEEE_F64LE_g", 0, NULL});
  rgt_load_fails(a, path, "0 dimensions");
  make(&(foreign){path, "array", 8, "H5T_IEEE_F64LE_g", 0, NULL});
  rgt_load_fails(a, path, "8 dimensions");
  make(&(foreign){path, "array", 2, "H5T_STD_U32LE_g", 0, NULL});
  rgt_load_fails(a, path, "type");
  make(&(foreign){path, "array", 2, "H5T_STD_I16LE_g", 0, NULL});
  rgt_load_fails(a, path, "type");
  RGT_OK(rg_array_free(&a));
}

/* An attribute of the checksum's name is one word, or the file is refused; one of a common name
 * means nothing. */
static void test_attributes(void) {
  static const foreign_attribute wrong[] = {{"regroup_checksum", "H5T_NATIVE_UINT8_g", 4096},
                                            {"regroup_checksum", "H5T_NATIVE_UINT64_g", 2},
                                            {"regroup_checksum", "H5T_NATIVE_UINT64_g", 0},
                                            {"regroup_checksum", "H5T_NATIVE_INT64_g", 1},
                                            {"regroup_checksum", "H5T_NATIVE_UINT8_g", 1},
                                            {"regroup_checksum", "H5T_IEEE_F64LE_g", 1}};
  static const foreign_attribute right = {"regroup_checksum", "H5T_NATIVE_UINT64_g", 1};
  static const foreign_attribute common = {"checksum", "H5T_NATIVE_UINT64_g", 4096};
  rg_array a = new_array(RG_TYPE_DOUBLE);
  const char *path = rgt_path("attribute");
  for (int i = 0; i < 6; i++) {
    make(&(foreign){path, "array", 2, "H5T_IEEE_F64LE_g", 0, &wrong[i]});
    rgt_load_fails(a, path, "regroup_checksum");
  }
  make(&(foreign){path, "array", 2, "H5T_IEEE_F64LE_g", 0, &right});
  rgt_load_fails(a, path, "checksum of its elements differs");
  make(&(foreign){path, "array", 2, "H5T_IEEE_F64LE_g", 0, &common});
  RGT_OK(rg_array_load(a, path));
  RGT_DBL(element(a, RG_TYPE_DOUBLE, 1, 0), COLUMNS, 0);
  RGT_OK(rg_array_free(&a));
}

/* --- drawn files ----------------------------------------------------------------------------- */

/* Rank 0: a dataset in pieces, of which none is written: its extents may be of any size. */
static void write_drawn(const char *path) {
  static const hsize_t extents[] = {0,        1, 2, 3, 1000, (hsize_t)1 << 40, (hsize_t)1 << 62,
                                    INT64_MAX};
  static const char *const types[] = {"H5T_IEEE_F64LE_g", "H5T_STD_I32BE_g",   "H5T_STD_I64LE_g",
                                      "H5T_C_S1_g",       "H5T_STD_REF_OBJ_g", "H5T_STD_B8LE_g"};
  __typeof__(H5Pset_chunk) *set_chunk = hdf5("H5Pset_chunk");
  hsize_t shape[8], chunk[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  int dims = 1 + (int)(random() % 8), big = random() % 2 ? 8 : 4;
  for (int k = 0; k < dims; k++)
    shape[k] = extents[random() % big];
  RGT_OK(rgi_h5_begin());
  hid_t file = rgi_h5.pH5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = rgi_h5.pH5Screate_simple(dims, shape, NULL);
  hid_t how = rgi_h5.pH5Pcreate(*rgi_h5.pH5P_CLS_DATASET_CREATE_ID_g);
  set_chunk(how, dims, chunk);
  hid_t dataset = rgi_h5.pH5Dcreate2(file, "array", *(hid_t *)hdf5(types[random() % 6]), space,
                                     H5P_DEFAULT, how, H5P_DEFAULT);
  foreign_attribute f = {"regroup_checksum", types[random() % 3], (hsize_t)random() % 3};
  if (dataset >= 0 && random() % 4 == 0)
    write_attribute(dataset, &f);
  if (dataset >= 0)
    rgi_h5.pH5Dclose(dataset);
  rgi_h5.pH5Pclose(how);
  rgi_h5.pH5Sclose(space);
  rgi_h5.pH5Fclose(file);
  rgi_h5_end();
}

/* A file is opened, or refused with an error on all members. */
static void test_drawn(void) {
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < 60; i++) {
    rg_array a = NULL;
    if (rgt_rank == 0)
      write_drawn(rgt_path("drawn"));
    MPI_Barrier(MPI_COMM_WORLD);
    int code = rg_array_open(rgt_world, rgt_path("drawn"), &a), least, most;
    MPI_Allreduce(&code, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&code, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    RGT_INT(least, most);
    RGT_TRUE(code == RG_SUCCESS || code == RG_ERR_FILE || code == RG_ERR_LIMIT ||
             code == RG_ERR_NOMEM);
    RGT_OK(rg_array_free(&a));
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", rgt_files_start},
                                   {"damaged files", test_damaged},
                                   {"files of other programs", test_others},
                                   {"files that are no arrays", test_strange},
                                   {"attributes", test_attributes},
                                   {"drawn files", test_drawn},
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
