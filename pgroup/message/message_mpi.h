/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between nodes, by MPI. Called with the lock of message.c held, except
 * rgi_message_mpi_in_use. */
#ifndef RGI_MESSAGE_MPI_H
#define RGI_MESSAGE_MPI_H

#include "message/message_cell.h"
#include "message/message_list.h"

/* Behind the head of a cell of kind RGI_MESSAGE_REMOTE_RTS. */
typedef struct {
  int32_t data_tag; /* the data's tag */
  int32_t fin;      /* their FIN has come: what MPI says of their arrival is true */
} rgi_message_mpi_rts;

int rgi_message_mpi_open(MPI_Comm world);
void rgi_message_mpi_close(void);

/* Whether there are other nodes. */
int rgi_message_mpi_in_use(void);

int rgi_message_mpi_send(rgi_message *r, int dest, const rgi_message_envelope *e);

/* r receives what the cell, an RTS, announces; takes the cell over. */
void rgi_message_mpi_accept(rgi_message *r, rgi_message_cell *c);

/* Progress is these three: what is being sent, the next cell that has come (NULL: none; the caller
 * frees it), the data of long messages. */
void rgi_message_mpi_progress_sends(void);
int rgi_message_mpi_collect(rgi_message_cell **c);
void rgi_message_mpi_progress(void);

/* A FIN has come. Returns 0 if no long message under way waits for it. */
int rgi_message_mpi_fin(const rgi_message_envelope *e);
void rgi_message_mpi_abandon(rgi_message *r);

#endif
