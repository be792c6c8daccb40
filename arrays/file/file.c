/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What all formats need: agreement about the file, errors, and room on the disk. */
#include "file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "progress/mpi_error.h"
#include "shm/backing.h"

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

/* --- room on the disk ------------------------------------------------------------------------- */

/* Room on the disk is reserved before anything is written, so that a full disk is reported at
 * once. */
int64_t rgi_file_bytes(const rgi_file_info *info) {
  int64_t bytes = (int64_t)info->element;
  for (int k = 0; k < info->dims; k++)
    if (info->shape[k] == 0) /* the product of the others may overflow */
      return 0;
  for (int k = 0; k < info->dims; k++)
    if (__builtin_mul_overflow(bytes, info->shape[k], &bytes))
      return -1;
  return bytes;
}

/* Some file systems cannot reserve room; there only the length is set. 0 or a number of errno. */
static int make_room(int fd, int64_t bytes) {
  int code = bytes < 0 ? EFBIG : rgi_backing_add(fd, 0, (uint64_t)bytes);
  if (code != EOPNOTSUPP && code != ENOSYS)
    return code;
  return ftruncate(fd, bytes) == 0 ? 0 : errno;
}

int rgi_file_extend(const char *path, int64_t bytes) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return rgi_file_system_error("cannot open", path, errno);
  int failed = make_room(fd, bytes);
  int code = failed ? rgi_file_system_error("cannot write", path, failed) : RG_SUCCESS;
  if (close(fd) != 0 && code == RG_SUCCESS)
    code = rgi_file_system_error("cannot write", path, errno);
  return code;
}

int rgi_file_reserve(const char *path, int64_t bytes) {
  int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0)
    return rgi_file_system_error("cannot create", path, errno);
  close(fd);
  return rgi_file_extend(path, bytes);
}
