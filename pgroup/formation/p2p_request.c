/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Requests of messages. Nothing but its message moves such a request on: it is no background
 * request (progress/request.h). */
#include "formation/p2p_transfer.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "runtime/runtime.h"

static int progress_request(rg_request base, int *done) {
  rgi_p2p_request *r = (rgi_p2p_request *)base;
  if (!atomic_load_explicit(&r->transfer.message.done, memory_order_acquire))
    return RG_SUCCESS;
  *done = 1;
  return rgi_p2p_transfer_finish(&r->transfer, base->call, &base->status);
}

static void release_request(rg_request base) {
  rgi_p2p_request *r = (rgi_p2p_request *)base;
  rgi_p2p_transfer_abandon(&r->transfer);
  rgi_members_drop(r->transfer.members);
  if (!r->transfer.data.datatype.dense)
    MPI_Type_free(&r->transfer.data.datatype.type);
  rgi_spare_free(r);
}

int rgi_p2p_request_make(const char *call, rgi_p2p_request **made) {
  rgi_p2p_request *r = rgi_spare_alloc(sizeof *r);
  if (!r)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a request", call);
  r->base.call = call;
  r->base.progress = progress_request;
  r->base.release = release_request;
  r->base.background = 0;
  *made = r;
  return RG_SUCCESS;
}

int rgi_p2p_request_open(rgi_p2p_request *made, int error, rg_request *request) {
  rgi_p2p_transfer *transfer = &made->transfer;
  if (error) {
    rgi_spare_free(made);
    return error;
  }
  if (transfer->members)
    rgi_members_share(transfer->members);
  if (!transfer->data.datatype.dense)
    MPI_Type_dup(transfer->data.datatype.type, &transfer->data.datatype.type);
  made->base.peer = transfer->message.sending ? -1 : transfer->message.source;
  rgi_request_open(&made->base);
  *request = &made->base;
  return RG_SUCCESS;
}

int rg_request_cancel(rg_request *request, int *cancelled) {
  RGI_REQUIRE(request);
  RGI_REQUIRE(cancelled);
  rgi_p2p_request *r = (rgi_p2p_request *)*request;
  if (!r || r->base.progress != progress_request || r->transfer.message.sending)
    return rgi_error(RG_ERR_ARG, "%s: not a receive that is open", __func__);
  RGI_TRY(rgi_runtime_check(__func__));
  *cancelled = 0;
  if (!r->base.done) /* else it has ended by a death, which rg_wait reports */
    rgi_message_cancel(&r->transfer.message, cancelled);
  if (*cancelled) {
    release_request(*request);
    *request = NULL;
  }
  return RG_SUCCESS;
}
