/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Waits for requests that end when a process that they need dies or the communicator is revoked. */
#ifndef RGI_FAULT_WAIT_H
#define RGI_FAULT_WAIT_H

#include "mpi/fault/fault_request.h"

/* Whether any process has died or anything is revoked: looks now and then, and receives meanwhile
 * what is sent on revoked communicators. */
int rgi_fault_wait_look(void);

/* Looks whether a request has ended, or ends it. Returns the code for the program, for which no
 * handler has been called yet if it is one of the extension's; *flag: the request has ended, or the
 * code is an error. blocking: the program has no request that it could wait for again. */
int rgi_fault_wait_step(MPI_Request *request, const rgi_fault_request *noted, int blocking,
                        int *flag, MPI_Status *status);

/* A collective that is to be started, with the error that it would end with. */
rgi_fault_request rgi_fault_wait_collective(rgi_fault_comm *state);

/* The library's error with which a request would end now. */
int rgi_fault_wait_cause(const rgi_fault_request *noted);

/* Until it has ended. */
int rgi_fault_wait_end(MPI_Request *request, const rgi_fault_request *noted, int blocking,
                       MPI_Status *status);

/* Whether a code is one of the extension's; then, and only then, it is still to be raised. */
int rgi_fault_wait_is_ours(int code);
int rgi_fault_wait_raise(rgi_fault_comm *state, int code);

/* MPI's code for the library's error. */
int rgi_fault_wait_code(int error);

/* Receives what is sent to this process on revoked communicators, so that the sends end. */
void rgi_fault_wait_drain(void);

#endif
