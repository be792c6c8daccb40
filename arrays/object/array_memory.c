/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The memory of the elements. One node: one block for all members, which holds
 *   where each member's memory starts | a lock for each | the members' memories.
 * Several nodes: each member's memory is in its own heap part. */
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "collectives/calls/group_error.h"
#include "distribution/distribution_owner.h"
#include "engine/heap.h"
#include "formation/group.h"
#include "object/array_create.h"
#include "object/mirror.h"
#include "object/replica.h"

#define PAGE ((uint64_t)4096)
#define BIG (16 * PAGE) /* from here on aligned to pages */

static uint64_t round_up(uint64_t bytes, uint64_t to) {
  return (bytes + to - 1) / to * to;
}

/* The sum over all ranks fits into 63 bits: rgi_distribution_make has checked it. */
static uint64_t bytes_of(rg_array a, int rank) {
  return (uint64_t)rgi_distribution_extent(&a->d, rank) * a->element;
}

/* --- one node --------------------------------------------------------------------- */

static uint64_t locks_at(int members) {
  return rgi_lines_whole((uint64_t)members * sizeof(uint64_t));
}

static uint64_t head_bytes(int members) {
  return locks_at(members) + (uint64_t)members * sizeof(rgi_lock);
}

/* Where a member's memory starts if the one before ends here. shift: the distance of the block from
 * the start of a page. */
static uint64_t start_after(uint64_t end, uint64_t bytes, uint64_t shift) {
  return bytes < BIG ? rgi_lines_whole(end) : round_up(end + shift, PAGE) - shift;
}

/* Enough for any distance of the block from the start of a page. */
static int total_bytes(void *context, size_t *bytes) {
  rg_array a = context;
  uint64_t sum = head_bytes(a->members);
  for (int i = 0; i < a->members; i++) {
    uint64_t mine = bytes_of(a, i);
    sum += rgi_lines_whole(mine) + (mine < BIG ? 0 : PAGE);
  }
  *bytes = (size_t)sum;
  return RG_SUCCESS;
}

static void lay_out(void *context, char *base) {
  rg_array a = context;
  uint64_t *starts = (void *)base, shift = (uintptr_t)base % PAGE, end = head_bytes(a->members);
  memset(base, 0, end);
  for (int i = 0; i < a->members; i++) {
    uint64_t bytes = bytes_of(a, i);
    starts[i] = start_after(end, bytes, shift);
    end = starts[i] + bytes;
  }
}

static void find_ends(void *context, uint64_t end[]) {
  rg_array a = context;
  uint64_t at = head_bytes(a->members);
  for (int i = 0; i < a->members; i++)
    end[i] = at = start_after(at, bytes_of(a, i), 0) + bytes_of(a, i);
}

static int take_shared_block(const char *call, rg_array a, int error) {
  rgi_shared_block_maker maker = {.what = "an array",
                                  .bytes = total_bytes,
                                  .fill = lay_out,
                                  .context = a,
                                  .hash = a->hash,
                                  .difference = rgi_array_difference,
                                  .ends = find_ends};
  RGI_TRY(rgi_shared_block_open(call, a->group, &maker, error, &a->shared));
  a->base = a->shared.base;
  a->starts = (void *)a->base;
  a->locks = (void *)(a->base + locks_at(a->members));
  if (a->d.dims == 1 && a->d.owners == 1 && !rgi_distribution_is_cyclic(&a->d) && !a->d.ghosts[0])
    a->line = a->base + a->starts[0];
  a->regular = a->d.dims <= 2 && a->d.boundaries[0] ? a->d.dims : 0;
  for (int d = 0; d < a->d.dims; d++)
    if (!a->d.reciprocal[d])
      a->regular = 0;
  return RG_SUCCESS;
}

/* --- several nodes ----------------------------------------------------------------- */

/* What each member tells the others. */
typedef struct {
  int64_t error;
  uint64_t hash, heap_offset;
} memory_notice;

static int make_tables(const char *call, rg_array a) {
  size_t n = (size_t)a->members,
         each = sizeof *a->mapped + sizeof *a->heap_offsets + sizeof *a->world;
  a->mapped = calloc(n, each);
  if (!a->mapped)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, a->members);
  a->heap_offsets = (void *)(a->mapped + n);
  a->world = (void *)(a->heap_offsets + n);
  return RG_SUCCESS;
}

/* The error that all return: of the lowest member that has one. */
static int first_error(const char *call, rg_array a, const memory_notice *all) {
  int64_t word = 0;
  for (int i = a->members - 1; i >= 0; i--)
    if (all[i].error)
      word = rgi_error_report_word((int)all[i].error, i);
  RGI_TRY(rgi_group_error_tell(a->group, call, word, (int)all[a->me].error));
  for (int i = 1; i < a->members; i++)
    if (all[i].hash != all[0].hash)
      return rgi_error(RG_ERR_MISMATCH, "%s: member %d has given another %s than member 0", call, i,
                       rgi_array_difference(all[i].hash, all[0].hash));
  return RG_SUCCESS;
}

static void note_memory(rg_array a, const memory_notice *all) {
  for (int i = 0; i < a->members; i++) {
    a->world[i] = rgi_members_at(a->group->members, i);
    a->heap_offsets[i] = all[i].heap_offset;
    a->mapped[i] = rgi_heap_at(a->world[i], all[i].heap_offset);
  }
}

static int exchange_notices(const char *call, rg_array a, memory_notice mine) {
  memory_notice *all = rgi_spare_alloc((size_t)a->members * sizeof *all);
  if (!all)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, a->members);
  int error = rg_allgather(a->group, &mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE);
  if (!error)
    error = first_error(call, a, all);
  if (!error)
    note_memory(a, all);
  rgi_spare_free(all);
  return error;
}

static int take_heap_part(const char *call, rg_array a, int error) {
  memory_notice mine = {error, a->hash, 0};
  if (!mine.error)
    mine.error = make_tables(call, a);
  if (!mine.error && rgi_array_is_mirrored(a))
    mine.error = rgi_mirror_open(a);
  if (!mine.error && rgi_array_is_mirrored(a))
    mine.error = rgi_replicas_open(a);
  if (!mine.error) {
    a->mine = rgi_lines_whole(bytes_of(a, a->me) + 1);
    if (rgi_array_is_mirrored(a))
      a->mine += rgi_mirror_bytes(a);
    mine.error = rgi_heap_take("an array", a->mine, &mine.heap_offset);
  }
  if (!mine.error && rgi_array_is_mirrored(a)) /* before another process can write there */
    rgi_mirror_clear(a, (char *)rgi_heap_at(rgi_runtime.rank, mine.heap_offset) +
                            rgi_mirror_start(a, a->me));
  error = exchange_notices(call, a, mine);
  if (error && !mine.error)
    rgi_heap_give(mine.heap_offset, a->mine);
  a->confirmed = 1;
  return error;
}

/* --- both -------------------------------------------------------------------------- */

int rgi_array_take(const char *call, rg_array a, int error) {
  return a->one_node ? take_shared_block(call, a, error) : take_heap_part(call, a, error);
}

void rgi_array_give(rg_array a) {
  if (a->one_node)
    rgi_shared_block_close(a->group, &a->shared);
  else if (rgi_array_alive(a))
    rgi_heap_give(a->heap_offsets[a->me], a->mine);
}
