/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between the members of a group, blocking and not: MPI's buffers and datatypes, ranks of
 * the group and tags of the application, on top of the room message/, which knows world ranks and
 * bytes. Data with gaps are packed into memory of the transfer's own; dense data are sent and
 * received in place. A request holds a reference to the members and a copy of the datatype, so that
 * the application may free both while it is open. */
#include <regroup/p2p.h>

#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "formation/p2p_data.h"
#include "message/message.h"
#include "progress/request.h"
#include "runtime/runtime.h"

/* One message, from the call to its completion. */
typedef struct {
  rgi_message message;
  rgi_p2p_data data;
  rgi_members *members; /* of the group: give the sender's rank in the status */
  void *buf;            /* of a receive */
  char *packed;         /* the dense bytes; NULL if buf holds them */
} p2p_transfer;

/* The transfer of a non-blocking call. */
typedef struct {
  struct rg_request_s base;
  p2p_transfer transfer;
} p2p_request;

/* The context of the application's messages, apart from the library's own. */
static uint64_t context_of(rg_group g) {
  return rgi_mix_bits(g->context + 0x70327000u);
}

/* --- arguments --------------------------------------------------------------- */

static int find_rank(const char *call, rg_group g, int rank, const char *what, int *world) {
  int size = rgi_members_count(g->members);
  if (rank < 0 || rank >= size)
    return rgi_error(RG_ERR_RANK, "%s: %s %d; the group's ranks go from 0 to %d", call, what, rank,
                     size - 1);
  *world = rgi_members_at(g->members, rank);
  return RG_SUCCESS;
}

/* For receives: the world rank or RGI_ANY, and the tag or RGI_ANY. */
static int find_source(const char *call, rg_group g, int source, int *world, int *tag) {
  *world = RGI_ANY;
  if (source != RG_ANY_SOURCE)
    RGI_TRY(find_rank(call, g, source, "source", world));
  if (*tag != RG_ANY_TAG)
    return rgi_group_check_tag(call, *tag);
  *tag = RGI_ANY;
  return RG_SUCCESS;
}

static void set_status(rg_status *status, const rgi_members *members, int world, int tag,
                       size_t bytes) {
  *status = (rg_status){rgi_members_find(members, world), tag, (MPI_Count)bytes};
}

/* --- transfers ----------------------------------------------------------------- */

static int need_packed(const char *call, p2p_transfer *t) {
  t->packed = NULL;
  if (t->data.dense)
    return RG_SUCCESS;
  t->packed = malloc(t->data.bytes ? t->data.bytes : 1);
  return t->packed
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "%s: no memory to pack %zu bytes", call, t->data.bytes);
}

static int start_send(const char *call, rg_group g, const void *buf, MPI_Count count,
                      MPI_Datatype type, int dest, int tag, p2p_transfer *t) {
  int world = -1;
  RGI_TRY(rgi_group_check_member(call, g));
  RGI_TRY(find_rank(call, g, dest, "dest", &world));
  RGI_TRY(rgi_group_check_tag(call, tag));
  RGI_TRY(rgi_p2p_data_of(call, buf, count, type, &t->data));
  RGI_TRY(need_packed(call, t));
  t->members = g->members;
  int error = t->packed ? rgi_datatype_pack(&t->data.datatype, buf,
                                            t->data.bytes / t->data.datatype.size, t->packed)
                        : RG_SUCCESS;
  if (!error)
    error = rgi_message_send(context_of(g), world, tag, t->packed ? t->packed : buf, t->data.bytes,
                             &t->message);
  if (error)
    free(t->packed);
  return error;
}

static int start_receive(const char *call, rg_group g, void *buf, MPI_Count count,
                         MPI_Datatype type, int source, int tag, p2p_transfer *t) {
  int world;
  RGI_TRY(rgi_group_check_member(call, g));
  RGI_TRY(find_source(call, g, source, &world, &tag));
  RGI_TRY(rgi_p2p_data_of(call, buf, count, type, &t->data));
  RGI_TRY(need_packed(call, t));
  t->members = g->members;
  t->buf = buf;
  int error = rgi_message_receive(context_of(g), world, tag, t->packed ? t->packed : buf,
                                  t->data.bytes, &t->message);
  if (error)
    free(t->packed);
  return error;
}

/* After the message has ended: unpacks, and sets the status. */
static int finish_transfer(const char *call, p2p_transfer *t, rg_status *status) {
  rgi_message *r = &t->message;
  int error = rgi_message_explain(r, call), complete = error == RG_SUCCESS;
  if (t->packed && !r->sending && (complete || error == RG_ERR_TRUNCATE)) {
    size_t bytes = r->bytes < r->room ? r->bytes : r->room;
    int unpacked = rgi_p2p_data_unpack(&t->data, t->packed, bytes, t->buf);
    error = error ? error : unpacked;
  }
  free(t->packed);
  t->packed = NULL;
  if (!error && status && !r->sending)
    set_status(status, t->members, r->source, r->tag, r->bytes);
  return error;
}

/* Waits for the end. Afterwards, also after an error, the buffers are no longer used. */
static int wait_for(const char *call, p2p_transfer *t, rg_status *status) {
  int error = rgi_message_wait(&t->message, call);
  if (error == RG_SUCCESS || error == RG_ERR_TRUNCATE)
    return finish_transfer(call, t, status);
  free(t->packed);
  return error;
}

int rg_send(rg_group g, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
            int tag) {
  p2p_transfer t;
  RGI_TRY(start_send(__func__, g, buf, count, datatype, dest, tag, &t));
  return wait_for(__func__, &t, NULL);
}

int rg_recv(rg_group g, void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
            rg_status *status) {
  p2p_transfer t;
  RGI_TRY(start_receive(__func__, g, buf, count, datatype, source, tag, &t));
  return wait_for(__func__, &t, status);
}

int rg_sendrecv(rg_group g, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                int source, int recvtag, rg_status *status) {
  p2p_transfer in, out;
  RGI_TRY(start_receive(__func__, g, recvbuf, recvcount, recvtype, source, recvtag, &in));
  int error = start_send(__func__, g, sendbuf, sendcount, sendtype, dest, sendtag, &out);
  if (error) {
    rgi_message_abandon(&in.message);
    free(in.packed);
    return error;
  }
  int received = wait_for(__func__, &in, status);
  int sent = wait_for(__func__, &out, NULL);
  return received ? received : sent;
}

/* --- without waiting -------------------------------------------------------------- */

static int progress_request(rg_request base, int *done) {
  p2p_request *r = (p2p_request *)base;
  if (!atomic_load_explicit(&r->transfer.message.done, memory_order_acquire))
    return RG_SUCCESS;
  *done = 1;
  return finish_transfer(base->call, &r->transfer, &base->status);
}

static void release_request(rg_request base) {
  p2p_request *r = (p2p_request *)base;
  if (!atomic_load(&r->transfer.message.done)) {
    rgi_message_abandon(&r->transfer.message);
    free(r->transfer.packed);
  }
  rgi_members_drop(r->transfer.members);
  if (!r->transfer.data.dense)
    MPI_Type_free(&r->transfer.data.datatype.type);
  free(r);
}

static int make_request(const char *call, p2p_request **r) {
  *r = malloc(sizeof **r);
  if (!*r)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a request", call);
  (*r)->base =
      (struct rg_request_s){.call = call, .progress = progress_request, .release = release_request};
  return RG_SUCCESS;
}

/* error: of the start of the transfer; after one there is no request. */
static int open_request(p2p_request *r, int error, rg_request *request) {
  p2p_transfer *t = &r->transfer;
  if (error) {
    free(r);
    return error;
  }
  rgi_members_share(t->members);
  if (!t->data.dense)
    MPI_Type_dup(t->data.datatype.type, &t->data.datatype.type);
  r->base.peer = t->message.sending ? -1 : t->message.source;
  rgi_request_open(&r->base);
  *request = &r->base;
  return RG_SUCCESS;
}

int rg_isend(rg_group g, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             rg_request *request) {
  p2p_request *r;
  RGI_REQUIRE(request);
  RGI_TRY(make_request(__func__, &r));
  return open_request(r, start_send(__func__, g, buf, count, datatype, dest, tag, &r->transfer),
                      request);
}

int rg_irecv(rg_group g, void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
             rg_request *request) {
  p2p_request *r;
  RGI_REQUIRE(request);
  RGI_TRY(make_request(__func__, &r));
  return open_request(
      r, start_receive(__func__, g, buf, count, datatype, source, tag, &r->transfer), request);
}

int rg_request_cancel(rg_request *request, int *cancelled) {
  RGI_REQUIRE(request);
  RGI_REQUIRE(cancelled);
  p2p_request *r = (p2p_request *)*request;
  if (!r || r->base.progress != progress_request || r->transfer.message.sending)
    return rgi_error(RG_ERR_ARG, "%s: not a receive that is open", __func__);
  RGI_TRY(rgi_runtime_check(__func__));
  rgi_message_cancel(&r->transfer.message, cancelled);
  if (*cancelled) {
    free(r->transfer.packed);
    release_request(*request);
    *request = NULL;
  }
  return RG_SUCCESS;
}

/* --- probing ---------------------------------------------------------------------- */

int rg_probe(rg_group g, int source, int tag, rg_status *status) {
  int world, from, its_tag;
  size_t bytes;
  RGI_TRY(rgi_group_check_member(__func__, g));
  RGI_TRY(find_source(__func__, g, source, &world, &tag));
  RGI_TRY(rgi_message_await(context_of(g), world, tag, __func__, &from, &its_tag, &bytes));
  if (status)
    set_status(status, g->members, from, its_tag, bytes);
  return RG_SUCCESS;
}

int rg_iprobe(rg_group g, int source, int tag, int *there, rg_status *status) {
  int world, found = 0, from, its_tag;
  size_t bytes;
  RGI_REQUIRE(there);
  RGI_TRY(rgi_group_check_member(__func__, g));
  RGI_TRY(find_source(__func__, g, source, &world, &tag));
  RGI_TRY(rgi_message_probe(context_of(g), world, tag, &found, &from, &its_tag, &bytes));
  if (found && status)
    set_status(status, g->members, from, its_tag, bytes);
  *there = found;
  return RG_SUCCESS;
}

int rg_status_count(const rg_status *status, MPI_Datatype datatype, MPI_Count *count) {
  rgi_p2p_data d;
  RGI_REQUIRE(status);
  RGI_REQUIRE(count);
  RGI_TRY(rgi_p2p_data_of(__func__, status, 0, datatype, &d));
  size_t bytes = (size_t)status->bytes;
  if (d.datatype.size == 0)
    *count = bytes == 0 ? 0 : RG_UNDEFINED;
  else
    *count = bytes % d.datatype.size ? RG_UNDEFINED : (MPI_Count)(bytes / d.datatype.size);
  return RG_SUCCESS;
}
