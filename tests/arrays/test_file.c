/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays in files: saved on one group and loaded on another, with any shapes, types and
 * distributions; every kind of file that is not an array, and what is left behind.
 *
 * env: RG_TIMEOUT=60
 * sources: tests/arrays/file_cases.c tests/arrays/draw_spec.c */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "draw_spec.h"
#include "file_cases.h"
#include "tests/check/check.h"

/* --- round trips ------------------------------------------------------------------- */

/* A group of some ranks side by side, drawn alike on all; NULL elsewhere. */
static rg_group draw_group(int tag, int *members) {
  rg_group g = NULL;
  int first = (int)rgt_below(rgt_size), last = first + (int)rgt_below(rgt_size - first);
  *members = last - first + 1;
  if (first <= rgt_rank && rgt_rank <= last)
    RGT_OK(rg_group_create_range(rgt_world, first, last, 1, tag, &g));
  return g;
}

static void save(rg_group g, const rg_array_spec *spec, const char *path, unsigned seed,
                 rg_file_format format) {
  rg_array a;
  if (!RGT_OK(rg_array_create(g, spec, &a)))
    return;
  rgt_fill(a, seed);
  RGT_OK(rg_array_save(a, path, format));
  RGT_OK(rg_array_free(&a));
}

static void load(rg_group g, const rg_array_spec *spec, const char *path, unsigned seed) {
  rg_array a;
  if (!RGT_OK(rg_array_create(g, spec, &a)))
    return;
  rgt_fill(a, ~seed);
  RGT_OK(rg_array_load(a, path));
  RGT_INT(rgt_wrong_bytes(a, seed), 0);
  RGT_OK(rg_array_free(&a));
}

static void open_it(rg_group g, const rg_array_spec *spec, const char *path, unsigned seed) {
  rg_array a;
  rg_array_spec found = {.size = sizeof found};
  if (!RGT_OK(rg_array_open(g, path, &a)))
    return;
  RGT_OK(rg_array_info(a, &found));
  RGT_INT(found.type, spec->type);
  RGT_INT(found.dims, spec->dims);
  RGT_INT(memcmp(found.shape, spec->shape, (size_t)spec->dims * sizeof *spec->shape), 0);
  RGT_INT(rgt_wrong_bytes(a, seed), 0);
  RGT_OK(rg_array_free(&a));
}

static void trip(int round, rg_file_format format) {
  rgt_drawn to, from;
  int members, readers;
  unsigned seed = (unsigned)random();
  const char *path = rgt_path(round % 2 ? "one" : "with:colon");
  rg_group writing = draw_group(2 * round, &members);
  rgt_draw_shape(&to);
  from = to;
  rgt_draw_layout(&to, members);
  if (writing)
    save(writing, &to.spec, path, seed, format);
  MPI_Barrier(MPI_COMM_WORLD);
  rg_group reading = draw_group(2 * round + 1, &readers);
  rgt_draw_layout(&from, readers);
  if (reading) {
    load(reading, &from.spec, path, seed);
    open_it(reading, &from.spec, path, seed);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_group_free(&writing));
  RGT_OK(rg_group_free(&reading));
}

static void test_native(void) {
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < 20; i++)
    trip(i, RG_FILE_NATIVE);
  RGT_INT(rgt_file_count(), 2);
}

static void test_hdf5(void) {
#ifdef RG_HDF5
  srandom((unsigned)rgt_seed() + 1);
  for (int i = 0; i < 20; i++)
    trip(i, RG_FILE_HDF5);
  RGT_INT(rgt_file_count(), 2);
#else
  rg_array a;
  RGT_OK(rg_array_create_simple(rgt_world, RG_TYPE_DOUBLE, 1, (int64_t[]){10}, &a));
  RGT_FAILS(rg_array_save(a, rgt_path("h5"), RG_FILE_HDF5), RG_ERR_UNSUPPORTED);
  RGT_INT(rgt_file_count(), 2);
  RGT_OK(rg_array_free(&a));
#endif
}

/* More bytes, and more rows, than one round of transfer takes. */
static void test_rounds(void) {
  rg_array_spec spec = {.size = sizeof spec};
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, (int64_t[]){2500, 1000}));
  save(rgt_world, &spec, rgt_path("one"), 5, RG_FILE_NATIVE);
  load(rgt_world, &spec, rgt_path("one"), 5);
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT32, 2, (int64_t[]){70000, rgt_size + 1}));
  spec.grid[0] = 1;
  spec.grid[1] = rgt_size;
  spec.ghosts[1] = 1;
  save(rgt_world, &spec, rgt_path("one"), 6, RG_FILE_NATIVE);
  load(rgt_world, &spec, rgt_path("one"), 6);
#ifdef RG_HDF5
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, (int64_t[]){2500, 1000}));
  save(rgt_world, &spec, rgt_path("one"), 7, RG_FILE_HDF5);
  load(rgt_world, &spec, rgt_path("one"), 7);
#endif
}

/* Elements longer than a round; one block for a chunk of any length; extents of which one is 0 and
 * the product of the others overflows. */
static void test_sizes(void) {
  rg_array_spec spec = {.size = sizeof spec};
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_OPAQUE, 1, (int64_t[]){2}));
  spec.element_size = ((size_t)17 << 20) + 5;
  save(rgt_world, &spec, rgt_path("one"), 8, RG_FILE_NATIVE);
  load(rgt_world, &spec, rgt_path("one"), 8);
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_INT64, 1, (int64_t[]){10}));
  spec.layout = RG_LAYOUT_BLOCK_CYCLIC;
  spec.chunk[0] = INT64_MAX;
  spec.grid[0] = rgt_size;
  save(rgt_world, &spec, rgt_path("one"), 9, RG_FILE_NATIVE);
  load(rgt_world, &spec, rgt_path("one"), 9);
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_OPAQUE, 3,
                           (int64_t[]){(int64_t)1 << 62, (int64_t)1 << 62, 0}));
  spec.element_size = (size_t)1 << 40;
  save(rgt_world, &spec, rgt_path("one"), 10, RG_FILE_NATIVE);
  load(rgt_world, &spec, rgt_path("one"), 10);
}

/* --- files that are none ---------------------------------------------------------------- */

enum { HEADER = 4096, N = 600 };

static rg_array new_array(rg_array_type type) {
  rg_array a = NULL;
  RGT_OK(rg_array_create_simple(rgt_world, type, 2, (int64_t[]){20, N / 20}, &a));
  return a;
}

static void again(rg_array a, rg_file_format format) {
  rgt_fill(a, 3);
  RGT_OK(rg_array_save(a, rgt_path("bad"), format));
}

static void test_damaged(void) {
  rg_array a = new_array(RG_TYPE_DOUBLE);
  const char *path = rgt_path("bad");
  again(a, RG_FILE_NATIVE);
  RGT_INT(rgt_file_size(path), HEADER + N * 8);
  rgt_spoil(path, HEADER + 1234, "?", 1);
  rgt_load_fails(a, path, "checksum of its elements differs");
  again(a, RG_FILE_NATIVE);
  rgt_spoil(path, 50, "?", 1);
  rgt_load_fails(a, path, "header's checksum");
  again(a, RG_FILE_NATIVE);
  rgt_spoil(path, HEADER - 1, "?", 1);
  rgt_load_fails(a, path, "byte 4095");
  again(a, RG_FILE_NATIVE);
  rgt_spoil(path, 12, "\0\0\0\1", 4);
  rgt_load_fails(a, path, "order of bytes");
  again(a, RG_FILE_NATIVE);
  rgt_spoil(path, 0, "?", 1);
  rgt_load_fails(a, path, "no array file");
  again(a, RG_FILE_NATIVE);
  rgt_resize(path, HEADER + N * 8 - 1);
  rgt_load_fails(a, path, "truncated");
  rgt_resize(path, 60);
  rgt_load_fails(a, path, "truncated");
  rgt_resize(path, HEADER + N * 8 + 1);
  rgt_load_fails(a, path, "header");
  again(a, RG_FILE_NATIVE);
  rgt_resize(path, HEADER + N * 8 + 1);
  rgt_load_fails(a, path, "damaged");
  again(a, RG_FILE_NATIVE);
  RGT_OK(rg_array_load(a, path));
  RGT_INT(rgt_wrong_bytes(a, 3), 0);
  RGT_OK(rg_array_free(&a));
}

static void test_foreign(void) {
  rg_array a = new_array(RG_TYPE_DOUBLE), out = NULL;
  rgt_load_fails(a, rgt_path("nothing/there"), "No such file");
  rgt_load_fails(a, rgt_path(""), "directory");
  rgt_spoil(rgt_path("text"), 0, "some text", 9);
  rgt_load_fails(a, rgt_path("text"), "no array file");
  rgt_resize(rgt_path("text"), 0);
  rgt_load_fails(a, rgt_path("text"), "no array file");
  RGT_FAILS(rg_array_open(rgt_world, rgt_path("text"), &out), RG_ERR_FILE);
  RGT_PTR_NULL(out);
  RGT_OK(rg_array_free(&a));
}

static void other_array(rg_file_format format) {
  rg_array a = new_array(RG_TYPE_DOUBLE), other = new_array(RG_TYPE_INT64), wide;
  again(a, format);
  rgt_load_fails(other, rgt_path("bad"), "type");
  RGT_OK(rg_array_create_simple(rgt_world, RG_TYPE_DOUBLE, 2, (int64_t[]){N / 20, 20}, &wide));
  rgt_load_fails(wide, rgt_path("bad"), "its shape is 20 x 30, the array's 30 x 20");
  RGT_OK(rg_array_free(&wide));
  RGT_OK(rg_array_create_simple(rgt_world, RG_TYPE_DOUBLE, 1, (int64_t[]){N}, &wide));
  rgt_load_fails(wide, rgt_path("bad"), "its shape is 20 x 30, the array's 600");
  RGT_OK(rg_array_free(&wide));
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_free(&other));
}

static void test_other(void) {
  other_array(RG_FILE_NATIVE);
#ifdef RG_HDF5
  other_array(RG_FILE_HDF5);
#endif
}

/* --- saving that fails ---------------------------------------------------------------------- */

static void save_fails(rg_array a, const char *path, const char *word) {
  int before = rgt_file_count();
  RGT_FAILS(rg_array_save(a, path, RG_FILE_NATIVE), RG_ERR_FILE);
  if (!strstr(rg_error_detail(), word))
    RGT_STR(rg_error_detail(), word);
  RGT_INT(rgt_file_count(), before);
#ifdef RG_HDF5
  RGT_FAILS(rg_array_save(a, path, RG_FILE_HDF5), RG_ERR_FILE);
  RGT_INT(rgt_file_count(), before);
#endif
}

static void test_unwritable(void) {
  rg_array a = new_array(RG_TYPE_DOUBLE);
  save_fails(a, rgt_path("nothing/there"), "No such file");
  if (rgt_rank == 0)
    RGT_INT(mkdir(rgt_path("folder"), 0700), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  save_fails(a, rgt_path("folder"), "directory");
  RGT_FAILS(rg_array_save(a, NULL, RG_FILE_NATIVE), RG_ERR_ARG);
  RGT_FAILS(rg_array_save(a, rgt_path("x"), (rg_file_format)9), RG_ERR_ARG);
  RGT_FAILS(rg_array_save(NULL, rgt_path("x"), RG_FILE_NATIVE), RG_ERR_ARRAY);
  RGT_FAILS(rg_array_load(NULL, rgt_path("x")), RG_ERR_ARRAY);
  RGT_OK(rg_array_free(&a));
}

/* Devices and pipes are not replaced, and loading does not wait for a pipe's other end. */
static void test_pipe(void) {
  rg_array a = new_array(RG_TYPE_DOUBLE);
  struct stat status;
  if (rgt_rank == 0)
    RGT_INT(mkfifo(rgt_path("pipe"), 0600), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  save_fails(a, rgt_path("pipe"), "no regular file");
  rgt_load_fails(a, rgt_path("pipe"), "no regular file");
  rgt_load_fails(a, "/dev/zero", "no regular file");
  save_fails(a, "", "without a name");
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_INT(stat(rgt_path("pipe"), &status), 0);
  RGT_TRUE(S_ISFIFO(status.st_mode));
  RGT_OK(rg_array_free(&a));
}

/* Members that give different arguments get an error. */
static void test_mismatch(void) {
  rg_array a = new_array(RG_TYPE_DOUBLE), out = NULL;
  int before = rgt_file_count(), last = rgt_rank == rgt_size - 1;
  if (rgt_size > 1) {
    RGT_FAILS(rg_array_save(a, rgt_path(last ? "x" : "y"), RG_FILE_NATIVE), RG_ERR_MISMATCH);
    RGT_FAILS(rg_array_save(a, rgt_path("x"), last ? RG_FILE_NATIVE : RG_FILE_HDF5),
              RG_ERR_MISMATCH);
    RGT_FAILS(rg_array_load(a, rgt_path(last ? "x" : "y")), RG_ERR_MISMATCH);
    RGT_FAILS(rg_array_open(rgt_world, rgt_path(last ? "x" : "y"), &out), RG_ERR_MISMATCH);
  }
  RGT_PTR_NULL(out);
  RGT_INT(rgt_file_count(), before);
  RGT_OK(rg_array_free(&a));
}

/* A file left by a job that died while saving does not matter. */
static void test_stale(void) {
  rg_array a = new_array(RG_TYPE_DOUBLE);
  char name[64];
  int pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "bad.part-%d", pid);
  rgt_spoil(rgt_path(name), 0, "old", 3);
  int before = rgt_file_count();
  again(a, RG_FILE_NATIVE);
  RGT_INT(rgt_file_count(), before - 1);
  RGT_OK(rg_array_load(a, rgt_path("bad")));
  RGT_OK(rg_array_free(&a));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", rgt_files_start},
                                   {"native round trips", test_native},
                                   {"HDF5 round trips", test_hdf5},
                                   {"several rounds", test_rounds},
                                   {"sizes", test_sizes},
                                   {"damaged files", test_damaged},
                                   {"foreign files", test_foreign},
                                   {"other shapes and types", test_other},
                                   {"files that cannot be written", test_unwritable},
                                   {"pipes and devices", test_pipe},
                                   {"members that disagree", test_mismatch},
                                   {"a file left by the dead", test_stale},
                                   {"end", rgt_files_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "file", tests);
}
