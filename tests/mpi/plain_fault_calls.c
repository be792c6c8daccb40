/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's calls on communicators that are revoked or have lost a process, for test_fault_calls.py:
 * plain_fault_calls list              the calls that are tried, by name
 * plain_fault_calls MODE FROM COUNT   so many calls from this one on:
 *  - later: each on a communicator that is revoked already,
 *  - pending: each while rank 0 revokes it instead of calling,
 *  - dead: rank 0 is killed while the others are in call FROM; then these make the others.
 *
 * A call must end with MPIX_ERR_REVOKED; after a death with success or MPIX_ERR_PROC_FAILED, and
 * where all members are needed not with success. "WRONG ..." otherwise; at the end "RESULT calls
 * wrong". */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plain.h"

#ifdef MPICH

enum { LARGE = 1 << 18, MOST = 16 };

static int my_rank, size, other; /* other: a rank that is not 0 */
static int in[LARGE], out[LARGE], many_in[MOST * MOST], many_out[MOST * MOST];
static int ones[MOST], displs[MOST];
static MPI_Datatype types[MOST];

static int end_by_wait(int code, MPI_Request *request) {
  return code ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int end_persistent(int code, MPI_Request *request) {
  if (!code)
    code = MPI_Start(request);
  code = end_by_wait(code, request);
  if (*request != MPI_REQUEST_NULL)
    MPI_Request_free(request);
  return code;
}

/* --- the calls ---------------------------------------------------------------------------- */

/* Each gets a communicator c; ALL: all members are needed. */
#define WITH_REQUEST(call)                                                                         \
  MPI_Request r = MPI_REQUEST_NULL;                                                                \
  return end_by_wait(call, &r)
#define WITH_PERSISTENT(call)                                                                      \
  MPI_Request r = MPI_REQUEST_NULL;                                                                \
  return end_persistent(call, &r)
#define WITH_COMM(call)                                                                            \
  MPI_Comm made = MPI_COMM_NULL;                                                                   \
  int code = call;                                                                                 \
  if (!code && made != MPI_COMM_NULL)                                                              \
    MPI_Comm_free(&made);                                                                          \
  return code
#define WITH_COMM_REQUEST(call)                                                                    \
  MPI_Comm made = MPI_COMM_NULL;                                                                   \
  MPI_Request r = MPI_REQUEST_NULL;                                                                \
  int code = end_by_wait(call, &r);                                                                \
  if (!code && made != MPI_COMM_NULL)                                                              \
    MPI_Comm_free(&made);                                                                          \
  return code
#define WITH_WINDOW(call)                                                                          \
  MPI_Win made;                                                                                    \
  int code = call;                                                                                 \
  if (!code)                                                                                       \
    MPI_Win_free(&made);                                                                           \
  return code

/* What is sent to a member, and received from one, in an all-to-all. */
#define MANY many_out, 1, MPI_INT, many_in, 1, MPI_INT
#define MANY_V many_out, 1, MPI_INT, many_in, ones, displs, MPI_INT
#define MANY_VV many_out, ones, displs, MPI_INT, many_in, ones, displs, MPI_INT
#define MANY_W many_out, ones, displs, types, many_in, ones, displs, types
#define SCATTER_V many_out, ones, displs, MPI_INT, many_in, 1, MPI_INT
#define SUM out, in, 1, MPI_INT, MPI_SUM
#define SUM_V many_out, many_in, ones, MPI_INT, MPI_SUM

/* X(kind, name, body): kind: what communicator it is for, and whether it needs rank 0: ALL members;
 * ZERO alone; NONE: it may end without, so that it is not tried while it is pending. */
#define CALLS(X)                                                                                   \
  X(ZERO, MPI_Send, return MPI_Send(out, LARGE, MPI_INT, 0, 1, c))                                 \
  X(ZERO, MPI_Ssend, return MPI_Ssend(out, 1, MPI_INT, 0, 1, c))                                   \
  X(NONE, MPI_Rsend, return MPI_Rsend(out, 1, MPI_INT, 0, 1, c))                                   \
  X(NONE, MPI_Bsend, return MPI_Bsend(out, 1, MPI_INT, 0, 1, c))                                   \
  X(ZERO, MPI_Recv, return MPI_Recv(in, 1, MPI_INT, 0, 2, c, MPI_STATUS_IGNORE))                   \
  X(ZERO, MPI_Sendrecv,                                                                            \
    return MPI_Sendrecv(out, 1, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 2, c, MPI_STATUS_IGNORE))        \
  X(ZERO, MPI_Sendrecv_replace,                                                                    \
    return MPI_Sendrecv_replace(in, 1, MPI_INT, 0, 1, 0, 2, c, MPI_STATUS_IGNORE))                 \
  X(ZERO, MPI_Probe, return MPI_Probe(0, 2, c, MPI_STATUS_IGNORE))                                 \
  X(ZERO, MPI_Mprobe, return matched_probe(c))                                                     \
  X(ZERO, MPI_Iprobe, return look_for(c, 0))                                                       \
  X(ZERO, MPI_Improbe, return look_for(c, 1))                                                      \
  X(ZERO, MPI_Isend, WITH_REQUEST(MPI_Isend(out, LARGE, MPI_INT, 0, 1, c, &r)))                    \
  X(ZERO, MPI_Issend, WITH_REQUEST(MPI_Issend(out, 1, MPI_INT, 0, 1, c, &r)))                      \
  X(NONE, MPI_Irsend, WITH_REQUEST(MPI_Irsend(out, 1, MPI_INT, 0, 1, c, &r)))                      \
  X(NONE, MPI_Ibsend, WITH_REQUEST(MPI_Ibsend(out, 1, MPI_INT, 0, 1, c, &r)))                      \
  X(ZERO, MPI_Irecv, WITH_REQUEST(MPI_Irecv(in, 1, MPI_INT, 0, 2, c, &r)))                         \
  X(ZERO, MPI_Isendrecv,                                                                           \
    WITH_REQUEST(MPI_Isendrecv(out, 1, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 2, c, &r)))               \
  X(ZERO, MPI_Isendrecv_replace,                                                                   \
    WITH_REQUEST(MPI_Isendrecv_replace(in, 1, MPI_INT, 0, 1, 0, 2, c, &r)))                        \
  X(ZERO, MPI_Waitall, return end_two(c, 0))                                                       \
  X(ZERO, MPI_Waitany, return end_two(c, 1))                                                       \
  X(ZERO, MPI_Waitsome, return end_two(c, 2))                                                      \
  X(ZERO, MPI_Test, return end_two(c, 3))                                                          \
  X(ZERO, MPI_Testall, return end_two(c, 4))                                                       \
  X(ZERO, MPI_Testany, return end_two(c, 5))                                                       \
  X(ZERO, MPI_Testsome, return end_two(c, 6))                                                      \
  X(ZERO, MPI_Request_get_status, return end_two(c, 7))                                            \
  X(ZERO, MPI_Send_init, WITH_PERSISTENT(MPI_Send_init(out, LARGE, MPI_INT, 0, 1, c, &r)))         \
  X(ZERO, MPI_Ssend_init, WITH_PERSISTENT(MPI_Ssend_init(out, 1, MPI_INT, 0, 1, c, &r)))           \
  X(NONE, MPI_Rsend_init, WITH_PERSISTENT(MPI_Rsend_init(out, 1, MPI_INT, 0, 1, c, &r)))           \
  X(NONE, MPI_Bsend_init, WITH_PERSISTENT(MPI_Bsend_init(out, 1, MPI_INT, 0, 1, c, &r)))           \
  X(ZERO, MPI_Recv_init, WITH_PERSISTENT(MPI_Recv_init(in, 1, MPI_INT, 0, 2, c, &r)))              \
  X(ZERO, MPI_Psend_init, return send_parts(c))                                                    \
  X(ZERO, MPI_Precv_init,                                                                          \
    WITH_PERSISTENT(MPI_Precv_init(in, 2, 4, MPI_INT, 0, 3, c, MPI_INFO_NULL, &r)))                \
  X(ZERO, MPI_Parrived, return look_for_part(c))                                                   \
  X(ALL, MPI_Barrier, return MPI_Barrier(c))                                                       \
  X(ZERO, MPI_Bcast, return MPI_Bcast(in, 1, MPI_INT, 0, c))                                       \
  X(NONE, MPI_Gather, return MPI_Gather(MANY, other, c))                                           \
  X(NONE, MPI_Gatherv, return MPI_Gatherv(MANY_V, other, c))                                       \
  X(ZERO, MPI_Scatter, return MPI_Scatter(MANY, 0, c))                                             \
  X(ZERO, MPI_Scatterv, return MPI_Scatterv(SCATTER_V, 0, c))                                      \
  X(ALL, MPI_Allgather, return MPI_Allgather(MANY, c))                                             \
  X(ALL, MPI_Allgatherv, return MPI_Allgatherv(MANY_V, c))                                         \
  X(ALL, MPI_Alltoall, return MPI_Alltoall(MANY, c))                                               \
  X(ALL, MPI_Alltoallv, return MPI_Alltoallv(MANY_VV, c))                                          \
  X(ALL, MPI_Alltoallw, return MPI_Alltoallw(MANY_W, c))                                           \
  X(NONE, MPI_Reduce, return MPI_Reduce(SUM, other, c))                                            \
  X(ALL, MPI_Allreduce, return MPI_Allreduce(SUM, c))                                              \
  X(ALL, MPI_Reduce_scatter, return MPI_Reduce_scatter(SUM_V, c))                                  \
  X(ALL, MPI_Reduce_scatter_block,                                                                 \
    return MPI_Reduce_scatter_block(many_out, in, 1, MPI_INT, MPI_SUM, c))                         \
  X(ZERO, MPI_Scan, return MPI_Scan(SUM, c))                                                       \
  X(ZERO, MPI_Exscan, return MPI_Exscan(SUM, c))                                                   \
  X(ALL, MPI_Ibarrier, WITH_REQUEST(MPI_Ibarrier(c, &r)))                                          \
  X(ZERO, MPI_Ibcast, WITH_REQUEST(MPI_Ibcast(in, 1, MPI_INT, 0, c, &r)))                          \
  X(NONE, MPI_Igather, WITH_REQUEST(MPI_Igather(MANY, other, c, &r)))                              \
  X(NONE, MPI_Igatherv, WITH_REQUEST(MPI_Igatherv(MANY_V, other, c, &r)))                          \
  X(ZERO, MPI_Iscatter, WITH_REQUEST(MPI_Iscatter(MANY, 0, c, &r)))                                \
  X(ZERO, MPI_Iscatterv, WITH_REQUEST(MPI_Iscatterv(SCATTER_V, 0, c, &r)))                         \
  X(ALL, MPI_Iallgather, WITH_REQUEST(MPI_Iallgather(MANY, c, &r)))                                \
  X(ALL, MPI_Iallgatherv, WITH_REQUEST(MPI_Iallgatherv(MANY_V, c, &r)))                            \
  X(ALL, MPI_Ialltoall, WITH_REQUEST(MPI_Ialltoall(MANY, c, &r)))                                  \
  X(ALL, MPI_Ialltoallv, WITH_REQUEST(MPI_Ialltoallv(MANY_VV, c, &r)))                             \
  X(ALL, MPI_Ialltoallw, WITH_REQUEST(MPI_Ialltoallw(MANY_W, c, &r)))                              \
  X(NONE, MPI_Ireduce, WITH_REQUEST(MPI_Ireduce(SUM, other, c, &r)))                               \
  X(ALL, MPI_Iallreduce, WITH_REQUEST(MPI_Iallreduce(SUM, c, &r)))                                 \
  X(ALL, MPI_Ireduce_scatter, WITH_REQUEST(MPI_Ireduce_scatter(SUM_V, c, &r)))                     \
  X(ALL, MPI_Ireduce_scatter_block,                                                                \
    WITH_REQUEST(MPI_Ireduce_scatter_block(many_out, in, 1, MPI_INT, MPI_SUM, c, &r)))             \
  X(ZERO, MPI_Iscan, WITH_REQUEST(MPI_Iscan(SUM, c, &r)))                                          \
  X(ZERO, MPI_Iexscan, WITH_REQUEST(MPI_Iexscan(SUM, c, &r)))                                      \
  X(ALL, MPI_Barrier_init, WITH_PERSISTENT(MPI_Barrier_init(c, MPI_INFO_NULL, &r)))                \
  X(ZERO, MPI_Bcast_init,                                                                          \
    WITH_PERSISTENT(MPI_Bcast_init(in, 1, MPI_INT, 0, c, MPI_INFO_NULL, &r)))                      \
  X(NONE, MPI_Gather_init, WITH_PERSISTENT(MPI_Gather_init(MANY, other, c, MPI_INFO_NULL, &r)))    \
  X(NONE, MPI_Gatherv_init,                                                                        \
    WITH_PERSISTENT(MPI_Gatherv_init(MANY_V, other, c, MPI_INFO_NULL, &r)))                        \
  X(ZERO, MPI_Scatter_init, WITH_PERSISTENT(MPI_Scatter_init(MANY, 0, c, MPI_INFO_NULL, &r)))      \
  X(ZERO, MPI_Scatterv_init,                                                                       \
    WITH_PERSISTENT(MPI_Scatterv_init(SCATTER_V, 0, c, MPI_INFO_NULL, &r)))                        \
  X(ALL, MPI_Allgather_init, WITH_PERSISTENT(MPI_Allgather_init(MANY, c, MPI_INFO_NULL, &r)))      \
  X(ALL, MPI_Allgatherv_init, WITH_PERSISTENT(MPI_Allgatherv_init(MANY_V, c, MPI_INFO_NULL, &r)))  \
  X(ALL, MPI_Alltoall_init, WITH_PERSISTENT(MPI_Alltoall_init(MANY, c, MPI_INFO_NULL, &r)))        \
  X(ALL, MPI_Alltoallv_init, WITH_PERSISTENT(MPI_Alltoallv_init(MANY_VV, c, MPI_INFO_NULL, &r)))   \
  X(ALL, MPI_Alltoallw_init, WITH_PERSISTENT(MPI_Alltoallw_init(MANY_W, c, MPI_INFO_NULL, &r)))    \
  X(NONE, MPI_Reduce_init, WITH_PERSISTENT(MPI_Reduce_init(SUM, other, c, MPI_INFO_NULL, &r)))     \
  X(ALL, MPI_Allreduce_init, WITH_PERSISTENT(MPI_Allreduce_init(SUM, c, MPI_INFO_NULL, &r)))       \
  X(ALL, MPI_Reduce_scatter_init,                                                                  \
    WITH_PERSISTENT(MPI_Reduce_scatter_init(SUM_V, c, MPI_INFO_NULL, &r)))                         \
  X(ALL, MPI_Reduce_scatter_block_init,                                                            \
    WITH_PERSISTENT(                                                                               \
        MPI_Reduce_scatter_block_init(many_out, in, 1, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &r)))   \
  X(ZERO, MPI_Scan_init, WITH_PERSISTENT(MPI_Scan_init(SUM, c, MPI_INFO_NULL, &r)))                \
  X(ZERO, MPI_Exscan_init, WITH_PERSISTENT(MPI_Exscan_init(SUM, c, MPI_INFO_NULL, &r)))            \
  X(RING, MPI_Neighbor_allgather, return MPI_Neighbor_allgather(MANY, c))                          \
  X(RING, MPI_Neighbor_allgatherv, return MPI_Neighbor_allgatherv(MANY_V, c))                      \
  X(RING, MPI_Neighbor_alltoall, return MPI_Neighbor_alltoall(MANY, c))                            \
  X(RING, MPI_Neighbor_alltoallv, return MPI_Neighbor_alltoallv(MANY_VV, c))                       \
  X(RING, MPI_Neighbor_alltoallw, return neighbors(c, 0))                                          \
  X(RING, MPI_Ineighbor_allgather, WITH_REQUEST(MPI_Ineighbor_allgather(MANY, c, &r)))             \
  X(RING, MPI_Ineighbor_allgatherv, WITH_REQUEST(MPI_Ineighbor_allgatherv(MANY_V, c, &r)))         \
  X(RING, MPI_Ineighbor_alltoall, WITH_REQUEST(MPI_Ineighbor_alltoall(MANY, c, &r)))               \
  X(RING, MPI_Ineighbor_alltoallv, WITH_REQUEST(MPI_Ineighbor_alltoallv(MANY_VV, c, &r)))          \
  X(RING, MPI_Ineighbor_alltoallw, return neighbors(c, 1))                                         \
  X(RING, MPI_Neighbor_allgather_init,                                                             \
    WITH_PERSISTENT(MPI_Neighbor_allgather_init(MANY, c, MPI_INFO_NULL, &r)))                      \
  X(RING, MPI_Neighbor_allgatherv_init,                                                            \
    WITH_PERSISTENT(MPI_Neighbor_allgatherv_init(MANY_V, c, MPI_INFO_NULL, &r)))                   \
  X(RING, MPI_Neighbor_alltoall_init,                                                              \
    WITH_PERSISTENT(MPI_Neighbor_alltoall_init(MANY, c, MPI_INFO_NULL, &r)))                       \
  X(RING, MPI_Neighbor_alltoallv_init,                                                             \
    WITH_PERSISTENT(MPI_Neighbor_alltoallv_init(MANY_VV, c, MPI_INFO_NULL, &r)))                   \
  X(RING, MPI_Neighbor_alltoallw_init, return neighbors(c, 2))                                     \
  X(ALL, MPI_Comm_dup, WITH_COMM(MPI_Comm_dup(c, &made)))                                          \
  X(ALL, MPI_Comm_dup_with_info, WITH_COMM(MPI_Comm_dup_with_info(c, MPI_INFO_NULL, &made)))       \
  X(ALL, MPI_Comm_idup, WITH_COMM_REQUEST(MPI_Comm_idup(c, &made, &r)))                            \
  X(ALL, MPI_Comm_idup_with_info,                                                                  \
    WITH_COMM_REQUEST(MPI_Comm_idup_with_info(c, MPI_INFO_NULL, &made, &r)))                       \
  X(ALL, MPI_Comm_split, WITH_COMM(MPI_Comm_split(c, 0, 0, &made)))                                \
  X(ALL, MPI_Comm_split_type,                                                                      \
    WITH_COMM(MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made)))              \
  X(ALL, MPI_Comm_create, return create(c, 0))                                                     \
  X(ALL, MPI_Comm_create_group, return create(c, 1))                                               \
  X(ALL, MPI_Cart_create, WITH_COMM(MPI_Cart_create(c, 1, &size, ones, 0, &made)))                 \
  X(RING, MPI_Cart_sub, WITH_COMM(MPI_Cart_sub(c, ones, &made)))                                   \
  X(ALL, MPI_Graph_create, return create_graph(c))                                                 \
  X(ALL, MPI_Dist_graph_create,                                                                    \
    WITH_COMM(MPI_Dist_graph_create(c, 1, &my_rank, ones, &other, MPI_UNWEIGHTED, MPI_INFO_NULL,   \
                                    0, &made)))                                                    \
  X(ALL, MPI_Dist_graph_create_adjacent,                                                           \
    WITH_COMM(MPI_Dist_graph_create_adjacent(c, 1, &my_rank, MPI_UNWEIGHTED, 1, &my_rank,          \
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made)))            \
  X(INTER, MPI_Intercomm_merge, WITH_COMM(MPI_Intercomm_merge(c, 0, &made)))                       \
  X(ALL, MPI_Win_create, WITH_WINDOW(MPI_Win_create(in, 64, 1, MPI_INFO_NULL, c, &made)))          \
  X(ALL, MPI_Win_allocate, return allocate(c, 0))                                                  \
  X(ALL, MPI_Win_allocate_shared, return allocate(c, 1))                                           \
  X(ALL, MPI_Win_create_dynamic, WITH_WINDOW(MPI_Win_create_dynamic(MPI_INFO_NULL, c, &made)))

static int look_for(MPI_Comm c, int matched) {
  int flag = 0, code = MPI_SUCCESS;
  MPI_Message message;
  while (!flag && !code)
    code = matched ? MPI_Improbe(0, 2, c, &flag, &message, MPI_STATUS_IGNORE)
                   : MPI_Iprobe(0, 2, c, &flag, MPI_STATUS_IGNORE);
  return code;
}

static int matched_probe(MPI_Comm c) {
  MPI_Message message;
  return MPI_Mprobe(0, 2, c, &message, MPI_STATUS_IGNORE);
}

static int code_in(int code, int n, const MPI_Status statuses[]) {
  for (int i = 0; code == MPI_ERR_IN_STATUS && i < n; i++)
    if (statuses[i].MPI_ERROR && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
      return statuses[i].MPI_ERROR;
  return code;
}

/* Two receives that only the end of the communicator or of rank 0 ends. */
static int end_two(MPI_Comm c, int how) {
  MPI_Request r[2];
  MPI_Status s[2];
  int at[2], n = 0, flag = 0, code = MPI_SUCCESS;
  for (int i = 0; i < 2; i++)
    MPI_Irecv(&in[i], 1, MPI_INT, 0, 4 + i, c, &r[i]);
  switch (how) {
  case 0:
    code = code_in(MPI_Waitall(2, r, s), 2, s);
    break;
  case 1:
    code = MPI_Waitany(2, r, &n, s);
    break;
  case 2:
    code = MPI_Waitsome(2, r, &n, at, s);
    code = code_in(code, n, s);
    break;
  case 3:
    while (!flag && !code)
      code = MPI_Test(&r[1], &flag, s);
    break;
  case 4:
    while (!flag && !code)
      code = code_in(MPI_Testall(2, r, &flag, s), 2, s);
    break;
  case 5:
    while (!flag && !code)
      code = MPI_Testany(2, r, &n, &flag, s);
    break;
  case 6:
    while (n == 0 && !code)
      code = MPI_Testsome(2, r, &n, at, s);
    code = code_in(code, n, s);
    break;
  default:
    while (!flag && !code)
      code = MPI_Request_get_status(r[0], &flag, s);
    code = MPI_Wait(&r[0], s);
  }
  MPI_Waitall(2, r, s);
  return code;
}

static int send_parts(MPI_Comm c) {
  MPI_Request r = MPI_REQUEST_NULL;
  int code = MPI_Psend_init(out, 2, LARGE / 2, MPI_INT, 0, 3, c, MPI_INFO_NULL, &r);
  if (!code)
    code = MPI_Start(&r);
  for (int i = 0; i < 2 && !code; i++)
    code = MPI_Pready(i, r);
  code = end_by_wait(code, &r);
  if (r != MPI_REQUEST_NULL)
    MPI_Request_free(&r);
  return code;
}

static int look_for_part(MPI_Comm c) {
  MPI_Request r = MPI_REQUEST_NULL;
  int flag = 0, code = MPI_Precv_init(in, 2, 4, MPI_INT, 0, 3, c, MPI_INFO_NULL, &r);
  if (!code)
    code = MPI_Start(&r);
  while (!code && !flag)
    code = MPI_Parrived(r, 1, &flag);
  end_by_wait(MPI_SUCCESS, &r);
  if (r != MPI_REQUEST_NULL)
    MPI_Request_free(&r);
  return code;
}

static int neighbors(MPI_Comm c, int how) {
  MPI_Aint at[2] = {0, sizeof(int)};
  MPI_Request r = MPI_REQUEST_NULL;
  if (how == 0)
    return MPI_Neighbor_alltoallw(many_out, ones, at, types, many_in, ones, at, types, c);
  if (how == 1)
    return end_by_wait(
        MPI_Ineighbor_alltoallw(many_out, ones, at, types, many_in, ones, at, types, c, &r), &r);
  return end_persistent(MPI_Neighbor_alltoallw_init(many_out, ones, at, types, many_in, ones, at,
                                                    types, c, MPI_INFO_NULL, &r),
                        &r);
}

static int create(MPI_Comm c, int by_group) {
  MPI_Group group;
  MPI_Comm_group(c, &group);
  MPI_Comm made = MPI_COMM_NULL;
  int code =
      by_group ? MPI_Comm_create_group(c, group, 7, &made) : MPI_Comm_create(c, group, &made);
  MPI_Group_free(&group);
  if (!code)
    MPI_Comm_free(&made);
  return code;
}

static int create_graph(MPI_Comm c) {
  int index[MOST], edges[MOST];
  for (int i = 0; i < size; i++) {
    index[i] = i + 1;
    edges[i] = i;
  }
  WITH_COMM(MPI_Graph_create(c, size, index, edges, 0, &made));
}

static int allocate(MPI_Comm c, int shared) {
  void *base;
  WITH_WINDOW(shared ? MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, c, &base, &made)
                     : MPI_Win_allocate(64, 1, MPI_INFO_NULL, c, &base, &made));
}

typedef enum { ALL, ZERO, NONE, RING, INTER } call_kind;

#define FUNCTION(kind, name, body)                                                                 \
  static int try_##name(MPI_Comm c) {                                                              \
    body;                                                                                          \
  }
CALLS(FUNCTION)

static const struct {
  call_kind kind;
  const char *name;
  int (*try)(MPI_Comm c);
} calls[] = {
#define ROW(kind, name, body) {kind, #name, try_##name},
    CALLS(ROW)
#undef ROW
};

enum { COUNT = sizeof calls / sizeof *calls };

/* --- on what --------------------------------------------------------------------------------- */

static int wrong;

static void fail(int call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(code, text, &length);
  printf("WRONG rank %d: %s (%d: %s)\n", my_rank, calls[call].name, code, text);
  fflush(stdout);
  wrong++;
}

/* Two sides: even and odd ranks. */
static MPI_Comm make_inter(void) {
  MPI_Comm half, made;
  MPI_Comm_split(MPI_COMM_WORLD, my_rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - my_rank % 2, 8, &made);
  MPI_Comm_free(&half);
  return made;
}

static MPI_Comm comm_for(int call) {
  MPI_Comm made = MPI_COMM_NULL;
  if (calls[call].kind == RING)
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, ones, 0, &made);
  else if (calls[call].kind == INTER)
    made = make_inter();
  else
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

static void await_revocation(MPI_Comm comm) {
  int flag;
  while (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE) !=
         MPIX_ERR_REVOKED)
    ;
}

static void try_later(int call) {
  MPI_Comm comm = comm_for(call);
  if (my_rank == 0)
    MPIX_Comm_revoke(comm);
  await_revocation(comm);
  int code = calls[call].try(comm);
  if (code != MPIX_ERR_REVOKED)
    fail(call, code);
  MPI_Comm_free(&comm);
}

/* Rank 0 receives meanwhile what is sent to it on the revoked communicator. */
static void try_pending(int call) {
  MPI_Comm comm = comm_for(call);
  int all = 1;
  if (my_rank == 0) {
    usleep(20000);
    MPIX_Comm_revoke(comm);
  } else {
    int code = calls[call].try(comm);
    if (code != MPIX_ERR_REVOKED)
      fail(call, code);
  }
  MPIX_Comm_agree(MPI_COMM_WORLD, &all);
  MPI_Comm_free(&comm);
}

static void try_dead(int from, int count) {
  MPI_Comm comm[COUNT];
  for (int i = from; i < from + count; i++)
    comm[i - from] = comm_for(i % COUNT);
  MPI_Barrier(MPI_COMM_WORLD);
  if (my_rank == 0) {
    usleep(20000);
    raise(SIGKILL);
  }
  for (int i = from; i < from + count; i++) {
    int call = i % COUNT, code = calls[call].try(comm[i - from]);
    call_kind kind = calls[call].kind;
    if (code != MPIX_ERR_PROC_FAILED && (code || kind == ALL))
      fail(call, code);
    MPI_Comm_free(&comm[i - from]);
  }
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "list";
  static char buffer[1 << 16];
  int n = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Buffer_attach(buffer, sizeof buffer);
  other = size - 1;
  for (int i = 0; i < MOST; i++) {
    ones[i] = 1;
    displs[i] = i;
    types[i] = MPI_INT;
  }
  for (int i = 0; i < COUNT && strcmp(mode, "list") == 0; i++)
    printf("%s\n", calls[i].name);
  int from = argc > 3 ? atoi(argv[2]) : 0, count = argc > 3 ? atoi(argv[3]) : 0;
  for (int i = from; i < from + count && strcmp(mode, "later") == 0; i++, n++)
    try_later(i % COUNT);
  for (int i = from; i < from + count && strcmp(mode, "pending") == 0; i++)
    if (calls[i % COUNT].kind != NONE) {
      try_pending(i % COUNT);
      n++;
    }
  if (strcmp(mode, "dead") == 0)
    try_dead(from, n = count);
  if (my_rank == size - 1)
    printf("RESULT %d %d\n", n, wrong);
  MPI_Finalize();
  return wrong != 0;
}

#else
int main(void) {
  return 0;
}
#endif
