/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <regroup/collectives.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "progress/mpi_error.h"

/* FNV-1a of 64 bits. */
uint64_t rgi_file_hash(const void *bytes, size_t n, uint64_t hash) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

int rgi_file_same(const char *call, rg_group g, const char *path, int format) {
  uint64_t hash = rgi_file_hash(path, strlen(path), RGI_FILE_HASH_START + (uint64_t)format);
  uint64_t most[2] = {hash, ~hash};
  RGI_TRY(rg_allreduce(g, MPI_IN_PLACE, most, 2, MPI_UINT64_T, MPI_MAX));
  if (most[0] != ~most[1])
    return rgi_error(RG_ERR_MISMATCH, "%s: the members name different files (here %s) or formats",
                     call, path);
  return RG_SUCCESS;
}

int rgi_file_system_error(const char *what, const char *path, int number) {
  char text[128];
  return rgi_error(RG_ERR_FILE, "%s %.500s: %s", what, path, strerror_r(number, text, sizeof text));
}

int rgi_file_mpi_error(const char *what, const char *path, int mpi_code) {
  char text[MPI_MAX_ERROR_STRING];
  if (mpi_code == MPI_SUCCESS)
    return RG_SUCCESS;
  rgi_mpi_error_text(mpi_code, text);
  return rgi_error(RG_ERR_FILE, "%s %s: %.400s", what, path, text);
}
