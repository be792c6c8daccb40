/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Loading an array: rank 0 recognises the format and reads the description, the others get it by
 * broadcast; then all members read their elements, and the checksum of the whole is compared. */
#include <errno.h>
#include <fcntl.h>
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/error_report.h"
#include "collectives/calls/group_error.h"
#include "file/file.h"
#include "formation/group.h"

/* Rank 0: finds the format, without blocking on a pipe that has no writer. */
static int recognise_format(const char *path, int *hdf5) {
  static const char signature[8] = {(char)0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  char first[8] = "";
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return rgi_file_system_error("cannot open", path, errno);
  int failed = fstat(fd, &status) != 0 ? errno : 0;
  int file = !failed && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
  if (file && pread(fd, first, sizeof first, 0) < 0)
    failed = errno;
  close(fd);
  if (!failed && !file)
    return rgi_error(RG_ERR_FILE, "cannot read %.500s: it is no regular file", path);
  if (failed)
    return rgi_file_system_error("cannot read", path, failed);
  *hdf5 = !memcmp(first, signature, sizeof first);
  return RG_SUCCESS;
}

static int inspect_by_root(const char *path, rgi_file_info *info) {
  int hdf5 = 0;
  RGI_TRY(recognise_format(path, &hdf5));
  return hdf5 ? rgi_file_hdf5_inspect(path, info) : rgi_file_native_inspect(path, info);
}

/* Every member: gets the description in the file. */
static int inspect_file(const char *call, rg_group g, const char *path, rgi_file_info *info) {
  int me, code = RG_SUCCESS;
  RGI_TRY(rgi_file_same(call, g, path, 0));
  RGI_TRY(rg_group_rank(g, &me));
  memset(info, 0, sizeof *info);
  if (me == 0)
    code = inspect_by_root(path, info);
  RGI_TRY(rgi_group_error_share(g, call, code));
  return rg_bcast(g, info, sizeof *info, MPI_BYTE, 0);
}

static void shape_text(int dims, const int64_t shape[], char *text, size_t size) {
  size_t used = 0;
  for (int k = 0; k < dims && used < size; k++)
    used += (size_t)snprintf(text + used, size - used, k ? " x %lld" : "%lld", (long long)shape[k]);
}

static int fits_array(rg_array a, const char *path, const rgi_file_info *info) {
  char mine[192], theirs[192];
  if (info->type != a->type || info->element != a->element)
    return rgi_error(RG_ERR_FILE,
                     "cannot load %s: its elements have type %d of %llu bytes, the array's type %d "
                     "of %zu",
                     path, (int)info->type, (unsigned long long)info->element, (int)a->type,
                     a->element);
  if (info->dims == a->d.dims &&
      !memcmp(info->shape, a->d.shape, (size_t)info->dims * sizeof *info->shape))
    return RG_SUCCESS;
  shape_text(info->dims, info->shape, theirs, sizeof theirs);
  shape_text(a->d.dims, a->d.shape, mine, sizeof mine);
  return rgi_error(RG_ERR_FILE, "cannot load %s: its shape is %s, the array's %s", path, theirs,
                   mine);
}

static int read_elements(const char *call, rg_array a, const char *path,
                         const rgi_file_info *info) {
  uint64_t checksum;
  RGI_TRY(rgi_error_report_under(call, rg_array_sync(a)));
  if (info->format == RG_FILE_HDF5)
    RGI_TRY(rgi_group_error_share(a->group, call, rgi_file_hdf5_read(a, path, info)));
  else
    RGI_TRY(rgi_file_read(call, a, path, RGI_FILE_NATIVE_HEADER));
  RGI_TRY(rg_array_checksum(a, &checksum));
  if (info->has_checksum && checksum != info->checksum)
    return rgi_error(RG_ERR_FILE, "%s is damaged: the checksum of its elements differs", path);
  return RG_SUCCESS;
}

int rg_array_load(rg_array a, const char *path) {
  rgi_file_info info;
  RGI_TRY(rgi_array_check(__func__, a));
  RGI_REQUIRE(path);
  RGI_TRY(inspect_file(__func__, a->group, path, &info));
  RGI_TRY(fits_array(a, path, &info));
  return read_elements(__func__, a, path, &info);
}

int rg_array_open(rg_group g, const char *path, rg_array *out) {
  rgi_file_info info;
  rg_array_spec spec = {.size = sizeof spec};
  rg_array a;
  RGI_TRY(rgi_group_check_member(__func__, g));
  RGI_REQUIRE(path);
  RGI_REQUIRE(out);
  RGI_TRY(inspect_file(__func__, g, path, &info));
  RGI_TRY(rg_array_spec_set(&spec, info.type, info.dims, info.shape));
  spec.element_size = info.element;
  RGI_TRY(rg_array_create(g, &spec, &a));
  int code = read_elements(__func__, a, path, &info);
  if (code != RG_SUCCESS) {
    rg_array_free(&a);
    return code;
  }
  *out = a;
  return RG_SUCCESS;
}
