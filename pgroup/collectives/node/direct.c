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
#include "shm/peer_memory.h"

size_t rgi_node_coll_direct_least(size_t sleeping) {
  return rgi_step_can_spin() ? RGI_NODE_COLL_DIRECT_LEAST : sleeping;
}

int rgi_node_coll_direct(size_t bytes, size_t least) {
  return rgi_node.pids && bytes >= least;
}

static int copy_error(const rgi_shared_state *l, int giver, int error, const char *call) {
  if (error == ESRCH)
    return rgi_wait_cause(rgi_error(RG_ERR_PROC_FAILED, "%s: rank %d has ended", call,
                                    rgi_shared_state_group_rank(l, giver)),
                          call);
  return rgi_error(RG_ERR_SYSTEM, "%s: the memory of rank %d cannot be read: %s", call,
                   rgi_shared_state_group_rank(l, giver), strerror(error));
}

int rgi_node_coll_read_member(rgi_shared_state *l, int i, uint64_t address, void *to, size_t bytes,
                              const char *call) {
  int place = rgi_node_find(rgi_members_at(l->members, rgi_shared_state_group_rank(l, i)));
  int error = rgi_peer_memory_read(rgi_node.pids[place], address, to, bytes);
  atomic_thread_fence(memory_order_acquire); /* the mark is read after the data */
  return error ? copy_error(l, i, error, call) : rgi_step_check_not_broken(l, call);
}

_Static_assert(sizeof(rgi_node_coll_offer) <= RGI_SHM_TINY &&
                   offsetof(rgi_shared_state_cell, data) % _Alignof(rgi_node_coll_offer) == 0,
               "an offer lies in a cell");

static rgi_node_coll_offer *offer_in_cell(rgi_shared_state *l, int i) {
  return (rgi_node_coll_offer *)(void *)rgi_step_cell(l, i)->data;
}

rgi_node_coll_offer rgi_node_coll_offer_make(const rgi_shared_state *l, const void *memory,
                                             size_t bytes) {
  return (rgi_node_coll_offer){(uint64_t)(uintptr_t)memory, bytes, l->step - 1};
}

/* The cell has the length modulo 2^32. */
int rgi_node_coll_offer_of(rgi_shared_state *l, int i, size_t bytes, const char *call,
                           rgi_node_coll_offer **offer) {
  *offer = offer_in_cell(l, i);
  RGI_TRY(rgi_step_check_length(l, i, l->step, call));
  if ((*offer)->bytes == bytes)
    return RG_SUCCESS;
  return rgi_error((*offer)->bytes > bytes ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                   "%s: the lengths differ: blocks of rank %d have %llu bytes, of this process "
                   "%zu; form the group anew",
                   call, rgi_shared_state_group_rank(l, i), (unsigned long long)(*offer)->bytes,
                   bytes);
}

/* Copies the caller's block of a giver that has published. */
static int copy_from(rgi_shared_state *l, const rgi_node_coll_copy *c, int giver) {
  rgi_node_coll_offer *o;
  RGI_TRY(rgi_node_coll_offer_of(l, giver, c->bytes, c->call, &o));
  RGI_TRY(rgi_node_coll_read_member(l, giver, o->address + (size_t)l->me * c->from,
                                    c->out + (size_t)giver * c->to, c->bytes, c->call));
  if (c->reader == l->me)
    atomic_store_explicit(&o->read, l->step, memory_order_release);
  return RG_SUCCESS;
}

/* Each member begins with the next one, so that not all read the same one. */
static int copy_from_all(rgi_shared_state *l, const rgi_node_coll_copy *c) {
  if (!rgi_step_can_spin())
    RGI_TRY(rgi_step_await_all(l, c->call));
  for (int k = 1; k < l->n; k++) {
    int giver = (l->me + k) % l->n;
    if (rgi_step_can_spin())
      RGI_TRY(rgi_step_await_member(l, giver, c->call));
    RGI_TRY(copy_from(l, c, giver));
  }
  return RG_SUCCESS;
}

/* Tells the others where the caller's blocks are. */
static void give(rgi_shared_state *l, const rgi_node_coll_copy *c) {
  const rgi_node_coll_offer mine = rgi_node_coll_offer_make(l, c->in, c->bytes);
  if (c->giver == l->me)
    rgi_step_give(l, &mine, sizeof mine);
  else
    rgi_step_give_counted(l, &mine, sizeof mine);
}

/* A giver that does not read may have no `out`. */
static void copy_own(const rgi_shared_state *l, const rgi_node_coll_copy *c) {
  if (c->own && c->own != c->out + (size_t)l->me * c->to)
    rgi_copy_block(c->out + (size_t)l->me * c->to, c->own, c->bytes);
}

static int is_one_of(int member, int me) {
  return member == RGI_NODE_COLL_ALL || member == me;
}

/* Waits until the caller's blocks have been read. The step has been ended. */
static int await_readers(rgi_shared_state *l, const rgi_node_coll_copy *c) {
  if (c->reader == l->me)
    return RG_SUCCESS;
  if (c->reader == RGI_NODE_COLL_ALL || !rgi_step_can_spin())
    return rgi_step_await_ended(l, c->call);
  return rgi_step_await_word(l, &offer_in_cell(l, l->me)->read, c->reader, c->call);
}

int rgi_node_coll_copy_direct(rgi_shared_state *l, const rgi_node_coll_copy *c) {
  int gives = is_one_of(c->giver, l->me), reads = is_one_of(c->reader, l->me) && c->giver != l->me;
  RGI_TRY(rgi_step_begin(l, 0, c->call));
  if (gives)
    give(l, c);
  copy_own(l, c);
  if (reads && c->giver != RGI_NODE_COLL_ALL) {
    RGI_TRY(rgi_step_take(l, c->giver, c->call));
    RGI_TRY(copy_from(l, c, c->giver));
  } else if (reads) {
    RGI_TRY(copy_from_all(l, c));
  }
  rgi_step_end(l);
  return gives ? await_readers(l, c) : RG_SUCCESS;
}
