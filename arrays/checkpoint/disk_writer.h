/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Writing in the background: a thread that calls nothing of MPI and nothing of the
 * library, so that it may outlive a rg_finalize. */
#ifndef RGI_DISK_WRITER_H
#define RGI_DISK_WRITER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bell.h"

typedef struct {
  /* The job: bytes to an offset of the file, then to the disk; then, unless to is
   * NULL, the file `from` becomes `to`. */
  int fd;
  const char *bytes;
  uint64_t size, offset;
  const char *from, *to;
  /* What comes of it. */
  rgi_bell ready;    /* 1 when it is done */
  int number;        /* the system's error, or 0 */
  uint64_t checksum; /* of the bytes */
  /* The rest is disk_writer.c's own. */
  pthread_t thread;
  int running;
  atomic_int cancelled;
} rgi_disk_writer;

/* Starts it; without a thread it is done at once. */
void rgi_disk_writer_start(rgi_disk_writer *w);

/* When ready is 1, or to wait for that. */
void rgi_disk_writer_end(rgi_disk_writer *w);

/* The same, as soon as can be: what it has not written it leaves. */
void rgi_disk_writer_cancel(rgi_disk_writer *w);

#endif
