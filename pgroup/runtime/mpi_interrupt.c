/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPICH (ch4:ucx) sends and receives by ucp_tag_send_nbx and ucp_tag_recv_nbx. Defined here,
 * before UCX in the order of look-up, they keep account of what a watched call of MPI's has under
 * way. MPICH uses a UCX worker from one thread at a time, so that the account needs no lock. */
#include "runtime/mpi_interrupt.h"

#include "base/clock.h"
#include "base/error.h"
#include "noded/guard_client.h"
#include "progress/polite.h"
#include "shm/failure.h"
#include "shm/process.h"
#include "shm/revocation.h"

#if !__has_include(<ucp/api/ucp.h>)

int rgi_mpi_interrupt_possible(void) {
  return 0;
}

void rgi_mpi_interrupt_begin(rgi_mpi_interrupt_kind kind) {
  (void)kind;
}

int rgi_mpi_interrupt_end(int error, const char *call) {
  (void)call;
  return error;
}

#else

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

/* A program may have functions of these names, to count messages for instance: they win. */
#define EXPORT __attribute__((visibility("default"), weak))

/* A send that UCX has not been able to do so long after the death goes to the dead: it would
 * have to connect with it first. */
#define SEND_SECONDS 0.1

/* No message has it: a receive with this tag and mask stays as it is until it is cancelled. */
#define NO_TAG UINT64_MAX

typedef struct ucx_operation {
  struct ucx_operation *next, **back;
  const void *thread;                   /* whose call of MPI's it belongs to */
  void *request;                        /* UCX's */
  ucp_worker_h worker;                  /* of a receive */
  ucp_tag_recv_nbx_callback_t received; /* MPICH's; NULL: it is a send */
  ucp_send_nbx_callback_t sent;
  void *user_data; /* MPICH's */
  void *buffer;
  size_t bytes;
  ucp_tag_t tag;
  int given_up, done;
  int local; /* a receive that no message is for */
} ucx_operation;

static ucx_operation *under_way;
static atomic_int sends_here, receives_here; /* MPI's, indeed */

static _Thread_local struct {
  int watches;
  rgi_mpi_interrupt_kind kind;
  uint64_t parent; /* the context of the first message */
  int left;        /* the error for which the call is left */
  double since;    /* when that was found */
} mine;

/* --- UCX's own functions ------------------------------------------------------------- */

static void *next_in_line(_Atomic(void *) *kept, const char *name) {
  void *f = atomic_load_explicit(kept, memory_order_acquire);
  if (!f) {
    f = dlsym(RTLD_NEXT, name);
    atomic_store_explicit(kept, f, memory_order_release);
  }
  return f;
}

#define NEXT(name)                                                                                 \
  static _Atomic(void *) kept;                                                                     \
  __typeof__(name) *next = (__typeof__(name) *)next_in_line(&kept, #name)

static void cancel_request(void *worker, void *request) {
  NEXT(ucp_request_cancel);
  next(worker, request);
}

/* --- what is under way --------------------------------------------------------------- */

static void list_operation(ucx_operation *o) {
  o->next = under_way;
  o->back = &under_way;
  if (o->next)
    o->next->back = &o->next;
  under_way = o;
}

static void unlist_operation(ucx_operation *o) {
  *o->back = o->next;
  if (o->next)
    o->next->back = o->back;
}

/* NULL: it cannot be watched. */
static ucx_operation *new_operation(const ucp_request_param_t *p) {
  ucx_operation *o = p->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK ? calloc(1, sizeof *o) : NULL;
  if (!o)
    return NULL;
  o->thread = &mine;
  if (p->op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA)
    o->user_data = p->user_data;
  list_operation(o);
  return o;
}

static ucp_request_param_t with_user_data(const ucp_request_param_t *p, ucx_operation *o) {
  ucp_request_param_t with = *p;
  with.op_attr_mask |= UCP_OP_ATTR_FIELD_USER_DATA;
  with.user_data = o;
  return with;
}

/* After UCX's call: what it has returned may be done, with its callback called or, if it is no
 * request, without. */
static void *set_request(ucx_operation *o, void *request) {
  o->request = request;
  if (!o->done && !UCS_PTR_IS_PTR(request))
    unlist_operation(o);
  if (o->done || !UCS_PTR_IS_PTR(request))
    free(o);
  return request;
}

/* By its callback. */
static void end_operation(ucx_operation *o) {
  o->done = 1;
  unlist_operation(o);
  if (o->request) /* else its call has not returned */
    free(o);
}

static void note_call(atomic_int *seen) {
  if (!atomic_load_explicit(seen, memory_order_relaxed))
    atomic_store_explicit(seen, 1, memory_order_relaxed);
}

/* --- MPICH's mark -------------------------------------------------------------------- */

/* The two bits of a tag that say "a process has failed": they lie above the one of collectives,
 * which lies above the largest tag. 0: this MPI is another one. */
static ucp_tag_t failure_bits(void) {
  static _Atomic int64_t kept = -1;
  int64_t bits = atomic_load(&kept);
  if (bits >= 0)
    return (ucp_tag_t)bits;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length, found = 0, *most = NULL;
  MPI_Get_library_version(version, &length);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  int known = strstr(version, "MPICH Version:\t4.0") && strstr(version, "ch4:ucx") && found &&
              !getenv("MPIR_CVAR_CH4_NUM_VCIS"); /* several workers: see is_beyond */
  bits = known ? ((int64_t)*most + 1) * (2 + 4) : 0;
  atomic_store(&kept, bits);
  return (ucp_tag_t)bits;
}

/* The number of a communicator, of which MPICH makes a tag of UCX's. */
static uint64_t context_of(ucp_tag_t tag) {
  return tag >> 48;
}

/* MPICH ends the making of a communicator by a broadcast on it, of a number by which it spreads
 * the work over several workers, where there are several. Who has left it would find that message
 * on the next communicator of that number. So it is not sent, and all take 0. */
static int is_beyond(ucp_tag_t tag) {
  if (mine.kind != RGI_MPI_INTERRUPT_CREATION)
    return 0;
  if (mine.parent == NO_TAG)
    mine.parent = context_of(tag);
  return context_of(tag) != mine.parent;
}

/* --- UCX's functions, as MPICH calls them -------------------------------------------- */

static void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                        void *user_data) {
  ucx_operation o = *(ucx_operation *)user_data;
  end_operation(user_data);
  const ucp_tag_recv_info_t made = {.sender_tag = o.local ? o.tag : o.tag | failure_bits(),
                                    .length = o.bytes};
  if (o.given_up && status == UCS_ERR_CANCELED) {
    /* 0xff: no size, no rank, and neutral in MPI_BAND. */
    memset(o.buffer, o.local ? 0 : 0xff, o.bytes);
    status = UCS_OK;
    info = &made;
  }
  o.received(request, status, info, o.user_data);
}

/* A send that was given up has been reported already, and UCX had only to forget it. */
static void on_sent(void *request, ucs_status_t status, void *user_data) {
  ucx_operation *o = user_data;
  if (o->given_up)
    return;
  ucx_operation was = *o;
  end_operation(o);
  was.sent(request, status == UCS_ERR_CANCELED ? status : UCS_OK, was.user_data);
}

static size_t size_of(size_t count, const ucp_request_param_t *p) {
  if (!(p->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE))
    return count;
  return (p->datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_CONTIG
             ? count * (p->datatype >> UCP_DATATYPE_SHIFT)
             : 0;
}

EXPORT ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t count,
                                         ucp_tag_t tag, ucp_tag_t mask,
                                         const ucp_request_param_t *param) {
  NEXT(ucp_tag_recv_nbx);
  note_call(&receives_here);
  ucx_operation *o = mine.watches ? new_operation(param) : NULL;
  if (!o)
    return next(worker, buffer, count, tag, mask, param);
  o->received = param->cb.recv;
  o->worker = worker;
  o->buffer = buffer;
  o->bytes = size_of(count, param);
  o->tag = tag;
  o->local = is_beyond(tag);
  ucp_request_param_t with = with_user_data(param, o);
  with.cb.recv = on_received;
  return set_request(o, mine.left || o->local ? next(worker, buffer, count, NO_TAG, NO_TAG, &with)
                                              : next(worker, buffer, count, tag, mask, &with));
}

EXPORT ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                         ucp_tag_t tag, const ucp_request_param_t *param) {
  NEXT(ucp_tag_send_nbx);
  note_call(&sends_here);
  if (mine.left || (mine.watches && is_beyond(tag)))
    return NULL;
  ucx_operation *o = mine.watches ? new_operation(param) : NULL;
  if (!o)
    return next(ep, buffer, count, tag, param);
  o->sent = param->cb.send;
  ucp_request_param_t with = with_user_data(param, o);
  with.cb.send = on_sent;
  void *request = set_request(o, next(ep, buffer, count, tag, &with));
  /* Whom it goes to has died. That will be noticed; MPICH's own way out is not safe. */
  return UCS_PTR_IS_ERR(request) && UCS_PTR_STATUS(request) != UCS_ERR_NO_MEMORY ? NULL : request;
}

/* --- leaving ------------------------------------------------------------------------- */

/* A request may be forgotten before it is done: UCX keeps it as long as it needs it. */
static void give_up_send(ucx_operation *o) {
  o->given_up = 1;
  unlist_operation(o);
  o->sent(o->request, UCS_OK, o->user_data);
}

static void give_up(double now) {
  for (ucx_operation *o = under_way, *next; o; o = next) {
    next = o->next;
    if (o->thread != &mine || o->given_up)
      continue;
    if (o->local || (mine.left && o->received)) {
      o->given_up = 1;
      cancel_request(o->worker, o->request); /* which calls on_received */
    } else if (mine.left && now - mine.since > SEND_SECONDS) {
      give_up_send(o);
    }
  }
}

/* After a poll in vain. */
static void check_failure(void) {
  double now = rgi_clock_now();
  if (!mine.left) {
    rgi_process_check(now);
    mine.left = rgi_process_deaths() || rgi_revocation_any()
                    ? rgi_failure_check(&rgi_failure_scope_now, "MPI")
                    : RG_SUCCESS;
    mine.since = now;
  }
  give_up(now);
}

int rgi_mpi_interrupt_possible(void) {
  return rgi_guard_exists() && atomic_load(&sends_here) && atomic_load(&receives_here) &&
         failure_bits() != 0;
}

void rgi_mpi_interrupt_begin(rgi_mpi_interrupt_kind kind) {
  mine.left = 0;
  mine.watches = rgi_mpi_interrupt_possible();
  mine.kind = kind;
  mine.parent = NO_TAG;
  rgi_polite_polled = mine.watches ? check_failure : NULL;
}

int rgi_mpi_interrupt_end(int error, const char *call) {
  int left = mine.left;
  if (left)
    give_up(mine.since + 2 * SEND_SECONDS);
  mine.watches = mine.left = 0;
  rgi_polite_polled = NULL;
  if (left)
    return rgi_failure_check(&rgi_failure_scope_now, call);
  return error ? rgi_failure_cause(&rgi_failure_scope_now, error, call) : RG_SUCCESS;
}

#endif
