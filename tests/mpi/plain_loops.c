/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Loops of calls that poll, for tests/bench/polite.py: plain_loops KIND TIMES prints the seconds of
 * the slowest rank, and fails where a result is wrong.
 *
 * look and probe: MPI_Test and MPI_Iprobe between pieces of work. test: messages that are waited
 * for by MPI_Test. put and flush: on a window of MPI_Win_allocate, with and without accesses. file:
 * reads and writes of a file. sum: MPI_Allreduce. threads: two threads, each with messages to
 * itself. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

enum { TAG = 7, WORK = 2000, BLOCK = 4096, THREADS = 2 };

static int rank, size, times, wrong;
static volatile double sink = 1;

/* Some microseconds. */
static void work(void) {
  for (int i = 0; i < WORK; i++)
    sink = sink * 0.999 + 0.001;
}

/* A message that comes at the end is looked for between pieces of work. */
static void look(int probes) {
  int got = -1, mine = rank, there = 0, to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request request = MPI_REQUEST_NULL;
  if (!probes)
    MPI_Irecv(&got, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, &request);
  for (int i = 0; i < times; i++) {
    work();
    if (probes)
      MPI_Iprobe(from, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    else
      MPI_Test(&request, &there, MPI_STATUS_IGNORE);
    wrong += there;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request sent;
  MPI_Isend(&mine, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, &sent);
  if (probes)
    MPI_Recv(&got, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  wrong += got != from;
}

static void run_look(void) {
  look(0);
}

static void run_probe(void) {
  look(1);
}

static void run_test(void) {
  int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < times; i++) {
    int got = -1, done = 0;
    MPI_Request request[2];
    MPI_Irecv(&got, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(&i, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, &request[1]);
    while (!done)
      MPI_Test(&request[0], &done, MPI_STATUS_IGNORE);
    for (done = 0; !done;)
      MPI_Test(&request[1], &done, MPI_STATUS_IGNORE);
    wrong += got != i;
  }
}

static void use_window(int puts) {
  int64_t *base;
  int to = (rank + 1) % size;
  MPI_Win win;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  *base = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int i = 0; i < times; i++) {
    int64_t value = i + 1;
    if (puts)
      MPI_Put(&value, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win);
    MPI_Win_flush(to, win);
    MPI_Win_flush_local_all(win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  wrong += *base != (puts ? times : 0);
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

static void run_put(void) {
  use_window(1);
}

static void run_flush(void) {
  use_window(0);
}

static void run_file(void) {
  static char block[BLOCK], again[BLOCK];
  char name[64] = "";
  MPI_File file;
  if (rank == 0)
    snprintf(name, sizeof name, "/tmp/plain_loops.%llu", (unsigned long long)(1e6 * MPI_Wtime()));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  for (int i = 0; i < times; i++) {
    memset(block, i + rank, BLOCK);
    MPI_File_write_at(file, (MPI_Offset)rank * BLOCK, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, (MPI_Offset)rank * BLOCK, again, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong += memcmp(block, again, BLOCK) != 0;
    if (i % 16 == 0)
      MPI_File_write_at_all(file, (MPI_Offset)rank * BLOCK, block, BLOCK, MPI_BYTE,
                            MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
}

static void run_sum(void) {
  for (int i = 0; i < times; i++) {
    int64_t sum = 0, mine = rank + i;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != (int64_t)size * (size - 1) / 2 + (int64_t)size * i;
  }
}

static void *send_often(void *number) {
  int tag = TAG + *(int *)number;
  for (int i = 0; i < times; i++) {
    int got = -1;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &request);
    MPI_Send(&i, 1, MPI_INT, rank, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (got != i)
      wrong = 1;
  }
  return NULL;
}

static void run_threads(void) {
  pthread_t thread[THREADS];
  int number[THREADS];
  for (int i = 0; i < THREADS; i++) {
    number[i] = i;
    pthread_create(&thread[i], NULL, send_often, &number[i]);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
}

static const struct {
  const char *name;
  void (*run)(void);
} kinds[] = {{"look", run_look}, {"probe", run_probe},    {"test", run_test},
             {"put", run_put},   {"flush", run_flush},    {"file", run_file},
             {"sum", run_sum},   {"threads", run_threads}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static double run_kind(const char *name) {
  for (int i = 0; i < KINDS; i++)
    if (strcmp(kinds[i].name, name) == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      double from = MPI_Wtime();
      kinds[i].run();
      return MPI_Wtime() - from;
    }
  return -1;
}

int main(int argc, char **argv) {
  int level, all = 0;
  double mine, slowest;
  MPI_Init_thread(&argc, &argv,
                  argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE
                                                              : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  times = argc > 2 ? atoi(argv[2]) : 1;
  mine = argc > 1 ? run_kind(argv[1]) : -1;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("seconds %.9f\n", slowest);
  MPI_Finalize();
  return all || mine < 0;
}
