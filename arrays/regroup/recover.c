/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_array_recover. On a node the memory of an array outlives those who own it: the
 * survivors make a new array, and each reads what it will own straight from the old one.
 * Nothing of the old one is changed before all have agreed that all is well. */
#include <regroup/array_regroup.h>
#include <regroup/recovery.h>
#include <string.h>

#include "formation/group.h"
#include "object/array.h"
#include "runtime/error.h"
#include "runtime/liveness.h"
#include "runtime/log.h"

/* Every member of the old group is among the survivors or dead. */
static int check_members(rg_array a, rg_group survivors) {
  const rgi_members *old = a->group->members;
  int found = 0, n = rgi_members_count(old);
  rgi_liveness_look_now();
  for (int i = 0; i < n; i++) {
    int rank = rgi_members_at(old, i);
    if (rgi_members_find(survivors->members, rank) >= 0)
      found++;
    else if (!rgi_is_dead(rank))
      return rgi_error(RG_ERR_GROUP, "rg_array_recover: rank %d lives and is not in survivors", i);
  }
  return found == rgi_members_count(survivors->members)
             ? RG_SUCCESS
             : rgi_error(RG_ERR_GROUP,
                         "rg_array_recover: survivors has members that the array's group has not");
}

/* Who died while it added may have added a part: all that can be done is to say so. */
static void look_at_locks(rg_array a) {
  for (int i = 0; i < a->members; i++) {
    int owner = (int)atomic_load(&a->locks[i].owner.value) - 1;
    if (owner >= 0 && rgi_is_dead(owner))
      rgi_log(RGI_LOG_WARN,
              "rg_array_recover: rank %d of the world died in an accumulate: a part of it may "
              "have been added to the elements of rank %d",
              owner, i);
  }
}

/* The layout that a has, as far as it does not depend on the number of members. */
static int spec_of(rg_array a, rg_array_spec *spec) {
  RGI_TRY(rg_array_info(a, spec));
  memset(spec->grid, 0, sizeof spec->grid);
  memset(spec->boundaries, 0, sizeof spec->boundaries);
  if (spec->layout == RG_IRREGULAR)
    spec->layout = RG_BLOCK;
  if (spec->layout == RG_BLOCK)
    memset(spec->chunk, 0, sizeof spec->chunk);
  return RG_SUCCESS;
}

static int read_block(rg_array a, rg_array b, int64_t i) {
  int64_t lo[RG_MAX_DIMS], hi[RG_MAX_DIMS], ld[RG_MAX_DIMS];
  void *to;
  RGI_TRY(rg_array_block(b, b->me, i, lo, hi));
  for (int d = 0; d < b->d.dims; d++)
    if (lo[d] >= hi[d])
      return RG_SUCCESS;
  RGI_TRY(rg_array_access(b, lo, hi, RG_WRITE, &to, ld));
  RGI_TRY(rg_array_get(a, lo, hi, to, ld));
  return rg_array_release(b, lo, hi);
}

static int read_all(rg_array a, rg_array b) {
  int64_t blocks;
  RGI_TRY(rg_array_block_count(b, b->me, &blocks));
  for (int64_t i = 0; i < blocks; i++)
    RGI_TRY(read_block(a, b, i));
  return RG_SUCCESS;
}

/* All survivors return the same. */
static int agree(rg_group survivors, int error) {
  unsigned word = error == RG_SUCCESS;
  int failed;
  RGI_TRY(rg_group_agree(survivors, &word, &failed));
  if (failed)
    return rgi_error(RG_ERR_PROC_FAILED, "rg_array_recover: another member has died");
  if (word == 1 || error)
    return error;
  return rgi_error(RG_ERR_NOMEM, "rg_array_recover: another member failed");
}

static int recover(rg_array a, rg_group survivors, rg_array *b) {
  rg_array_spec spec;
  *b = NULL;
  int error = spec_of(a, &spec);
  if (!error)
    error = rg_array_create(survivors, &spec, b);
  if (!error)
    error = read_all(a, *b);
  error = agree(survivors, error);
  if (error)
    rg_array_free(b);
  return error;
}

int rg_array_recover(rg_array *a, rg_group survivors, rg_array *b) {
  rg_array made;
  RGI_REQUIRE(a);
  RGI_REQUIRE(b);
  RGI_TRY(rgi_array_check(__func__, *a));
  RGI_TRY(rgi_group_check_member(__func__, survivors));
  if (!(*a)->one_node)
    return rgi_error(RG_ERR_UNSUPPORTED, "%s: the array spans nodes", __func__);
  RGI_TRY(check_members(*a, survivors));
  if (survivors->me == 0)
    look_at_locks(*a);
  RGI_TRY(recover(*a, survivors, &made));
  *b = made;
  return rg_array_free(a);
}
