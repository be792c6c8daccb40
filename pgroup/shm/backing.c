/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * fallocate ends with EINTR when a signal is pending, and takes back what it had done. A program
 * with a timer or under a profiler would thus never get a large range. So a range that was
 * interrupted is halved, and pieces are doubled again when they are done: a signal is delivered
 * between two calls, and one page is done before the next signal comes. */
#include "shm/backing.h"

#include <errno.h>
#include <fcntl.h>

#include "shm/pages.h"

int rgi_backing_add(int fd, uint64_t at, uint64_t bytes) {
  uint64_t piece = bytes, n;
  for (uint64_t end = at + bytes; at < end;) {
    n = end - at < piece ? end - at : piece;
    if (fallocate(fd, 0, (off_t)at, (off_t)n) == 0) {
      at += n;
      piece = n * 2;
    } else if (errno == EINTR) {
      piece = n / 2 / RGI_PAGE * RGI_PAGE;
      piece = piece ? piece : RGI_PAGE;
    } else {
      return errno;
    }
  }
  return 0;
}

int rgi_backing_drop(int fd, uint64_t at, uint64_t bytes) {
  int failed;
  do
    failed = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
  while (failed && errno == EINTR);
  return failed ? errno : 0;
}
