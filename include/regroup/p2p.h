/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between the members of a group.
 *
 * They need no communicator and mean what MPI's mean. Ranks are ranks in the
 * group. Messages of one sender that fit the same receive arrive in the order in
 * which they were sent. Messages of different groups never meet, also where the
 * groups have the same members; nor do they meet collectives on the same group.
 *
 *  - Who calls: the sender one of the sends, the receiver one of the receives,
 *    both members of g and with the same g. Any thread, also several on the same
 *    group (MPI_THREAD_MULTIPLE).
 *  - tag: 0 to 2^28 - 1.
 *  - count elements of any datatype that is committed; what is sent and what is
 *    received have the same sequence of basic types, and the receiver may have
 *    room for more. One that does not lie in memory in one piece, in order, is
 *    packed and unpacked (a copy more on that side).
 *  - Cost inside a node: one message. Up to 32 KiB it is copied in and out of
 *    shared memory, and the send returns at once, unless the receiver has a lot
 *    in its inbox that it has not looked at yet (1 MiB, less on a small arena):
 *    then when it has. A longer one goes through a pipe at which both sides copy
 *    at the same time; its send ends when the receiver has it. Between nodes: up
 *    to 8 KiB one message, of which MPI gets a copy, else two; in a job that is to
 *    survive deaths a third one confirms it. A long message to oneself is a copy.
 *  - A message that is longer than the receiver's buffer is RG_ERR_TRUNCATE at
 *    the receiver: it has come, the part that fits is there, and all later ones
 *    are in order. The sender is not told.
 *  - After RG_ERR_TIMEOUT of a blocking call its message is given up and the
 *    buffer free again; the other side, if it has met this one, gets the same
 *    error. Only a long message to another node is read by MPI until it has gone.
 *  - rg_finalize drops messages that nobody has received.
 *
 * Every function may return RG_ERR_NOT_INIT, RG_ERR_GROUP (the group is NULL, or
 * the caller is no member), RG_ERR_RANK (dest or source is no rank of g),
 * RG_ERR_TAG, RG_ERR_ARG (a NULL buffer for count > 0; count < 0; an output is
 * NULL; a null datatype), RG_ERR_NOMEM (also: the node's arena is full; nothing
 * was sent then), RG_ERR_TIMEOUT (the blocking ones) and RG_ERR_MPI. A message
 * that cannot be moved for want of memory is RG_ERR_NOMEM on both sides. */
#ifndef REGROUP_P2P_H
#define REGROUP_P2P_H

#include <mpi.h>

#include <regroup/error.h>
#include <regroup/group.h>
#include <regroup/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For receives and probes: any member; any tag. */
#define RG_ANY_SOURCE (-2)
#define RG_ANY_TAG (-2)

/* Sends; buf may be changed when it returns. */
RG_API int rg_send(rg_group g, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                   int tag);

/* Receives. status: NULL, or where to put sender, tag and length.
 * Errors: RG_ERR_TRUNCATE. */
RG_API int rg_recv(rg_group g, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                   int tag, rg_status *status);

/* Both at once: no order of calls can deadlock. The buffers do not overlap. dest
 * and source may be the caller itself. Errors: as above, of the receive first. */
RG_API int rg_sendrecv(rg_group g, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                       MPI_Datatype recvtype, int source, int recvtag, rg_status *status);

/* The same without waiting: rg_wait, rg_test and rg_wait_all end them. The buffer
 * stays untouched until then; g and the datatype may be freed. */
RG_API int rg_isend(rg_group g, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                    int tag, rg_request *request);
RG_API int rg_irecv(rg_group g, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                    int tag, rg_request *request);

/* Gives up a receive that no message has met yet: *cancelled is 1 and *request is
 * freed and NULL. Otherwise *cancelled is 0 and the request is to be waited for.
 * Local. Errors: RG_ERR_ARG (the request is no receive). */
RG_API int rg_request_cancel(rg_request *request, int *cancelled);

/* Waits until a message has come that a receive with this source and tag would
 * meet next, and tells of it; it stays there. status may be NULL. With several
 * threads another one may receive it first. */
RG_API int rg_probe(rg_group g, int source, int tag, rg_status *status);

/* The same without waiting: *there is 1 or 0; status is set only for 1. */
RG_API int rg_iprobe(rg_group g, int source, int tag, int *there, rg_status *status);

/* How many elements of datatype a message has: *count is RG_UNDEFINED if its
 * length is no multiple of one. Local. */
RG_API int rg_status_count(const rg_status *status, MPI_Datatype datatype, MPI_Count *count);

#ifdef __cplusplus
}
#endif
#endif
