/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The bytes are written in pieces, between which the writer looks whether it is cancelled, then
 * synced to the disk. The thread runs at a low priority and blocks all signals. */
#include "checkpoint/disk_writer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "checkpoint/head.h"

/* Bytes of a piece: the time to write them is how long a cancellation takes at most. */
#define PIECE ((uint64_t)4 << 20)

/* The program's own threads have priority; of a processor that they use all the time this thread
 * still gets a tenth. */
#define NICE 10

static int write_piece(int fd, const char *from, uint64_t n, uint64_t at) {
  while (n > 0) {
    ssize_t written = pwrite(fd, from, n, (off_t)at);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return written < 0 ? errno : ENOSPC;
    from += written;
    at += (uint64_t)written;
    n -= (uint64_t)written;
  }
  return 0;
}

static int write_all(rgi_disk_writer *writer) {
  writer->checksum = RGI_HEAD_HASH_START;
  for (uint64_t done = 0, n; done < writer->size; done += n) {
    n = writer->size - done < PIECE ? writer->size - done : PIECE;
    if (atomic_load(&writer->cancelled))
      return ECANCELED;
    writer->checksum = rgi_head_hash(writer->bytes + done, n, writer->checksum);
    int number = write_piece(writer->fd, writer->bytes + done, n, writer->offset + done);
    if (number)
      return number;
  }
  return fsync(writer->fd) == 0 ? 0 : errno;
}

static void *write_in_thread(void *argument) {
  rgi_disk_writer *writer = argument;
  if (writer->running)
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
  writer->number = write_all(writer);
  if (!writer->number && writer->finish)
    writer->number = writer->finish(writer->context);
  writer->ended = rgi_clock_now();
  rgi_bell_set(&writer->ready, 1);
  return NULL;
}

void rgi_disk_writer_start(rgi_disk_writer *writer) {
  sigset_t all, before;
  atomic_store(&writer->ready.value, 0);
  atomic_store(&writer->cancelled, 0);
  writer->running = 1;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before); /* the program's own threads handle its signals */
  int failed = pthread_create(&writer->thread, NULL, write_in_thread, writer);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) {
    writer->running = 0;
    write_in_thread(writer);
  }
}

void rgi_disk_writer_end(rgi_disk_writer *writer) {
  if (writer->running)
    pthread_join(writer->thread, NULL);
  writer->running = 0;
}

void rgi_disk_writer_cancel(rgi_disk_writer *writer) {
  atomic_store(&writer->cancelled, 1);
  rgi_disk_writer_end(writer);
}
