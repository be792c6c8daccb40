/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_array_recover. The memory of an array on one node outlives the processes that own it. So the
 * survivors make a new array, and each reads the elements that it owns there directly from the old
 * one. For processes that replace dead ones other survivors do it. An array that spans nodes is
 * restored by rebuild.h. The old array is unchanged until all members have agreed on success. */
#include <regroup/array_regroup.h>
#include <regroup/collectives.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "collectives/calls/group_error.h"
#include "formation/group.h"
#include "object/array_create.h"
#include "object/mirror.h"
#include "regroup/rebuild.h"
#include "shm/process.h"

/* A flag of the spec that newcomers get: the old array spanned nodes. */
#define SPANNED 0x80000000u

/* Whether a member of `to` is a newcomer: it has not had the array, and replaces a dead process. */
static int is_new(rg_array a, rg_group to, int rank) {
  return rgi_members_find(a->group->members, rgi_members_at(to->members, rank)) < 0;
}

/* Every member of the old group has to be in the new one or dead. *found: how many are in it. */
static int check_members(rg_array a, rg_group to, int *found) {
  const rgi_members *old = a->group->members;
  *found = 0;
  rgi_process_check_now();
  for (int i = 0; i < rgi_members_count(old); i++) {
    int rank = rgi_members_at(old, i);
    if (rgi_members_find(to->members, rank) >= 0)
      ++*found;
    else if (!rgi_process_is_dead(rank))
      return rgi_error(RG_ERR_GROUP, "rg_array_recover: rank %d lives and is not in survivors", i);
  }
  return RG_SUCCESS;
}

/* A process that died in an accumulate may have added a part. This can be reported only. */
static void look_at_locks(rg_array a) {
  for (int i = 0; i < a->members; i++) {
    int owner = (int)atomic_load(&a->locks[i].owner.value) - 1;
    if (owner >= 0 && rgi_process_is_dead(owner))
      rgi_log(RGI_LOG_WARN,
              "rg_array_recover: rank %d of the world died in an accumulate: a part of it may "
              "have been added to the elements of rank %d",
              owner, i);
  }
}

/* The layout of a; if the number of members differs, only what does not depend on it. */
static int spec_of(rg_array a, rg_group to, rg_array_spec *spec) {
  RGI_TRY(rg_array_info(a, spec));
  spec->flags |= a->one_node ? 0 : SPANNED;
  memset(spec->boundaries, 0, sizeof spec->boundaries);
  spec->name = NULL; /* a pointer: rgi_array_pass_name */
  if (spec->owners > rgi_members_count(to->members))
    spec->owners = 0;
  if (spec->layout != RG_LAYOUT_IRREGULAR && a->members == rgi_members_count(to->members))
    return RG_SUCCESS;
  memset(spec->grid, 0, sizeof spec->grid);
  if (spec->layout == RG_LAYOUT_IRREGULAR)
    spec->layout = RG_LAYOUT_BLOCK;
  if (spec->layout == RG_LAYOUT_BLOCK)
    memset(spec->chunk, 0, sizeof spec->chunk);
  return RG_SUCCESS;
}

static int is_empty(const int64_t lo[], const int64_t hi[], int dims) {
  for (int d = 0; d < dims; d++)
    if (lo[d] >= hi[d])
      return 1;
  return 0;
}

static int read_block(rg_array a, rg_array b, int64_t i) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS], ld[RG_ARRAY_MAX_DIMS];
  void *to;
  RGI_TRY(rg_array_block(b, b->me, i, lo, hi));
  if (is_empty(lo, hi, b->d.dims))
    return RG_SUCCESS;
  RGI_TRY(rg_array_access(b, lo, hi, RG_ACCESS_WRITE, &to, ld));
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

/* A block of a newcomer, row by row. */
static int pass_block(rg_array a, rg_array b, int rank, int64_t i) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  size_t bytes = a->element;
  RGI_TRY(rg_array_block(b, rank, i, lo, hi));
  if (is_empty(lo, hi, b->d.dims))
    return RG_SUCCESS;
  for (int d = 1; d < b->d.dims; d++)
    bytes *= (size_t)(hi[d] - lo[d]);
  void *row = malloc(bytes);
  if (!row)
    return rgi_error(RG_ERR_NOMEM, "rg_array_recover: no memory for a row of %zu bytes", bytes);
  int error = RG_SUCCESS;
  for (int64_t last = hi[0]; lo[0] < last && !error; lo[0]++) {
    hi[0] = lo[0] + 1;
    error = rg_array_get(a, lo, hi, row, NULL);
    if (!error)
      error = rg_array_put(b, lo, hi, row, NULL);
  }
  free(row);
  return error;
}

/* Newcomers cannot read the old array: the others do it for them, newcomer by newcomer in turn. */
static int pass_all(rg_array a, rg_array b, rg_group to, int found) {
  int turn = 0, mine = 0, n = rgi_members_count(to->members);
  for (int i = 0; i < to->me; i++)
    mine += !is_new(a, to, i);
  for (int rank = 0; rank < n; rank++) {
    int64_t blocks;
    if (!is_new(a, to, rank) || turn++ % found != mine)
      continue;
    RGI_TRY(rg_array_block_count(b, rank, &blocks));
    for (int64_t i = 0; i < blocks; i++)
      RGI_TRY(pass_block(a, b, rank, i));
  }
  return RG_SUCCESS;
}

/* Newcomers learn the layout from the first member that has the array. */
static int share_spec(rg_array a, rg_group to, rg_array_spec *spec) {
  int n = rgi_members_count(to->members), has = a != NULL, first = 0;
  int *all = malloc((size_t)n * sizeof *all);
  if (!all)
    return rgi_error(RG_ERR_NOMEM, "rg_array_recover: no memory for %d members", n);
  int error = rg_allgather(to, &has, 1, MPI_INT, all, 1, MPI_INT);
  while (!error && first < n && !all[first])
    first++;
  if (!error && first == n)
    error = rgi_error(RG_ERR_ARRAY, "rg_array_recover: no member has the array");
  for (int i = 0; a && i < n && !error; i++)
    if (all[i] == is_new(a, to, i))
      error = rgi_error(RG_ERR_GROUP, "rg_array_recover: rank %d has to pass %s", i,
                        all[i] ? "NULL: it is new" : "the array");
  free(all);
  if (first == n)
    return error;
  int told = rg_bcast(to, spec, (int)sizeof *spec, MPI_BYTE, first);
  return error ? error : told;
}

/* All return an error if one has one. */
static int agree_on_error(rg_group survivors, int error) {
  unsigned word = error == RG_SUCCESS;
  int failed;
  RGI_TRY(rg_group_agree(survivors, &word, &failed));
  if (failed)
    return rgi_error(RG_ERR_PROC_FAILED, "rg_array_recover: another member has died");
  return word == 1 ? RG_SUCCESS : rgi_group_error_share(survivors, "rg_array_recover", error);
}

/* Whether some members pass no array. wrong: the caller's own error, which all return. */
static int share_parts(rg_array a, rg_group to, int wrong, int *mixed) {
  int64_t words[2] = {rgi_group_error_word(to, wrong), a == NULL};
  RGI_TRY(rg_allreduce(to, MPI_IN_PLACE, words, 2, MPI_INT64_T, MPI_MAX));
  *mixed = words[1] != 0;
  return rgi_group_error_tell(to, "rg_array_recover", words[0], wrong);
}

/* found: of the members of `to`, those that have a, which is NULL for the others. */
static int fill_array(rg_array a, rg_group to, int found, int wrong, rg_array *b) {
  rg_array_spec spec = {.size = sizeof spec};
  int mixed;
  RGI_TRY(share_parts(a, to, wrong, &mixed));
  if (a)
    RGI_TRY(spec_of(a, to, &spec));
  if (mixed)
    RGI_TRY(rgi_group_error_share(to, "rg_array_recover", share_spec(a, to, &spec)));
  int spanned = (spec.flags & SPANNED) != 0;
  spec.flags &= ~SPANNED;
  RGI_TRY(rg_array_create(to, &spec, b));
  if (spanned)
    return rgi_rebuild_array(a, to, *b);
  if (a)
    RGI_TRY(read_all(a, *b));
  if (a && mixed)
    RGI_TRY(pass_all(a, *b, to, found));
  return rg_array_fence(*b);
}

static int recover_array(rg_array a, rg_group to, int found, int wrong, rg_array *b) {
  *b = NULL;
  int error = agree_on_error(to, fill_array(a, to, found, wrong, b));
  if (!error && rgi_array_is_mirrored(*b)) /* before another process dies */
    error = agree_on_error(to, rg_array_sync(*b));
  if (error)
    rg_array_free(b);
  return error;
}

int rg_array_recover(rg_group survivors, rg_array *a) {
  rg_array made, old;
  int found = 0;
  RGI_REQUIRE(a);
  RGI_TRY(rgi_group_check_member(__func__, survivors));
  int wrong = *a ? rgi_array_check(__func__, *a) : RG_SUCCESS;
  old = wrong ? NULL : *a;
  if (old)
    wrong = check_members(old, survivors, &found);
  if (!wrong && old && old->one_node && survivors->me == 0)
    look_at_locks(old);
  RGI_TRY(recover_array(old, survivors, found, wrong, &made));
  *a = made;
  rgi_array_pass_name(old, made);
  if (old && !old->one_node)
    rgi_array_drop(&old);
  return rg_array_free(&old);
}
