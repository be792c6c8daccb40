/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The engine's transport in a job that survives: queries to the node daemons
 * (noded/server/server.h), without MPI and ARMCI. An operation on memory of the caller's node is
 * complete when it has been started. The elements of a dead process can be reached as long as a
 * process of its node lives; after that, all operations on that node end with RG_ERR_PROC_FAILED.
 * Operations of one process on one node are done in the order in which they were started. Starting
 * takes memory only: connections are made when they are needed. */
#ifndef RGI_DAEMON_TRANSPORT_H
#define RGI_DAEMON_TRANSPORT_H

#include "engine/transport.h"

extern const rgi_transport rgi_daemon_transport;

#endif
