/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Interrupting a blocking call of MPI after a death or a revocation.
 *
 * MPICH (ch4:ucx) sends and receives by ucp_tag_send_nbx, ucp_tag_send_sync_nbx (MPI_Ssend) and
 * ucp_tag_recv_nbx. This file defines them and is looked up before UCX. While a thread is between
 * rgi_mpich_interrupt_begin and _end, they list each operation that MPICH starts, with a callback
 * of ours in front of MPICH's.
 *
 * MPICH polls for the listed operations, and each poll in vain (rgi_mpich_polled) calls
 * check_failure. If it finds that a death or a revocation concerns the group of this call:
 * - Receives are cancelled, and MPICH is told that they have completed. The contents are 0xff: not
 *   a size or a rank, and neutral in MPI_BAND. MPICH 4.0 is also told, by two bits in the tag, what
 *   it tells itself by a message from a process that knows of a failure. MPICH 4.2 would end the
 *   process for these bits (MPIC_Sendrecv makes its error a fatal one), so there MPICH goes on to
 *   the end with these contents: see keeps_contents.
 * - Sends that last 0.1 s longer are given up: MPICH is told that they are done, and UCX forgets
 *   them when it can. A receiver that lives has got its message by then. So are receives: UCX does
 * not cancel one that has been matched with a long message, of which the sender has died. (A sender
 * that lives has sent the rest by then.)
 * - Operations that MPICH still starts are not passed on as they are: sends count as done,
 *   receives wait for a tag that no message has, until the next poll cancels them.
 *
 * So MPICH runs to the end, through its own error path or as if it had made the communicator, and
 * gives back the context mask that it has locked. This needs the tags of MPICH 4.0 and 4.2 and is
 * not tried with any other MPI: see rgi_mpich_gives. Several workers may be in use where the
 * environment says so, and then neither: see is_beyond.
 *
 * Invariants. An operation is in the list from its start until its callback runs or it is
 * abandoned; it is freed by whichever comes last of its callback and the return of UCX's call that
 * made it. (One that was abandoned is not freed: UCX may still call its callback.) MPICH uses a UCX
 * worker from one thread at a time, so the list has no lock; an operation names its thread, which
 * alone gives it up.
 *
 * Without UCX's headers at compile time no call can be interrupted (absent.c). */
#include <mpi.h> /* before mpich.h, which declares more then */

#include "mpich/mpich.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "shm/failure.h"
#include "shm/process.h"
#include "shm/revocation.h"

#if __has_include(<ucp/api/ucp.h>)

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <ucp/api/ucp.h>

/* Weak: a program may have functions of these names, to count messages for instance. */
#define EXPORT __attribute__((visibility("default"), weak))

/* What UCX has not done so long after the death is with the dead process. */
#define LAST_SECONDS 0.1

/* No message has this tag: a receive with it stays active until it is cancelled. */
#define NO_TAG UINT64_MAX

typedef struct ucx_operation {
  struct ucx_operation *next, **back;
  const void *thread;                   /* the thread whose call of MPI it belongs to */
  void *request;                        /* UCX's */
  ucp_worker_h worker;                  /* of a receive */
  ucp_tag_recv_nbx_callback_t received; /* MPICH's; NULL: it is a send */
  ucp_send_nbx_callback_t sent;
  void *user_data; /* MPICH's */
  void *buffer;
  size_t bytes;
  ucp_tag_t tag;
  int given_up; /* a receive that is cancelled */
  int abandoned, done;
  int local;  /* a receive on the new communicator: see is_beyond */
  int frozen; /* MPICH is not told how it ends */
} ucx_operation;

static ucx_operation *under_way;
static int is_wanted;                   /* rgi_mpich_interrupt_open */
static int tolerates;                   /* rgi_mpich_interrupt_tolerate */
static atomic_int sends_seen;           /* MPI does call the functions of this file */
static _Atomic(ucp_worker_h) receiving; /* so does it for receives: its worker */

static _Thread_local struct {
  int on;
  rgi_mpich_interrupt_kind kind;
  uint64_t parent; /* the context of the first message: the parent communicator's */
  const char *top; /* the stack's end below which MPI's variables are */
  int cause;       /* the error for which the call is interrupted */
  double since;    /* when that was found */
  int refused;     /* UCX has refused a send */
} watch;

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

static void list_operation(ucx_operation *operation) {
  operation->next = under_way;
  operation->back = &under_way;
  if (operation->next)
    operation->next->back = &operation->next;
  under_way = operation;
}

static void unlist_operation(ucx_operation *operation) {
  *operation->back = operation->next;
  if (operation->next)
    operation->next->back = operation->back;
}

/* NULL: the operation cannot be watched: without it one on the new communicator would wait for
 * ever, so that it comes of the spare memory where there is no other. */
static ucx_operation *new_operation(const ucp_request_param_t *param) {
  ucx_operation *operation = param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK
                                 ? rgi_spare_alloc_zeroed(1, sizeof *operation)
                                 : NULL;
  if (!operation)
    return NULL;
  operation->thread = &watch;
  if (param->op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA)
    operation->user_data = param->user_data;
  list_operation(operation);
  return operation;
}

static ucp_request_param_t with_user_data(const ucp_request_param_t *param,
                                          ucx_operation *operation) {
  ucp_request_param_t with = *param;
  with.op_attr_mask |= UCP_OP_ATTR_FIELD_USER_DATA;
  with.user_data = operation;
  return with;
}

/* After UCX's call. The operation may be done: its callback has been called, or UCX has returned no
 * request and calls none. */
static void *set_request(ucx_operation *operation, void *request) {
  operation->request = request;
  if (!operation->done && !UCS_PTR_IS_PTR(request))
    unlist_operation(operation);
  if (operation->done || !UCS_PTR_IS_PTR(request))
    rgi_spare_free(operation);
  return request;
}

/* By the operation's callback. */
static void end_operation(ucx_operation *operation) {
  operation->done = 1;
  unlist_operation(operation);
  if (operation->request) /* otherwise UCX's call has not returned, and set_request frees it */
    rgi_spare_free(operation);
}

/* --- MPICH's tags -------------------------------------------------------------------- */

/* The two bits of a tag that mean "a process has failed". They lie above the bit of collectives,
 * which lies above the largest tag. 0: receives are not marked. Found before MPICH's call begins:
 * UCX's callbacks run inside it, and with MPI_THREAD_MULTIPLE it holds a lock. */
static _Atomic(ucp_tag_t) failure_bits;

static void find_failure_bits(void) {
  int found = 0, *most = NULL;
  if (rgi_mpich_gives()->takes_mark && !atomic_load(&failure_bits))
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  if (found)
    atomic_store(&failure_bits, ((ucp_tag_t)*most + 1) * (2 + 4));
}

/* The number of a communicator, from which MPICH makes UCX's tag. */
static uint64_t context_of(ucp_tag_t tag) {
  return tag >> 48;
}

/* Whether the message is on a new communicator. MPICH ends MPI_Comm_create_group by a broadcast on
 * the new communicator, of a number that spreads the work over several UCX workers, where there are
 * several. A member whose call was interrupted would find this message on its next communicator
 * with the same context. So the broadcast is not sent, and all members take 0. */
static int is_beyond(ucp_tag_t tag) {
  if (watch.kind != RGI_MPICH_INTERRUPT_CREATION)
    return 0;
  if (watch.parent == NO_TAG)
    watch.parent = context_of(tag);
  return context_of(tag) != watch.parent;
}

/* MPICH agrees on the number of a communicator by a bitwise AND of masks of free numbers: 64 words,
 * and one that says whether all processes own their masks. Its own mask is in a variable of
 * MPICH's. What MPICH combines with it is received in memory from the heap, for which 0xff is
 * neutral. But a result is received in the variable itself, and all numbers would count as free
 * then. So what a variable contains stays there: the numbers that are free on this process, or some
 * of them. MPICH takes one, and the communicator is given up at once. Other variables are sizes and
 * contexts. */
static int keeps_contents(const ucx_operation *operation) {
  enum { MASK_BYTES = 65 * 4, ALLREDUCE = 14 }; /* the tag of pieces of the mask */
  const char *here = __builtin_frame_address(0), *buffer = operation->buffer;
  return !rgi_mpich_gives()->takes_mark && buffer > here && buffer < watch.top &&
         (operation->bytes == MASK_BYTES || (uint32_t)operation->tag == ALLREDUCE);
}

/* --- collectives that are given up -------------------------------------------------------- */

/* A non-blocking collective that nobody waits for goes on in MPICH as its messages come, and writes
 * to its buffers. So where the job tolerates faults the receives of collectives are listed, too. On
 * a communicator that is broken they are frozen: cancelled in UCX, without a word to MPICH, which
 * waits for ever. Later ones never get a message. MPICH does not give the contexts of such a
 * communicator to another one, since it is never freed. */

/* Of a context's 16 bits: collectives; which of the communicators inside one that MPICH makes. */
enum { COLLECTIVE = 1, INNER_BITS = 3, CONTEXTS = 1 << (16 - INNER_BITS) };

static atomic_uchar frozen[CONTEXTS];

static _Thread_local struct {
  int on;
  uint64_t context;
} learning;

static int is_collective(ucp_tag_t tag) {
  return tolerates && (context_of(tag) & COLLECTIVE);
}

static int is_frozen(ucp_tag_t tag) {
  return atomic_load_explicit(&frozen[context_of(tag) >> INNER_BITS], memory_order_relaxed);
}

/* Inside a poll of MPICH's, which has the worker for itself. */
static void freeze_listed(void) {
  for (ucx_operation *operation = under_way, *next; operation; operation = next) {
    next = operation->next;
    if (operation->thread || !operation->received || operation->frozen ||
        !is_frozen(operation->tag))
      continue;
    operation->frozen = 1;
    cancel_request(operation->worker, operation->request);
  }
  rgi_mpich_polled = NULL;
}

/* MPI does not tell a communicator's context: a receive on it does, that gets no message. */
static int learn_context(MPI_Comm comm, uint64_t *context) {
  MPI_Request request;
  learning.on = 1;
  learning.context = NO_TAG;
  int error = PMPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, comm, &request);
  learning.on = 0;
  if (error == MPI_SUCCESS) {
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  *context = learning.context;
  return error == MPI_SUCCESS && learning.context != NO_TAG;
}

void rgi_mpich_freeze_collectives(MPI_Comm comm) {
  enum { POLLS = 1000 };
  int flag;
  uint64_t context;
  if (!tolerates || !learn_context(comm, &context) ||
      atomic_exchange(&frozen[context >> INNER_BITS], 1))
    return;
  void (*before)(void) = rgi_mpich_polled;
  rgi_mpich_polled = freeze_listed;
  for (int i = 0; i < POLLS && rgi_mpich_polled; i++)
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  rgi_mpich_polled = before;
}

/* --- UCX's functions, as MPICH calls them -------------------------------------------- */

/* Tells MPICH that a receive which is given up has completed. */
static void end_receive(void *request, const ucx_operation *operation) {
  const ucp_tag_recv_info_t made = {
      .sender_tag = operation->local ? operation->tag : operation->tag | atomic_load(&failure_bits),
      .length = operation->bytes};
  /* 0xff: not a size, not a rank, and neutral in MPI_BAND. */
  if (operation->local || !keeps_contents(operation))
    memset(operation->buffer, operation->local ? 0 : 0xff, operation->bytes);
  operation->received(request, UCS_OK, &made, operation->user_data);
}

/* UCX has lost the connection to the sender, of which MPICH takes no notice: it would take what the
 * buffer contains for the message. As MPICH is not told, the receive lasts until the death is
 * known. */
static int is_lost(ucs_status_t status) {
  return tolerates && status != UCS_OK && status != UCS_ERR_CANCELED &&
         status != UCS_ERR_MESSAGE_TRUNCATED;
}

/* What was abandoned has been reported to MPICH already. UCX ends it now. */
static void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                        void *user_data) {
  if (((ucx_operation *)user_data)->abandoned)
    return;
  if (is_lost(status)) {
    ((ucx_operation *)user_data)->given_up = 1; /* until it is abandoned */
    return;
  }
  ucx_operation operation = *(ucx_operation *)user_data;
  end_operation(user_data);
  if (operation.frozen)
    return;
  if (operation.given_up && status != UCS_OK)
    end_receive(request, &operation);
  else
    operation.received(request, status, info, operation.user_data);
}

static void on_sent(void *request, ucs_status_t status, void *user_data) {
  ucx_operation *operation = user_data;
  if (operation->abandoned)
    return;
  ucx_operation was = *operation;
  end_operation(operation);
  was.sent(request, status == UCS_ERR_CANCELED ? status : UCS_OK, was.user_data);
}

static size_t size_of(size_t count, const ucp_request_param_t *param) {
  if (!(param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE))
    return count;
  return (param->datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_CONTIG
             ? count * (param->datatype >> UCP_DATATYPE_SHIFT)
             : 0;
}

/* MPICH's callbacks for receives, each with one of ours in front: a receive that is not listed
 * takes no memory. */
enum { CALLBACKS = 2 };

static _Atomic(ucp_tag_recv_nbx_callback_t) mpich_received[CALLBACKS];

#define IN_FRONT_OF(n)                                                                             \
  static void on_received_##n(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, \
                              void *user_data) {                                                   \
    if (!is_lost(status))                                                                          \
      atomic_load_explicit(&mpich_received[n], memory_order_relaxed)(request, status, info,        \
                                                                     user_data);                   \
  }
IN_FRONT_OF(0)
IN_FRONT_OF(1)

static const ucp_request_param_t *with_ours_in_front(const ucp_request_param_t *param,
                                                     ucp_request_param_t *with) {
  static const ucp_tag_recv_nbx_callback_t ours[CALLBACKS] = {on_received_0, on_received_1};
  if (!tolerates || !(param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK))
    return param;
  for (int i = 0; i < CALLBACKS; i++) {
    ucp_tag_recv_nbx_callback_t found =
        atomic_load_explicit(&mpich_received[i], memory_order_relaxed);
    if (found != param->cb.recv &&
        (found || (!atomic_compare_exchange_strong(&mpich_received[i], &found, param->cb.recv) &&
                   found != param->cb.recv)))
      continue;
    *with = *param;
    with->cb.recv = ours[i];
    return with;
  }
  return param;
}

EXPORT ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer, size_t count,
                                             ucp_tag_message_h message,
                                             const ucp_request_param_t *param) {
  NEXT(ucp_tag_msg_recv_nbx);
  ucp_request_param_t with;
  return next(worker, buffer, count, message, with_ours_in_front(param, &with));
}

EXPORT ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t count,
                                         ucp_tag_t tag, ucp_tag_t mask,
                                         const ucp_request_param_t *param) {
  NEXT(ucp_tag_recv_nbx);
  if (!atomic_load_explicit(&receiving, memory_order_relaxed))
    atomic_store(&receiving, worker);
  if (learning.on) {
    learning.context = context_of(tag);
    return next(worker, buffer, count, NO_TAG, NO_TAG, param);
  }
  int collective = is_collective(tag);
  ucx_operation *operation = watch.on || collective ? new_operation(param) : NULL;
  ucp_request_param_t plain;
  if (!operation)
    return next(worker, buffer, count, tag, mask, with_ours_in_front(param, &plain));
  operation->received = param->cb.recv;
  operation->worker = worker;
  operation->buffer = buffer;
  operation->bytes = size_of(count, param);
  operation->tag = tag;
  operation->local = watch.on && is_beyond(tag);
  if (!watch.on)
    operation->thread = NULL;
  ucp_request_param_t with = with_user_data(param, operation);
  with.cb.recv = on_received;
  return set_request(operation, watch.cause || operation->local || (collective && is_frozen(tag))
                                    ? next(worker, buffer, count, NO_TAG, NO_TAG, &with)
                                    : next(worker, buffer, count, tag, mask, &with));
}

typedef ucs_status_ptr_t send_fn(ucp_ep_h, const void *, size_t, ucp_tag_t,
                                 const ucp_request_param_t *);

static int is_refused(ucs_status_ptr_t request) {
  return UCS_PTR_IS_ERR(request) && UCS_PTR_STATUS(request) != UCS_ERR_NO_MEMORY;
}

static ucs_status_ptr_t send_by(send_fn *next, ucp_ep_h ep, const void *buffer, size_t count,
                                ucp_tag_t tag, const ucp_request_param_t *param) {
  if (!atomic_load_explicit(&sends_seen, memory_order_relaxed))
    atomic_store(&sends_seen, 1);
  if (watch.cause || (watch.on && is_beyond(tag)))
    return NULL;
  ucx_operation *operation = watch.on ? new_operation(param) : NULL;
  if (!operation) {
    ucs_status_ptr_t made = next(ep, buffer, count, tag, param);
    return tolerates && is_refused(made) ? NULL : made;
  }
  operation->sent = param->cb.send;
  ucp_request_param_t with = with_user_data(param, operation);
  with.cb.send = on_sent;
  void *request = set_request(operation, next(ep, buffer, count, tag, &with));
  /* The receiver has died, which check_failure will find, or the end of the call; MPICH's own path
   * for this error is not safe. */
  watch.refused |= is_refused(request);
  return is_refused(request) ? NULL : request;
}

EXPORT ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                         ucp_tag_t tag, const ucp_request_param_t *param) {
  NEXT(ucp_tag_send_nbx);
  return send_by(next, ep, buffer, count, tag, param);
}

/* A synchronous send that UCX ends or refuses since the connection is lost has not been received.
 * As with receives, MPICH is not told, and it lasts until the death is known. */
static _Atomic(ucp_send_nbx_callback_t) mpich_sent;

static void on_sent_in_sync(void *request, ucs_status_t status, void *user_data) {
  if (!is_lost(status))
    atomic_load_explicit(&mpich_sent, memory_order_relaxed)(request, status, user_data);
}

/* When MPICH cancels it. */
static void on_cancelled(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                         void *user_data) {
  (void)info;
  on_sent_in_sync(request, status, user_data);
}

/* In place of a send that UCX refuses: a receive that gets no message. */
static ucs_status_ptr_t wait_instead(const ucp_request_param_t *param) {
  NEXT(ucp_tag_recv_nbx);
  ucp_request_param_t with = *param;
  with.op_attr_mask &= ~(uint32_t)UCP_OP_ATTR_FIELD_DATATYPE;
  with.cb.recv = on_cancelled;
  return next(atomic_load(&receiving), NULL, 0, NO_TAG, NO_TAG, &with);
}

static ucs_status_ptr_t send_in_sync(send_fn *next, ucp_ep_h ep, const void *buffer, size_t count,
                                     ucp_tag_t tag, const ucp_request_param_t *param) {
  ucp_request_param_t with = *param;
  with.cb.send = on_sent_in_sync;
  if (atomic_load_explicit(&mpich_sent, memory_order_relaxed) != param->cb.send)
    atomic_store(&mpich_sent, param->cb.send); /* MPICH has one */
  ucs_status_ptr_t made = next(ep, buffer, count, tag, &with);
  return is_refused(made) ? wait_instead(param) : made;
}

EXPORT ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                              ucp_tag_t tag, const ucp_request_param_t *param) {
  NEXT(ucp_tag_send_sync_nbx);
  return tolerates && !watch.on && (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK)
             ? send_in_sync(next, ep, buffer, count, tag, param)
             : send_by(next, ep, buffer, count, tag, param);
}

/* --- interrupting -------------------------------------------------------------------- */

/* MPICH may free a request of UCX's before it is done: UCX keeps it as long as it needs it. */
static void abandon(ucx_operation *operation) {
  operation->abandoned = 1;
  unlist_operation(operation);
  if (operation->received)
    end_receive(operation->request, operation);
  else
    operation->sent(operation->request, UCS_OK, operation->user_data);
}

static void give_up(double now) {
  int late = watch.cause && now - watch.since > LAST_SECONDS;
  for (ucx_operation *operation = under_way, *next; operation; operation = next) {
    next = operation->next;
    if (operation->thread != &watch)
      continue;
    if (!operation->given_up && (operation->local || (watch.cause && operation->received))) {
      operation->given_up = 1;
      cancel_request(operation->worker,
                     operation->request); /* which calls on_received, unless it is matched */
    } else if (late) {
      abandon(operation);
    }
  }
}

/* The call has returned: the buffers of its receives may be gone. */
static void forget_given_up(void) {
  for (ucx_operation *operation = under_way; operation; operation = operation->next)
    if (operation->thread == &watch && operation->given_up)
      operation->thread = NULL;
}

/* After a poll in vain. */
static void check_failure(void) {
  double now = rgi_clock_now();
  if (!watch.cause) {
    rgi_process_check(now);
    watch.cause = rgi_process_deaths() || rgi_revocation_any()
                      ? rgi_failure_check(&rgi_failure_scope_now, "MPI")
                      : RG_SUCCESS;
    watch.since = now;
  }
  give_up(now);
}

void rgi_mpich_interrupt_open(int survives) {
  is_wanted = survives && rgi_mpich_gives()->can_interrupt;
}

void rgi_mpich_interrupt_tolerate(void) {
  tolerates = 1;
}

int rgi_mpich_interrupt_possible(void) {
  return is_wanted && atomic_load(&sends_seen) && atomic_load(&receiving);
}

void rgi_mpich_interrupt_begin(rgi_mpich_interrupt_kind kind) {
  watch.cause = 0;
  watch.on = rgi_mpich_interrupt_possible();
  if (watch.on)
    find_failure_bits();
  watch.kind = kind;
  watch.parent = NO_TAG;
  watch.top = __builtin_frame_address(0);
  rgi_mpich_polled = watch.on ? check_failure : NULL;
}

int rgi_mpich_interrupt_end(int error, const char *call) {
  int cause = watch.cause;
  if (cause) {
    give_up(watch.since + 2 * LAST_SECONDS);
    forget_given_up();
  }
  if (watch.refused) {
    rgi_process_check_now();
    cause |= rgi_failure_check(&rgi_failure_scope_now, call);
  }
  watch.on = watch.cause = watch.refused = 0;
  rgi_mpich_polled = NULL;
  if (cause)
    return rgi_failure_check(&rgi_failure_scope_now, call);
  return error ? rgi_failure_cause(&rgi_failure_scope_now, error, call) : RG_SUCCESS;
}

#endif
