/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Transfers: MPI's buffers and datatypes, ranks of the group and tags of the application, on top of
 * the room message/, which knows world ranks and bytes. Data with gaps are packed into memory of
 * the transfer's own; dense data are sent and received in place. A transfer with RG_PROC_NULL is
 * done when it starts. */
#include "formation/p2p_transfer.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"

/* The context of the application's messages, apart from the library's own. */
static uint64_t context_of(rg_group g) {
  return rgi_mix_bits(g->context + 0x70327000u);
}

/* --- arguments --------------------------------------------------------------- */

static int find_rank(const rgi_p2p_transfer_args *a, const char *what, int *world) {
  const rgi_members *members = a->group->members;
  int size = rgi_members_count(members);
  if (a->peer < 0 || a->peer >= size)
    return rgi_error(RG_ERR_RANK, "%s: %s %d; the group's ranks go from 0 to %d", a->call, what,
                     a->peer, size - 1);
  *world = rgi_members_at(members, a->peer);
  return RG_SUCCESS;
}

int rgi_p2p_transfer_wanted(const rgi_p2p_transfer_args *a, rgi_message_envelope *wanted,
                            int *none) {
  int world = RGI_ANY;
  RGI_TRY(rgi_group_check_member(a->call, a->group));
  *none = a->peer == RG_PROC_NULL;
  if (a->peer != RG_ANY_SOURCE && !*none)
    RGI_TRY(find_rank(a, "source", &world));
  if (a->tag != RG_ANY_TAG)
    RGI_TRY(rgi_group_check_tag(a->call, a->tag));
  *wanted = (rgi_message_envelope){context_of(a->group), world,
                                   a->tag == RG_ANY_TAG ? RGI_ANY : a->tag, 0};
  return RG_SUCCESS;
}

rg_status rgi_p2p_transfer_status(const rgi_members *members, const rgi_message_envelope *found) {
  rg_status status = {.source = RG_PROC_NULL, .tag = RG_ANY_TAG};
  if (found) {
    status.source = rgi_members_find(members, found->peer);
    status.tag = found->tag;
    status.bytes = (MPI_Count)found->bytes;
  }
  return status;
}

/* --- the start ----------------------------------------------------------------- */

static inline int begin_transfer(const rgi_p2p_transfer_args *a, const void *buf,
                                 rgi_p2p_transfer *t) {
  RGI_TRY(rgi_p2p_data_of(a->call, buf, a->count, a->type, &t->data));
  t->packed = NULL;
  t->none = 0;
  if (t->data.datatype.dense)
    return RG_SUCCESS;
  t->packed = malloc(t->data.bytes ? t->data.bytes : 1);
  return t->packed
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "%s: no memory to pack %zu bytes", a->call, t->data.bytes);
}

/* There is no message: the transfer is done. */
static int begin_none(rgi_p2p_transfer *t, int sending) {
  free(t->packed);
  t->packed = NULL;
  t->none = 1;
  t->message =
      (rgi_message){.done = 1, .source = RGI_ANY, .sending = sending, .mpi = MPI_REQUEST_NULL};
  return RG_SUCCESS;
}

int rgi_p2p_transfer_send(const rgi_p2p_transfer_args *a, const void *buf, rgi_p2p_transfer *t) {
  rgi_message_envelope to;
  int world = RGI_ANY, none = a->peer == RG_PROC_NULL;
  RGI_TRY(rgi_group_check_member(a->call, a->group));
  if (!none)
    RGI_TRY(find_rank(a, "dest", &world));
  RGI_TRY(rgi_group_check_tag(a->call, a->tag));
  RGI_TRY(begin_transfer(a, buf, t));
  t->members = a->group->members;
  if (none)
    return begin_none(t, 1);
  int error = t->packed ? rgi_datatype_pack_bytes(&t->data.datatype, buf, t->data.bytes, t->packed)
                        : RG_SUCCESS;
  to = (rgi_message_envelope){context_of(a->group), world, a->tag, t->data.bytes};
  if (!error)
    error = rgi_message_send(&to, t->packed ? t->packed : buf, &t->message);
  if (error)
    free(t->packed);
  return error;
}

int rgi_p2p_transfer_receive(const rgi_p2p_transfer_args *a, void *buf, rgi_p2p_transfer *t) {
  rgi_message_envelope from;
  int none;
  RGI_TRY(rgi_p2p_transfer_wanted(a, &from, &none));
  RGI_TRY(begin_transfer(a, buf, t));
  t->members = a->group->members;
  t->buf = buf;
  if (none)
    return begin_none(t, 0);
  from.bytes = t->data.bytes;
  int error = rgi_message_receive(&from, t->packed ? t->packed : buf, &t->message);
  if (error)
    free(t->packed);
  return error;
}

int rgi_p2p_transfer_accept(const rgi_p2p_transfer_args *a, void *buf, rgi_message_cell *taken,
                            rgi_members *members, rgi_p2p_transfer *t) {
  RGI_TRY(begin_transfer(a, buf, t));
  t->members = members;
  t->buf = buf;
  if (!taken)
    return begin_none(t, 0);
  rgi_message_accept(taken, t->packed ? t->packed : buf, t->data.bytes, &t->message);
  return RG_SUCCESS;
}

/* --- the end ------------------------------------------------------------------- */

int rgi_p2p_transfer_finish(rgi_p2p_transfer *t, const char *call, rg_status *status) {
  rgi_message *r = &t->message;
  int error = rgi_message_explain(r, call), complete = error == RG_SUCCESS;
  if (t->packed && !r->sending && (complete || error == RG_ERR_TRUNCATE)) {
    size_t bytes = rgi_message_min(r->bytes, r->room);
    int unpacked = rgi_datatype_unpack_bytes(&t->data.datatype, t->packed, bytes, t->buf);
    error = error ? error : unpacked;
  }
  free(t->packed);
  t->packed = NULL;
  if (!error && status && !r->sending) {
    rgi_message_envelope found = {r->context, r->source, r->tag, r->bytes};
    *status = rgi_p2p_transfer_status(t->members, t->none ? NULL : &found);
  }
  return error;
}

static void free_unused(rgi_p2p_transfer *t) {
  if (!t->message.left)
    free(t->packed);
  t->packed = NULL;
}

int rgi_p2p_transfer_wait(rgi_p2p_transfer *t, const char *call, rg_status *status) {
  int error = rgi_message_wait(&t->message, call);
  if (error == RG_SUCCESS || error == RG_ERR_TRUNCATE)
    return rgi_p2p_transfer_finish(t, call, status);
  free_unused(t);
  return error;
}

void rgi_p2p_transfer_abandon(rgi_p2p_transfer *t) {
  if (!atomic_load_explicit(&t->message.done, memory_order_acquire))
    rgi_message_abandon(&t->message);
  free_unused(t);
}
