/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit ARMCI_Fence ARMCI_Rmw ARMCI_GetV ARMCI_PutV ARMCI_AccV
 * Arrays while a process lacks memory: test_memory.py. Inside ARMCI, which ends the program
 * otherwise, there is memory. Element (i, j) of array a is i * SIDE + j,
 * of array b 1. */
#include <armci.h>
#include <regroup.h>
#include <regroup/array.h>
#include <regroup/array_file.h>
#include <regroup/array_math.h>
#include <regroup/array_regroup.h>
#include <regroup/checkpoint.h>
#include <regroup/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { SIDE = 12, ALL = SIDE * SIDE };

static const int64_t shape[] = {SIDE, SIDE};
static const int64_t none[] = {0, 0};
static double row[ALL], number, got[ALL];
static rg_array a, b, c, d;
static rg_group part;
static rg_mutexes mutexes;
static rg_counter counter;
static rg_tasks tasks;
static rg_checkpoint checkpoint;
static char folder[RGT_PATH], path[RGT_PATH + 16];
static int found;
static int64_t whole;

/* --- ARMCI -------------------------------------------------------------------------------- */

#define ARMCI(name, parameters, arguments)                                                         \
  int __real_##name parameters;                                                                    \
  int __wrap_##name parameters;                                                                    \
  int __wrap_##name parameters {                                                                   \
    int left = shortage_pause();                                                                   \
    int code = __real_##name arguments;                                                            \
    shortage_resume(left);                                                                         \
    return code;                                                                                   \
  }

ARMCI(ARMCI_Rmw, (int op, void *mine, void *theirs, int value, int target),
      (op, mine, theirs, value, target))
ARMCI(ARMCI_GetV, (armci_giov_t * vectors, int n, int target), (vectors, n, target))
ARMCI(ARMCI_PutV, (armci_giov_t * vectors, int n, int target), (vectors, n, target))
ARMCI(ARMCI_AccV, (int type, void *scale, armci_giov_t *vectors, int n, int target),
      (type, scale, vectors, n, target))

void __real_ARMCI_Fence(int target);
void __wrap_ARMCI_Fence(int target);
void __wrap_ARMCI_Fence(int target) {
  int left = shortage_pause();
  __real_ARMCI_Fence(target);
  shortage_resume(left);
}

/* --- arrays ------------------------------------------------------------------------------- */

static int make(void) {
  int error = rg_array_create_simple(shortage_group, RG_TYPE_DOUBLE, 2, shape, &a);
  return error ? error : rg_array_sync(a);
}

static int make_spec(void) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape);
  spec.layout = RG_LAYOUT_BLOCK_CYCLIC;
  spec.name = "c";
  spec.chunk[0] = spec.chunk[1] = 2;
  int error = rg_array_create(shortage_group, &spec, &c);
  return error ? error : rg_array_sync(c);
}

static int make_ghosts(void) {
  rg_array_spec spec = {.size = sizeof spec};
  rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape);
  spec.ghosts[0] = spec.ghosts[1] = 1;
  spec.flags = RG_ARRAY_MIRRORED;
  int error = rg_array_create(shortage_group, &spec, &c);
  return error ? error : rg_array_sync(c);
}

static int duplicate(void) {
  int error = rg_array_dup(a, &c);
  return error ? error : rg_array_sync(c);
}

static int fill(void) {
  const double one = 1;
  for (int i = 0; i < ALL; i++) {
    row[i] = i;
    got[i] = -1;
  }
  int error = make();
  if (!error)
    error = rg_array_dup(a, &b);
  if (!error)
    error = rg_array_fill(b, NULL, NULL, &one);
  if (!error && rgt_rank == 0)
    error = rg_array_put(a, none, shape, row, NULL);
  return error ? error : rg_array_sync(a);
}

static int fill_three(void) {
  int error = fill();
  return error ? error : make_spec();
}

static int fill_ghosts(void) {
  const double one = 1;
  int error = make_ghosts();
  return error ? error : rg_array_fill(c, NULL, NULL, &one);
}

static int free_all(void) {
  int error = rg_array_free(&a);
  error = error ? error : rg_array_free(&b);
  error = error ? error : rg_array_free(&c);
  error = error ? error : rg_array_free(&d);
  return error ? error : rg_group_free(&part);
}

static int elements_of(rg_array array, double factor, double offset) {
  int good = 1;
  if (rg_array_get(array, none, shape, got, NULL))
    return 0;
  for (int i = 0; i < ALL; i++)
    good &= got[i] == factor * i + offset;
  return good;
}

static int a_is_right(void) {
  int good = a && elements_of(a, 1, 0);
  return rg_array_sync(a) == RG_SUCCESS && good;
}

static int c_is_a(void) {
  return elements_of(c, 1, 0);
}

static int c_is_sum(void) {
  return elements_of(c, 2, 3);
}

/* --- of one process alone --------------------------------------------------------------------- */

static int64_t at[2 * SIDE], pieces;
static rg_request request;
static void *pointer;

static int fill_subscripts(void) {
  for (int i = 0; i < SIDE; i++)
    at[2 * i] = at[2 * i + 1] = i;
  return fill();
}

static int diagonal(void) {
  int good = 1;
  for (int i = 0; i < SIDE; i++)
    good &= got[i] == i * (SIDE + 1);
  return good;
}

static int whole_got(void) {
  return got[0] == 0 && got[ALL - 1] == ALL - 1;
}

static int64_t over[] = {SIDE / 2, SIDE / 2}, over_end[] = {SIDE + SIDE / 2, SIDE + SIDE / 2};
static int64_t step[] = {2, 2};

SHORTAGE_TWICE(put, rg_array_put(a, none, shape, row, NULL))
SHORTAGE_TWICE(get, rg_array_get(a, none, shape, got, NULL))
SHORTAGE_TWICE(acc, rg_array_acc(b, none, shape, row, NULL, NULL))
SHORTAGE_TWICE(put_strided, rg_array_put_strided(b, none, shape, step, row, NULL))
SHORTAGE_TWICE(get_strided, rg_array_get_strided(a, none, shape, step, got, NULL))
SHORTAGE_TWICE(acc_strided, rg_array_acc_strided(b, none, shape, step, row, NULL, NULL))
SHORTAGE_TWICE(put_periodic, rg_array_put_periodic(b, over, over_end, row, NULL))
SHORTAGE_TWICE(get_periodic, rg_array_get_periodic(a, over, over_end, got, NULL))
SHORTAGE_TWICE(acc_periodic, rg_array_acc_periodic(b, over, over_end, row, NULL, NULL))
SHORTAGE_TWICE(put_field, rg_array_put_field(b, none, shape, 4, 4, row, NULL))
SHORTAGE_TWICE(get_field, rg_array_get_field(a, none, shape, 0, 8, got, NULL))
SHORTAGE_TWICE(gather, rg_array_gather(a, SIDE, at, got))
SHORTAGE_TWICE(scatter, rg_array_scatter(b, SIDE, at, row))
SHORTAGE_TWICE(scatter_acc, rg_array_scatter_acc(b, SIDE, at, row, NULL))
SHORTAGE_TWICE(locate, rg_array_locate_count(c, none, shape, &pieces))
SHORTAGE_TWICE(fence, rg_array_fence(a))
SHORTAGE_TWICE(info, rg_array_info(a, &(rg_array_spec){.size = sizeof(rg_array_spec)}))
SHORTAGE_TWICE(access_ghosts, rg_array_access_ghosts(c, RG_ACCESS_READ, &pointer, NULL))

static int started(int code) {
  shortage_over();
  return code;
}

static int iget(void) {
  int code = started(rg_array_iget(a, none, shape, got, NULL, &request));
  int again = code == RG_ERR_NOMEM ? rg_array_iget(a, none, shape, got, NULL, &request) : code;
  return again || rg_wait(&request, NULL) ? RG_ERR_INTERNAL : code;
}

static int iput(void) {
  int code = started(rg_array_iput(a, none, shape, row, NULL, &request));
  int again = code == RG_ERR_NOMEM ? rg_array_iput(a, none, shape, row, NULL, &request) : code;
  return again || rg_wait(&request, NULL) ? RG_ERR_INTERNAL : code;
}

static int iacc(void) {
  int code = started(rg_array_iacc(b, none, shape, row, NULL, NULL, &request));
  int again =
      code == RG_ERR_NOMEM ? rg_array_iacc(b, none, shape, row, NULL, NULL, &request) : code;
  return again || rg_wait(&request, NULL) ? RG_ERR_INTERNAL : code;
}

/* --- mathematics ------------------------------------------------------------------------------ */

static int zero(void) {
  return rg_array_zero(c);
}

static int is_zero(void) {
  return elements_of(c, 0, 0);
}

static int fill_with(void) {
  number = 3;
  return rg_array_fill(c, NULL, NULL, &number);
}

static int is_three(void) {
  return elements_of(c, 0, 3);
}

static int random_numbers(void) {
  return rg_array_random(c, 1);
}

static int copy(void) {
  return rg_array_copy(a, c);
}

static int scale(void) {
  number = 2;
  return rg_array_scale(b, NULL, NULL, &number);
}

static int add(void) {
  const double two = 2, three = 3;
  return rg_array_add(&two, a, &three, b, c);
}

static int combine(void) {
  return rg_array_combine(RG_COMBINE_MULTIPLY, a, b, c);
}

static rg_array_patch patches[4];

static int combine_patches(void) {
  patches[0] = (rg_array_patch){c, none, shape};
  patches[1] = (rg_array_patch){a, none, shape};
  return rg_array_combine_patches(RG_COMBINE_ABSOLUTE, 2, patches);
}

static int copy_row(int64_t n, void *const row_at[], void *context) {
  (void)context;
  memcpy(row_at[0], row_at[1], (size_t)n * sizeof(double));
  return RG_SUCCESS;
}

static int map_patches(void) {
  patches[0] = (rg_array_patch){c, none, shape};
  patches[1] = (rg_array_patch){a, none, shape};
  return rg_array_map_patches(2, patches, copy_row, NULL);
}

static double steps[3];

static int fill_minus(void) {
  const double minus = -1;
  int error = fill_three();
  return error ? error : rg_array_fill(c, NULL, NULL, &minus);
}

static int step_bounds(void) {
  patches[0] = (rg_array_patch){b, none, shape};
  patches[1] = (rg_array_patch){c, none, shape};
  return rg_array_step_bounds(2, patches, steps);
}

static int is_one_step(void) {
  return steps[0] == 1 && steps[1] == 1 && steps[2] == 1;
}

static int sum(void) {
  return rg_array_sum(a, NULL, NULL, &number);
}

static int is_sum(void) {
  return number == ALL * (ALL - 1) / 2;
}

static int64_t place[2];

static int greatest(void) {
  return rg_array_max(a, NULL, NULL, &number, place);
}

static int is_greatest(void) {
  return number == ALL - 1 && place[0] == SIDE - 1 && place[1] == SIDE - 1;
}

static int norm(void) {
  return rg_array_norm(a, RG_NORM_1, &number);
}

static int norm_patch(void) {
  return rg_array_norm_patch(a, none, shape, RG_NORM_1, &number);
}

static int least_absolute(void) {
  return rg_array_absmin(a, NULL, NULL, &number, place);
}

static int greatest_absolute(void) {
  return rg_array_absmax(a, NULL, NULL, &number, place);
}

static int dot(void) {
  return rg_array_dot(a, b, &number);
}

static int dot_other(void) {
  return rg_array_dot(a, c, &number);
}

static int sum_reproducible(void) {
  return rg_array_sum_reproducible(a, &number);
}

static int dot_reproducible(void) {
  return rg_array_dot_reproducible(a, b, &number);
}

static int norm_reproducible(void) {
  return rg_array_norm_reproducible(a, RG_NORM_1, &number);
}

static uint64_t checksum;
static int check_sum(void) {
  return rg_array_checksum(a, &checksum);
}

/* The whole array as a patch. */
static int copy_patch(void) {
  return rg_array_copy_patch(a, none, shape, c, none, shape, 0);
}

static int add_scalar(void) {
  number = 2;
  return rg_array_add_scalar(b, NULL, NULL, &number);
}

static int b_is_three(void) {
  int good = 1;
  if (rg_array_get(b, none, shape, got, NULL))
    return 0;
  for (int i = 0; i < ALL; i++)
    good &= got[i] == 3;
  return good;
}

static int add_patch(void) {
  const double two = 2, three = 3;
  return rg_array_add_patch(&two, a, none, shape, &three, b, none, shape, c, none, shape);
}

static int dot_patch(void) {
  return rg_array_dot_patch(a, none, shape, b, none, shape, &number);
}

static int add_two(void *elements, int64_t count, const int64_t index[], void *context) {
  for (int64_t i = 0; i < count; i++)
    ((double *)elements)[i] += 2;
  (void)index;
  (void)context;
  return RG_SUCCESS;
}

static int map(void) {
  return rg_array_map(b, NULL, NULL, add_two, NULL);
}

static int least(void) {
  return rg_array_min(a, NULL, NULL, &number, place);
}

static int is_least(void) {
  return number == 0 && place[0] == 0 && place[1] == 0;
}

static int multiply_patch(void) {
  const double one = 1, nothing = 0;
  return rg_array_multiply_patch(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, b, none, shape, b, none,
                                 shape, &nothing, c, none, shape);
}

static int make_vector(void) {
  const double one = 1;
  int error = fill();
  if (!error)
    error = rg_array_create_simple(shortage_group, RG_TYPE_DOUBLE, 1, shape, &c);
  if (!error)
    error = rg_array_dup(c, &d);
  return error ? error : rg_array_fill(c, NULL, NULL, &one);
}

static int multiply_vector(void) {
  const double one = 1, nothing = 0;
  return rg_array_multiply_vector(RG_FORM_NORMAL, &one, b, c, &nothing, d);
}

static int is_vector_product(void) {
  int good = rg_array_get(d, none, shape, got, NULL) == RG_SUCCESS;
  for (int i = 0; i < SIDE; i++)
    good &= got[i] == SIDE;
  return good;
}

static int transpose(void) {
  return rg_array_transpose(a, c);
}

static int is_transposed(void) {
  int good = rg_array_get(c, none, shape, got, NULL) == RG_SUCCESS;
  for (int i = 0; i < ALL; i++)
    good &= got[i] == i % SIDE * SIDE + i / SIDE;
  return good;
}

static int symmetrize(void) {
  return rg_array_symmetrize(a);
}

static int is_symmetric(void) {
  int good = rg_array_get(a, none, shape, got, NULL) == RG_SUCCESS;
  for (int i = 0; i < ALL; i++)
    good &= 2 * got[i] == (SIDE + 1) * (i / SIDE + i % SIDE);
  return good;
}

static int trace(void) {
  return rg_array_trace(a, &number);
}

static int is_trace(void) {
  return number == (SIDE + 1) * SIDE * (SIDE - 1) / 2;
}

static int take_diagonal(void) {
  return rg_array_diagonal(RG_DIAGONAL_GET, a, c, NULL);
}

static int is_diagonal(void) {
  return rg_array_get(c, none, shape, got, NULL) == RG_SUCCESS && diagonal();
}

static int scale_along(void) {
  return rg_array_scale_along(b, 0, c);
}

static int number_elements(void) {
  const double nothing = 0, one = 1;
  return rg_array_enumerate(c, NULL, NULL, &nothing, &one);
}

/* c: ones, d: zeros, mask: every element. */
static rg_array mask;

static int make_mask(void) {
  const int64_t one = 1;
  int error = make_vector();
  if (!error)
    error = rg_array_zero(d);
  if (!error)
    error = rg_array_create_simple(shortage_group, RG_TYPE_INT64, 1, shape, &mask);
  return error ? error : rg_array_fill(mask, NULL, NULL, &one);
}

static int free_mask(void) {
  int error = rg_array_free(&mask), code = free_all();
  return error ? error : code;
}

static int scan(void) {
  return rg_array_scan(RG_SCAN_ADD, c, mask, d, 0, SIDE);
}

static int pack(void) {
  return rg_array_pack(c, mask, d, 0, SIDE, &whole);
}

static int unpack(void) {
  return rg_array_unpack(c, mask, d, 0, SIDE, &whole);
}

static int is_ones(void) {
  int good = rg_array_get(d, none, shape, got, NULL) == RG_SUCCESS;
  for (int i = 0; i < SIDE; i++)
    good &= got[i] == 1;
  return good;
}

static int multiply(void) {
  const double one = 1, nothing = 0;
  return rg_array_multiply(RG_FORM_NORMAL, RG_FORM_NORMAL, &one, b, b, &nothing, c);
}

static int is_product(void) {
  return elements_of(c, 0, SIDE);
}

static int update_ghosts(void) {
  return rg_array_update_ghosts(c);
}

static int sync_mirrored(void) {
  return rg_array_sync(c);
}

static int print(void) {
  FILE *null = fopen("/dev/null", "w");
  int error = rg_array_print(a, NULL, NULL, null);
  fclose(null);
  return error;
}

static int lines;

static int count_line(const char *text, void *count) {
  *(int *)count += *text != 0;
  return RG_SUCCESS;
}

static int print_lines(void) {
  lines = 0;
  return rg_array_print_lines(a, NULL, NULL, count_line, &lines);
}

static int has_lines(void) {
  return rgt_rank != 0 || lines > 0;
}

/* --- moving and saving --------------------------------------------------------------------- */

static int fill_part(void) {
  int error = fill(), last = rgt_size > 1 ? rgt_size - 2 : 0;
  if (!error && rgt_rank <= last)
    error = rg_group_create_range(shortage_group, 0, last, 1, 4, &part);
  return error;
}

static int regroup(void) {
  return rg_array_regroup(shortage_group, part, NULL, &a);
}

static int is_regrouped(void) {
  return part ? a && elements_of(a, 1, 0) : a == NULL;
}

static int fill_survivors(void) {
  int error = fill();
  return error ? error : rg_group_shrink(shortage_group, &part);
}

static int recover(void) {
  return rg_array_recover(part, &a);
}

static int fill_file(void) {
  snprintf(path, sizeof path, "%s/array", folder);
  return fill();
}

static int save(void) {
  return rg_array_save(a, path, RG_FILE_NATIVE);
}

static int fill_saved(void) {
  int error = fill_file();
  if (!error)
    error = save();
  return error ? error : make_spec();
}

static int load(void) {
  return rg_array_load(c, path);
}

static int open_file(void) {
  rg_array_free(&c);
  return rg_array_open(shortage_group, path, &c);
}

static int start_checkpoint(void) {
  snprintf(path, sizeof path, "%s/checkpoint", folder);
  int error = rg_checkpoint_start(shortage_group, path, 1, &a, row, sizeof row, &checkpoint);
  return error ? error : rg_checkpoint_wait(&checkpoint);
}

static int fill_checkpoint(void) {
  int error = fill();
  return error ? error : start_checkpoint();
}

static int load_checkpoint(void) {
  return rg_checkpoint_load(shortage_group, path, 1, &a, sizeof row, got, &found);
}

static int is_loaded(void) {
  return found && whole_got() && a_is_right();
}

/* --- other objects ------------------------------------------------------------------------- */

static int make_mutexes(void) {
  int error = rg_mutexes_create(shortage_group, 3, &mutexes);
  int code = rg_barrier(shortage_group);
  return error ? error : code;
}

static int lock_mutexes(void) {
  return !rg_mutexes_lock(mutexes, 1) && !rg_mutexes_unlock(mutexes, 1);
}

static int free_mutexes(void) {
  return rg_mutexes_free(&mutexes);
}

static int make_counter(void) {
  return rg_counter_create(shortage_group, &counter);
}

static int count_up(void) {
  int64_t first = -1;
  whole = 0;
  return rg_counter_next(counter, 1, &first) == RG_SUCCESS && first >= 0 && first < rgt_size;
}

static int reset_counter(void) {
  return rg_counter_reset(counter);
}

static int free_counter(void) {
  return rg_counter_free(&counter);
}

static int make_tasks(void) {
  return rg_tasks_create(shortage_group, 10, 1, &tasks);
}

static int free_tasks(void) {
  return rg_tasks_free(&tasks);
}

#define ONE SHORTAGE_ONE
#define EACH SHORTAGE_EACH

static const shortage_call calls[] = {
    {"rg_array_create_simple", EACH, NULL, make, NULL, free_all},
    {"rg_array_create, cyclic", EACH, NULL, make_spec, NULL, free_all},
    {"rg_array_create, mirrored", EACH, NULL, make_ghosts, NULL, free_all},
    {"rg_array_dup", EACH, make, duplicate, NULL, free_all},
    {"rg_array_put", ONE, fill, put, NULL, free_all},
    {"rg_array_get", ONE, fill, get, whole_got, free_all},
    {"rg_array_acc", ONE, fill, acc, NULL, free_all},
    {"rg_array_put_strided", ONE, fill, put_strided, NULL, free_all},
    {"rg_array_get_strided", ONE, fill, get_strided, NULL, free_all},
    {"rg_array_acc_strided", ONE, fill, acc_strided, NULL, free_all},
    {"rg_array_put_periodic", ONE, fill, put_periodic, NULL, free_all},
    {"rg_array_get_periodic", ONE, fill, get_periodic, NULL, free_all},
    {"rg_array_acc_periodic", ONE, fill, acc_periodic, NULL, free_all},
    {"rg_array_put_field", ONE, fill, put_field, NULL, free_all},
    {"rg_array_get_field", ONE, fill, get_field, whole_got, free_all},
    {"rg_array_iput", ONE, fill, iput, NULL, free_all},
    {"rg_array_iget", ONE, fill, iget, whole_got, free_all},
    {"rg_array_iacc", ONE, fill, iacc, NULL, free_all},
    {"rg_array_gather", ONE, fill_subscripts, gather, diagonal, free_all},
    {"rg_array_scatter", ONE, fill_subscripts, scatter, NULL, free_all},
    {"rg_array_scatter_acc", ONE, fill_subscripts, scatter_acc, NULL, free_all},
    {"rg_array_locate_count", ONE, fill_three, locate, NULL, free_all},
    {"rg_array_fence", ONE, fill, fence, NULL, free_all},
    {"rg_array_info", ONE, fill, info, NULL, free_all},
    {"rg_array_access_ghosts", ONE, fill_ghosts, access_ghosts, NULL, free_all},
    {"rg_array_zero", EACH, fill_three, zero, is_zero, free_all},
    {"rg_array_fill", EACH, fill_three, fill_with, is_three, free_all},
    {"rg_array_random", EACH, fill_three, random_numbers, NULL, free_all},
    {"rg_array_copy", EACH, fill_three, copy, c_is_a, free_all},
    {"rg_array_scale", EACH, fill, scale, NULL, free_all},
    {"rg_array_add", EACH, fill_three, add, c_is_sum, free_all},
    {"rg_array_combine", EACH, fill_three, combine, c_is_a, free_all},
    {"rg_array_combine_patches", EACH, fill_three, combine_patches, c_is_a, free_all},
    {"rg_array_map_patches", EACH, fill_three, map_patches, c_is_a, free_all},
    {"rg_array_step_bounds", EACH, fill_minus, step_bounds, is_one_step, free_all},
    {"rg_array_norm_patch", EACH, fill, norm_patch, is_sum, free_all},
    {"rg_array_absmin", EACH, fill, least_absolute, is_least, free_all},
    {"rg_array_absmax", EACH, fill, greatest_absolute, is_greatest, free_all},
    {"rg_array_enumerate", EACH, fill_three, number_elements, c_is_a, free_all},
    {"rg_array_scale_along", EACH, make_vector, scale_along, NULL, free_all},
    {"rg_array_diagonal", EACH, make_vector, take_diagonal, is_diagonal, free_all},
    {"rg_array_trace", EACH, fill, trace, is_trace, free_all},
    {"rg_array_symmetrize", EACH, fill, symmetrize, is_symmetric, free_all},
    {"rg_array_scan", EACH, make_mask, scan, is_ones, free_mask},
    {"rg_array_pack", EACH, make_mask, pack, is_ones, free_mask},
    {"rg_array_unpack", EACH, make_mask, unpack, is_ones, free_mask},
    {"rg_array_sum", EACH, fill, sum, is_sum, free_all},
    {"rg_array_max", EACH, fill, greatest, is_greatest, free_all},
    {"rg_array_norm", EACH, fill, norm, is_sum, free_all},
    {"rg_array_dot", EACH, fill, dot, is_sum, free_all},
    {"rg_array_dot, divided otherwise", EACH, fill_three, dot_other, NULL, free_all},
    {"rg_array_sum_reproducible", EACH, fill, sum_reproducible, is_sum, free_all},
    {"rg_array_dot_reproducible", EACH, fill, dot_reproducible, is_sum, free_all},
    {"rg_array_norm_reproducible", EACH, fill, norm_reproducible, is_sum, free_all},
    {"rg_array_checksum", EACH, fill, check_sum, NULL, free_all},
    {"rg_array_copy_patch", EACH, fill_three, copy_patch, c_is_a, free_all},
    {"rg_array_add_scalar", EACH, fill, add_scalar, b_is_three, free_all},
    {"rg_array_add_patch", EACH, fill_three, add_patch, c_is_sum, free_all},
    {"rg_array_dot_patch", EACH, fill, dot_patch, is_sum, free_all},
    {"rg_array_map", EACH, fill, map, b_is_three, free_all},
    {"rg_array_min", EACH, fill, least, is_least, free_all},
    {"rg_array_multiply_patch", EACH, fill_three, multiply_patch, is_product, free_all},
    {"rg_array_multiply_vector", EACH, make_vector, multiply_vector, is_vector_product, free_all},
    {"rg_array_transpose", EACH, fill_three, transpose, is_transposed, free_all},
    {"rg_array_multiply", EACH, fill_three, multiply, is_product, free_all},
    {"rg_array_update_ghosts", EACH, fill_ghosts, update_ghosts, NULL, free_all},
    {"rg_array_sync, mirrored", EACH, fill_ghosts, sync_mirrored, NULL, free_all},
    {"rg_array_print", EACH, fill, print, NULL, free_all},
    {"rg_array_print_lines", EACH, fill, print_lines, has_lines, free_all},
    {"rg_array_regroup", EACH, fill_part, regroup, is_regrouped, free_all},
    {"rg_array_recover", EACH, fill_survivors, recover, is_regrouped, free_all},
    {"rg_array_save", EACH, fill_file, save, NULL, free_all},
    {"rg_array_load", EACH, fill_saved, load, c_is_a, free_all},
    {"rg_array_open", EACH, fill_saved, open_file, c_is_a, free_all},
    {"rg_checkpoint_start, rg_checkpoint_wait", SHORTAGE_SOME, fill, start_checkpoint, NULL,
     free_all},
    {"rg_checkpoint_load", SHORTAGE_SOME, fill_checkpoint, load_checkpoint, is_loaded, free_all},
    {"rg_mutexes_create", EACH, NULL, make_mutexes, lock_mutexes, free_mutexes},
    {"rg_counter_create", EACH, NULL, make_counter, count_up, free_counter},
    {"rg_counter_reset", EACH, make_counter, reset_counter, count_up, free_counter},
    {"rg_tasks_create", EACH, NULL, make_tasks, NULL, free_tasks},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  const char *scratch = getenv("SHORTAGE_FOLDER");
  snprintf(folder, sizeof folder, "%s", scratch ? scratch : "/tmp");
  return shortage_main(argc, argv, "memory_arrays", calls);
}
