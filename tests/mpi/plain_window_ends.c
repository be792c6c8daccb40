/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What becomes of windows and of MPI_Alloc_mem's memory at their ends, and how they begin:
 *  finalize  used and freed while MPI_Finalize deletes attributes, and read after it;
 *  handles   the functions of attributes and error handlers get the window's handle, may use the
 *            window, and may refuse that it is freed;
 *  comms     those of communicators may call collectives on the communicator;
 *  wishes    alignment, members without memory, much memory of which little is used, and more than
 *            there is;
 *  progress  a process that looks into a window by locks lets MPI go on;
 *  shortage  a page for which there is no memory;
 *  fatal     an error's text names what was called. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plain.h"

static int rank, size;
static MPI_Win win;

static MPI_Aint mib(int n) {
  return (MPI_Aint)n << 20;
}

/* --- finalize ------------------------------------------------------------------------------ */

static long *base, *freed, *kept;
static int good;

static int use_in_finalize(MPI_Comm comm, int key, void *value, void *extra) {
  long got = -1;
  int next = (rank + 1) % size;
  (void)comm, (void)key, (void)value, (void)extra;
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
  MPI_Get(&got, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
  MPI_Win_unlock(next, win);
  freed[0] += 1;
  good = got == 100 + next && freed[0] == 8;
  good &= MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL;
  good &= MPI_Free_mem(freed) == MPI_SUCCESS;
  return MPI_SUCCESS;
}

static void read_at_exit(void) {
  printf("exit %d\n", good && kept[0] == 9 && kept[mib(20) / 8 - 1] == 9);
}

static void finalize(void) {
  int key;
  MPI_Win left;
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &kept, &left);
  MPI_Alloc_mem(sizeof *freed, MPI_INFO_NULL, &freed);
  MPI_Alloc_mem(mib(20), MPI_INFO_NULL, &kept);
  base[0] = 100 + rank;
  freed[0] = 7;
  kept[0] = kept[mib(20) / 8 - 1] = 9;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use_in_finalize, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  atexit(read_at_exit);
  MPI_Finalize();
  MPI_Win_free(&left);
  good &= left == MPI_WIN_NULL;
}

/* --- handles ------------------------------------------------------------------------------- */

static int refusals, deleted, handled, wrong;

static int delete_value(MPI_Win given, int key, void *value, void *extra) {
  long got = -1;
  (void)key;
  wrong += given != win || extra != &deleted;
  if (refusals-- > 0)
    return MPI_ERR_OTHER;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, given);
  MPI_Get(&got, 1, MPI_LONG, 0, 0, 1, MPI_LONG, given);
  MPI_Win_unlock(0, given);
  wrong += got != 100;
  deleted += *(int *)value;
  return MPI_SUCCESS;
}

static void handle(MPI_Win *given, int *code, ...) {
  int class;
  MPI_Error_class(*code, &class);
  wrong += *given != win || (class != MPI_ERR_RMA_SYNC && class != MPI_ERR_OTHER);
  handled++;
}

static void make_window(void) {
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  base[0] = 100 + rank;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void handles(void) {
  static int one = 1, ten = 10, hundred = 100;
  int key[2];
  MPI_Errhandler own, found;
  make_window();
  MPI_Win_create_errhandler(handle, &own);
  MPI_Win_set_errhandler(win, own);
  MPI_Win_get_errhandler(win, &found);
  wrong += found != own;
  MPI_Errhandler_free(&own);
  MPI_Errhandler_free(&found);
  MPI_Win_unlock(0, win);
  MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
  for (int i = 0; i < 2; i++)
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_value, &key[i], &deleted);
  MPI_Win_set_attr(win, key[0], &one);
  MPI_Win_set_attr(win, key[0], &ten); /* deletes 1 */
  MPI_Win_set_attr(win, key[1], &hundred);
  MPI_Win_delete_attr(win, key[0]);
  plain_number("deleted", deleted);
  MPI_Barrier(MPI_COMM_WORLD);
  refusals = rank == size - 1;
  MPI_Win same = win;
  if (rank == size - 1) {
    wrong += MPI_Win_free(&same) == MPI_SUCCESS || same != win;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_unlock(0, win);
  }
  wrong += MPI_Win_free(&same) != MPI_SUCCESS || same != MPI_WIN_NULL;
  plain_number("deleted", deleted);
  plain_number("handled", handled);
  for (int i = 0; i < 2; i++)
    MPI_Win_free_keyval(&key[i]);
  plain_number("wrong", wrong);
}

/* --- comms --------------------------------------------------------------------------------- */

static int sum_at_end(MPI_Comm comm, int key, void *value, void *extra) {
  int sum = 0;
  (void)key, (void)value, (void)extra;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  wrong += sum != size * (size - 1) / 2;
  deleted++;
  return MPI_SUCCESS;
}

/* before: so many of the two attributes come before the first collective; 3: there is no other one
 * than those of their functions. */
static void free_comm(int before) {
  MPI_Comm comm;
  int key[2], sum = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 3; i++) {
    if (i == before)
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (i == 2)
      break;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_at_end, &key[i], NULL);
    MPI_Comm_set_attr(comm, key[i], NULL);
  }
  wrong += MPI_Comm_free(&comm) != MPI_SUCCESS || comm != MPI_COMM_NULL;
  for (int i = 0; i < 2; i++)
    MPI_Comm_free_keyval(&key[i]);
}

static void comms(void) {
  for (int before = 0; before <= 3; before++)
    for (int i = 0; i < 20; i++)
      free_comm(before);
  plain_number("deleted", deleted);
  plain_number("wrong", wrong);
}

/* --- wishes -------------------------------------------------------------------------------- */

static void check(int right) {
  wrong += !right;
}

static int is_aligned(const void *at, uintptr_t to) {
  return (uintptr_t)at % to == 0;
}

static void align(void) {
  MPI_Info info;
  char *at[4], *part;
  MPI_Win_free(&win);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536");
  for (int i = 0; i < 4; i++) {
    MPI_Alloc_mem(i < 2 ? 1000 + i : mib(17) + i, info, &at[i]);
    memset(at[i], i, 1000);
    check(is_aligned(at[i], 65536));
  }
  for (int i = 0; i < 4; i++) {
    check(at[i][999] == i);
    MPI_Free_mem(at[i]);
  }
  MPI_Win_allocate(5000, 1, info, MPI_COMM_WORLD, &part, &win);
  check(is_aligned(part, 65536));
  MPI_Win_free(&win);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Win_allocate_shared(5000, 1, info, MPI_COMM_WORLD, &part, &win);
  check(is_aligned(part, 65536));
  MPI_Win_free(&win);
  MPI_Info_free(&info);
}

/* The member `none` has no memory. */
static void leave_out(int none) {
  char *part, *found, *first = NULL;
  MPI_Aint bytes, before = 0;
  int unit;
  MPI_Win_allocate_shared(rank == none ? 0 : 8 + rank, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part,
                          &win);
  for (int i = 0; i < size; i++) {
    MPI_Win_shared_query(win, i, &bytes, &unit, &found);
    first = i ? first : found;
    check(bytes == (i == none ? 0 : 8 + i) && found == first + before);
    check(i != rank || found == part);
    before += bytes;
  }
  MPI_Win_free(&win);
}

static long resident_mib(void) {
  long all, pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld %ld", &all, &pages) != 2)
    pages = 0;
  if (f)
    fclose(f);
  return pages * sysconf(_SC_PAGESIZE) >> 20;
}

static void use_little(void) {
  char *part, *own;
  MPI_Aint bytes = mib(256);
  long before = resident_mib();
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &own);
  MPI_Win_allocate_shared(rank ? 0 : bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
  own[bytes - 1] = 1;
  if (!rank) {
    check(part[bytes / 2] == 0);
    part[bytes - 1] = 1;
  }
  check(resident_mib() - before < 32);
  MPI_Win_free(&win);
  MPI_Free_mem(own);
}

static void ask_too_much(void) {
  const MPI_Aint too_much = (MPI_Aint)1 << 50;
  char *at;
  int class;
  MPI_Error_class(MPI_Alloc_mem(too_much, MPI_INFO_NULL, &at), &class);
  check(class == MPI_ERR_NO_MEM);
  MPI_Aint mine = rank == size - 1 ? too_much : 8;
  MPI_Error_class(MPI_Win_allocate(mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win), &class);
  check(class == MPI_ERR_NO_MEM);
  MPI_Error_class(MPI_Win_allocate_shared(mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win),
                  &class);
  check(class == MPI_ERR_NO_MEM);
}

static void wishes(void) {
  make_window();
  align();
  for (int none = 0; none < size; none++)
    leave_out(none);
  use_little();
  ask_too_much();
  plain_number("wrong", wrong);
}

/* --- progress ------------------------------------------------------------------------------ */

enum { LONG = 1 << 22, SECONDS = 30 };

static long look(int by_all) {
  long got = 0;
  if (by_all)
    MPI_Win_lock_all(0, win);
  else
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Get(&got, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
  if (by_all)
    MPI_Win_unlock_all(win);
  else
    MPI_Win_unlock(0, win);
  return got;
}

/* Rank 0 sends a long message and looks for its receiver's answer in its own window. */
static void send_and_look(char *data, int by_all, const struct timespec *pause) {
  MPI_Request request;
  double end = MPI_Wtime() + SECONDS;
  long one = 1;
  base[0] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Isend(data, LONG, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD, &request);
    while (!look(by_all) && MPI_Wtime() < end)
      nanosleep(pause, NULL);
    wrong += MPI_Wtime() >= end;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == size - 1) {
    MPI_Recv(data, LONG, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void progress(void) {
  static const struct timespec none = {0, 0}, some = {0, 300000};
  char *data = calloc(1, LONG);
  make_window();
  for (int by_all = 0; by_all < 2 && size > 1; by_all++) {
    send_and_look(data, by_all, &none);
    send_and_look(data, by_all, &some);
  }
  MPI_Win_free(&win);
  free(data);
  plain_number("wrong", wrong);
}

/* --- shortage ------------------------------------------------------------------------------ */

/* The arena's memory ends in the middle of what is used. */
static void shortage(void) {
  char *at, path[64], name[64] = "";
  MPI_Alloc_mem(mib(64), MPI_INFO_NULL, &at);
  for (int fd = 3; fd < 64; fd++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, name, sizeof name - 1);
    name[n > 0 ? n : 0] = 0;
    if (strstr(name, "memfd:regroup") && ftruncate(fd, mib(1)) == 0)
      at[mib(64) - 1] = 1;
  }
}

static void fatal(void) {
  double number = 0;
  MPI_Win_allocate(sizeof number, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_name(win, "temperature");
  MPI_Win_lock_all(0, win);
  MPI_Put(&number, 1, MPI_DOUBLE, size - 1, 3, 1, MPI_DOUBLE, win);
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(part, "finalize") == 0) {
    finalize();
    return 0;
  }
  if (strcmp(part, "handles") == 0)
    handles();
  if (strcmp(part, "comms") == 0)
    comms();
  if (strcmp(part, "wishes") == 0)
    wishes();
  if (strcmp(part, "progress") == 0)
    progress();
  if (strcmp(part, "shortage") == 0)
    shortage();
  if (strcmp(part, "fatal") == 0)
    fatal();
  MPI_Finalize();
  return 0;
}
