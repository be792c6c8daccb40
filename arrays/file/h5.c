/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The functions are found by name with dlsym. HDF5 is never unloaded: its own exit handlers stay
 * valid. */
#ifdef RG_HDF5
#include "file/h5.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "base/error.h"

rgi_h5_library rgi_h5;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below, and of HDF5 */
static int loaded;
static H5E_auto2_t print;
static void *print_data;

/* dlsym returns pointers to functions as pointers to objects, which POSIX allows and C does not. */
static int find_symbol(void *library, const char *name, void *pointer) {
  *(void **)pointer = dlsym(library, name);
  return *(void **)pointer != NULL;
}

static int load_library(void) {
  void *library = dlopen(RG_HDF5, RTLD_NOW | RTLD_LOCAL);
  int found = library != NULL;
#define FIND(name) found = found && find_symbol(library, #name, &rgi_h5.p##name);
  RGI_H5_FUNCTIONS(FIND)
  RGI_H5_VARIABLES(FIND)
  if (!found)
    return rgi_error(RG_ERR_UNSUPPORTED, "HDF5 cannot be loaded: %s", dlerror());
  if (rgi_h5.pH5open() < 0)
    return rgi_error(RG_ERR_UNSUPPORTED, "HDF5 cannot be started");
  loaded = 1;
  return RG_SUCCESS;
}

int rgi_h5_begin(void) {
  pthread_mutex_lock(&lock);
  int code = loaded ? RG_SUCCESS : load_library();
  if (code != RG_SUCCESS) {
    pthread_mutex_unlock(&lock);
    return code;
  }
  rgi_h5.pH5Eget_auto2(H5E_DEFAULT, &print, &print_data);
  rgi_h5.pH5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return RG_SUCCESS;
}

void rgi_h5_end(void) {
  rgi_h5.pH5Eset_auto2(H5E_DEFAULT, print, print_data);
  pthread_mutex_unlock(&lock);
}

/* HDF5 walks through its errors; the last one is where the failure began. */
static herr_t keep_text(unsigned n, const H5E_error2_t *error, void *text) {
  (void)n;
  snprintf(text, 300, "%s", error->desc ? error->desc : "");
  return 0;
}

int rgi_h5_error(const char *what, const char *path) {
  char text[300] = "";
  rgi_h5.pH5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_text, text);
  return rgi_error(RG_ERR_FILE, "%s %s: HDF5: %s", what, path, text);
}

/* --- types ------------------------------------------------------------------------------------ */

/* By class and size; a compound counts as complex if its members are the reals r and i. */
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
