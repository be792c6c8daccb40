/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Creating, duplicating and freeing arrays. Every member works out the distribution from its spec
 * by itself. Where the memory is taken a hash of it tells whether all members gave the same; there
 * an error of one member becomes an error of all. */
#include "object/array_create.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mix.h"
#include "base/sized.h"
#include "base/spare.h"
#include "distribution/type.h"
#include "formation/group.h"
#include "object/replica.h"

static void mix_in(uint64_t *hash, uint64_t value) {
  *hash = rgi_mix_bits(*hash + value);
}

/* What has to be the same on all members. Of the hash of each part four bits are the lowest ones of
 * the whole hash: where these differ they tell in what. */
enum { TYPE, SHAPE, FLAGS, DIVISION, PARTS };

static uint64_t spec_hash(const rgi_distribution *layout, rg_array_type type, size_t element,
                          unsigned flags) {
  uint64_t part[PARTS] = {[TYPE] = rgi_mix_bits((uint64_t)type + element),
                          [SHAPE] = (uint64_t)layout->dims,
                          [FLAGS] = rgi_mix_bits(flags),
                          [DIVISION] = (uint64_t)layout->layout};
  for (int i = 0; i < layout->dims; i++) {
    mix_in(&part[SHAPE], (uint64_t)layout->shape[i]);
    mix_in(&part[DIVISION], (uint64_t)layout->chunk[i]);
    mix_in(&part[DIVISION], (uint64_t)layout->ghosts[i]);
    mix_in(&part[DIVISION], (uint64_t)layout->grid[i] << 1 | (layout->periodic[i] != 0));
    for (int k = 0; layout->boundaries[i] && k < layout->grid[i]; k++)
      mix_in(&part[DIVISION], (uint64_t)layout->boundaries[i][k]);
  }
  uint64_t hash = 0, bits = 0;
  for (int i = 0; i < PARTS; i++) {
    mix_in(&hash, part[i]);
    bits |= (part[i] & 15) << 4 * i;
  }
  return (hash & ~(uint64_t)0xffff) | bits;
}

const char *rgi_array_difference(uint64_t mine, uint64_t theirs) {
  static const char *const names[PARTS] = {"type", "shape", "flags", "division among the members"};
  for (int i = 0; i < PARTS; i++)
    if (((mine ^ theirs) >> 4 * i & 15) != 0)
      return names[i];
  return "arguments";
}

void rgi_array_forget(rg_array a) {
  rgi_distribution_clear(&a->d);
  rg_group_free(&a->group);
  free(a->mapped);
  free(a->copies); /* and the holders behind them */
  rgi_replicas_close(a);
  free(a->name);
  a->magic = 0;
  rgi_spare_free(a);
}

/* Returns the errors of the spec, of which the other members are told later. error: of making the
 * spec. */
static int work_out_spec(const rg_array_spec *spec, int error, rg_array a) {
  if (error)
    return error;
  RGI_TRY(rgi_distribution_make(spec, a->members, &a->d));
  a->type = spec->type;
  a->element = rgi_type_size(spec->type, spec->element_size);
  a->flags = spec->flags;
  a->hash = spec_hash(&a->d, a->type, a->element, a->flags);
  a->name = spec->name ? strdup(spec->name) : NULL;
  return a->name || !spec->name
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "rg_array_create: no memory for the name");
}

static int create_array(const char *call, rg_group g, const rg_array_spec *spec, int wrong,
                        rg_array *made) {
  rg_array a = rgi_spare_alloc_zeroed(1, sizeof *a);
  if (!a)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  int error = rgi_group_derive(g, &a->group);
  if (error) {
    rgi_spare_free(a);
    return error;
  }
  a->epoch = rgi_runtime.epoch;
  a->me = g->me;
  a->members = rgi_members_count(g->members);
  a->one_node = rgi_shared_block_possible(g);
  error = rgi_array_take(call, a, work_out_spec(spec, wrong, a));
  if (error) {
    rgi_array_forget(a);
    return error;
  }
  a->magic = RGI_ARRAY_MAGIC;
  *made = a;
  return RG_SUCCESS;
}

/* Programs that come from Global Arrays, where a chunk of -1 means "divide evenly". */
static void warn_of_one_owner(rg_array a, const rg_array_spec *spec) {
  for (int i = 0; i < spec->dims; i++)
    if (spec->layout != RG_LAYOUT_BLOCK || spec->chunk[i] != -1)
      return;
  if (a->members > 1 && a->me == 0)
    rgi_log(
        RGI_LOG_WARN,
        "rg_array_create: chunk is -1 in all dimensions of array \"%s\": rank 0 owns all of its "
        "elements; 0 divides evenly",
        a->name ? a->name : "");
}

int rg_array_create(rg_group g, const rg_array_spec *spec, rg_array *a) {
  rg_array_spec own;
  RGI_REQUIRE(a);
  RGI_TRY(rgi_group_check_member(__func__, g));
  rgi_array_free_deferred();
  int wrong = rgi_sized_take(&own, sizeof own, spec, "rg_array_create: spec");
  RGI_TRY(create_array(__func__, g, &own, wrong, a));
  warn_of_one_owner(*a, &own);
  return RG_SUCCESS;
}

int rg_array_create_simple(rg_group g, rg_array_type type, int dims, const int64_t shape[],
                           rg_array *a) {
  rg_array_spec spec = {.size = sizeof spec};
  RGI_REQUIRE(a);
  RGI_TRY(rgi_group_check_member(__func__, g));
  rgi_array_free_deferred();
  int wrong = rg_array_spec_set(&spec, type, dims, shape);
  return create_array(__func__, g, &spec, wrong, a);
}

int rg_array_dup(rg_array a, rg_array *copy) {
  rg_array_spec spec = {.size = sizeof spec};
  RGI_REQUIRE(copy);
  RGI_TRY(rgi_array_check(__func__, a));
  RGI_TRY(rg_array_info(a, &spec));
  rgi_array_free_deferred();
  return create_array(__func__, a->group, &spec, RG_SUCCESS, copy);
}

int rg_array_free(rg_array *a) {
  RGI_REQUIRE(a);
  if (!*a)
    return RG_SUCCESS;
  if ((*a)->magic != RGI_ARRAY_MAGIC)
    return rgi_error(RG_ERR_ARRAY, "%s: not an array, or freed already", __func__);
  rgi_array_free_deferred();
  if ((*a)->one_node || !rgi_array_alive(*a)) {
    rgi_array_give(*a);
    rgi_array_forget(*a);
  } else {
    RGI_TRY(rgi_array_defer_free(*a));
  }
  *a = NULL;
  return RG_SUCCESS;
}
