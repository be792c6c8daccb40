/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pointers to elements in the memory of this node. rg_array_access orders the caller's loads
 * after what others had completed before, rg_array_release its stores before what comes later. */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "distribution/piece.h"
#include "formation/group.h"
#include "object/array.h"

static void give_pointer(void *ptr, char *memory) {
  memcpy(ptr, &memory, sizeof memory);
}

static int check_intent(const char *call, rg_access_mode intent) {
  return intent == RG_ACCESS_READ || intent == RG_ACCESS_WRITE || intent == RG_ACCESS_READ_WRITE
             ? RG_SUCCESS
             : rgi_error(RG_ERR_ARG, "%s: there is no intent %d", call, (int)intent);
}

/* The patch has to be one piece. */
static int find_piece(const char *call, rg_array a, const int64_t lo[], const int64_t hi[],
                      rgi_piece *piece) {
  RGI_TRY(rgi_array_check(call, a));
  if (!lo || !hi)
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", call, lo ? "hi" : "lo");
  RGI_TRY(rgi_distribution_inside(&a->d, call, lo, hi));
  int64_t pieces = rgi_pieces_count(&a->d, lo, hi);
  if (pieces != 1)
    return rgi_error(RG_ERR_ARG, "%s: the patch %s", call,
                     pieces ? "crosses blocks: access each by itself (rg_array_locate)"
                            : "is empty");
  rgi_pieces_get(&a->d, lo, hi, 0, piece);
  if (!rgi_array_memory(a, piece->rank))
    return rgi_error(RG_ERR_RANK, "%s: the patch belongs to rank %d, on another node: use get",
                     call, piece->rank);
  return RG_SUCCESS;
}

int rg_array_access(rg_array a, const int64_t lo[], const int64_t hi[], rg_access_mode intent,
                    void *ptr, int64_t ld[]) {
  rgi_piece piece;
  RGI_REQUIRE(ptr);
  RGI_TRY(check_intent(__func__, intent));
  RGI_TRY(find_piece(__func__, a, lo, hi, &piece));
  RGI_TRY(rgi_array_settle(a, piece.rank, 0, rgi_distribution_extent(&a->d, piece.rank)));
  atomic_thread_fence(memory_order_acquire);
  for (int d = 0; ld && d < a->d.dims - 1; d++)
    ld[d] = piece.ld[d];
  give_pointer(ptr, rgi_array_memory(a, piece.rank) + piece.offset * (int64_t)a->element);
  return RG_SUCCESS;
}

int rg_array_release(rg_array a, const int64_t lo[], const int64_t hi[]) {
  rgi_piece piece;
  RGI_TRY(find_piece(__func__, a, lo, hi, &piece));
  atomic_thread_fence(memory_order_seq_cst);
  return RG_SUCCESS;
}

static int check_ghosts(const char *call, rg_array a, int64_t lo[], int64_t hi[]) {
  RGI_TRY(rgi_array_check(call, a));
  if (rgi_distribution_blocks(&a->d, a->me) != 1)
    return rgi_error(RG_ERR_ARG, "%s: rank %d has %s", call, a->me,
                     rgi_distribution_is_cyclic(&a->d) ? "not just one block" : "no block");
  rgi_distribution_block(&a->d, a->me, 0, lo, hi);
  for (int d = 0; d < a->d.dims; d++)
    if (lo[d] == hi[d])
      return rgi_error(RG_ERR_ARG, "%s: rank %d owns no element", call, a->me);
  return RG_SUCCESS;
}

int rg_array_access_ghosts(rg_array a, rg_access_mode intent, void *ptr, int64_t ld[]) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  RGI_REQUIRE(ptr);
  RGI_TRY(check_intent(__func__, intent));
  RGI_TRY(check_ghosts(__func__, a, lo, hi));
  RGI_TRY(rgi_array_settle(a, a->me, 0, rgi_distribution_extent(&a->d, a->me)));
  atomic_thread_fence(memory_order_acquire);
  for (int d = 0; ld && d < a->d.dims - 1; d++)
    ld[d] = hi[d + 1] - lo[d + 1] + 2 * a->d.ghosts[d + 1];
  give_pointer(ptr, rgi_array_mine(a));
  return RG_SUCCESS;
}

int rg_array_release_ghosts(rg_array a) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  RGI_TRY(check_ghosts(__func__, a, lo, hi));
  atomic_thread_fence(memory_order_seq_cst);
  return RG_SUCCESS;
}
