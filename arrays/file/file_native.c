/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The native format: a header of 4 KiB, then the elements in C order, as they are
 * in memory. docs/arrays.md describes it. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "distribution/type.h"
#include "file/file.h"

/* The header as it is in the file; the rest up to 4 KiB is zero. */
typedef struct {
  char magic[8];
  uint32_t version, order; /* order of bytes: 1 */
  int32_t type, dims;
  uint64_t element;
  int64_t shape[RG_ARRAY_MAX_DIMS];
  uint64_t checksum; /* rg_array_checksum */
  uint64_t header;   /* checksum of all that is above */
} native_header;

/* Not valid text, and changed by a transfer that converts text. */
static const char magic[8] = {(char)0x8a, 'R', 'G', 'A', '\r', '\n', 0x1a, '\n'};
enum { VERSION = 1, ORDER = 1 };

static uint64_t header_checksum(const native_header *native) {
  return rgi_file_hash(native, offsetof(native_header, header), RGI_FILE_HASH_START);
}

int rgi_file_native_create(const char *path, const rgi_file_info *info, int64_t *start) {
  *start = RGI_FILE_NATIVE_HEADER;
  return rgi_file_reserve(path, RGI_FILE_NATIVE_HEADER + rgi_file_bytes(info));
}

int rgi_file_native_finish(const char *path, const rgi_file_info *info) {
  native_header h;
  memset(&h, 0, sizeof h);
  memcpy(h.magic, magic, sizeof h.magic);
  h.version = VERSION;
  h.order = ORDER;
  h.type = (int32_t)info->type;
  h.dims = info->dims;
  h.element = info->element;
  memcpy(h.shape, info->shape, (size_t)info->dims * sizeof *h.shape);
  h.checksum = info->checksum;
  h.header = header_checksum(&h);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return rgi_file_system_error("cannot write", path, errno);
  int code = RG_SUCCESS;
  if (pwrite(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || fsync(fd) != 0)
    code = rgi_file_system_error("cannot write", path, errno);
  if (close(fd) != 0 && code == RG_SUCCESS)
    code = rgi_file_system_error("cannot write", path, errno);
  return code;
}

#define REFUSED(...) rgi_error(RG_ERR_FILE, "cannot read %s: " __VA_ARGS__)

static int check_header(const char *path, const native_header *header, ssize_t got) {
  if (got < (ssize_t)sizeof header->magic || memcmp(header->magic, magic, sizeof magic))
    return REFUSED("it is no array file of Regroup's and no HDF5 file", path);
  if (got < (ssize_t)sizeof *header)
    return REFUSED("it is truncated: the header is not complete", path);
  if (header->order == (uint32_t)ORDER << 24)
    return REFUSED("it was written by a machine with the other order of bytes", path);
  if (header->header != header_checksum(header))
    return REFUSED("it is damaged: the header's checksum differs", path);
  if (header->version != VERSION)
    return REFUSED("its format has version %u; this library knows version %d", path,
                   header->version, VERSION);
  return RG_SUCCESS;
}

static int check_contents(const char *path, const rgi_file_info *info, int64_t size) {
  int valid = info->dims >= 1 && info->dims <= RG_ARRAY_MAX_DIMS &&
              rgi_type_size(info->type, info->element) == info->element && info->element > 0;
  for (int k = 0; valid && k < info->dims; k++)
    valid = info->shape[k] >= 0;
  int64_t bytes = valid ? rgi_file_bytes(info) : -1;
  if (bytes < 0)
    return REFUSED("it is damaged: the header makes no sense", path);
  if (size - RGI_FILE_NATIVE_HEADER < bytes)
    return REFUSED("it is truncated: %lld bytes where there should be %lld", path, (long long)size,
                   (long long)bytes + RGI_FILE_NATIVE_HEADER);
  if (size - RGI_FILE_NATIVE_HEADER > bytes)
    return REFUSED("it is damaged: %lld bytes where there should be %lld", path, (long long)size,
                   (long long)bytes + RGI_FILE_NATIVE_HEADER);
  return RG_SUCCESS;
}

/* The bytes between the header and the elements have to be zero. */
static int check_rest(const char *path, const char *first, ssize_t got) {
  for (ssize_t i = sizeof(native_header); i < got; i++)
    if (first[i])
      return REFUSED("it is damaged: byte %zd should be 0", path, i);
  return RG_SUCCESS;
}

static int inspect_open(int fd, const char *path, rgi_file_info *info) {
  native_header h;
  char first[RGI_FILE_NATIVE_HEADER] = {0};
  struct stat status;
  ssize_t got = pread(fd, first, sizeof first, 0);
  if (got < 0 || fstat(fd, &status) != 0)
    return rgi_file_system_error("cannot read", path, errno);
  memcpy(&h, first, sizeof h);
  RGI_TRY(check_header(path, &h, got));
  RGI_TRY(check_rest(path, first, got));
  *info = (rgi_file_info){.format = RG_FILE_NATIVE,
                          .type = (rg_array_type)h.type,
                          .dims = h.dims,
                          .has_checksum = 1,
                          .element = h.element,
                          .checksum = h.checksum};
  memcpy(info->shape, h.shape, sizeof info->shape);
  return check_contents(path, info, status.st_size);
}

int rgi_file_native_inspect(const char *path, rgi_file_info *info) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return rgi_file_system_error("cannot open", path, errno);
  int code = inspect_open(fd, path, info);
  close(fd);
  return code;
}
