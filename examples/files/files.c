/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Files that a whole group writes and reads at once: with explicit offsets, where every rank
 * knows its place; with a shared file pointer, where each write takes the next free place; and as
 * arrays, where the library knows the places.
 *
 *     example-files [FOLDER]     (a new one in /tmp, which is removed again) */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/check.h"

enum { NUMBERS = 1000, LINES = 5, WIDTH = 32 };

static char folder[256] = "/tmp/example-files-XXXXXX";

static void check_mpi(int error) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (error != MPI_SUCCESS) {
    MPI_Error_string(error, text, &length);
    fprintf(stderr, "%s\n", text);
    common_abort(1);
  }
}

static MPI_File open_file(MPI_Comm comm, const char *name, int mode) {
  char path[300];
  MPI_File file;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  check_mpi(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file));
  return file;
}

/* Every rank writes its numbers behind those of the ranks before it, and reads those of its
 * right-hand neighbour. */
static int explicit_offsets(MPI_Comm comm, int rank, int size) {
  int numbers[NUMBERS], wrong = 0, next = (rank + 1) % size;
  const MPI_Offset bytes = sizeof numbers;
  for (int i = 0; i < NUMBERS; i++)
    numbers[i] = rank * NUMBERS + i;
  MPI_File file = open_file(comm, "offsets", MPI_MODE_CREATE | MPI_MODE_RDWR);
  check_mpi(
      MPI_File_write_at_all(file, rank * bytes, numbers, NUMBERS, MPI_INT, MPI_STATUS_IGNORE));
  /* What one rank has written can be read by all after sync, barrier, sync. */
  check_mpi(MPI_File_sync(file));
  MPI_Barrier(comm);
  check_mpi(MPI_File_sync(file));
  check_mpi(MPI_File_read_at_all(file, next * bytes, numbers, NUMBERS, MPI_INT, MPI_STATUS_IGNORE));
  check_mpi(MPI_File_close(&file));
  for (int i = 0; i < NUMBERS; i++)
    wrong += numbers[i] != next * NUMBERS + i;
  return wrong == 0;
}

/* Reads all lines: each of LINES lines of each rank is there once. In order: also
 * one rank after the other. */
static int lines_right(MPI_Comm comm, const char *name, int size, int in_order) {
  int count = LINES * size, right = 1, rank, line;
  char *text = (char *)malloc((size_t)(count * WIDTH) + 1);
  char *seen = (char *)calloc((size_t)count, 1);
  MPI_File file = open_file(comm, name, MPI_MODE_RDONLY);
  check_mpi(MPI_File_read_at_all(file, 0, text, count * WIDTH, MPI_CHAR, MPI_STATUS_IGNORE));
  check_mpi(MPI_File_close(&file));
  text[count * WIDTH] = '\0';
  for (int i = 0; i < count; i++) {
    int fields = sscanf(text + i * WIDTH, "rank %d line %d", &rank, &line);
    if (fields != 2 || rank < 0 || rank >= size || line < 0 || line >= LINES ||
        seen[rank * LINES + line]++ || (in_order && rank != i % size))
      right = 0;
  }
  free(text);
  free(seen);
  return right;
}

static void make_line(char *text, int rank, int line) {
  snprintf(text, WIDTH + 1, "rank %4u line %4u %*s\n", (unsigned)rank % 10000,
           (unsigned)line % 10000, WIDTH - 21, "");
}

/* A common log: each line goes where the file ends at that moment. Then the same
 * with all together, one rank after the other. */
static int shared_pointer(MPI_Comm comm, int rank, int size) {
  char text[WIDTH + 1];
  MPI_File file = open_file(comm, "log", MPI_MODE_CREATE | MPI_MODE_WRONLY);
  for (int line = 0; line < LINES; line++) {
    make_line(text, rank, line);
    check_mpi(MPI_File_write_shared(file, text, WIDTH, MPI_CHAR, MPI_STATUS_IGNORE));
  }
  check_mpi(MPI_File_close(&file));
  int right = lines_right(comm, "log", size, 0);

  file = open_file(comm, "ordered", MPI_MODE_CREATE | MPI_MODE_WRONLY);
  for (int line = 0; line < LINES; line++) {
    make_line(text, rank, line);
    check_mpi(MPI_File_write_ordered(file, text, WIDTH, MPI_CHAR, MPI_STATUS_IGNORE));
  }
  check_mpi(MPI_File_close(&file));
  return lines_right(comm, "ordered", size, 1) && right;
}

/* An array that all save and the first half of the members opens again. */
static int arrays(rg_group g, int rank, int size) {
  const int64_t shape[] = {300, 200};
  uint64_t before, after = 0;
  char path[300];
  rg_group half;
  rg_array a;
  snprintf(path, sizeof path, "%s/array", folder);
  check(rg_array_create_simple(g, RG_TYPE_DOUBLE, 2, shape, &a));
  check(rg_array_random(a, 17));
  check(rg_array_checksum(a, &before));
  check(rg_array_save(a, path, RG_FILE_NATIVE));
  check(rg_array_free(&a));

  check(rg_group_create_range(g, 0, (size - 1) / 2, 1, 0 /* tag */, &half));
  if (half) {
    check(rg_array_open(half, path, &a));
    check(rg_array_checksum(a, &after));
    check(rg_array_free(&a));
    check(rg_group_free(&half));
  }
  return rank > (size - 1) / 2 || before == after;
}

static int report(MPI_Comm comm, int rank, const char *what, int right) {
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, comm);
  if (rank == 0)
    printf("%-22s %s\n", what, right ? "right" : "WRONG");
  return right;
}

static void make_folder(MPI_Comm comm, int rank, const char *given) {
  if (given)
    snprintf(folder, sizeof folder, "%s", given);
  else if (rank == 0 && !mkdtemp(folder)) {
    perror(folder);
    common_abort(1);
  }
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, comm);
}

static void remove_files(int with_folder) {
  static const char *const names[] = {"offsets", "log", "ordered", "array"};
  char path[300];
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  if (with_folder)
    rmdir(folder);
}

int main(int argc, char **argv) {
  rg_group world;
  MPI_Comm comm; /* the group's: MPI's own calls work on it */
  int rank, size, right;
  MPI_Init(&argc, &argv);
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_comm(world, &comm));
  check(rg_group_rank(world, &rank));
  check(rg_group_size(world, &size));
  make_folder(comm, rank, argc > 1 ? argv[1] : NULL);

  right = report(comm, rank, "explicit offsets", explicit_offsets(comm, rank, size));
  right = report(comm, rank, "shared file pointer", shared_pointer(comm, rank, size)) && right;
  right = report(comm, rank, "arrays", arrays(world, rank, size)) && right;

  if (rank == 0)
    remove_files(argc <= 1);
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return right ? 0 : 1;
}
