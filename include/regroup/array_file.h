/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays in files, which all members write and read together. */
#ifndef REGROUP_ARRAY_FILE_H
#define REGROUP_ARRAY_FILE_H

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  RG_FILE_NATIVE, /* a header of 4 KiB and the elements in C order; by MPI-IO */
  RG_FILE_HDF5    /* one dataset, "array"; only if the library was built with HDF5 */
} rg_file_format;

/* The path names the same file on every member, in a file system that they share. Each
 * call makes a communicator of the group and frees it; waits inside MPI-IO are polite, but
 * have no time limit. In a job that survives (RG_SURVIVE) each member opens the file by
 * itself, and no member waits for another inside MPI-IO; short runs of elements are then
 * written one by one. docs/arrays.md describes the formats.
 *
 * Errors, with the same message on every member (except for deaths): RG_ERR_PROC_FAILED,
 * RG_ERR_REVOKED; RG_ERR_MISMATCH (the members name different files); RG_ERR_NOMEM;
 * RG_ERR_UNSUPPORTED (an HDF5 file, and HDF5 is not available); and those below. */

/* Writes the array without its ghosts. Callers: every member of its group. The file gets its
 * name only when it is complete and on the disk; an existing file is replaced then. After an
 * error no part of the new file is left.
 * Errors: RG_ERR_FILE (the message contains that of the system, MPI or HDF5; or the name is
 * that of a device or a pipe). */
RG_API int rg_array_save(rg_array a, const char *path, rg_file_format format);

/* Reads into an array of the same shape and type, with any group and distribution. Callers:
 * every member of its group. The call detects the format. It accepts any HDF5 file with a
 * dataset "array" of 1 to 7 dimensions and one of rg_array_type's types.
 * Errors: RG_ERR_FILE (the file cannot be read; is not of these formats; is truncated; is
 * damaged: its checksum differs; is not a regular file; has another shape or type, which the
 * message names). The array's elements are undefined then if reading had begun. */
RG_API int rg_array_load(rg_array a, const char *path);

/* Makes an array on g with the file's shape and type, in blocks, and reads it. Callers:
 * every member of g, in the same order as its other array creations. Errors: those of
 * rg_array_load and rg_array_create; there is no array then. */
RG_API int rg_array_open(rg_group g, const char *path, rg_array *a);

#ifdef __cplusplus
}
#endif
#endif
