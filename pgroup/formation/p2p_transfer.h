/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A message between members of a group, from the call to its completion: the data as dense bytes,
 * ranks of the group as world ranks, and the status. */
#ifndef RGI_P2P_TRANSFER_H
#define RGI_P2P_TRANSFER_H

#include <regroup/p2p.h>

#include "formation/datatype.h"
#include "formation/group.h"
#include "message/message.h"
#include "progress/request.h"

/* The data of a message: count elements of an MPI datatype, sent as dense bytes (datatype.h). */
typedef struct {
  rgi_datatype datatype;
  size_t bytes; /* dense bytes of all elements */
} rgi_p2p_data;

typedef struct {
  rgi_message message;
  rgi_p2p_data data;
  rgi_members *members; /* of the group: give the sender's rank in the status */
  void *buf;            /* of a receive */
  char *packed;         /* the dense bytes; NULL if buf holds them */
  int none;             /* the peer is RG_PROC_NULL: there is no message */
} rgi_p2p_transfer;

/* The arguments of a call, beside the buffer. peer: a rank of the group. */
typedef struct {
  const char *call;
  rg_group group;
  MPI_Count count;
  MPI_Datatype type;
  int peer, tag;
} rgi_p2p_transfer_args;

/* Start a transfer. After an error there is none. */
int rgi_p2p_transfer_send(const rgi_p2p_transfer_args *args, const void *buf,
                          rgi_p2p_transfer *transfer);
int rgi_p2p_transfer_receive(const rgi_p2p_transfer_args *args, void *buf,
                             rgi_p2p_transfer *transfer);

/* Receives a message that was taken by a probe (message.h), or none if taken is NULL. members: of
 * its group. Uses of args only call, count and type. */
int rgi_p2p_transfer_accept(const rgi_p2p_transfer_args *args, void *buf, rgi_message_cell *taken,
                            rgi_members *members, rgi_p2p_transfer *transfer);

/* Waits for the end. Afterwards, also after an error, the buffers are no longer used. status: NULL,
 * or set if the transfer was a receive and ended well. */
int rgi_p2p_transfer_wait(rgi_p2p_transfer *transfer, const char *call, rg_status *status);

/* Gives the transfer up. */
void rgi_p2p_transfer_abandon(rgi_p2p_transfer *transfer);

/* After the message is done: unpacks, frees, and sets the status as rgi_p2p_transfer_wait does. */
int rgi_p2p_transfer_finish(rgi_p2p_transfer *transfer, const char *call, rg_status *status);

/* What a receive or a probe with this source and tag matches. *none: the source is
 * RG_PROC_NULL. */
int rgi_p2p_transfer_wanted(const rgi_p2p_transfer_args *args, rgi_message_envelope *wanted,
                            int *none);

/* The status of a message that has this envelope; found NULL: of RG_PROC_NULL. */
rg_status rgi_p2p_transfer_status(const rgi_members *members, const rgi_message_envelope *found);

/* Checks the arguments of a call and describes its data. RG_ERR_ARG; RG_ERR_UNSUPPORTED. */
int rgi_p2p_data_of(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                    rgi_p2p_data *data);

/* --- requests: p2p_request.c ------------------------------------------------------------------ */

/* The request of a message between members of a group. */

typedef struct {
  struct rg_request_s base;
  rgi_p2p_transfer transfer; /* to be started in place */
} rgi_p2p_request;

/* RG_ERR_NOMEM. */
int rgi_p2p_request_make(const char *call, rgi_p2p_request **made);

/* error: of the start of the transfer; after one the request is freed. Otherwise the request takes
 * a reference to the members and a copy of the datatype, so that the application may free both. */
int rgi_p2p_request_open(rgi_p2p_request *made, int error, rg_request *request);

#endif
