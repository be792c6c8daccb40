/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays in files: the description in a file, and the steps of saving and loading. Rank 0 creates
 * and inspects files; all members move the elements. */
#ifndef RGI_FILE_H
#define RGI_FILE_H

#include <mpi.h>
#include <regroup/array_file.h>

#include "../object/array.h"

typedef struct {
  rg_file_format format;
  rg_array_type type;
  int dims;
  int has_checksum; /* a foreign HDF5 file has none */
  uint64_t element; /* bytes */
  int64_t shape[RG_ARRAY_MAX_DIMS];
  uint64_t checksum; /* rg_array_checksum */
} rgi_file_info;

/* --- all members (file.c) --------------------------------------------------- */

/* FNV-1a of 64 bits, from RGI_FILE_HASH_START or a hash of what comes before. */
#define RGI_FILE_HASH_START 0xcbf29ce484222325u
uint64_t rgi_file_hash(const void *bytes, size_t n, uint64_t hash);

/* RG_ERR_MISMATCH on every member unless all name the same file and format. */
int rgi_file_same(const char *call, rg_group g, const char *path, int format);

/* RG_ERR_FILE with the text of the system's error `number`, or of MPI's; MPI_SUCCESS
 * gives RG_SUCCESS. what: what could not be done, to which file. */
int rgi_file_system_error(const char *what, const char *path, int number);
int rgi_file_mpi_error(const char *what, const char *path, int mpi_code);

/* --- elements (file_elements.c): all members ------------------------------------------ */

/* The array's elements to or from a file that has them in C order from byte `start`
 * on. The same result on every member. */
int rgi_file_write(const char *call, rg_array a, const char *path, int64_t start);
int rgi_file_read(const char *call, rg_array a, const char *path, int64_t start);

/* --- room: one member ---------------------------------------------------------------------- */

/* Bytes of all elements; -1 if the description is not valid. */
int64_t rgi_file_bytes(const rgi_file_info *info);

/* Makes a new file of so many bytes. */
int rgi_file_reserve(const char *path, int64_t bytes);
/* Gives an empty file so many bytes. */
int rgi_file_extend(const char *path, int64_t bytes);

/* --- the formats: one member -------------------------------------------------------- */

enum { RGI_FILE_NATIVE_HEADER = 4096 }; /* bytes before the elements */

/* Makes a new file with room for the elements; *start: the byte where they start. */
int rgi_file_native_create(const char *path, const rgi_file_info *info, int64_t *start);
/* Writes the header, after all else: a file without one is not an array. */
int rgi_file_native_finish(const char *path, const rgi_file_info *info);
/* Whether the file is complete, and its description. */
int rgi_file_native_inspect(const char *path, rgi_file_info *info);

int rgi_file_hdf5_create(const char *path, const rgi_file_info *info, int64_t *start);
int rgi_file_hdf5_inspect(const char *path, rgi_file_info *info);
/* Reads the caller's elements. Each member does so by itself, through HDF5: the dataset may be
 * chunked or compressed. */
int rgi_file_hdf5_read(rg_array a, const char *path, const rgi_file_info *info);

#endif
