/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Queries: what an array is like, and where its elements are. Local. */
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "distribution/type.h"
#include "formation/group.h"
#include "object/array.h"

int rg_array_group(rg_array a, rg_group *g) {
  RGI_REQUIRE(g);
  RGI_TRY(rgi_array_check(__func__, a));
  *g = a->group;
  return RG_SUCCESS;
}

int rg_array_info(rg_array a, rg_array_spec *spec) {
  RGI_REQUIRE(spec);
  RGI_TRY(rgi_array_check(__func__, a));
  rg_array_spec own = {.size = sizeof own,
                       .dims = a->d.dims,
                       .type = a->type,
                       .element_size = a->element,
                       .layout = a->d.layout,
                       .flags = a->flags,
                       .owners = a->d.limit,
                       .name = a->name};
  for (int d = 0; d < a->d.dims; d++) {
    own.shape[d] = a->d.shape[d];
    own.grid[d] = a->d.grid[d];
    own.chunk[d] = a->d.chunk[d];
    own.boundaries[d] = a->d.boundaries[d];
    own.ghosts[d] = a->d.ghosts[d];
    own.periodic[d] = a->d.periodic[d];
  }
  return rgi_sized_give(spec, &own, sizeof own, "rg_array_info: spec");
}

int rg_array_is_valid(rg_array a, int *valid) {
  int group = 0;
  RGI_REQUIRE(valid);
  if (rgi_array_alive(a))
    RGI_TRY(rg_group_is_valid(a->group, &group));
  *valid = group && a->members == rgi_members_count(a->group->members) && a->me == a->group->me &&
           a->members == a->d.members && a->element == rgi_type_size(a->type, a->element) &&
           (a->one_node ? a->base == a->shared.base : a->mapped != NULL);
  return RG_SUCCESS;
}

/* One index as the patch that it is. */
static int check_index(const char *call, rg_array a, const int64_t at[]) {
  int64_t hi[RG_ARRAY_MAX_DIMS];
  if (!at)
    return rgi_error(RG_ERR_ARG, "%s: at is NULL", call);
  for (int d = 0; d < a->d.dims; d++)
    hi[d] = at[d] < INT64_MAX ? at[d] + 1 : at[d];
  return rgi_distribution_inside(&a->d, call, at, hi);
}

int rg_array_owner(rg_array a, const int64_t at[], int *rank) {
  RGI_REQUIRE(rank);
  RGI_TRY(rgi_array_check(__func__, a));
  RGI_TRY(check_index(__func__, a, at));
  *rank = rgi_distribution_owner(&a->d, at);
  return RG_SUCCESS;
}

static int check_rank(const char *call, rg_array a, int rank) {
  RGI_TRY(rgi_array_check(call, a));
  if (rank < 0 || rank >= a->members)
    return rgi_error(RG_ERR_RANK, "%s: rank %d; the array's group has ranks 0 to %d", call, rank,
                     a->members - 1);
  return RG_SUCCESS;
}

int rg_array_block_count(rg_array a, int rank, int64_t *count) {
  RGI_REQUIRE(count);
  RGI_TRY(check_rank(__func__, a, rank));
  *count = rgi_distribution_blocks(&a->d, rank);
  return RG_SUCCESS;
}

int rg_array_block(rg_array a, int rank, int64_t i, int64_t lo[], int64_t hi[]) {
  RGI_REQUIRE(lo);
  RGI_REQUIRE(hi);
  RGI_TRY(check_rank(__func__, a, rank));
  int64_t count = rgi_distribution_blocks(&a->d, rank);
  if (i < 0 || i >= count)
    return rgi_error(RG_ERR_ARG, "%s: block %lld of rank %d, which has %lld", __func__,
                     (long long)i, rank, (long long)count);
  rgi_distribution_block(&a->d, rank, i, lo, hi);
  return RG_SUCCESS;
}

int rg_array_distribution(rg_array a, int rank, int64_t lo[], int64_t hi[]) {
  RGI_REQUIRE(lo);
  RGI_REQUIRE(hi);
  RGI_TRY(check_rank(__func__, a, rank));
  if (rgi_distribution_blocks(&a->d, rank) > 0)
    rgi_distribution_block(&a->d, rank, 0, lo, hi);
  else
    for (int d = 0; d < a->d.dims; d++)
      lo[d] = hi[d] = 0;
  return RG_SUCCESS;
}

static int check_patch(const char *call, rg_array a, const int64_t lo[], const int64_t hi[]) {
  RGI_TRY(rgi_array_check(call, a));
  if (!lo || !hi)
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", call, lo ? "hi" : "lo");
  return rgi_distribution_inside(&a->d, call, lo, hi);
}

int rg_array_locate_count(rg_array a, const int64_t lo[], const int64_t hi[], int64_t *count) {
  RGI_REQUIRE(count);
  RGI_TRY(check_patch(__func__, a, lo, hi));
  *count = rgi_pieces_count(&a->d, lo, hi);
  return RG_SUCCESS;
}

int rg_array_locate(rg_array a, const int64_t lo[], const int64_t hi[], int64_t i,
                    rg_array_piece *piece) {
  rgi_piece found;
  RGI_REQUIRE(piece);
  RGI_TRY(check_patch(__func__, a, lo, hi));
  int64_t count = rgi_pieces_count(&a->d, lo, hi);
  if (i < 0 || i >= count)
    return rgi_error(RG_ERR_ARG, "%s: piece %lld of %lld", __func__, (long long)i,
                     (long long)count);
  rgi_pieces_get(&a->d, lo, hi, i, &found);
  *piece = (rg_array_piece){.rank = found.rank};
  memcpy(piece->lo, found.lo, sizeof piece->lo);
  memcpy(piece->hi, found.hi, sizeof piece->hi);
  return RG_SUCCESS;
}
