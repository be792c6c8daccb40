/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between the members of a group, blocking and not. */
#include <regroup/p2p.h>

#include "base/error.h"
#include "formation/p2p_transfer.h"

int rg_send(rg_group g, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
            int tag) {
  rgi_p2p_transfer_args args = {
      .call = __func__, .group = g, .count = count, .type = datatype, .peer = dest, .tag = tag};
  rgi_p2p_transfer transfer;
  RGI_TRY(rgi_p2p_transfer_send(&args, buf, &transfer));
  return rgi_p2p_transfer_wait(&transfer, __func__, NULL);
}

int rg_recv(rg_group g, void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
            rg_status *status) {
  rgi_p2p_transfer_args args = {
      .call = __func__, .group = g, .count = count, .type = datatype, .peer = source, .tag = tag};
  rgi_p2p_transfer transfer;
  RGI_TRY(rgi_p2p_transfer_receive(&args, buf, &transfer));
  return rgi_p2p_transfer_wait(&transfer, __func__, status);
}

int rg_sendrecv(rg_group g, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                int source, int recvtag, rg_status *status) {
  rgi_p2p_transfer_args send = {.call = __func__,
                                .group = g,
                                .count = sendcount,
                                .type = sendtype,
                                .peer = dest,
                                .tag = sendtag};
  rgi_p2p_transfer_args receive = {.call = __func__,
                                   .group = g,
                                   .count = recvcount,
                                   .type = recvtype,
                                   .peer = source,
                                   .tag = recvtag};
  rgi_p2p_transfer in, out;
  RGI_TRY(rgi_p2p_transfer_receive(&receive, recvbuf, &in));
  int error = rgi_p2p_transfer_send(&send, sendbuf, &out);
  if (error) {
    rgi_p2p_transfer_abandon(&in);
    return error;
  }
  int received = rgi_p2p_transfer_wait(&in, __func__, status);
  int sent = rgi_p2p_transfer_wait(&out, __func__, NULL);
  return received ? received : sent;
}

int rg_isend(rg_group g, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
             rg_request *request) {
  rgi_p2p_transfer_args args = {
      .call = __func__, .group = g, .count = count, .type = datatype, .peer = dest, .tag = tag};
  rgi_p2p_request *r;
  RGI_REQUIRE(request);
  RGI_TRY(rgi_p2p_request_make(__func__, &r));
  return rgi_p2p_request_open(r, rgi_p2p_transfer_send(&args, buf, &r->transfer), request);
}

int rg_irecv(rg_group g, void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
             rg_request *request) {
  rgi_p2p_transfer_args args = {
      .call = __func__, .group = g, .count = count, .type = datatype, .peer = source, .tag = tag};
  rgi_p2p_request *r;
  RGI_REQUIRE(request);
  RGI_TRY(rgi_p2p_request_make(__func__, &r));
  return rgi_p2p_request_open(r, rgi_p2p_transfer_receive(&args, buf, &r->transfer), request);
}

int rg_status_count(const rg_status *status, MPI_Datatype datatype, MPI_Count *count) {
  rgi_p2p_data data;
  RGI_REQUIRE(status);
  RGI_REQUIRE(count);
  RGI_TRY(rgi_p2p_data_of(__func__, status, 0, datatype, &data));
  size_t bytes = (size_t)status->bytes;
  if (data.datatype.size == 0)
    *count = bytes == 0 ? 0 : RG_UNDEFINED;
  else
    *count = bytes % data.datatype.size ? RG_UNDEFINED : (MPI_Count)(bytes / data.datatype.size);
  return RG_SUCCESS;
}
