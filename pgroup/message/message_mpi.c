/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between nodes: cells sent by MPI on a duplicate of the world, with the data of a short
 * message behind the head. The data of a long message follow with an MPI tag of their own, straight
 * into the receiver's buffer. A cell is a copy, so the sender of a short message does not wait for
 * MPI. One receive is always open for the next cell: cells arrive in order.
 *
 * When the sender of a long message is killed while MPI sends it, MPI may tell the receiver that
 * all data have arrived. So in a job that survives, the sender sends a FIN when MPI has sent the
 * data, and the message is received when both MPI's receive and the FIN are there. A message whose
 * sender or receiver has died is left neither done nor under way: the wait for it ends by the
 * death. */
#include "message/message_mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "noded/overlay_client.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "shm/process.h"

/* Data up to here travel with the head. */
#define EAGER_BYTES ((size_t)8 << 10)
#define CELL_TAG 0

/* A test by MPI is expensive: at most so many at a time, of all requests in turn. */
#define TESTS_MOST 32

/* A cell that MPI is sending; or, with `waits`, the FIN of a long send that was given up, to be
 * sent when MPI's request for the data has ended. */
typedef struct outgoing_cell {
  struct outgoing_cell *next;
  MPI_Request request;
  int waits, dest;
  rgi_message_cell cell;
} outgoing_cell;

static struct {
  MPI_Comm comm;          /* MPI_COMM_NULL on one node */
  rgi_message_cell *cell; /* for the next message */
  MPI_Request coming;
  outgoing_cell *first, **end;
  rgi_message *active, **active_end; /* long messages under way */
  int sends_fin;
  int next_tag, most_tag; /* for long messages; used again after most_tag of them */
} transport = {.comm = MPI_COMM_NULL};

#if MPI_VERSION >= 4
static int send_bytes(const char *data, size_t n, int dest, int tag, MPI_Request *request) {
  return MPI_Isend_c(data, (MPI_Count)n, MPI_BYTE, dest, tag, transport.comm, request);
}

static int receive_bytes(char *data, size_t n, int source, int tag, MPI_Request *request) {
  return MPI_Irecv_c(data, (MPI_Count)n, MPI_BYTE, source, tag, transport.comm, request);
}
#else
/* An older MPI counts in ints. */
static int send_bytes(const char *data, size_t n, int dest, int tag, MPI_Request *request) {
  return n > INT_MAX ? MPI_ERR_COUNT
                     : MPI_Isend(data, (int)n, MPI_BYTE, dest, tag, transport.comm, request);
}

static int receive_bytes(char *data, size_t n, int source, int tag, MPI_Request *request) {
  return n > INT_MAX ? MPI_ERR_COUNT
                     : MPI_Irecv(data, (int)n, MPI_BYTE, source, tag, transport.comm, request);
}
#endif

/* Whether an error of MPI's comes from the death of a rank of the world, or, -1, of any. The node
 * daemons may need some time to find out; the wait tells them that MPI needs the path. */
static int is_lost(int world_rank) {
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
  size_t size = sizeof(rgi_message_cell) + EAGER_BYTES;
  if (!transport.cell && !(transport.cell = malloc(size)))
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  RGI_TRY_MPI(
      receive_bytes((char *)transport.cell, size, MPI_ANY_SOURCE, CELL_TAG, &transport.coming));
  return RG_SUCCESS;
}

int rgi_message_mpi_open(MPI_Comm world) {
  int *bound, found = 0;
  transport.coming = MPI_REQUEST_NULL;
  transport.cell = NULL; /* MPI may still use that of an earlier start */
  transport.first = NULL;
  transport.end = &transport.first;
  transport.active = NULL;
  transport.active_end = &transport.active;
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  RGI_TRY_MPI(MPI_Comm_dup(world, &transport.comm));
  MPI_Comm_get_attr(world, MPI_TAG_UB, &bound, &found);
  transport.sends_fin = rgi_overlay_exists();
  transport.most_tag = found ? *bound : 32767;
  return expect_cell();
}

void rgi_message_mpi_close(void) {
  if (transport.coming != MPI_REQUEST_NULL) {
    MPI_Cancel(&transport.coming);
    MPI_Wait(&transport.coming, MPI_STATUS_IGNORE);
  }
  free(transport.cell);
  transport.cell = NULL;
  for (outgoing_cell *o = transport.first; o; o = o->next)
    MPI_Request_free(&o->request); /* no process receives it: its memory stays with MPI */
  if (transport.comm != MPI_COMM_NULL)
    MPI_Comm_free(&transport.comm);
}

int rgi_message_mpi_in_use(void) {
  return transport.comm != MPI_COMM_NULL;
}

static void append_outgoing(outgoing_cell *o) {
  o->next = NULL;
  *transport.end = o;
  transport.end = &o->next;
}

/* Frees the cell if MPI has sent it; otherwise appends it again and returns 0. */
static int retire_outgoing(outgoing_cell *o) {
  int gone = 0;
  if (rgi_wait_mpi_test(&o->request, &gone) != MPI_SUCCESS || gone) {
    int next = o->waits && !rgi_process_is_dead(o->dest);
    o->waits = 0;
    if (!next || send_bytes((char *)&o->cell, sizeof o->cell, o->dest, CELL_TAG, &o->request)) {
      free(o);
      return 1;
    }
  }
  append_outgoing(o);
  return 0;
}

static int send_cell(int dest, rgi_message_cell_kind kind, const rgi_message_envelope *e,
                     const void *data, size_t bytes) {
  outgoing_cell *o = malloc(sizeof *o + bytes);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  o->waits = 0;
  o->cell = (rgi_message_cell){.kind = kind, .envelope = *e};
  if (bytes)
    memcpy(rgi_message_cell_data(&o->cell), data, bytes);
  int error = send_bytes((char *)&o->cell, sizeof o->cell + bytes, dest, CELL_TAG, &o->request);
  if (error) {
    free(o);
    return is_lost(dest) ? RG_SUCCESS : rgi_mpi_error(error, "MPI_Isend");
  }
  retire_outgoing(o);
  return RG_SUCCESS;
}

/* MPI cannot move the data. Returns 1 if that comes from a death: r is not under way any more, and
 * the wait for it ends by the death. */
static int fail_message(rgi_message *r) {
  if (!is_lost(r->source)) {
    r->error = RG_ERR_MPI;
    return 0;
  }
  rgi_message_remove(r, &transport.active_end);
  free(r->own);
  r->own = NULL;
  r->state = RGI_MESSAGE_IDLE;
  return 1;
}

int rgi_message_mpi_send(rgi_message *r, int dest, const rgi_message_envelope *e) {
  rgi_message_mpi_rts what = {.data_tag = 1 + transport.next_tag};
  r->source = dest; /* for is_lost */
  if (rgi_process_is_dead(dest)) {
    atomic_store_explicit(&r->done, r->bytes <= EAGER_BYTES, memory_order_release);
    return RG_SUCCESS;
  }
  if (r->bytes <= EAGER_BYTES) {
    RGI_TRY(send_cell(dest, RGI_MESSAGE_EAGER, e, r->data, r->bytes));
    atomic_store_explicit(&r->done, 1, memory_order_release);
    return RG_SUCCESS;
  }
  RGI_TRY(send_cell(dest, RGI_MESSAGE_REMOTE_RTS, e, &what, sizeof what));
  transport.next_tag = (transport.next_tag + 1) % transport.most_tag;
  r->data_tag = what.data_tag;
  rgi_message_append(r, &transport.active_end, RGI_MESSAGE_ACTIVE);
  if (send_bytes(r->data, r->bytes, dest, r->data_tag, &r->mpi) != MPI_SUCCESS)
    fail_message(r);
  return RG_SUCCESS;
}

void rgi_message_mpi_accept(rgi_message *r, rgi_message_cell *c) {
  char *to = r->data;
  size_t n = r->bytes;
  rgi_message_mpi_rts what;
  memcpy(&what, rgi_message_cell_data(c), sizeof what);
  r->data_tag = what.data_tag;
  r->fin = what.fin;
  rgi_message_cell_give(c);
  if (n > r->room && (r->own = malloc(n)))
    to = r->own;
  else if (n > r->room)
    n = r->room; /* MPI truncates as well */
  rgi_message_append(r, &transport.active_end, RGI_MESSAGE_ACTIVE);
  if (receive_bytes(to, n, r->source, r->data_tag, &r->mpi) != MPI_SUCCESS)
    fail_message(r);
}

void rgi_message_mpi_progress_sends(void) {
  outgoing_cell *back = NULL; /* the first that was kept: then all have been looked at */
  for (int i = 0; i < TESTS_MOST && transport.first && transport.first != back; i++) {
    outgoing_cell *o = transport.first;
    transport.first = o->next;
    if (!transport.first)
      transport.end = &transport.first;
    if (!retire_outgoing(o) && !back)
      back = o;
  }
}

static int error_class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &class);
  return class;
}

/* MPI may end a receive without an error although its sender died in the middle. */
static int is_incomplete(const MPI_Status *s, size_t bytes) {
  MPI_Count got = 0;
  int cancelled = 0;
  MPI_Test_cancelled(s, &cancelled);
  MPI_Get_elements_x(s, MPI_BYTE, &got);
  return cancelled || got < (MPI_Count)bytes;
}

/* How many bytes MPI receives: all if there is room for them. */
static size_t wanted_bytes(const rgi_message *r) {
  return r->own ? r->bytes : rgi_message_min(r->bytes, r->room);
}

static rgi_message_envelope fin_envelope(const rgi_message *r) {
  return (rgi_message_envelope){r->context, rgi_runtime.rank, r->data_tag, r->bytes};
}

/* MPI has moved the data. Returns whether r is complete: a sender sends the FIN now, a receiver
 * must have got it. */
static int is_confirmed(rgi_message *r) {
  if (!transport.sends_fin || !r->sending)
    return !transport.sends_fin || r->fin;
  if (rgi_process_is_dead(r->source))
    return 1;
  rgi_message_envelope e = fin_envelope(r);
  int error = send_cell(r->source, RGI_MESSAGE_FIN, &e, NULL, 0);
  if (error != RG_ERR_NOMEM) /* otherwise it is tried again later */
    r->error = error;
  return error != RG_ERR_NOMEM;
}

int rgi_message_mpi_fin(const rgi_message_envelope *e) {
  for (rgi_message *r = transport.active; r; r = r->next)
    if (!r->sending && r->source == e->peer && r->data_tag == e->tag) {
      r->fin = 1;
      return 1;
    }
  return 0;
}

/* Returns 0 if r is not complete; it is put behind the others then. A null request of MPI's has
 * ended earlier. */
static int progress_message(rgi_message *r) {
  MPI_Status status;
  int over = 0, open = r->mpi != MPI_REQUEST_NULL;
  int class = error_class_of(rgi_wait_mpi_test_status(&r->mpi, &over, &status));
  if (class == MPI_SUCCESS && over && open && !r->sending &&
      is_incomplete(&status, wanted_bytes(r)))
    class = MPI_ERR_OTHER;
  if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE && fail_message(r))
    return 1;
  rgi_message_remove(r, &transport.active_end);
  if (class == MPI_SUCCESS && (!over || !is_confirmed(r))) {
    rgi_message_append(r, &transport.active_end, RGI_MESSAGE_ACTIVE);
    return 0;
  }
  if (r->own && r->room)
    memcpy(r->data, r->own, r->room);
  rgi_message_finish(r, RG_SUCCESS);
  return 1;
}

void rgi_message_mpi_progress(void) {
  rgi_message *back = NULL;
  for (int i = 0; i < TESTS_MOST && transport.active && transport.active != back; i++) {
    rgi_message *r = transport.active;
    if (!progress_message(r) && !back)
      back = r;
  }
}

int rgi_message_mpi_collect(rgi_message_cell **c) {
  MPI_Status status;
  int there = 0;
  *c = NULL;
  if (transport.comm == MPI_COMM_NULL)
    return RG_SUCCESS;
  if (transport.coming == MPI_REQUEST_NULL)
    RGI_TRY(expect_cell());
  int error = rgi_wait_mpi_test_status(&transport.coming, &there, &status);
  if (!error && there && is_incomplete(&status, sizeof(rgi_message_cell)))
    error = MPI_ERR_OTHER;
  if (error && is_lost(-1)) {
    transport.coming = MPI_REQUEST_NULL;
    return RG_SUCCESS;
  }
  RGI_TRY_MPI(error);
  if (there) {
    *c = transport.cell;
    transport.cell = NULL;
    (*c)->lines = 0;
  }
  return RG_SUCCESS;
}

/* Gives up a long send: MPI goes on sending, and the receiver, which may still want the data, gets
 * the FIN later. */
static void leave_to_mpi(rgi_message *r) {
  outgoing_cell *o = transport.sends_fin ? malloc(sizeof *o) : NULL;
  if (!o) {
    MPI_Request_free(&r->mpi);
    return;
  }
  *o = (outgoing_cell){.request = r->mpi, .waits = 1, .dest = r->source};
  o->cell = (rgi_message_cell){.kind = RGI_MESSAGE_FIN, .envelope = fin_envelope(r)};
  append_outgoing(o);
}

void rgi_message_mpi_abandon(rgi_message *r) {
  int over = 0;
  if (r->mpi != MPI_REQUEST_NULL && !r->sending)
    MPI_Cancel(&r->mpi);
  rgi_wait_mpi_test(&r->mpi, &over);
  if (!over && r->sending)
    leave_to_mpi(r);
  else if (!over)
    MPI_Request_free(&r->mpi);
  else if (r->sending)
    is_confirmed(r);
  if (!over)
    r->own = NULL; /* MPI may still use it */
  rgi_message_remove(r, &transport.active_end);
  rgi_message_finish(r, RG_ERR_TIMEOUT);
}
