/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Long blocks inside a node in one copy: a giver publishes where its blocks are, and each reader
 * has the system copy its own. Through the shared buffer data would be copied twice.
 *
 * A giver's memory is the application's again when the giver has left the operation. It leaves
 * early only with an error, and marks the state broken before that; a reader looks at the mark
 * after its copy. Where each process has a processor, a giver whose blocks one member reads leaves
 * as soon as that one has done so; otherwise the givers that do not read wait for all others. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "formation/members.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "shm/process.h"

static int copy_error(const rgi_shared_state *state, int giver, int error, const char *call) {
  if (error == ESRCH)
    return rgi_wait_cause(rgi_error(RG_ERR_PROC_FAILED, "%s: rank %d has ended", call,
                                    rgi_shared_state_group_rank(state, giver)),
                          call);
  return rgi_error(RG_ERR_SYSTEM, "%s: the memory of rank %d cannot be read: %s", call,
                   rgi_shared_state_group_rank(state, giver), strerror(error));
}

int rgi_node_coll_read_member(rgi_shared_state *state, int i, uint64_t address, void *to,
                              size_t bytes, const char *call) {
  int place = rgi_node_find(rgi_members_at(state->members, rgi_shared_state_group_rank(state, i)));
  int error = rgi_process_read_memory(rgi_node.pids[place], address, to, bytes);
  atomic_thread_fence(memory_order_acquire); /* the mark is read after the data */
  return error ? copy_error(state, i, error, call) : rgi_step_check_not_broken(state, call);
}

_Static_assert(sizeof(rgi_node_coll_offer) <= RGI_SHM_TINY &&
                   offsetof(rgi_shared_state_cell, data) % _Alignof(rgi_node_coll_offer) == 0,
               "an offer lies in a cell");

static rgi_node_coll_offer *offer_in_cell(rgi_shared_state *state, int i) {
  return (rgi_node_coll_offer *)(void *)rgi_step_cell(state, i)->data;
}

rgi_node_coll_offer rgi_node_coll_offer_make(const rgi_shared_state *state, const void *memory,
                                             size_t bytes) {
  return (rgi_node_coll_offer){(uint64_t)(uintptr_t)memory, bytes, state->step - 1};
}

/* The cell has the length modulo 2^32. */
int rgi_node_coll_offer_of(rgi_shared_state *state, int i, size_t bytes, const char *call,
                           rgi_node_coll_offer **offer) {
  *offer = offer_in_cell(state, i);
  RGI_TRY(rgi_step_check_length(state, i, state->step, call));
  if ((*offer)->bytes == bytes)
    return RG_SUCCESS;
  return rgi_error((*offer)->bytes > bytes ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                   "%s: the lengths differ: blocks of rank %d have %llu bytes, of this process "
                   "%zu; form the group anew (rg_group_dup)",
                   call, rgi_shared_state_group_rank(state, i), (unsigned long long)(*offer)->bytes,
                   bytes);
}

/* Copies the caller's block of a giver that has published. */
static int copy_from(rgi_shared_state *state, const rgi_node_coll_copy *copy, int giver) {
  rgi_node_coll_offer *o;
  RGI_TRY(rgi_node_coll_offer_of(state, giver, copy->bytes, copy->call, &o));
  RGI_TRY(rgi_node_coll_read_member(state, giver, o->address + (size_t)state->me * copy->from,
                                    copy->out + (size_t)giver * copy->to, copy->bytes, copy->call));
  if (copy->reader == state->me)
    atomic_store_explicit(&o->read, state->step, memory_order_release);
  return RG_SUCCESS;
}

/* Each member begins with the next one, so that not all read the same one. */
static int copy_from_all(rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  if (!rgi_step_can_spin())
    RGI_TRY(rgi_step_await_all(state, copy->call));
  for (int k = 1; k < state->n; k++) {
    int giver = (state->me + k) % state->n;
    if (rgi_step_can_spin())
      RGI_TRY(rgi_step_await_member(state, giver, copy->call));
    RGI_TRY(copy_from(state, copy, giver));
  }
  return RG_SUCCESS;
}

/* Tells the others where the caller's blocks are. */
static void give(rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  const rgi_node_coll_offer mine = rgi_node_coll_offer_make(state, copy->in, copy->bytes);
  if (copy->giver == state->me)
    rgi_step_give(state, &mine, sizeof mine);
  else
    rgi_step_give_counted(state, &mine, sizeof mine);
}

/* A giver that does not read may have no `out`. */
static void copy_own(const rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  if (copy->own && copy->own != copy->out + (size_t)state->me * copy->to)
    rgi_copy_block(copy->out + (size_t)state->me * copy->to, copy->own, copy->bytes);
}

static int is_one_of(int member, int me) {
  return member == RGI_NODE_COLL_ALL || member == me;
}

/* Waits until the caller's blocks have been read. The step has been ended. */
static int await_readers(rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  if (copy->reader == state->me)
    return RG_SUCCESS;
  if (copy->reader == RGI_NODE_COLL_ALL || !rgi_step_can_spin())
    return rgi_step_await_ended(state, copy->call);
  return rgi_step_await_word(state, &offer_in_cell(state, state->me)->read, copy->reader,
                             copy->call);
}

int rgi_node_coll_copy_direct(rgi_shared_state *state, const rgi_node_coll_copy *copy) {
  int gives = is_one_of(copy->giver, state->me),
      reads = is_one_of(copy->reader, state->me) && copy->giver != state->me;
  RGI_TRY(rgi_step_begin(state, 0, copy->call));
  if (gives)
    give(state, copy);
  copy_own(state, copy);
  if (reads && copy->giver != RGI_NODE_COLL_ALL) {
    RGI_TRY(rgi_step_take(state, copy->giver, copy->call));
    RGI_TRY(copy_from(state, copy, copy->giver));
  } else if (reads) {
    RGI_TRY(copy_from_all(state, copy));
  }
  rgi_step_end(state);
  return gives ? await_readers(state, copy) : RG_SUCCESS;
}
