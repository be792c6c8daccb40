/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays in files, written and read by all members at once. */
#ifndef REGROUP_ARRAY_FILE_H
#define REGROUP_ARRAY_FILE_H

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  RG_FILE_NATIVE, /* a header of 4 KiB and the elements in C order; by MPI-IO */
  RG_FILE_HDF5    /* one dataset, "array"; where the library was built with HDF5 */
} rg_file_format;

/* The path names the same file on every member, in a file system that they share. A
 * communicator of the group is made for the call and freed with it; waits inside MPI-IO
 * are polite, but have no time limit. In a job that survives (RG_SURVIVE) each member opens
 * the file by itself, and nobody waits inside MPI-IO: many short runs of elements are
 * written one by one there. docs/arrays.md describes the formats.
 *
 * Errors, the same with the same text on every member (but for those of a death):
 * RG_ERR_PROC_FAILED, RG_ERR_REVOKED; RG_ERR_MISMATCH (they name
 * different files); RG_ERR_NOMEM; RG_ERR_UNSUPPORTED (an HDF5 file, and HDF5 is not
 * there); and those below. */

/* Writes the array; its ghosts are left out. Every member of its group. The file
 * appears under its name only when it is complete and on the disk; one that is there
 * already is replaced then. After an error nothing of the new one is left.
 * Errors: RG_ERR_FILE (the text has the system's, MPI's or HDF5's words; or there is a device
 * or a pipe of that name). */
RG_API int rg_array_save(rg_array a, const char *path, rg_file_format format);

/* Reads into an array of the same shape and type, whatever its group and
 * distribution. Every member of its group. Finds out the format by itself; of HDF5 any
 * file will do that has a dataset "array" of 1 to 7 dimensions and one of rg_type's
 * types.
 * Errors: RG_ERR_FILE (cannot be read; not one of these; truncated; damaged: the
 * checksum differs; no regular file; another shape or type: the text says which): the array's
 * elements are undefined then if reading had begun. */
RG_API int rg_array_load(rg_array a, const char *path);

/* Makes an array on g with the file's shape and type, in blocks, and reads it. Every
 * member of g, in order with its other array creations. Errors: those of
 * rg_array_load and rg_array_create; there is no array then. */
RG_API int rg_array_open(rg_group g, const char *path, rg_array *a);

#ifdef __cplusplus
}
#endif
#endif
