/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The request of a message between members of a group. */
#ifndef RGI_P2P_REQUEST_H
#define RGI_P2P_REQUEST_H

#include "formation/p2p_transfer.h"
#include "progress/request.h"

typedef struct {
  struct rg_request_s base;
  rgi_p2p_transfer transfer; /* to be started in place */
} rgi_p2p_request;

/* RG_ERR_NOMEM. */
int rgi_p2p_request_make(const char *call, rgi_p2p_request **made);

/* error: of the start of the transfer; after one the request is freed. Otherwise the request takes
 * a reference to the members and a copy of the datatype, so that the application may free both. */
int rgi_p2p_request_open(rgi_p2p_request *r, int error, rg_request *request);

#endif
