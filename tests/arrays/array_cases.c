/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Creating and freeing arrays, queries, and wrong calls. */
#include "array_cases.h"

#include <mpi.h>
#include <regroup.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "shm/arena.h"
#include "tests/check/check.h"

static rg_group world;

void test_begin(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
}

static size_t used(void) {
  rgi_arena_usage usage;
  rgi_arena_get_usage(&usage);
  return usage.used;
}

/* Every member writes its own block, and reads another's. */
void test_first(void) {
  int64_t shape[2] = {10 * rgt_size, 7}, lo[2], hi[2];
  rg_array a = NULL;
  RGT_OK(rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, shape, &a));
  RGT_OK(rg_array_distribution(a, rgt_rank, lo, hi));
  size_t n = (size_t)((hi[0] - lo[0]) * (hi[1] - lo[1]));
  double *block = malloc(n * sizeof *block), *all = malloc(sizeof(double) * 70 * (size_t)rgt_size);
  for (size_t i = 0; i < n; i++)
    block[i] =
        (double)((lo[0] + (int64_t)i / (hi[1] - lo[1])) * 7 + lo[1] + (int64_t)i % (hi[1] - lo[1]));
  RGT_OK(rg_array_put(a, lo, hi, block, NULL));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_get(a, (int64_t[]){0, 0}, shape, all, NULL));
  int wrong = 0;
  for (int i = 0; i < 70 * rgt_size; i++)
    wrong += all[i] != i;
  RGT_INT(wrong, 0);
  free(block);
  free(all);
  RGT_OK(rg_array_free(&a));
  RGT_PTR_NULL(a);
  RGT_OK(rg_array_free(&a));
}

void test_queries(void) {
  int64_t shape[3] = {12, 9, 5}, lo[3], hi[3], count, owned = 0, elements = 0;
  rg_array_spec spec = {.size = sizeof spec}, info = {.size = sizeof info};
  rg_array a, b;
  rg_group g;
  int size, valid, rank, other;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_OPAQUE, 3, shape));
  spec.element_size = 24;
  spec.ghosts[1] = 2;
  spec.periodic[1] = 1;
  RGT_OK(rg_array_create(world, &spec, &a));
  RGT_OK(rg_array_info(a, &info));
  RGT_INT(info.dims, 3);
  RGT_INT(info.type, RG_TYPE_OPAQUE);
  RGT_INT(info.element_size, 24);
  RGT_INT(info.ghosts[1], 2);
  RGT_INT(info.periodic[1], 1);
  RGT_TRUE(memcmp(info.shape, shape, sizeof shape) == 0);
  RGT_TRUE(info.grid[0] * info.grid[1] * info.grid[2] <= rgt_size);
  RGT_OK(rg_array_group(a, &g));
  RGT_OK(rg_group_size(g, &size));
  RGT_INT(size, rgt_size);
  RGT_OK(rg_array_is_valid(a, &valid));
  RGT_INT(valid, 1);
  RGT_OK(rg_array_is_valid(NULL, &valid));
  RGT_INT(valid, 0);
  for (int r = 0; r < rgt_size; r++) {
    RGT_OK(rg_array_block_count(a, r, &count));
    RGT_TRUE(count == 0 || count == 1);
    RGT_OK(rg_array_distribution(a, r, lo, hi));
    int64_t n = (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]);
    owned += n;
    if (n > 0) {
      RGT_OK(rg_array_owner(a, lo, &rank));
      RGT_INT(rank, r);
    }
  }
  RGT_INT(owned, 12 * 9 * 5);
  RGT_OK(rg_array_locate_count(a, (int64_t[]){1, 1, 1}, shape, &count));
  for (int64_t i = 0; i < count; i++) {
    rg_array_piece p;
    RGT_OK(rg_array_locate(a, (int64_t[]){1, 1, 1}, shape, i, &p));
    RGT_OK(rg_array_owner(a, p.lo, &other));
    RGT_INT(p.rank, other);
    elements += (p.hi[0] - p.lo[0]) * (p.hi[1] - p.lo[1]) * (p.hi[2] - p.lo[2]);
  }
  RGT_INT(elements, 11 * 8 * 4);
  RGT_OK(rg_array_dup(a, &b));
  RGT_OK(rg_array_info(b, &spec));
  RGT_INT(spec.element_size, 24);
  RGT_TRUE(memcmp(info.grid, spec.grid, sizeof spec.grid) == 0);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_is_valid(b, &valid));
  RGT_INT(valid, 1);
  RGT_OK(rg_array_free(&b));
}

void test_wrong_calls(void) {
  int64_t shape[2] = {6, 4}, lo[2] = {0, 0}, hi[2] = {6, 4}, ld = 3, ok = 4, before;
  double buf[24] = {0}, *p;
  rg_array a, b = NULL;
  rg_array_spec spec = {.size = sizeof spec};
  rg_request request;
  int rank;
  rg_array_piece piece;
  RGT_FAILS(rg_array_create_simple(NULL, RG_TYPE_DOUBLE, 2, shape, &b), RG_ERR_GROUP);
  RGT_FAILS(rg_array_create_simple(world, RG_TYPE_DOUBLE, 0, shape, &b), RG_ERR_ARG);
  RGT_FAILS(rg_array_create_simple(world, RG_TYPE_COUNT, 2, shape, &b), RG_ERR_ARG);
  RGT_FAILS(rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, (int64_t[]){1, -1}, &b), RG_ERR_ARG);
  RGT_FAILS(rg_array_create(world, NULL, &b), RG_ERR_ARG);
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_OPAQUE, 2, shape));
  RGT_FAILS(rg_array_create(world, &spec, &b), RG_ERR_ARG); /* no element size */
  RGT_PTR_NULL(b);
  RGT_OK(rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, shape, &a));
  RGT_FAILS(rg_array_put(NULL, lo, hi, buf, NULL), RG_ERR_ARRAY);
  RGT_FAILS(rg_array_put(a, NULL, hi, buf, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_put(a, lo, hi, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_put(a, lo, hi, buf, &ld), RG_ERR_ARG);
  RGT_OK(rg_array_put(a, lo, hi, buf, &ok));
  RGT_FAILS(rg_array_put(a, lo, hi, buf, (int64_t[]){INT64_MAX / 2}), RG_ERR_LIMIT);
  RGT_OK(rg_array_put(a, lo, (int64_t[]){lo[0] + 1, hi[1]}, buf, (int64_t[]){INT64_MAX}));
  RGT_FAILS(rg_array_get(a, hi, lo, buf, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_get(a, lo, (int64_t[]){6, 5}, buf, NULL), RG_ERR_BOUNDS);
  RGT_TRUE(strstr(rg_error_detail(), "5") && strstr(rg_error_detail(), "4") &&
           strstr(rg_error_detail(), "1"));
  RGT_FAILS(rg_array_get(a, (int64_t[]){-1, 0}, hi, buf, NULL), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_acc(a, (int64_t[]){6, 0}, (int64_t[]){7, 1}, buf, NULL, NULL), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_iput(a, lo, hi, buf, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_iget(a, lo, (int64_t[]){7, 1}, buf, NULL, &request), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_put_strided(a, lo, hi, NULL, buf, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_put_strided(a, lo, hi, (int64_t[]){1, 0}, buf, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_get_periodic(a, lo, (int64_t[]){7, 4}, buf, NULL), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_get_periodic(a, (int64_t[]){2, 0}, (int64_t[]){1, 4}, buf, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_gather(a, 1, (int64_t[]){0, 4}, buf), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_gather(a, -1, lo, buf), RG_ERR_ARG);
  RGT_FAILS(rg_array_scatter(a, 1, NULL, buf), RG_ERR_ARG);
  RGT_FAILS(rg_array_read_inc(a, lo, 1, &before), RG_ERR_ARG);
  RGT_FAILS(rg_array_compare_and_swap(a, lo, 1, 2, &before), RG_ERR_ARG);
  RGT_FAILS(rg_array_owner(a, hi, &rank), RG_ERR_BOUNDS);
  RGT_FAILS(rg_array_block_count(a, rgt_size, &before), RG_ERR_RANK);
  RGT_FAILS(rg_array_block(a, 0, 1, lo, hi), RG_ERR_ARG);
  RGT_FAILS(rg_array_locate(a, lo, hi, 1000, &piece), RG_ERR_ARG);
  RGT_FAILS(rg_array_access(a, lo, lo, RG_ACCESS_READ, &p, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_access(a, lo, (int64_t[]){1, 1}, (rg_access_mode)9, &p, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_access(a, lo, NULL, RG_ACCESS_READ, &p, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_get_periodic(a, NULL, hi, buf, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_read_inc(a, NULL, 1, &before), RG_ERR_ARG);
  RGT_FAILS(rg_array_owner(a, NULL, &rank), RG_ERR_ARG);
  RGT_FAILS(rg_array_locate(a, lo, NULL, 0, &piece), RG_ERR_ARG);
  RGT_FAILS(rg_array_group(a, NULL), RG_ERR_ARG);
  RGT_OK(rg_array_free(&a));
  RGT_FAILS(rg_array_sync(NULL), RG_ERR_ARRAY);
}

/* Arithmetic on bytes; an empty patch is not looked at. */
/* Only the first members own elements, and all have access. The name is the caller's own, and goes
 * with the array. */
void test_owners_and_name(void) {
  rg_array a = NULL, b = NULL;
  const int64_t lo[2] = {0, 0}, shape[2] = {8, 9};
  double all[72], sum, one = 1;
  int size, rank, owner, most = 0;
  RGT_OK(rg_group_size(world, &size));
  RGT_OK(rg_group_rank(world, &rank));
  for (int owners = 1; owners <= size; owners++) {
    rg_array_spec spec = {.size = sizeof spec}, info = {.size = sizeof info};
    char name[] = "of rank 0";
    name[8] = (char)('0' + rank);
    RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape));
    spec.owners = owners;
    spec.name = rank % 2 ? NULL : name;
    RGT_OK(rg_array_create(world, &spec, &a));
    name[0] = 'x';
    RGT_OK(rg_array_fill(a, NULL, NULL, &one));
    RGT_OK(rg_array_dup(a, &b));
    RGT_OK(rg_array_regroup(world, world, NULL, &a));
    RGT_OK(rg_array_copy(a, b));
    RGT_OK(rg_array_sync(b));
    RGT_OK(rg_array_info(b, &info));
    RGT_INT(info.owners, owners);
    RGT_TRUE(rank % 2 ? !info.name : info.name && !strncmp(info.name, "of rank", 7));
    RGT_OK(rg_array_info(a, &info));
    RGT_TRUE(rank % 2 ? !info.name : info.name && !strncmp(info.name, "of rank", 7));
    most = 0;
    for (int64_t i = 0; i < 72; i++) {
      RGT_OK(rg_array_owner(b, (int64_t[]){i / 9, i % 9}, &owner));
      most = owner > most ? owner : most;
    }
    RGT_TRUE(most < owners && (owners != 2 || most == 1));
    RGT_OK(rg_array_get(b, lo, shape, all, NULL));
    RGT_OK(rg_array_sum(b, NULL, NULL, &sum));
    RGT_TRUE(all[71] == 1 && sum == 72);
    RGT_OK(rg_array_free(&b));
    RGT_OK(rg_array_free(&a));
    spec.owners = size + 1;
    RGT_FAILS(rg_array_create(world, &spec, &a), RG_ERR_ARG);
    spec.owners = 1;
    spec.grid[0] = 2;
    RGT_FAILS(rg_array_create(world, &spec, &a), RG_ERR_ARG);
  }
}

void test_opaque_and_empty(void) {
  int64_t shape[1] = {5}, at[1] = {2}, end[1] = {3};
  rg_array_spec spec = {.size = sizeof spec};
  rg_array a;
  char in[3] = {1, 2, 3}, out[3];
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_OPAQUE, 1, shape));
  spec.element_size = 3;
  RGT_OK(rg_array_create(world, &spec, &a));
  RGT_FAILS(rg_array_acc(a, at, end, in, NULL, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_array_scatter_acc(a, 1, at, in, NULL), RG_ERR_ARG);
  RGT_OK(rg_array_put(a, at, at, NULL, NULL));
  RGT_OK(rg_array_put(a, shape, shape, NULL, NULL));
  RGT_OK(rg_array_gather(a, 0, NULL, NULL));
  RGT_OK(rg_array_put(a, at, end, in, NULL));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_get(a, at, end, out, NULL));
  RGT_TRUE(memcmp(in, out, sizeof in) == 0);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT32, 1, (int64_t[]){0}, &a));
  RGT_OK(rg_array_put(a, (int64_t[]){0}, (int64_t[]){0}, NULL, NULL));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}

/* The first member has another spec than the others: the error of a member says in what. */
static void check_difference(rg_group g, const rg_array_spec *spec, const char *part) {
  rg_array a = NULL;
  int error = rg_array_create(g, spec, &a), any = 0;
  int told = error && strstr(rg_error_detail(), part);
  RGT_INT(error ? error : rg_array_sync(a), RG_ERR_MISMATCH);
  RGT_OK(rg_array_free(&a));
  MPI_Allreduce(&told, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  RGT_INT(any, 1);
}

static void check_differences(rg_group g) {
  const int first = rgt_rank == 0;
  const rg_array_spec spec = {.size = sizeof spec, .type = RG_TYPE_INT32, .dims = 1, .shape = {10}};
  rg_array_spec other = spec;
  other.type = first ? RG_TYPE_FLOAT : RG_TYPE_INT32;
  check_difference(g, &other, "another type");
  other = spec;
  other.shape[0] += first;
  check_difference(g, &other, "another shape");
  other = spec;
  other.chunk[0] = 20 * first;
  check_difference(g, &other, "another division");
}

static void count_line(int level, const char *line, void *lines) {
  *(int *)lines += level == RG_LOG_WARN && strstr(line, "rank 0 owns all") != NULL;
}

/* What Global Arrays calls "divide evenly" is not to divide at all here: there is a warning. */
void test_undivided(void) {
  rg_array_spec spec = {.size = sizeof spec};
  int lines = 0;
  rg_array a;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, (int64_t[]){4, 4}));
  RGT_OK(rg_log_set(count_line, &lines));
  spec.chunk[0] = -1;
  RGT_OK(rg_array_create(world, &spec, &a));
  RGT_INT(lines, 0);
  RGT_OK(rg_array_free(&a));
  spec.chunk[1] = -1;
  RGT_OK(rg_array_create(world, &spec, &a));
  RGT_INT(lines, rgt_rank == 0 && rgt_size > 1);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_log_set(NULL, NULL));
}

/* Members that were not given the same. Those that come later get the error from the creation, the
 * others when they synchronise. */
void test_mismatch(void) {
  rg_array a = NULL;
  rg_group g;
  int64_t shape[1] = {rgt_rank == rgt_size - 1 ? 11 : 10};
  if (rgt_size == 1)
    return;
  RGT_OK(rg_group_dup(world, &g));
  int error = rg_array_create_simple(g, RG_TYPE_INT32, 1, shape, &a);
  if (!error)
    error = rg_array_sync(a);
  RGT_INT(error, RG_ERR_MISMATCH);
  RGT_OK(rg_array_free(&a));
  check_differences(g);
  /* A spec that is wrong on one member alone. */
  error = rg_array_create_simple(g, rgt_rank == 0 ? RG_TYPE_OPAQUE : RG_TYPE_INT32, 1,
                                 (int64_t[]){4}, &a);
  if (!error)
    error = rg_array_sync(a);
  RGT_INT(error, RG_ERR_ARG);
  RGT_OK(rg_array_free(&a));
  error = rg_array_create_simple(g, RG_TYPE_INT32, rgt_rank == 0 ? 8 : 1, (int64_t[]){4}, &a);
  if (!error)
    error = rg_array_sync(a);
  RGT_INT(error, RG_ERR_ARG);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_create_simple(g, RG_TYPE_INT32, 1, (int64_t[]){4}, &a));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_group_free(&g));
}

/* Create and free do not wait: rank 0 has left them long before the others come. */
void test_nobody_waits(void) {
  enum { ARRAYS = 50 };
  rg_array a[ARRAYS];
  MPI_Barrier(MPI_COMM_WORLD);
  size_t before = used();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < 2; turn++) {
    if (turn == (rgt_rank != 0)) {
      for (int i = 0; i < ARRAYS; i++)
        RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, (int64_t[]){100 + i}, &a[i]));
      for (int i = 0; i < ARRAYS; i++)
        RGT_OK(rg_array_free(&a[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  RGT_INT(used(), before);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Arrays on two groups of the same members, made in different orders. */
void test_orders(void) {
  rg_group g[2];
  rg_array a[2];
  int64_t value = 0, shape[2] = {20, 30};
  for (int i = 0; i < 2; i++)
    RGT_OK(rg_group_dup(world, &g[i]));
  for (int k = 0; k < 2; k++) {
    int i = (k + rgt_rank) % 2;
    RGT_OK(rg_array_create_simple(g[i], RG_TYPE_INT64, 1, &shape[i], &a[i]));
  }
  for (int i = 0; i < 2; i++) {
    RGT_OK(rg_array_put(a[i], (int64_t[]){rgt_rank}, (int64_t[]){rgt_rank + 1},
                        &(int64_t){100 * i + rgt_rank}, NULL));
    RGT_OK(rg_group_free(&g[i])); /* the array has its own */
    RGT_OK(rg_array_sync(a[i]));
    int64_t other = rgt_size - 1 - rgt_rank;
    RGT_OK(rg_array_get(a[i], &other, (int64_t[]){other + 1}, &value, NULL));
    RGT_INT(value, 100 * i + other);
    RGT_OK(rg_array_free(&a[i]));
  }
}

/* An array that outlives the library can be freed, and is not used by mistake. */
void test_finalize(void) {
  rg_array a;
  int valid;
  double value = 0;
  RGT_OK(rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, (int64_t[]){3}, &a));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  RGT_FAILS(rg_array_sync(a), RG_ERR_NOT_INIT);
  RGT_FAILS(rg_array_put(a, (int64_t[]){0}, (int64_t[]){1}, &value, NULL), RG_ERR_NOT_INIT);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_FAILS(rg_array_sync(a), RG_ERR_ARRAY);
  RGT_FAILS(rg_array_put(a, (int64_t[]){0}, (int64_t[]){1}, &value, NULL), RG_ERR_ARRAY);
  RGT_OK(rg_array_is_valid(a, &valid));
  RGT_INT(valid, 0);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_finalize());
}

/* The own block with its ghost cells: the elements are where get sees them. */
void test_ghosts(void) {
  int64_t shape[2] = {4 * rgt_size, 6}, lo[2], hi[2], ld = 0;
  rg_array_spec spec = {.size = sizeof spec};
  rg_array a;
  double *p = NULL, *mine = NULL, all[24 * 16];
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape));
  spec.ghosts[0] = 1;
  spec.ghosts[1] = 2;
  spec.grid[0] = rgt_size;
  spec.grid[1] = 1;
  RGT_OK(rg_array_create(world, &spec, &a));
  RGT_OK(rg_array_distribution(a, rgt_rank, lo, hi));
  RGT_OK(rg_array_access_ghosts(a, RG_ACCESS_WRITE, &p, &ld));
  RGT_INT(ld, 6 + 2 * 2);
  for (int64_t i = 0; i < 4 + 2; i++)
    for (int64_t k = 0; k < ld; k++)
      p[i * ld + k] =
          i >= 1 && i < 5 && k >= 2 && k < 8 ? (double)((lo[0] + i - 1) * 6 + k - 2) : -1;
  RGT_OK(rg_array_release_ghosts(a));
  RGT_OK(rg_array_access(a, lo, hi, RG_ACCESS_READ, &mine, NULL));
  RGT_TRUE(mine == p + ld + 2);
  RGT_OK(rg_array_release(a, lo, hi));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_get(a, (int64_t[]){0, 0}, shape, all, NULL));
  int wrong = 0;
  for (int i = 0; i < 24 * rgt_size; i++)
    wrong += all[i] != i;
  RGT_INT(wrong, 0);
  RGT_FAILS(rg_array_access_ghosts(a, (rg_access_mode)7, &p, &ld), RG_ERR_ARG);
  RGT_FAILS(rg_array_access_ghosts(a, RG_ACCESS_READ, NULL, &ld), RG_ERR_ARG);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}

/* Others access a member's memory while it makes no call at all: it reads its memory until
 * everything has arrived. One node. */
void test_target_is_busy(void) {
  int64_t n = 2 * rgt_size, mine = 2 * rgt_rank, end = mine + 2, before, value;
  rg_array a;
  volatile int64_t *p = NULL;
  int64_t *memory = NULL;
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &n, &a));
  RGT_OK(rg_array_access(a, &mine, &end, RG_ACCESS_READ_WRITE, &memory, NULL));
  memory[0] = memory[1] = 0;
  p = memory;
  RGT_OK(rg_array_sync(a));
  for (int64_t to = 0; to < n && rgt_rank == 0; to += 2) {
    int64_t next = to + 1, after = to + 2;
    RGT_OK(rg_array_put(a, &to, &next, &(int64_t){5}, NULL));
    RGT_OK(rg_array_acc(a, &to, &next, &(int64_t){2}, NULL, &(int64_t){3}));
    RGT_OK(rg_array_get(a, &to, &next, &value, NULL));
    RGT_INT(value, 11);
    RGT_OK(rg_array_read_inc(a, &next, 7, &before));
    RGT_INT(before, 0);
    RGT_OK(rg_array_compare_and_swap(a, &next, 7, 8, &before));
    RGT_INT(before, 7);
    RGT_OK(rg_array_get(a, &to, &after, (int64_t[2]){0}, NULL));
    RGT_OK(rg_array_fence(a));
  }
  for (double limit = MPI_Wtime() + 30; (p[0] != 11 || p[1] != 8) && MPI_Wtime() < limit;)
    sched_yield();
  RGT_INT(p[0], 11);
  RGT_INT(p[1], 8);
  RGT_OK(rg_array_fence(NULL));
  RGT_OK(rg_progress());
  RGT_OK(rg_array_sync(a));
  /* A neighbour's block by a pointer. */
  int64_t other = (mine + 2) % n, other_end = other + 2;
  RGT_OK(rg_array_access(a, &other, &other_end, RG_ACCESS_READ, &memory, NULL));
  RGT_INT(memory[0] + memory[1], 19);
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_free(&a));
}

/* An array of n elements for each member, of which the caller's own are all `value`. */
static rg_array filled_array(int64_t n, int64_t value) {
  const int64_t all = n * rgt_size;
  rg_array a = NULL;
  int64_t lo, hi, *own;
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &all, &a));
  RGT_OK(rg_array_distribution(a, rgt_rank, &lo, &hi));
  RGT_OK(rg_array_access(a, &lo, &hi, RG_ACCESS_WRITE, &own, NULL));
  for (int64_t i = 0; i < hi - lo; i++)
    own[i] = value;
  RGT_OK(rg_array_release(a, &lo, &hi));
  RGT_OK(rg_array_sync(a));
  return a;
}

static int64_t count_others(const int64_t x[], int64_t n, int64_t value) {
  int64_t others = 0;
  for (int64_t i = 0; i < n; i++)
    others += x[i] != value;
  return others;
}

/* Requests on an array that is freed end normally: a get has the elements as they were, although
 * the next array gets the same memory; a put does not change that one. */
void test_free_with_requests(void) {
  enum { N = 20000 };
  static int64_t got[N], put[N], now[N];
  int64_t lo = (int64_t)(rgt_rank + 1) % rgt_size * N, hi = lo + N, own = (int64_t)rgt_rank * N,
          end = own + N;
  for (int64_t round = 0; round < 10; round++) {
    rg_request requests[2] = {NULL, NULL};
    rg_array a = filled_array(N, round), b;
    memset(got, 0, sizeof got);
    for (int64_t i = 0; i < N; i++)
      put[i] = round;
    RGT_OK(rg_array_iget(a, &lo, &hi, got, NULL, &requests[0]));
    RGT_OK(rg_array_iput(a, &lo, &hi, put, NULL, &requests[1]));
    RGT_OK(rg_array_free(&a));
    RGT_PTR_NULL(a);
    b = filled_array(N, 1000 + round);
    RGT_OK(rg_wait_all(2, requests, NULL));
    RGT_OK(rg_array_sync(b));
    RGT_OK(rg_array_get(b, &own, &end, now, NULL));
    RGT_INT(count_others(got, N, round), 0);
    RGT_INT(count_others(now, N, 1000 + round), 0);
    RGT_OK(rg_array_free(&b));
  }
}

/* A member's memory stays after its own free, until all have freed; then it is used again: many
 * more arrays are made than there is room for. */
void test_again_and_again(void) {
  int64_t n = (int64_t)rgt_size << 17, value;
  for (int64_t i = 0; i < 400; i++) {
    rg_array a = NULL;
    int64_t mine = rgt_rank * (n / rgt_size), other = n - 1 - mine, end = mine + 1;
    RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &n, &a));
    if (i % 50 == 0) {
      RGT_OK(rg_array_put(a, &mine, &end, &i, NULL));
      RGT_OK(rg_array_sync(a));
      if (rgt_rank == 0)
        RGT_OK(rg_array_free(&a));
      else if (rgt_size > 1) {
        other = 0;
        end = 1;
        RGT_OK(rg_array_get(a, &other, &end, &value, NULL));
        RGT_INT(value, i);
      }
    }
    RGT_OK(rg_array_free(&a));
  }
}
