/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between the members of a group.
 *
 * The functions have the meaning of MPI's functions of the same names in standard
 * mode, and need no communicator. Ranks are ranks in the group. Messages of one sender
 * that match the same receive are received in the order in which they were sent.
 * Messages of different groups never match, even if the groups have the same members;
 * nor do messages match collectives on the same group. Differences from MPI:
 *
 *  - There are no synchronous, buffered, ready, persistent or partitioned forms, no
 *    MPI_Sendrecv_replace and no MPI_Isendrecv.
 *  - Requests, statuses (request.h) and matched messages (rg_message) are the library's: MPI's
 *    calls do not take them. The status of a request that is no receive has RG_UNDEFINED and 0
 *    where MPI has the wildcards.
 *  - If one of several requests fails, the call that completes it returns its error with its
 *    number in the text; MPI_ERR_IN_STATUS has no counterpart (request.h).
 *  - Only receives can be cancelled, and a cancelled request is freed.
 *  - Errors are return values; no error handler is called.
 *  - A tag is 0 to 2^28 - 1, whatever MPI_TAG_UB is.
 *  - A message that is longer than the receiver's buffer gives RG_ERR_TRUNCATE at the
 *    receiver. The message has been received, the part that fits is in the buffer, and
 *    later messages are not affected. The sender gets no error.
 *  - On a group with a dead member a call that would wait returns RG_ERR_PROC_FAILED
 *    (recovery.h).
 *  - After RG_ERR_TIMEOUT of a blocking send or receive its message is given up, and the
 *    caller may use the buffer again; the other side, if it has matched this call, gets the
 *    same error. One exception: MPI may read a long message to another node until it is sent.
 *  - rg_finalize discards messages that have not been received, also matched ones, and gives
 *    up operations whose requests were freed and that have not ended.
 *
 * MPI_PROC_NULL has MPI's meaning: a send to it and a receive from it complete at once and
 * leave the buffer as it is. The status of such a receive or probe has source RG_PROC_NULL,
 * tag RG_ANY_TAG and 0 bytes.
 *
 * The following holds for all functions:
 *
 *  - Callers: the sender calls one of the sends, the receiver one of the receives; both
 *    are members of g. Threads: any, also several on the same group (runtime.h).
 *  - A message has count elements of any committed datatype. Sender and receiver use the
 *    same sequence of basic types; the receiver may have room for more. Elements that are
 *    not contiguous and in order in memory are packed and unpacked (one more copy on that
 *    side).
 *  - Cost inside a node: one message. Up to 32 KiB it is copied into and out of shared
 *    memory, and the send returns at once, unless the receiver's inbox contains many
 *    messages that it has not processed (1 MiB, less in a small arena); then the send
 *    returns when it has. A longer message is copied through a pipe by both sides at the
 *    same time; its send ends when the receiver has it. Cost between nodes: up to 8 KiB
 *    one message, of which MPI gets a copy, as long as no more than 256 KiB are on their way to
 *    the receiver, then the send returns when it has taken earlier ones; otherwise two messages.
 *    In a job that survives (RG_SURVIVE) a third message confirms a long one. A long message of
 *    a process to itself is a copy.
 *
 * Every function may return RG_ERR_NOT_INIT, RG_ERR_GROUP (the group is NULL, or
 * the caller is not a member), RG_ERR_RANK (dest or source is not a rank of g, nor
 * RG_PROC_NULL),
 * RG_ERR_TAG, RG_ERR_ARG (a NULL buffer for count > 0; count < 0; an output is
 * NULL; a null datatype), RG_ERR_NOMEM (also: the node's arena is full; nothing
 * was sent then), RG_ERR_TIMEOUT (the blocking functions) and RG_ERR_MPI. A message
 * that cannot be moved for lack of memory gives RG_ERR_NOMEM on both sides. */
#ifndef REGROUP_P2P_H
#define REGROUP_P2P_H

#include <mpi.h>

#include <regroup/error.h>
#include <regroup/group.h>
#include <regroup/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPI's values. For receives and probes: a message of any member; a message with any tag. */
#define RG_ANY_SOURCE MPI_ANY_SOURCE
#define RG_ANY_TAG MPI_ANY_TAG

/* As dest and source: no process. */
#define RG_PROC_NULL MPI_PROC_NULL

/* Sends a message. The caller may change buf when the call returns. */
RG_API int rg_send(rg_group g, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                   int tag);

/* Receives a message. status: NULL, or where to store sender, tag and length.
 * Errors: RG_ERR_TRUNCATE. */
RG_API int rg_recv(rg_group g, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                   int tag, rg_status *status);

/* Sends and receives at the same time, so that no order of calls can deadlock. The
 * buffers do not overlap. dest and source may be the caller itself. Errors: those
 * of rg_send and rg_recv; an error of the receive has precedence. */
RG_API int rg_sendrecv(rg_group g, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                       MPI_Datatype recvtype, int source, int recvtag, rg_status *status);

/* The non-blocking forms, completed by the functions of request.h. Until then the caller
 * does not change the buffer, and does not read a receive buffer; it may free g and the
 * datatype. */
RG_API int rg_isend(rg_group g, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                    int tag, rg_request *request);
RG_API int rg_irecv(rg_group g, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                    int tag, rg_request *request);

/* Cancels a receive that no message has matched yet: *cancelled is 1, and *request is
 * freed and NULL. Otherwise *cancelled is 0, and the caller must still wait for the
 * request. Unlike MPI_Cancel the call completes a cancelled request. Local. Errors:
 * RG_ERR_ARG (the request is not a receive). */
RG_API int rg_request_cancel(rg_request *request, int *cancelled);

/* Waits until a message has arrived that a receive with this source and tag would match
 * next, and describes it in *status. The message is not received. status may be NULL. If
 * several threads receive, another thread may receive the message first: rg_mprobe is for
 * that case. */
RG_API int rg_probe(rg_group g, int source, int tag, rg_status *status);

/* The same without waiting: *there is 1 if there is such a message, else 0; status is set
 * only in the first case. */
RG_API int rg_iprobe(rg_group g, int source, int tag, int *there, rg_status *status);

/* A matched message: one that rg_mprobe or rg_improbe has found, and that only rg_mrecv or
 * rg_imrecv can receive with this handle. NULL is no message. */
typedef struct rg_message_s *rg_message;

/* The matched message of RG_PROC_NULL. It need not be received. */
#define RG_MESSAGE_NO_PROC ((rg_message)1)

/* As rg_probe, and matches the message: no other receive and no probe of any thread finds
 * it any more. The caller must receive it: until then its sender may have to wait. g may be
 * freed before. */
RG_API int rg_mprobe(rg_group g, int source, int tag, rg_message *message, rg_status *status);

/* The same without waiting: *there is 1 if there is such a message, else 0; message and status
 * are set only in the first case. */
RG_API int rg_improbe(rg_group g, int source, int tag, int *there, rg_message *message,
                      rg_status *status);

/* Receive a matched message; *message is NULL then. Any thread. Ranks in the status are those of
 * the group of the probe. Errors: RG_ERR_TRUNCATE, and RG_ERR_TIMEOUT of rg_mrecv (the message
 * has been given up): *message is NULL; RG_ERR_ARG (also: *message is no matched message, or
 * has been received) and RG_ERR_NOMEM: *message can still be received. */
RG_API int rg_mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, rg_message *message,
                    rg_status *status);
RG_API int rg_imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, rg_message *message,
                     rg_request *request);

/* The number of elements of datatype in a message; RG_UNDEFINED if its length is not a
 * multiple of the size of an element. Local. */
RG_API int rg_status_count(const rg_status *status, MPI_Datatype datatype, MPI_Count *count);

#ifdef __cplusplus
}
#endif
#endif
