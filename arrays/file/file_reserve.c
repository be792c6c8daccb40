/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Room on the disk is reserved before anything is written, so that a full disk is reported at
 * once. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "file/file.h"
#include "shm/backing.h"

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
