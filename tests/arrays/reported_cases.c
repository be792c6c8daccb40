/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each call on arrays that returns the error of one member on all of them names that member, and
 * has its text. */
#include "tests/arrays/reported_cases.h"

#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "tests/check/reported.h"

static rg_group world;
static rg_array array; /* two elements for each rank */

static rg_array make_array(rg_group g) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_array a = NULL;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 1, (int64_t[]){2 * rgt_size}));
  RGT_OK(rg_array_create(g, &spec, &a));
  return a;
}

void reported_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  array = make_array(world);
}

static int wrong_rank(void) {
  return rgt_size - 1;
}

static int is_wrong(void) {
  return rgt_rank == wrong_rank();
}

static void expect_wrong(int error, int code, const char *words) {
  expect_reported(error, code, rgt_rank, wrong_rank(), words);
}

/* --- the function of the application ---------------------------------------------------- */

typedef struct {
  int first, code; /* the ranks from the first on return code + their rank; 0: just code */
  int speaks;
} failing;

static int fail_sometimes(void *elements, int64_t n, const int64_t at[], void *context) {
  const failing *f = context;
  (void)elements, (void)n, (void)at;
  if (rgt_rank < f->first)
    return RG_SUCCESS;
  int code = f->code >= RG_ERR_USER ? f->code + rgt_rank : f->code;
  return f->speaks ? rg_error_set(code, "diverged on %d", rgt_rank) : code;
}

static int map(int first, int code, int speaks) {
  failing f = {first, code, speaks};
  return rg_array_map(array, NULL, NULL, fail_sometimes, &f);
}

/* The number comes back unchanged, of the lowest rank that failed, with its text; one that is no
 * error code becomes RG_ERR_ARG. */
void reported_map(void) {
  for (int first = 0; first < rgt_size; first++) {
    char words[64];
    int error = map(first, RG_ERR_USER + 77, 1);
    snprintf(words, sizeof words, "diverged on %d", first);
    expect_reported(error, RG_ERR_USER + 77 + first, rgt_rank, first, words);
    snprintf(words, sizeof words, "diverged on %d", rgt_rank);
    RGT_INT(strstr(rg_error_detail(), words) != NULL, rgt_rank >= first);
    error = map(first, RG_ERR_NOMEM, 0);
    RGT_INT(error, RG_ERR_NOMEM);
    error = map(first, RG_ERR_USER, 0);
    RGT_INT(error, RG_ERR_USER + first);
    RGT_INT(map(first, 47, 0), RG_ERR_ARG);
    RGT_TRUE(strstr(rg_error_detail(), "47") != NULL);
    RGT_INT(map(first, -1, 1), RG_ERR_ARG);
  }
  RGT_OK(map(rgt_size, 1, 0));
}

/* --- arrays, files, tasks ------------------------------------------------------------------ */

/* A spec that only one member gets wrong. On one node others may have made the array before: they
 * hear of the error when they first use it. */
void reported_create(void) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_array a = NULL;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 1, (int64_t[]){2 * rgt_size}));
  if (is_wrong())
    spec.layout = (rg_array_layout)77;
  int error = rg_array_create(world, &spec, &a);
  if (!error)
    error = rg_array_sync(a);
  RGT_INT(error, RG_ERR_ARG);
  if (!is_wrong())
    RGT_TRUE(strstr(rg_error_detail(), "reported: ") != NULL);
  RGT_OK(rg_array_free(&a));
}

void reported_print(void) {
  int error = rg_array_print(array, NULL, NULL, NULL);
  expect_reported(error, RG_ERR_ARG, rgt_rank, 0, "file is NULL");
}

/* A checkpoint whose file is no checkpoint; rank 0 finds out. */
static void make_damaged(char path[RGT_PATH]) {
  rgt_temporary(path);
  if (rgt_rank == 0) {
    char name[RGT_PATH + 2];
    RGT_TRUE(mkdtemp(path) != NULL);
    snprintf(name, sizeof name, "%s.0", path);
    FILE *f = fopen(name, "w");
    RGT_TRUE(f && fputs("damaged", f) >= 0 && fclose(f) == 0);
  }
  MPI_Bcast(path, RGT_PATH, MPI_CHAR, 0, MPI_COMM_WORLD);
}

void reported_files(void) {
  char path[RGT_PATH];
  rg_checkpoint c;
  rg_array made;
  int found;
  expect_reported(rg_array_load(array, "/no/such/file"), RG_ERR_FILE, rgt_rank, 0, "/no/such/file");
  expect_reported(rg_array_open(world, "/no/such/file", &made), RG_ERR_FILE, rgt_rank, 0,
                  "/no/such/file");
  expect_reported(rg_array_save(array, "/no/such/file", RG_FILE_NATIVE), RG_ERR_FILE, rgt_rank, 0,
                  "/no/such/file");
  expect_reported(rg_checkpoint_start(world, "/no/such/file", 1, &array, NULL, 0, &c), RG_ERR_FILE,
                  rgt_rank, 0, "/no/such/file");
  make_damaged(path);
  expect_reported(rg_checkpoint_load(world, path, 1, &array, 0, NULL, &found), RG_ERR_FILE,
                  rgt_rank, 0, path);
}

void reported_tasks(void) {
  rg_tasks tasks;
  expect_wrong(rg_tasks_create(world, 100, is_wrong() ? 0 : 1, &tasks), RG_ERR_ARG, "least 0");
}

/* --- other groups -------------------------------------------------------------------------- */

/* The source is on the world, the target on all but rank 0: ranks are those of the group that is
 * named. The member that is wrong names bounds outside. */
void reported_copy(void) {
  rg_group others;
  rg_array b = NULL;
  if (rgt_size < 2)
    return;
  RGT_OK(rg_group_create_range(world, 1, rgt_size - 1, 1, 0, &others));
  if (others)
    b = make_array(others);
  int64_t lo = 0, hi = is_wrong() ? 1000 : 1;
  int error = rg_array_copy_patch(array, &lo, &hi, b, &lo, &(int64_t){1}, 0);
  RGT_INT(error, RG_ERR_BOUNDS);
  if (!is_wrong()) {
    char words[64];
    snprintf(words, sizeof words, "in the source's group: rank %d reported: ", wrong_rank());
    if (!RGT_TRUE(strstr(rg_error_detail(), words) != NULL))
      printf("%s\n", rg_error_detail());
  }
  if (b)
    RGT_OK(rg_array_free(&b));
  RGT_OK(rg_group_free(&others));
}

void reported_regroup(void) {
  int error = rg_array_regroup(world, world, NULL, is_wrong() ? NULL : &array);
  expect_wrong(error, RG_ERR_ARG, "a is NULL");
  if (rgt_size > 1 && !is_wrong())
    RGT_TRUE(strstr(rg_error_detail(), "in the group of both: ") != NULL);
}

void reported_finalize(void) {
  RGT_OK(rg_array_free(&array));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}
