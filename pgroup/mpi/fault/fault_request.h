/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What fault tolerance knows of the program's requests: whom each of them needs. A request is noted
 * when MPI has made it and forgotten when the program has ended it; matched messages are noted
 * like requests. */
#ifndef RGI_FAULT_REQUEST_H
#define RGI_FAULT_REQUEST_H

#include "mpi/fault/fault_comm.h"

/* PARTS: a partitioned message; PAIR: a send and a receive in one; OWN: an operation of the
 * library's (fault_operation.h). */
typedef enum {
  RGI_FAULT_SEND,
  RGI_FAULT_RECEIVE,
  RGI_FAULT_COLLECTIVE,
  RGI_FAULT_PARTS,
  RGI_FAULT_PAIR,
  RGI_FAULT_OWN
} rgi_fault_kind;

typedef struct {
  rgi_fault_comm *state; /* NULL: the request is not known */
  rgi_fault_kind kind;
  int peer;               /* a rank, MPI_ANY_SOURCE or MPI_PROC_NULL */
  int to;                 /* of a pair: the receiver */
  int persistent, active; /* active: of a persistent one: it has been started */
  int given_up;           /* a persistent one that MPI has not ended */
  int finishes;           /* rgi_fault_operation_finish */
  int error; /* of the library: the operation has not been started; the request is complete */
} rgi_fault_request;

/* MPI's function by its other name; the argument may be a macro's result. */
#define RGI_FAULT_MPI(function) RGI_FAULT_MPI_OF(function)
#define RGI_FAULT_MPI_OF(function) P##function

/* The rest of a function of MPI's that starts an operation, with the argument `request`. noted: a
 * variable; with an error the operation is not started. */
#define RGI_FAULT_START(noted, function, ...)                                                      \
  if ((noted).error)                                                                               \
    return rgi_fault_request_stand_in(&(noted), request);                                          \
  int code = RGI_FAULT_MPI(function)(__VA_ARGS__);                                                 \
  if (code == MPI_SUCCESS)                                                                         \
    rgi_fault_request_note(*request, &(noted));                                                    \
  return code

/* After MPI has made a request. Where there is no memory calls on it are MPI's alone. */
void rgi_fault_request_note(MPI_Request request, const rgi_fault_request *noted);

/* Before MPI ends requests, so that what other threads note afterwards under their numbers stays.
 * rgi_fault_request_find does so, too. */
void rgi_fault_request_mark(void);

/* What is known of it. */
rgi_fault_request rgi_fault_request_find(MPI_Request request);

/* A persistent one ends here, but not in MPI. */
void rgi_fault_request_give_up(MPI_Request request);

/* One that is noted ends with this error. */
void rgi_fault_request_fail(MPI_Request request, int error);

/* It has ended: it is forgotten, or, if persistent, not active any more. A state stays as long as
 * the caller uses it: rgi_fault_comm_use. */
void rgi_fault_request_end(MPI_Request request);

/* A persistent one is started; error: it is not, and ends with that. */
void rgi_fault_request_start(MPI_Request request, int error);

/* The program has freed it. */
void rgi_fault_request_forget(MPI_Request request);

/* How many are to be looked at one by one: they have an error, finish in a wait for them, or are
 * partitioned. */
int rgi_fault_request_special(void);

/* A request of MPI's that the caller completes (MPI_Grequest_complete). Returns MPI's code. */
int rgi_fault_request_open(MPI_Request *request);

/* A complete request in place of one that cannot be started. Returns MPI's code. */
int rgi_fault_request_stand_in(const rgi_fault_request *noted, MPI_Request *request);

#endif
