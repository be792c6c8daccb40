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

int common_saved_open(common_saved *s) {
  if (!s->path)
    return RG_SUCCESS;
  s->states = malloc(s->bytes ? s->bytes : 1);
  if (!s->states)
    return RG_ERR_NOMEM;
  TRY(rg_checkpoint_on_signal(SIGUSR1, 1));
  return rg_checkpoint_on_signal(SIGTERM, 1);
}

void common_saved_close(common_saved *s) {
  free(s->states);
  s->states = NULL;
}

static int is_first(rg_group g) {
  int rank = -1;
  rg_group_rank(g, &rank);
  return rank == 0;
}

static int make_array(const common_saved *s, rg_group g, rg_array *a) {
  *a = NULL;
  return s->room ? rg_array_create_simple(g, RG_TYPE_DOUBLE, 1, &s->room, a) : RG_SUCCESS;
}

static int get_numbers(const common_saved *s, rg_array a, double **numbers) {
  const int64_t lo[1] = {0}, hi[1] = {s->used};
  *numbers = malloc((size_t)s->used * sizeof **numbers + 1);
  if (!*numbers)
    return RG_ERR_NOMEM;
  return s->used ? rg_array_get(a, lo, hi, *numbers, NULL) : RG_SUCCESS;
}

static int load_into(common_saved *s, rg_group g, rg_array a, char *memory) {
  saved_head h;
  TRY(rg_checkpoint_load(g, s->path, a != NULL, &a, sizeof h + s->bytes, memory, &s->found));
  if (!s->found)
    return RG_SUCCESS;
  memcpy(&h, memory, sizeof h);
  memcpy(s->states, memory + sizeof h, s->bytes);
  s->used = h.used;
  if (h.mark == s->mark)
    return RG_SUCCESS;
  if (is_first(g))
    fprintf(stderr, "%s: %s is the checkpoint of a run with other options\n", common_name, s->path);
  rg_barrier(g); /* the line comes before the end */
  common_abort(RGP_USAGE);
  return RG_ERR_MISMATCH;
}

int common_saved_load(common_saved *s, rg_group g, double **numbers) {
  rg_array a;
  char *memory = malloc(sizeof(saved_head) + s->bytes);
  int error = memory ? make_array(s, g, &a) : RG_ERR_NOMEM;
  if (!error)
    error = load_into(s, g, a, memory);
  if (!error && s->found && numbers && a && is_first(g))
    error = get_numbers(s, a, numbers);
  if (memory)
    rg_array_free(&a);
  free(memory);
  return error;
}

/* Puts what is saved into memory and the array. */
static int fill_memory(const common_saved *s, rg_array a, const double *numbers, char *memory) {
  const saved_head h = {.mark = s->mark, .used = s->used};
  const int64_t lo[1] = {0}, hi[1] = {s->used};
  memcpy(memory, &h, sizeof h);
  memcpy(memory + sizeof h, s->states, s->bytes);
  return a && s->used ? rg_array_put(a, lo, hi, numbers, NULL) : RG_SUCCESS;
}

static int save_array(common_saved *s, rg_group g, rg_array a, const double *numbers) {
  rg_checkpoint c = NULL;
  char *memory = malloc(sizeof(saved_head) + s->bytes);
  int error = memory ? RG_SUCCESS : RG_ERR_NOMEM;
  if (!error && a)
    error = rg_array_zero(a);
  if (!error && is_first(g))
    error = fill_memory(s, a, numbers, memory);
  if (!error)
    error =
        rg_checkpoint_start(g, s->path, a != NULL, &a, memory, sizeof(saved_head) + s->bytes, &c);
  free(memory);
  return error ? error : rg_checkpoint_wait(&c);
}

int common_saved_save(common_saved *s, rg_group g, const double *numbers) {
  rg_array a;
  TRY(make_array(s, g, &a));
  int error = save_array(s, g, a, numbers);
  rg_array_free(&a);
  return error;
}
