/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by fault_messages.c once for each form of MPI's functions: FORM(name), with counts of
 * type COUNT. */

RG_API int FORM(MPI_Send)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                          MPI_Comm comm) {
  BLOCKING(FORM(MPI_Send), SEND, MPI_STATUS_IGNORE,
           FORM(PMPI_Isend)(buffer, count, type, peer, tag, comm, &request), buffer, count, type,
           peer, tag, comm);
}

RG_API int FORM(MPI_Ssend)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm comm) {
  BLOCKING(FORM(MPI_Ssend), SEND, MPI_STATUS_IGNORE,
           FORM(PMPI_Issend)(buffer, count, type, peer, tag, comm, &request), buffer, count, type,
           peer, tag, comm);
}

RG_API int FORM(MPI_Rsend)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm comm) {
  BLOCKING(FORM(MPI_Rsend), SEND, MPI_STATUS_IGNORE,
           FORM(PMPI_Irsend)(buffer, count, type, peer, tag, comm, &request), buffer, count, type,
           peer, tag, comm);
}

RG_API int FORM(MPI_Bsend)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm comm) {
  BLOCKING(FORM(MPI_Bsend), SEND, MPI_STATUS_IGNORE,
           FORM(PMPI_Ibsend)(buffer, count, type, peer, tag, comm, &request), buffer, count, type,
           peer, tag, comm);
}

RG_API int FORM(MPI_Recv)(void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                          MPI_Comm comm, MPI_Status *status) {
  BLOCKING(FORM(MPI_Recv), RECEIVE, status,
           FORM(PMPI_Irecv)(buffer, count, type, peer, tag, comm, &request), buffer, count, type,
           peer, tag, comm, status);
}

RG_API int FORM(MPI_Isend)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm comm, MPI_Request *request) {
  STARTING(FORM(MPI_Isend), SEND, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Issend)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                            MPI_Comm comm, MPI_Request *request) {
  STARTING(FORM(MPI_Issend), SEND, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Irsend)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                            MPI_Comm comm, MPI_Request *request) {
  STARTING(FORM(MPI_Irsend), SEND, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Ibsend)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                            MPI_Comm comm, MPI_Request *request) {
  STARTING(FORM(MPI_Ibsend), SEND, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Irecv)(void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm comm, MPI_Request *request) {
  STARTING(FORM(MPI_Irecv), RECEIVE, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Sendrecv)(const void *send, COUNT send_count, MPI_Datatype send_type, int to,
                              int send_tag, void *recv, COUNT recv_count, MPI_Datatype recv_type,
                              int from, int recv_tag, MPI_Comm comm, MPI_Status *status) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (!state)
    return RGI_INTERCEPT_NEXT(FORM(MPI_Sendrecv))(send, send_count, send_type, to, send_tag, recv,
                                                  recv_count, recv_type, from, recv_tag, comm,
                                                  status);
  if (rgi_fault_wait_look() && rgi_fault_comm_is_revoked(state))
    return refuse_revoked(state);
  int code = FORM(PMPI_Irecv)(recv, recv_count, recv_type, from, recv_tag, comm, &requests[0]);
  if (!code && !find_cause(state, RGI_FAULT_SEND, to))
    code = FORM(PMPI_Isend)(send, send_count, send_type, to, send_tag, comm, &requests[1]);
  return end_both(state, requests, code, to, from, status);
}

RG_API int FORM(MPI_Sendrecv_replace)(void *buffer, COUNT count, MPI_Datatype type, int to,
                                      int send_tag, int from, int recv_tag, MPI_Comm comm,
                                      MPI_Status *status) {
  COUNT bytes = 0, at = 0;
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  if (!state)
    return RGI_INTERCEPT_NEXT(FORM(MPI_Sendrecv_replace))(buffer, count, type, to, send_tag, from,
                                                          recv_tag, comm, status);
  int code = FORM(PMPI_Pack_size)(count, type, comm, &bytes);
  void *copy = code ? NULL : malloc((size_t)bytes + 1);
  if (code || !copy)
    return code ? code : rgi_intercept_raise_code(comm, MPI_ERR_NO_MEM, "MPI_Sendrecv_replace");
  code = FORM(PMPI_Pack)(buffer, count, type, copy, bytes, &at, comm);
  if (!code)
    code = FORM(MPI_Sendrecv)(copy, at, MPI_PACKED, to, send_tag, buffer, count, type, from,
                              recv_tag, comm, status);
  free(copy);
  return code;
}

RG_API int FORM(MPI_Isendrecv)(const void *send, COUNT send_count, MPI_Datatype send_type, int to,
                               int send_tag, void *recv, COUNT recv_count, MPI_Datatype recv_type,
                               int from, int recv_tag, MPI_Comm comm, MPI_Request *request) {
  PAIR(FORM(MPI_Isendrecv), send, send_count, send_type, to, send_tag, recv, recv_count, recv_type,
       from, recv_tag, comm, request);
}

RG_API int FORM(MPI_Isendrecv_replace)(void *buffer, COUNT count, MPI_Datatype type, int to,
                                       int send_tag, int from, int recv_tag, MPI_Comm comm,
                                       MPI_Request *request) {
  PAIR(FORM(MPI_Isendrecv_replace), buffer, count, type, to, send_tag, from, recv_tag, comm,
       request);
}

RG_API int FORM(MPI_Send_init)(const void *buffer, COUNT count, MPI_Datatype type, int peer,
                               int tag, MPI_Comm comm, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Send_init), SEND, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Ssend_init)(const void *buffer, COUNT count, MPI_Datatype type, int peer,
                                int tag, MPI_Comm comm, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Ssend_init), SEND, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Rsend_init)(const void *buffer, COUNT count, MPI_Datatype type, int peer,
                                int tag, MPI_Comm comm, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Rsend_init), SEND, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Bsend_init)(const void *buffer, COUNT count, MPI_Datatype type, int peer,
                                int tag, MPI_Comm comm, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Bsend_init), SEND, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Recv_init)(void *buffer, COUNT count, MPI_Datatype type, int peer, int tag,
                               MPI_Comm comm, MPI_Request *request) {
  PERSISTENT(FORM(MPI_Recv_init), RECEIVE, buffer, count, type, peer, tag, comm, request);
}

RG_API int FORM(MPI_Mrecv)(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message,
                           MPI_Status *status) {
  MPI_Request request;
  rgi_fault_request noted = take_message(message);
  if (!noted.state)
    return RGI_INTERCEPT_NEXT(FORM(MPI_Mrecv))(buffer, count, type, message, status);
  int code = FORM(PMPI_Imrecv)(buffer, count, type, message, &request);
  if (!code)
    code = rgi_fault_wait_end(&request, &noted, 1, status);
  return rgi_fault_wait_raise(noted.state, code);
}

RG_API int FORM(MPI_Imrecv)(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message,
                            MPI_Request *request) {
  rgi_fault_request noted = take_message(message);
  int code = noted.state
                 ? FORM(PMPI_Imrecv)(buffer, count, type, message, request)
                 : RGI_INTERCEPT_NEXT(FORM(MPI_Imrecv))(buffer, count, type, message, request);
  if (noted.state && !code)
    rgi_fault_request_note(*request, &noted);
  return code;
}
