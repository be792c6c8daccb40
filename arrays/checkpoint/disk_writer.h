/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Writing in the background, by a thread that calls neither MPI nor functions that need the
 * library to be initialised, so that it may outlive an rg_finalize. */
#ifndef RGI_DISK_WRITER_H
#define RGI_DISK_WRITER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bell.h"

typedef struct {
  /* What to write: bytes at an offset of the file, until they are on the disk. Then finish is
   * called, unless it is NULL; it returns the system's error, or 0. */
  int fd;
  const char *bytes;
  uint64_t size, offset;
  int (*finish)(void *context);
  void *context;
  /* The result. */
  rgi_bell ready;    /* 1 when it is done */
  int number;        /* the system's error, or 0 */
  uint64_t checksum; /* of the bytes */
  double ended;      /* when it was done, by rgi_clock_now */
  /* The rest is disk_writer.c's own. */
  pthread_t thread;
  int running;
  atomic_int cancelled;
} rgi_disk_writer;

/* Starts the thread. If there can be none, writes before it returns. */
void rgi_disk_writer_start(rgi_disk_writer *writer);

/* Ends a writer, for which it waits. */
void rgi_disk_writer_end(rgi_disk_writer *writer);

/* As rgi_disk_writer_end, but the writer stops after the piece that it is writing. */
void rgi_disk_writer_cancel(rgi_disk_writer *writer);

#endif
