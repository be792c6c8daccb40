/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "file_cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check/check.h"

rg_group rgt_world;
static char folder[RGT_PATH];

void rgt_files_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&rgt_world));
  rgt_temporary(folder);
  if (rgt_rank == 0)
    RGT_PTR_NOT_NULL(mkdtemp(folder));
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

const char *rgt_path(const char *name) {
  static char paths[4][400];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static int is_own(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

int rgt_file_count(void) {
  struct dirent **entries = NULL;
  int count = 0;
  if (rgt_rank == 0) {
    count = scandir(folder, &entries, is_own, NULL);
    for (int i = 0; i < count; i++)
      free(entries[i]);
    free(entries);
  }
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return count;
}

static void remove_folder(void) {
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));)
    if (is_own(e))
      remove(rgt_path(e->d_name));
  if (d)
    closedir(d);
  RGT_INT(rmdir(folder), 0);
}

void rgt_files_end(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    remove_folder();
  RGT_OK(rg_group_free(&rgt_world));
  RGT_OK(rg_finalize());
}

static unsigned char byte_of(unsigned seed, size_t i) {
  unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15u + seed;
  return (unsigned char)(x >> 29 ^ x >> 47);
}

/* All of the array as one C array of bytes: its size. */
static size_t whole(rg_array a, rg_array_spec *spec, int64_t zero[], unsigned char **bytes) {
  RGT_OK(rg_array_info(a, spec));
  size_t size = spec->element_size;
  for (int k = 0; k < spec->dims; k++) {
    size *= (size_t)spec->shape[k];
    zero[k] = 0;
  }
  *bytes = malloc(size + 1);
  return size;
}

void rgt_fill(rg_array a, unsigned seed) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_group g;
  int64_t zero[RG_ARRAY_MAX_DIMS];
  unsigned char *bytes;
  int me = 0;
  size_t size = whole(a, &spec, zero, &bytes);
  for (size_t i = 0; i < size; i++)
    bytes[i] = byte_of(seed, i);
  RGT_OK(rg_array_group(a, &g));
  RGT_OK(rg_group_rank(g, &me));
  if (me == 0)
    RGT_OK(rg_array_put(a, zero, spec.shape, bytes, NULL));
  RGT_OK(rg_array_sync(a));
  free(bytes);
}

int rgt_wrong_bytes(rg_array a, unsigned seed) {
  rg_array_spec spec = {.size = sizeof spec};
  int64_t zero[RG_ARRAY_MAX_DIMS];
  unsigned char *bytes;
  int wrong = 0;
  size_t size = whole(a, &spec, zero, &bytes);
  RGT_OK(rg_array_get(a, zero, spec.shape, bytes, NULL));
  for (size_t i = 0; i < size; i++)
    wrong += bytes[i] != byte_of(seed, i);
  free(bytes);
  return wrong;
}

void rgt_spoil(const char *path, long offset, const void *bytes, int n) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0) {
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    RGT_INT(pwrite(fd, bytes, (size_t)n, offset), n);
    close(fd);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void rgt_resize(const char *path, long size) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    RGT_INT(truncate(path, size), 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

long rgt_file_size(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 ? (long)s.st_size : -1;
}

void rgt_load_fails(rg_array a, const char *path, const char *word) {
  int before = rgt_file_count();
  RGT_FAILS(rg_array_load(a, path), RG_ERR_FILE);
  if (!strstr(rg_error_detail(), word))
    RGT_STR(rg_error_detail(), word);
  RGT_TRUE(strstr(rg_error_detail(), path) != NULL);
  RGT_INT(rgt_file_count(), before);
}
