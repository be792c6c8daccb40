/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Saving an array: rank 0 creates a file beside the final one, all members write their elements
 * into it, and rank 0 renames it when it is complete. So a file of the final name is always
 * complete. */
#include <errno.h>
#include <regroup/array_math.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/spare.h"
#include "collectives/calls/group_error.h"
#include "file/file.h"

static rgi_file_info describe_array(rg_array a, rg_file_format format, uint64_t checksum) {
  rgi_file_info info = {.format = format,
                        .type = a->type,
                        .dims = a->d.dims,
                        .has_checksum = 1,
                        .element = a->element,
                        .checksum = checksum};
  memcpy(info.shape, a->d.shape, sizeof info.shape);
  return info;
}

/* Rank 0: only regular files are replaced, no devices or pipes. (For a folder rename returns an
 * error.) */
static int check_name(const char *path) {
  struct stat status;
  if (!*path)
    return rgi_error(RG_ERR_FILE, "cannot create a file without a name");
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return rgi_error(RG_ERR_FILE, "cannot replace %.500s: it is no regular file", path);
  return RG_SUCCESS;
}

/* Rank 0: creates the file that is renamed when it is complete. An older one of the same name was
 * left by a job that died. */
static int create_file(const char *part, const rgi_file_info *info, int64_t *start) {
  unlink(part);
  return info->format == RG_FILE_HDF5 ? rgi_file_hdf5_create(part, info, start)
                                      : rgi_file_native_create(part, info, start);
}

/* Rank 0: renames the file, or after an error removes it. */
static int finish_file(const char *part, const char *path, const rgi_file_info *info, int code) {
  if (code == RG_SUCCESS && info->format == RG_FILE_NATIVE)
    code = rgi_file_native_finish(part, info);
  if (code == RG_SUCCESS && rename(part, path) != 0)
    code = rgi_file_system_error("cannot replace", path, errno);
  if (code != RG_SUCCESS)
    unlink(part);
  return code;
}

static int save_array(rg_array a, const char *path, char *part, const rgi_file_info *info) {
  static const char *const call = "rg_array_save";
  int64_t shared[2] = {getpid(),
                       0}; /* rank 0's process number, for the name; where the elements start */
  int code = RG_SUCCESS;
  RGI_TRY(rg_bcast(a->group, &shared[0], 1, MPI_INT64_T, 0));
  sprintf(part, "%s.part-%lld", path, (long long)shared[0]);
  if (a->me == 0) {
    code = check_name(path);
    if (code == RG_SUCCESS)
      code = create_file(part, info, &shared[1]);
    if (code != RG_SUCCESS)
      unlink(part);
  }
  RGI_TRY(rgi_group_error_share(a->group, call, code));
  code = rg_bcast(a->group, &shared[1], 1, MPI_INT64_T, 0);
  if (code == RG_SUCCESS)
    code = rgi_file_write(call, a, part, shared[1]);
  if (a->me == 0)
    code = finish_file(part, path, info, code);
  return rgi_group_error_share(a->group, call, code);
}

int rg_array_save(rg_array a, const char *path, rg_file_format format) {
  uint64_t checksum;
  RGI_TRY(rgi_array_check(__func__, a));
  RGI_REQUIRE(path);
  if (format != RG_FILE_NATIVE && format != RG_FILE_HDF5)
    return rgi_error(RG_ERR_ARG, "rg_array_save: there is no format %d", (int)format);
  RGI_TRY(rgi_file_same(__func__, a->group, path, format));
  RGI_TRY(rg_array_checksum(a, &checksum));
  rgi_file_info info = describe_array(a, format, checksum);
  char *part = rgi_spare_alloc(strlen(path) + 32);
  if (!part)
    return rgi_error(RG_ERR_NOMEM, "rg_array_save: no memory for a name");
  *part = '\0';
  int code = save_array(a, path, part, &info);
  if (*part && (code == RG_ERR_PROC_FAILED || code == RG_ERR_REVOKED))
    unlink(part); /* rank 0 may have died */
  rgi_spare_free(part);
  return code;
}
