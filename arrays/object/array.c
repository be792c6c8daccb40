/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Life of an array. */
#include "object/array.h"

#include <stdlib.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "mirror/keep.h"

int rgi_array_check(const char *call, rg_array a) {
  RGI_TRY(rgi_need_runtime(call));
  if (!a)
    return rgi_error(RG_ERR_ARRAY, "%s: the array is NULL", call);
  if (a->magic != RGI_ARRAY_MAGIC)
    return rgi_error(RG_ERR_ARRAY, "%s: not an array, or freed already", call);
  if (a->epoch != rgi_rt.epoch)
    return rgi_error(RG_ERR_ARRAY, "%s: the array was made before the last rg_finalize", call);
  return RG_SUCCESS;
}

static void mix(uint64_t *hash, uint64_t value) {
  *hash = rgi_mix(*hash + value);
}

/* Of all that the members are to agree on. */
static uint64_t hash_of(const rgi_distribution *d, rg_type type, size_t element, unsigned flags) {
  uint64_t hash = rgi_mix((uint64_t)d->dims << 32 | (uint64_t)type << 16 | (uint64_t)d->layout);
  mix(&hash, element);
  mix(&hash, flags);
  for (int i = 0; i < d->dims; i++) {
    mix(&hash, (uint64_t)d->shape[i]);
    mix(&hash, (uint64_t)d->chunk[i]);
    mix(&hash, (uint64_t)d->ghosts[i]);
    mix(&hash, (uint64_t)d->grid[i] << 1 | (d->periodic[i] != 0));
    for (int k = 0; d->boundaries[i] && k < d->grid[i]; k++)
      mix(&hash, (uint64_t)d->boundaries[i][k]);
  }
  return hash;
}

void rgi_array_forget(rg_array a) {
  rgi_distribution_clear(&a->d);
  rg_group_free(&a->group);
  free(a->near);
  free(a->keepers);
  rgi_keep_close(a);
  a->magic = 0;
  free(a);
}

/* The spec's own errors; they are told to the other members. error: of making it. */
static int work_out(const rg_array_spec *spec, int error, rg_array a) {
  if (error)
    return error;
  RGI_TRY(rgi_distribution_make(spec, a->members, &a->d));
  a->type = spec->type;
  a->element = rgi_type_size(spec->type, spec->element_size);
  a->flags = spec->flags;
  a->hash = hash_of(&a->d, a->type, a->element, a->flags);
  return RG_SUCCESS;
}

static int create(const char *call, rg_group g, const rg_array_spec *spec, int wrong,
                  rg_array *made) {
  rg_array a = calloc(1, sizeof *a);
  if (!a)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  int error = rgi_group_derive(g, &a->group);
  if (error) {
    free(a);
    return error;
  }
  a->epoch = rgi_rt.epoch;
  a->me = g->me;
  a->members = rgi_members_count(g->members);
  a->one_node = rgi_on_one_node(g);
  error = rgi_array_take(call, a, work_out(spec, wrong, a));
  if (error) {
    rgi_array_forget(a);
    return error;
  }
  a->magic = RGI_ARRAY_MAGIC;
  *made = a;
  return RG_SUCCESS;
}

int rg_array_create(rg_group g, const rg_array_spec *spec, rg_array *a) {
  RGI_REQUIRE(a);
  RGI_TRY(rgi_group_check_member(__func__, g));
  rgi_array_look_after_leaving();
  int wrong = spec ? RG_SUCCESS : rgi_error(RG_ERR_ARG, "%s: spec is NULL", __func__);
  return create(__func__, g, spec, wrong, a);
}

int rg_array_create_simple(rg_group g, rg_type type, int dims, const int64_t shape[], rg_array *a) {
  rg_array_spec spec;
  RGI_REQUIRE(a);
  RGI_TRY(rgi_group_check_member(__func__, g));
  rgi_array_look_after_leaving();
  int wrong = rg_array_spec_set(&spec, type, dims, shape);
  return create(__func__, g, &spec, wrong, a);
}

int rg_array_duplicate(rg_array a, rg_array *copy) {
  rg_array_spec spec;
  RGI_REQUIRE(copy);
  RGI_TRY(rgi_array_check(__func__, a));
  RGI_TRY(rg_array_info(a, &spec));
  rgi_array_look_after_leaving();
  return create(__func__, a->group, &spec, RG_SUCCESS, copy);
}

int rg_array_free(rg_array *a) {
  RGI_REQUIRE(a);
  if (!*a)
    return RG_SUCCESS;
  if ((*a)->magic != RGI_ARRAY_MAGIC)
    return rgi_error(RG_ERR_ARRAY, "%s: not an array, or freed already", __func__);
  rgi_array_look_after_leaving();
  if ((*a)->one_node || !rgi_array_alive(*a)) {
    rgi_array_give(*a);
    rgi_array_forget(*a);
  } else {
    RGI_TRY(rgi_array_leave(*a));
  }
  *a = NULL;
  return RG_SUCCESS;
}
