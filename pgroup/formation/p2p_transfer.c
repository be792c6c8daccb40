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
#include "base/spare.h"

/* The context of the application's messages, apart from the library's own. */
static uint64_t context_of(rg_group g) {
  return rgi_mix_bits(g->context + 0x70327000u);
}

/* --- arguments --------------------------------------------------------------- */

static int find_rank(const rgi_p2p_transfer_args *args, const char *what, int *world) {
  const rgi_members *members = args->group->members;
  int size = rgi_members_count(members);
  if (args->peer < 0 || args->peer >= size)
    return rgi_error(RG_ERR_RANK, "%s: %s %d; the group's ranks go from 0 to %d", args->call, what,
                     args->peer, size - 1);
  *world = rgi_members_at(members, args->peer);
  return RG_SUCCESS;
}

int rgi_p2p_transfer_wanted(const rgi_p2p_transfer_args *args, rgi_message_envelope *wanted,
                            int *none) {
  int world = RGI_ANY;
  RGI_TRY(rgi_group_check_member(args->call, args->group));
  *none = args->peer == RG_PROC_NULL;
  if (args->peer != RG_ANY_SOURCE && !*none)
    RGI_TRY(find_rank(args, "source", &world));
  if (args->tag != RG_ANY_TAG)
    RGI_TRY(rgi_group_check_tag(args->call, args->tag));
  *wanted = (rgi_message_envelope){.context = context_of(args->group),
                                   .peer = world,
                                   .tag = args->tag == RG_ANY_TAG ? RGI_ANY : args->tag};
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

static inline int begin_transfer(const rgi_p2p_transfer_args *args, const void *buf,
                                 rgi_p2p_transfer *transfer) {
  RGI_TRY(rgi_p2p_data_of(args->call, buf, args->count, args->type, &transfer->data));
  transfer->packed = NULL;
  transfer->none = 0;
  if (transfer->data.datatype.dense)
    return RG_SUCCESS;
  transfer->packed = rgi_spare_alloc(transfer->data.bytes ? transfer->data.bytes : 1);
  return transfer->packed ? RG_SUCCESS
                          : rgi_error(RG_ERR_NOMEM, "%s: no memory to pack %zu bytes", args->call,
                                      transfer->data.bytes);
}

/* There is no message: the transfer is done. */
static int begin_none(rgi_p2p_transfer *transfer, int sending) {
  rgi_spare_free(transfer->packed);
  transfer->packed = NULL;
  transfer->none = 1;
  transfer->message =
      (rgi_message){.done = 1, .source = RGI_ANY, .sending = sending, .mpi = MPI_REQUEST_NULL};
  return RG_SUCCESS;
}

int rgi_p2p_transfer_send(const rgi_p2p_transfer_args *args, const void *buf,
                          rgi_p2p_transfer *transfer) {
  rgi_message_envelope to;
  int world = RGI_ANY, none = args->peer == RG_PROC_NULL;
  RGI_TRY(rgi_group_check_member(args->call, args->group));
  if (!none)
    RGI_TRY(find_rank(args, "dest", &world));
  RGI_TRY(rgi_group_check_tag(args->call, args->tag));
  RGI_TRY(begin_transfer(args, buf, transfer));
  transfer->members = args->group->members;
  if (none)
    return begin_none(transfer, 1);
  int error = transfer->packed ? rgi_datatype_pack_bytes(&transfer->data.datatype, buf,
                                                         transfer->data.bytes, transfer->packed)
                               : RG_SUCCESS;
  to = (rgi_message_envelope){.context = context_of(args->group),
                              .peer = world,
                              .tag = args->tag,
                              .bytes = transfer->data.bytes};
  if (!error)
    error = rgi_message_send(&to, transfer->packed ? transfer->packed : buf, &transfer->message);
  if (error)
    rgi_spare_free(transfer->packed);
  return error;
}

int rgi_p2p_transfer_receive(const rgi_p2p_transfer_args *args, void *buf,
                             rgi_p2p_transfer *transfer) {
  rgi_message_envelope from;
  int none;
  RGI_TRY(rgi_p2p_transfer_wanted(args, &from, &none));
  RGI_TRY(begin_transfer(args, buf, transfer));
  transfer->members = args->group->members;
  transfer->buf = buf;
  if (none)
    return begin_none(transfer, 0);
  from.bytes = transfer->data.bytes;
  int error =
      rgi_message_receive(&from, transfer->packed ? transfer->packed : buf, &transfer->message);
  if (error)
    rgi_spare_free(transfer->packed);
  return error;
}

int rgi_p2p_transfer_accept(const rgi_p2p_transfer_args *args, void *buf, rgi_message_cell *taken,
                            rgi_members *members, rgi_p2p_transfer *transfer) {
  RGI_TRY(begin_transfer(args, buf, transfer));
  transfer->members = members;
  transfer->buf = buf;
  if (!taken)
    return begin_none(transfer, 0);
  rgi_message_accept(taken, transfer->packed ? transfer->packed : buf, transfer->data.bytes,
                     &transfer->message);
  return RG_SUCCESS;
}

/* --- the end ------------------------------------------------------------------- */

int rgi_p2p_transfer_finish(rgi_p2p_transfer *transfer, const char *call, rg_status *status) {
  rgi_message *message = &transfer->message;
  int error = rgi_message_explain(message, call), complete = error == RG_SUCCESS;
  if (transfer->packed && !message->sending && (complete || error == RG_ERR_TRUNCATE)) {
    size_t bytes = rgi_message_min(message->bytes, message->room);
    int unpacked =
        rgi_datatype_unpack_bytes(&transfer->data.datatype, transfer->packed, bytes, transfer->buf);
    error = error ? error : unpacked;
  }
  rgi_spare_free(transfer->packed);
  transfer->packed = NULL;
  if (!error && status && !message->sending) {
    rgi_message_envelope found = {.context = message->context,
                                  .peer = message->source,
                                  .tag = message->tag,
                                  .bytes = message->bytes};
    *status = rgi_p2p_transfer_status(transfer->members, transfer->none ? NULL : &found);
  }
  return error;
}

static void free_unused(rgi_p2p_transfer *transfer) {
  if (!transfer->message.left)
    rgi_spare_free(transfer->packed);
  transfer->packed = NULL;
}

int rgi_p2p_transfer_wait(rgi_p2p_transfer *transfer, const char *call, rg_status *status) {
  int error = rgi_message_wait(&transfer->message, call);
  if (error == RG_SUCCESS || error == RG_ERR_TRUNCATE)
    return rgi_p2p_transfer_finish(transfer, call, status);
  free_unused(transfer);
  return error;
}

void rgi_p2p_transfer_abandon(rgi_p2p_transfer *transfer) {
  if (!atomic_load_explicit(&transfer->message.done, memory_order_acquire))
    rgi_message_abandon(&transfer->message);
  free_unused(transfer);
}

int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *data) {
  RGI_TRY(rgi_datatype_of(call, type, &data->datatype));
  RGI_TRY(rgi_datatype_bytes(call, &data->datatype, count, &data->bytes));
  return rgi_datatype_check_memory(call, &data->datatype, buf, data->bytes);
}
