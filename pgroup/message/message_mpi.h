/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Cells to and from other nodes, by MPI; and what the data of long messages need of it. Called with
 * the lock of message.c held, except rgi_message_mpi_in_use. */
#ifndef RGI_MESSAGE_MPI_H
#define RGI_MESSAGE_MPI_H

#include "message/message_cell.h"
#include "message/message_list.h"

/* Data up to here travel with the head. */
#define RGI_MESSAGE_MPI_EAGER ((size_t)8 << 10)

/* A test by MPI is expensive: at most so many at a time, of all requests in turn. */
#define RGI_MESSAGE_MPI_TESTS 32

int rgi_message_mpi_open(MPI_Comm world);
void rgi_message_mpi_close(void);

/* Whether there are other nodes. */
int rgi_message_mpi_in_use(void);

/* For the data of a long message: the communicator, and a tag of their own. */
MPI_Comm rgi_message_mpi_comm(void);
int rgi_message_mpi_new_tag(void);

/* Whether MPI has taken so much of the cells for this rank that another short message may be sent.
 */
int rgi_message_mpi_has_room(int dest);

/* Sends a cell with up to RGI_MESSAGE_MPI_EAGER bytes of data. No error if dest has died. */
int rgi_message_mpi_send_cell(int dest, rgi_message_cell_kind kind,
                              const rgi_message_envelope *envelope, const void *data, size_t bytes);

/* Progress: what is being sent, and the next cell that has come (NULL: none; the caller frees
 * it). */
void rgi_message_mpi_progress_sends(void);
int rgi_message_mpi_collect(rgi_message_cell **cell);

/* Whether an error of MPI's comes from the death of a rank of the world, or, -1, of any. The node
 * daemons may need some time to find out; the wait tells them that MPI needs the path. At once
 * after this rank's mark in rg_finalize: from then on the others may end, and need no message of
 * it. */
int rgi_message_mpi_is_lost(int world_rank);

/* MPI may end a receive without an error although its sender died in the middle. */
int rgi_message_mpi_is_incomplete(const MPI_Status *status, size_t bytes);

#endif
