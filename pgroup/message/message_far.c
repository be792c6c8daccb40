/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between nodes: cells sent by MPI on a duplicate of the world, with the
 * data of a short message behind the head. Those of a long one follow with a tag
 * of their own, so that they land where they belong. Cells are copies: their
 * senders need not wait for MPI. One receive is always open for the next cell:
 * cells come in order.
 *
 * When the sender of a long message is killed in the middle, MPI may tell the receiver
 * that all of it has come. In a job that survives the sender confirms it with a cell when
 * MPI has sent it, and the receiver waits for both. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "message/message_parts.h"
#include "noded/mesh.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "shm/process.h"

/* Data up to here travel with the head. */
#define EAGER_BYTES ((size_t)8 << 10)
#define CELL_TAG 0

/* MPI knows of a death before the library may. So long it takes at most until that is
 * known; if it is not, the error is another one. */
#define DEATH_SECONDS 5.0

/* Each look at MPI is dear: so many requests at a time, all in turn. */
#define LOOKS 32

/* A cell that MPI is sending, or will when the request, of a long message that was given
 * up, has ended. */
typedef struct outgoing {
  struct outgoing *next;
  MPI_Request request;
  int waits, dest;
  rgi_cell cell;
} outgoing;

static struct {
  MPI_Comm comm;  /* MPI_COMM_NULL on one node */
  rgi_cell *cell; /* for the next message */
  MPI_Request coming;
  outgoing *first, **end;
  rgi_request *active, **active_end; /* long messages under way */
  int confirms;
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

/* Whether an error of MPI's comes from a death of this rank. What was on its way is lost
 * then; waits for it end as all waits for the dead do. */
static int is_lost(int world_rank) {
  for (double end = rgi_now() + DEATH_SECONDS; rgi_mesh_there() && rgi_now() < end; rgi_sleep(1e-3))
    if (rgi_is_dead(world_rank))
      return 1;
  return 0;
}

/* The same for a message from anybody. */
static int is_somebody_lost(void) {
  for (double end = rgi_now() + DEATH_SECONDS; rgi_mesh_there() && rgi_now() < end; rgi_sleep(1e-3))
    if (rgi_deaths() > 0)
      return 1;
  return 0;
}

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
  far.cell = NULL; /* one of an earlier start is still MPI's */
  far.first = NULL;
  far.end = &far.first;
  far.active = NULL;
  far.active_end = &far.active;
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  RGI_TRY_MPI(MPI_Comm_dup(world, &far.comm));
  MPI_Comm_get_attr(world, MPI_TAG_UB, &bound, &found);
  far.confirms = rgi_mesh_there();
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
  for (outgoing *o = far.first; o; o = o->next)
    MPI_Request_free(&o->request); /* nobody takes it: its memory stays with MPI */
  if (far.comm != MPI_COMM_NULL)
    MPI_Comm_free(&far.comm);
}

int rgi_far_there(void) {
  return far.comm != MPI_COMM_NULL;
}

static void hang(outgoing *o) {
  o->next = NULL;
  *far.end = o;
  far.end = &o->next;
}

/* Frees a cell that has gone, or keeps it for later: 0. */
static int see_off(outgoing *o) {
  int gone = 0;
  if (rgi_mpi_test(&o->request, &gone) != MPI_SUCCESS || gone) {
    int next = o->waits && !rgi_is_dead(o->dest);
    o->waits = 0;
    if (!next || send_bytes((char *)&o->cell, sizeof o->cell, o->dest, CELL_TAG, &o->request)) {
      free(o);
      return 1;
    }
  }
  hang(o);
  return 0;
}

static int send_cell(int dest, rgi_cell_kind kind, const rgi_envelope *e, const void *data,
                     size_t bytes) {
  outgoing *o = malloc(sizeof *o + bytes);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  o->waits = 0;
  o->cell = (rgi_cell){.kind = kind, .envelope = *e};
  if (bytes)
    memcpy(rgi_cell_data(&o->cell), data, bytes);
  int error = send_bytes((char *)&o->cell, sizeof o->cell + bytes, dest, CELL_TAG, &o->request);
  if (error) {
    free(o);
    return is_lost(dest) ? RG_SUCCESS : rgi_mpi_error(error, "MPI_Isend");
  }
  see_off(o);
  return RG_SUCCESS;
}

/* MPI cannot move it. If that comes from a death it is neither done nor under way any
 * more: who waits for it sees the death. */
static int fail(rgi_request *r) {
  if (!is_lost(r->source)) {
    r->error = RG_ERR_MPI;
    return 0;
  }
  rgi_take_out(r, &far.active_end);
  free(r->own);
  r->own = NULL;
  r->state = RGI_FRESH;
  return 1;
}

int rgi_far_send(rgi_request *r, int dest, const rgi_envelope *e) {
  rgi_announced what = {.number = 1 + far.next_tag};
  r->source = dest; /* for is_lost */
  if (rgi_is_dead(dest)) {
    atomic_store_explicit(&r->done, r->bytes <= EAGER_BYTES, memory_order_release);
    return RG_SUCCESS;
  }
  if (r->bytes <= EAGER_BYTES) {
    RGI_TRY(send_cell(dest, RGI_SHORT, e, r->data, r->bytes));
    atomic_store_explicit(&r->done, 1, memory_order_release);
    return RG_SUCCESS;
  }
  RGI_TRY(send_cell(dest, RGI_FAR, e, &what, sizeof what));
  far.next_tag = (far.next_tag + 1) % far.most_tag;
  r->number = what.number;
  rgi_append(r, &far.active_end, RGI_ACTIVE);
  if (send_bytes(r->data, r->bytes, dest, r->number, &r->mpi) != MPI_SUCCESS)
    fail(r);
  return RG_SUCCESS;
}

void rgi_far_accept(rgi_request *r, rgi_cell *c) {
  char *to = r->data;
  size_t n = r->bytes;
  rgi_announced what;
  memcpy(&what, rgi_cell_data(c), sizeof what);
  r->number = what.number;
  r->whole = what.whole;
  rgi_cell_give(c);
  if (n > r->room && (r->own = malloc(n)))
    to = r->own;
  else if (n > r->room)
    n = r->room; /* MPI truncates as well */
  rgi_append(r, &far.active_end, RGI_ACTIVE);
  if (receive_bytes(to, n, r->source, r->number, &r->mpi) != MPI_SUCCESS)
    fail(r);
}

static void see_all_off(void) {
  outgoing *back = NULL; /* the first that was kept: then all have been looked at */
  for (int i = 0; i < LOOKS && far.first && far.first != back; i++) {
    outgoing *o = far.first;
    far.first = o->next;
    if (!far.first)
      far.end = &far.first;
    if (!see_off(o) && !back)
      back = o;
  }
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &class);
  return class;
}

/* MPI may end a receive without an error although its sender died in the middle. */
static int is_short(const MPI_Status *s, size_t bytes) {
  MPI_Count got = 0;
  int cancelled = 0;
  MPI_Test_cancelled(s, &cancelled);
  MPI_Get_elements_x(s, MPI_BYTE, &got);
  return cancelled || got < (MPI_Count)bytes;
}

/* What of it is received: all, if there is room. */
static size_t wanted(const rgi_request *r) {
  return r->own ? r->bytes : rgi_least(r->bytes, r->room);
}

static rgi_envelope confirmation(const rgi_request *r) {
  return (rgi_envelope){r->context, r->bytes, rgi_rt.rank, r->number};
}

/* The data are with MPI no longer. Whether nothing more is to be done. */
static int is_confirmed(rgi_request *r) {
  if (!far.confirms || !r->sending)
    return !far.confirms || r->whole;
  if (rgi_is_dead(r->source))
    return 1;
  rgi_envelope e = confirmation(r);
  int error = send_cell(r->source, RGI_WHOLE, &e, NULL, 0);
  if (error != RG_ERR_NOMEM) /* else again later */
    r->error = error;
  return error != RG_ERR_NOMEM;
}

/* A confirmation: of what is under way, waits to be asked for, or was given up. */
static void hear_of(const rgi_envelope *e) {
  for (rgi_request *r = far.active; r; r = r->next)
    if (!r->sending && r->source == e->source && r->number == e->tag) {
      r->whole = 1;
      return;
    }
  rgi_match_whole(e);
}

/* 0: it goes on, behind the others. A request that is null is over. */
static int push_on(rgi_request *r) {
  MPI_Status status;
  int over = 0, open = r->mpi != MPI_REQUEST_NULL;
  int class = class_of(rgi_mpi_test_status(&r->mpi, &over, &status));
  if (class == MPI_SUCCESS && over && open && !r->sending && is_short(&status, wanted(r)))
    class = MPI_ERR_OTHER;
  if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE && fail(r))
    return 1;
  rgi_take_out(r, &far.active_end);
  if (class == MPI_SUCCESS && (!over || !is_confirmed(r))) {
    rgi_append(r, &far.active_end, RGI_ACTIVE);
    return 0;
  }
  if (r->own && r->room)
    memcpy(r->data, r->own, r->room);
  rgi_finish(r, RG_SUCCESS);
  return 1;
}

static void push_all_on(void) {
  rgi_request *back = NULL;
  for (int i = 0; i < LOOKS && far.active && far.active != back; i++) {
    rgi_request *r = far.active;
    if (!push_on(r) && !back)
      back = r;
  }
}

int rgi_far_look(void) {
  int there = 1;
  see_all_off();
  while (far.comm != MPI_COMM_NULL) {
    if (far.coming == MPI_REQUEST_NULL)
      RGI_TRY(expect());
    MPI_Status status;
    int error = rgi_mpi_test_status(&far.coming, &there, &status);
    if (!error && there && is_short(&status, sizeof(rgi_cell)))
      error = MPI_ERR_OTHER;
    if (error && is_somebody_lost()) {
      far.coming = MPI_REQUEST_NULL;
      break;
    }
    RGI_TRY_MPI(error);
    if (!there)
      break;
    rgi_cell *c = far.cell;
    far.cell = NULL;
    c->lines = 0;
    if (c->kind != RGI_WHOLE) {
      rgi_arrived(c);
      continue;
    }
    hear_of(&c->envelope);
    free(c);
  }
  push_all_on();
  return RG_SUCCESS;
}

/* MPI goes on sending it, and the receiver may still want it. */
static void leave_to_mpi(rgi_request *r) {
  outgoing *o = far.confirms ? malloc(sizeof *o) : NULL;
  if (!o) {
    MPI_Request_free(&r->mpi);
    return;
  }
  *o = (outgoing){.request = r->mpi, .waits = 1, .dest = r->source};
  o->cell = (rgi_cell){.kind = RGI_WHOLE, .envelope = confirmation(r)};
  hang(o);
}

void rgi_far_abandon(rgi_request *r) {
  int over = 0;
  if (r->mpi != MPI_REQUEST_NULL && !r->sending)
    MPI_Cancel(&r->mpi);
  rgi_mpi_test(&r->mpi, &over);
  if (!over && r->sending)
    leave_to_mpi(r);
  else if (!over)
    MPI_Request_free(&r->mpi);
  else if (r->sending)
    is_confirmed(r);
  if (!over)
    r->own = NULL; /* MPI may still use it */
  rgi_take_out(r, &far.active_end);
  rgi_finish(r, RG_ERR_TIMEOUT);
}
