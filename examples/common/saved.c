/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The first member has all that is saved. The states are the bytes of the checkpoint, so that each
 * member gets them when it loads; the numbers, which may be many, are an array. */
#include "saved.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/program/program.h"
#include "survivors.h"

/* What is before the states. */
typedef struct {
  uint64_t mark;
  int64_t used;
} saved_head;

int common_saved_open(common_saved *saved) {
  if (!saved->path)
    return RG_SUCCESS;
  saved->states = malloc(saved->bytes ? saved->bytes : 1);
  if (!saved->states)
    return RG_ERR_NOMEM;
  TRY(rg_checkpoint_on_signal(SIGUSR1, 1));
  return rg_checkpoint_on_signal(SIGTERM, 1);
}

void common_saved_close(common_saved *saved) {
  free(saved->states);
  saved->states = NULL;
}

static int is_first(rg_group g) {
  int rank = -1;
  rg_group_rank(g, &rank);
  return rank == 0;
}

static int make_array(const common_saved *saved, rg_group g, rg_array *a) {
  *a = NULL;
  return saved->room ? rg_array_create_simple(g, RG_TYPE_DOUBLE, 1, &saved->room, a) : RG_SUCCESS;
}

static int get_numbers(const common_saved *saved, rg_array a, double **numbers) {
  const int64_t lo[1] = {0}, hi[1] = {saved->used};
  *numbers = malloc((size_t)saved->used * sizeof **numbers + 1);
  if (!*numbers)
    return RG_ERR_NOMEM;
  return saved->used ? rg_array_get(a, lo, hi, *numbers, NULL) : RG_SUCCESS;
}

static int load_into(common_saved *saved, rg_group g, rg_array a, char *memory) {
  saved_head h;
  TRY(rg_checkpoint_load(g, saved->path, a != NULL, &a, sizeof h + saved->bytes, memory,
                         &saved->found));
  if (!saved->found)
    return RG_SUCCESS;
  memcpy(&h, memory, sizeof h);
  memcpy(saved->states, memory + sizeof h, saved->bytes);
  saved->used = h.used;
  if (h.mark == saved->mark)
    return RG_SUCCESS;
  if (is_first(g))
    fprintf(stderr, "%s: %s is the checkpoint of a run with other options\n", common_name,
            saved->path);
  rg_barrier(g); /* the line comes before the end */
  common_abort(RGP_USAGE);
  return RG_ERR_MISMATCH;
}

int common_saved_load(common_saved *saved, rg_group g, double **numbers) {
  rg_array a;
  char *memory = malloc(sizeof(saved_head) + saved->bytes);
  int error = memory ? make_array(saved, g, &a) : RG_ERR_NOMEM;
  if (!error)
    error = load_into(saved, g, a, memory);
  if (!error && saved->found && numbers && a && is_first(g))
    error = get_numbers(saved, a, numbers);
  if (memory)
    rg_array_free(&a);
  free(memory);
  return error;
}

/* Puts what is saved into memory and the array. */
static int fill_memory(const common_saved *saved, rg_array a, const double *numbers, char *memory) {
  const saved_head h = {.mark = saved->mark, .used = saved->used};
  const int64_t lo[1] = {0}, hi[1] = {saved->used};
  memcpy(memory, &h, sizeof h);
  memcpy(memory + sizeof h, saved->states, saved->bytes);
  return a && saved->used ? rg_array_put(a, lo, hi, numbers, NULL) : RG_SUCCESS;
}

static int save_array(common_saved *saved, rg_group g, rg_array a, const double *numbers) {
  rg_checkpoint c = NULL;
  char *memory = malloc(sizeof(saved_head) + saved->bytes);
  int error = memory ? RG_SUCCESS : RG_ERR_NOMEM;
  if (!error && a)
    error = rg_array_zero(a);
  if (!error && is_first(g))
    error = fill_memory(saved, a, numbers, memory);
  if (!error)
    error = rg_checkpoint_start(g, saved->path, a != NULL, &a, memory,
                                sizeof(saved_head) + saved->bytes, &c);
  free(memory);
  return error ? error : rg_checkpoint_wait(&c);
}

int common_saved_save(common_saved *saved, rg_group g, const double *numbers) {
  rg_array a;
  TRY(make_array(saved, g, &a));
  int error = save_array(saved, g, a, numbers);
  rg_array_free(&a);
  return error;
}
