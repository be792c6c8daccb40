/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Cells between nodes, sent by MPI on a duplicate of the world, with the data of a short message
 * behind the head. A cell is a copy, so the sender of a short message does not wait for MPI, unless
 * MPI has much to send to this receiver already. One receive is always open for the next cell:
 * cells arrive in order. */
#include "message/message_mpi.h"

#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "noded/client/overlay_client.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "shm/process.h"

#define CELL_TAG 0

/* So much may be copied for one receiver and not yet taken by MPI: some times what a network has
 * under way. */
#define WINDOW_BYTES ((size_t)256 << 10)

/* A cell that MPI is sending. */
typedef struct outgoing_cell {
  struct outgoing_cell *next;
  MPI_Request request;
  int dest;
  uint32_t size; /* of this struct with the data */
  rgi_message_cell cell;
} outgoing_cell;

static struct {
  MPI_Comm comm;          /* MPI_COMM_NULL on one node */
  rgi_message_cell *cell; /* for the next message */
  MPI_Request coming;
  outgoing_cell *first, **end;
  uint32_t *unsent;       /* for each rank: bytes of the outgoing cells */
  int next_tag, most_tag; /* for long messages; used again after most_tag of them */
} transport = {.comm = MPI_COMM_NULL};

int rgi_message_mpi_is_lost(int world_rank) {
  if (rgi_process_has_left(rgi_node.me))
    return 1; /* others may have ended without a death, and nobody needs the message any more */
  double begin = rgi_clock_now(), now = begin, end = begin + rgi_overlay_decision_seconds();
  for (; rgi_overlay_exists() && now < end; now = rgi_clock_now()) {
    if (world_rank < 0 ? rgi_process_deaths() > 0 : rgi_process_is_dead(world_rank))
      return 1;
    rgi_process_note_wait(begin, now);
    rgi_clock_sleep(1e-3);
  }
  return 0;
}

/* Opens the receive for the next cell. Without memory for it messages stay with MPI, and the next
 * progress tries again. */
static int expect_cell(void) {
  size_t size = sizeof(rgi_message_cell) + RGI_MESSAGE_MPI_EAGER;
  if (!transport.cell && !(transport.cell = rgi_spare_alloc(size)))
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  RGI_TRY_MPI(MPI_Irecv(transport.cell, (int)size, MPI_BYTE, MPI_ANY_SOURCE, CELL_TAG,
                        transport.comm, &transport.coming));
  return RG_SUCCESS;
}

int rgi_message_mpi_open(MPI_Comm world) {
  int *bound, found = 0;
  transport.coming = MPI_REQUEST_NULL;
  transport.cell = NULL; /* MPI may still use that of an earlier start */
  transport.first = NULL;
  transport.end = &transport.first;
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  rgi_spare_free(transport.unsent); /* of an earlier start that has ended without MPI */
  transport.unsent = rgi_spare_alloc_zeroed((size_t)rgi_runtime.size, sizeof *transport.unsent);
  if (!transport.unsent)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for messages");
  RGI_TRY_MPI(MPI_Comm_dup(world, &transport.comm));
  MPI_Comm_get_attr(world, MPI_TAG_UB, &bound, &found);
  transport.most_tag = found ? *bound : 32767;
  return expect_cell();
}

void rgi_message_mpi_close(void) {
  if (transport.coming != MPI_REQUEST_NULL) {
    MPI_Cancel(&transport.coming);
    PMPI_Wait(&transport.coming, MPI_STATUS_IGNORE);
  }
  rgi_spare_free(transport.cell);
  transport.cell = NULL;
  for (outgoing_cell *o = transport.first; o; o = o->next)
    MPI_Request_free(&o->request); /* no process receives it: its memory stays with MPI */
  rgi_spare_free(transport.unsent);
  transport.unsent = NULL;
  if (transport.comm != MPI_COMM_NULL)
    MPI_Comm_free(&transport.comm);
}

int rgi_message_mpi_in_use(void) {
  return transport.comm != MPI_COMM_NULL;
}

MPI_Comm rgi_message_mpi_comm(void) {
  return transport.comm;
}

int rgi_message_mpi_has_room(int dest) {
  return transport.unsent[dest] < WINDOW_BYTES;
}

int rgi_message_mpi_new_tag(void) {
  int tag = 1 + transport.next_tag;
  transport.next_tag = (transport.next_tag + 1) % transport.most_tag;
  return tag;
}

static void append_outgoing(outgoing_cell *outgoing) {
  outgoing->next = NULL;
  *transport.end = outgoing;
  transport.end = &outgoing->next;
}

/* Frees the cell if MPI has sent it; otherwise appends it again and returns 0. */
static int retire_outgoing(outgoing_cell *outgoing) {
  int gone = 0;
  if (rgi_wait_mpi_test(&outgoing->request, &gone) != MPI_SUCCESS || gone) {
    transport.unsent[outgoing->dest] -= outgoing->size;
    rgi_spare_free(outgoing);
    return 1;
  }
  append_outgoing(outgoing);
  return 0;
}

int rgi_message_mpi_send_cell(int dest, rgi_message_cell_kind kind,
                              const rgi_message_envelope *envelope, const void *data,
                              size_t bytes) {
  outgoing_cell *o = rgi_spare_alloc(sizeof *o + bytes);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  o->cell = (rgi_message_cell){.kind = kind, .envelope = *envelope};
  if (bytes)
    memcpy(rgi_message_cell_data(&o->cell), data, bytes);
  int error = MPI_Isend(&o->cell, (int)(sizeof o->cell + bytes), MPI_BYTE, dest, CELL_TAG,
                        transport.comm, &o->request);
  if (error) {
    rgi_spare_free(o);
    return rgi_message_mpi_is_lost(dest) ? RG_SUCCESS : rgi_mpi_error(error, "MPI_Isend");
  }
  o->dest = dest;
  o->size = (uint32_t)(sizeof *o + bytes);
  transport.unsent[dest] += o->size;
  retire_outgoing(o);
  return RG_SUCCESS;
}

void rgi_message_mpi_progress_sends(void) {
  outgoing_cell *back = NULL; /* the first that was kept: then all have been looked at */
  for (int i = 0; i < RGI_MESSAGE_MPI_TESTS && transport.first && transport.first != back; i++) {
    outgoing_cell *o = transport.first;
    transport.first = o->next;
    if (!transport.first)
      transport.end = &transport.first;
    if (!retire_outgoing(o) && !back)
      back = o;
  }
}

int rgi_message_mpi_is_incomplete(const MPI_Status *status, size_t bytes) {
  MPI_Count got = 0;
  int cancelled = 0;
  MPI_Test_cancelled(status, &cancelled);
  MPI_Get_elements_x(status, MPI_BYTE, &got);
  return cancelled || got < (MPI_Count)bytes;
}

int rgi_message_mpi_collect(rgi_message_cell **cell) {
  MPI_Status status;
  int there = 0;
  *cell = NULL;
  if (transport.comm == MPI_COMM_NULL)
    return RG_SUCCESS;
  int fresh = transport.coming == MPI_REQUEST_NULL, error = MPI_SUCCESS;
  if (fresh)
    RGI_TRY(expect_cell());
  /* A poll may take more from the network than one cell, which UCX would have to keep. */
  if (fresh)
    error = rgi_wait_mpi_test_there(&transport.coming, &there, &status);
  if (!error && !there)
    error = rgi_wait_mpi_test_status(&transport.coming, &there, &status);
  if (!error && there && rgi_message_mpi_is_incomplete(&status, sizeof(rgi_message_cell)))
    error = MPI_ERR_OTHER;
  if (error && rgi_message_mpi_is_lost(-1)) {
    transport.coming = MPI_REQUEST_NULL;
    return RG_SUCCESS;
  }
  RGI_TRY_MPI(error);
  if (there) {
    *cell = transport.cell;
    transport.cell = NULL;
    (*cell)->lines = 0;
  }
  return RG_SUCCESS;
}
