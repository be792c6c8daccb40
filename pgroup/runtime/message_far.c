/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between nodes: cells sent by MPI on a duplicate of the world, with the
 * data of a short message behind the head. Those of a long one follow with a tag
 * of their own, so that they land where they belong. One receive is always open
 * for the next cell: cells come in order. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/message_parts.h"
#include "runtime/node.h"

/* Data up to here travel with the head. */
#define EAGER_BYTES ((size_t)8 << 10)
#define CELL_TAG 0

static struct {
  MPI_Comm comm;  /* MPI_COMM_NULL on one node */
  rgi_cell *cell; /* for the next message */
  MPI_Request coming;
  int next_tag, most_tag; /* for long messages; used again after most_tag of them */
} far = {.comm = MPI_COMM_NULL};

#if MPI_VERSION >= 4
static int send_bytes(const char *data, size_t n, int dest, int tag, MPI_Request *request) {
  return MPI_Isend_c(data, (MPI_Count)n, MPI_BYTE, dest, tag, far.comm, request);
}

static int receive_bytes(char *data, size_t n, int source, int tag, MPI_Request *request) {
  return MPI_Irecv_c(data, (MPI_Count)n, MPI_BYTE, source, tag, far.comm, request);
}
#else
/* An older MPI counts in ints. */
static int send_bytes(const char *data, size_t n, int dest, int tag, MPI_Request *request) {
  return n > INT_MAX ? MPI_ERR_COUNT
                     : MPI_Isend(data, (int)n, MPI_BYTE, dest, tag, far.comm, request);
}

static int receive_bytes(char *data, size_t n, int source, int tag, MPI_Request *request) {
  return n > INT_MAX ? MPI_ERR_COUNT
                     : MPI_Irecv(data, (int)n, MPI_BYTE, source, tag, far.comm, request);
}
#endif

/* The receive for the next cell. Without memory for it the message stays with MPI
 * until there is some. */
static int expect(void) {
  size_t size = sizeof(rgi_cell) + EAGER_BYTES;
  if (!far.cell && !(far.cell = malloc(size)))
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  RGI_TRY_MPI(receive_bytes((char *)far.cell, size, MPI_ANY_SOURCE, CELL_TAG, &far.coming));
  return RG_SUCCESS;
}

int rgi_far_open(MPI_Comm world) {
  int *bound, found = 0;
  far.coming = MPI_REQUEST_NULL;
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  RGI_TRY_MPI(MPI_Comm_dup(world, &far.comm));
  MPI_Comm_get_attr(world, MPI_TAG_UB, &bound, &found);
  far.most_tag = found ? *bound : 32767;
  return expect();
}

void rgi_far_close(void) {
  if (far.coming != MPI_REQUEST_NULL) {
    MPI_Cancel(&far.coming);
    MPI_Wait(&far.coming, MPI_STATUS_IGNORE);
  }
  free(far.cell);
  far.cell = NULL;
  if (far.comm != MPI_COMM_NULL)
    MPI_Comm_free(&far.comm);
}

int rgi_far_there(void) {
  return far.comm != MPI_COMM_NULL;
}

int rgi_far_send(rgi_request *r, int dest, const rgi_envelope *e) {
  int is_short = r->bytes <= EAGER_BYTES, tag = 1 + far.next_tag;
  size_t with = is_short ? r->bytes : sizeof tag;
  rgi_cell *c = malloc(sizeof *c + with);
  if (!c)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  *c = (rgi_cell){.kind = is_short ? RGI_SHORT : RGI_FAR, .envelope = *e};
  if (with)
    memcpy(rgi_cell_data(c), is_short ? r->data : (char *)&tag, with);
  int error = send_bytes((char *)c, sizeof *c + with, dest, CELL_TAG, &r->mpi[0]);
  if (error) {
    free(c);
    return rgi_mpi_error(error, "MPI_Isend");
  }
  r->own = (char *)c;
  rgi_activate(r);
  if (is_short)
    return RG_SUCCESS;
  far.next_tag = (far.next_tag + 1) % far.most_tag;
  if (send_bytes(r->data, r->bytes, dest, tag, &r->mpi[1]) != MPI_SUCCESS)
    r->error = RG_ERR_MPI;
  return RG_SUCCESS;
}

void rgi_far_accept(rgi_request *r, rgi_cell *c) {
  char *to = r->data;
  size_t n = r->bytes;
  int tag;
  memcpy(&tag, rgi_cell_data(c), sizeof tag);
  rgi_cell_give(c);
  if (n > r->room && (r->own = malloc(n)))
    to = r->own;
  else if (n > r->room)
    n = r->room; /* MPI truncates as well */
  rgi_activate(r);
  if (receive_bytes(to, n, r->source, tag, &r->mpi[1]) != MPI_SUCCESS) {
    rgi_deactivate(r);
    rgi_finish(r, RG_ERR_MPI);
  }
}

int rgi_far_look(void) {
  int there = 1;
  while (far.comm != MPI_COMM_NULL) {
    if (far.coming == MPI_REQUEST_NULL)
      RGI_TRY(expect());
    RGI_TRY_MPI(MPI_Test(&far.coming, &there, MPI_STATUS_IGNORE));
    if (!there)
      break;
    rgi_cell *c = far.cell;
    far.cell = NULL;
    c->lines = 0;
    rgi_arrived(c);
  }
  return RG_SUCCESS;
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &class);
  return class;
}

/* One after the other: MPI_Testall would hide which of them failed. */
void rgi_far_push_on(rgi_request *r) {
  for (int i = 0; i < 2; i++) {
    int over = 0, class = class_of(MPI_Test(&r->mpi[i], &over, MPI_STATUS_IGNORE));
    if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE)
      r->error = RG_ERR_MPI;
    else if (class == MPI_SUCCESS && !over)
      return;
  }
  if (!r->sending && r->own && r->room)
    memcpy(r->data, r->own, r->room);
  rgi_deactivate(r);
  rgi_finish(r, RG_SUCCESS);
}

void rgi_far_abandon(rgi_request *r) {
  for (int i = 0; i < 2; i++) {
    int over = 0;
    if (r->mpi[i] != MPI_REQUEST_NULL && !r->sending)
      MPI_Cancel(&r->mpi[i]);
    MPI_Test(&r->mpi[i], &over, MPI_STATUS_IGNORE);
    if (!over) {
      MPI_Request_free(&r->mpi[i]);
      r->own = NULL; /* MPI may still use it */
    }
  }
  rgi_deactivate(r);
  rgi_finish(r, RG_ERR_TIMEOUT);
}
