/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A disk that is full for one of the processes: all get the error, nothing is left behind, and
 * the file that was there stays.
 *
 * env: RG_TIMEOUT=60
 * sources: tests/arrays/file_cases.c */
#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "file_cases.h"
#include "tests/check/check.h"

enum { HEADER = 4096, N = 600 };

static char hints[RGT_PATH];

/* Makes every process write by itself in MPI-IO, in Open MPI with the one of its two
 * implementations that has this option. */
static void write_hints(void) {
  static const char text[] = "romio_cb_write disable\nromio_ds_write disable\n";
  rgt_temporary(hints);
  int fd = mkstemp(hints);
  if (fd < 0 || write(fd, text, sizeof text - 1) < 0)
    perror(hints);
  close(fd);
  setenv("ROMIO_HINTS", hints, 1);
  setenv("OMPI_MCA_io", "^ompio", 1);
}

static void save_fails(rg_array a, rg_file_format format) {
  int before = rgt_file_count();
  RGT_FAILS(rg_array_save(a, rgt_path("full"), format), RG_ERR_FILE);
  RGT_TRUE(strstr(rg_error_detail(), rgt_path("full")) != NULL);
  RGT_INT(rgt_file_count(), before);
}

/* For one process files end at so many bytes. */
static void limited(int who, rlim_t bytes, rg_file_format format) {
  struct rlimit old, limit;
  rg_array a;
  RGT_OK(rg_array_create_simple(rgt_world, RG_TYPE_DOUBLE, 2, (int64_t[]){20, N / 20}, &a));
  rgt_fill(a, 3);
  RGT_OK(rg_array_save(a, rgt_path("full"), format));
  rgt_fill(a, 4);
  getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = bytes;
  signal(SIGXFSZ, SIG_IGN);
  if (rgt_rank == who)
    setrlimit(RLIMIT_FSIZE, &limit);
  save_fails(a, format);
  setrlimit(RLIMIT_FSIZE, &old);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_array_load(a, rgt_path("full")));
  RGT_INT(rgt_wrong_bytes(a, 3), 0);
  RGT_OK(rg_array_save(a, rgt_path("full"), format));
  RGT_OK(rg_array_free(&a));
}

static void test_native(void) {
  limited(0, 5000, RG_FILE_NATIVE);
  limited(rgt_size - 1, HEADER + 100, RG_FILE_NATIVE);
}

static void test_hdf5(void) {
#ifdef RG_HDF5
  limited(0, 1000, RG_FILE_HDF5);
  limited(0, 5000, RG_FILE_HDF5);
  limited(rgt_size - 1, 2500, RG_FILE_HDF5);
#endif
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", rgt_files_start},
                                   {"native", test_native},
                                   {"HDF5", test_hdf5},
                                   {"end", rgt_files_end},
                                   {NULL, NULL}};
  write_hints();
  int status = rgt_main(argc, argv, "file_full", tests);
  unlink(hints);
  return status;
}
