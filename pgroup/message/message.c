/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages: the interface, the order of sends, and progress. A send inside the node puts a cell
 * into the receiver's inbox; if that is full, or between nodes too much is under way, the send is
 * delayed, and so are all later ones to the same process, which keeps their order. Progress takes
 * all cells from the own inbox and from MPI to matching, tries delayed sends again, and moves the
 * data of long messages.
 *
 * One lock (only at MPI_THREAD_MULTIPLE) covers all state of the files message*.c in this process;
 * between processes only the inboxes and the rendezvous requests are shared, without locks. Whether
 * there is anything to do is read without the lock: is_busy. */
#include "message/message.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/copy.h"
#include "base/error.h"
#include "base/spare.h"
#include "message/message_cell.h"
#include "message/message_mpi.h"
#include "message/message_parts.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "shm/node.h"
#include "shm/pages.h"

/* Up to here a message inside a node is one cell, copied in and out. */
#define EAGER_BYTES (RGI_MESSAGE_CELL_MOST - sizeof(rgi_message_cell))

/* What the largest cell holds that is not more than a page. */
#define PAGE_BYTES (RGI_PAGE / 2 - sizeof(rgi_message_cell))

/* In a full arena each attempt looks for all that could be given back. */
#define RETRY_SECONDS 1e-3

static struct {
  pthread_mutex_t mutex;
  rgi_message *delayed, **delayed_end;
  double retry; /* no memory before this time; 0: none has been lacking */
  /* For each rank: the last round of tries in which a message to it stayed delayed. */
  unsigned *blocked, round;
  int inside; /* a thread is in one of these functions */
} messages = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void lock_messages(void) {
  if (rgi_runtime.threads)
    pthread_mutex_lock(&messages.mutex);
  messages.inside = 1;
}

/* Returns 0 where a thread, which may be the caller, has the lock. */
static int try_lock_messages(void) {
  if (rgi_runtime.threads ? pthread_mutex_trylock(&messages.mutex) != 0 : messages.inside)
    return 0;
  messages.inside = 1;
  return 1;
}

static void unlock_messages(void) {
  messages.inside = 0;
  if (rgi_runtime.threads)
    pthread_mutex_unlock(&messages.mutex);
}

static void drain_inbox(void) {
  for (rgi_message_cell *cell = rgi_message_cells_collect(), *next; cell; cell = next) {
    next = cell->next;
    rgi_message_match_arrival(cell);
  }
}

/* --- sending ---------------------------------------------------------------------- */

static int fill_cell(rgi_message *message, size_t eager, rgi_message_cell **cell) {
  rgi_message_envelope envelope = {.context = message->context,
                                   .peer = rgi_runtime.rank,
                                   .tag = message->tag,
                                   .bytes = message->bytes};
  if (message->bytes > eager)
    return rgi_message_pipe_make_rts(message, &envelope, cell);
  RGI_TRY(rgi_message_cell_take(message->bytes, cell));
  (*cell)->kind = RGI_MESSAGE_EAGER;
  (*cell)->envelope = envelope;
  if (message->bytes)
    rgi_copy_block(rgi_message_cell_data(*cell), message->data, message->bytes);
  return RG_SUCCESS;
}

/* A message with a purpose takes what is set aside, a page at most, where the arena is full. */
static int fill_cell_for(rgi_message *message, rgi_message_cell **cell) {
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_ANY);
  int error = RG_ERR_NOMEM;
  if (!message->purpose || !rgi_message_cells_full()) {
    error = fill_cell(message, EAGER_BYTES, cell);
    rgi_message_cells_note_full(error == RG_ERR_NOMEM);
  }
  rgi_arena_set_purpose(message->purpose);
  if (error && message->purpose)
    error = fill_cell(message, PAGE_BYTES, cell);
  rgi_arena_set_purpose(before);
  return error;
}

/* *enqueued is 0 when the receiver's inbox is too full, and where a message with a purpose has no
 * memory yet. */
static int enqueue_message(rgi_message *message, int *enqueued) {
  rgi_message_cell *cell;
  int error = fill_cell_for(message, &cell);
  if (error && message->purpose) {
    messages.retry = rgi_clock_now() + RETRY_SECONDS;
    *enqueued = 0;
    return RG_SUCCESS;
  }
  RGI_TRY(error);
  *enqueued = rgi_message_cell_enqueue(message->place, cell);
  if (!*enqueued)
    rgi_message_cell_give(cell);
  return RG_SUCCESS;
}

static int must_delay(int peer) {
  for (rgi_message *message = messages.delayed; message; message = message->next)
    if (message->source == peer)
      return 1;
  return 0;
}

static void delay_send(rgi_message *message) {
  rgi_message_append(message, &messages.delayed_end, RGI_MESSAGE_DELAYED);
  rgi_message_count_under_way(1);
}

static void undelay_send(rgi_message *message) {
  rgi_message_remove(message, &messages.delayed_end);
  rgi_message_count_under_way(-1);
}

static int must_pause(void) {
  return rgi_clock_now() < messages.retry;
}

/* *possible: the message is sent by end_send, which inside the node only has to note it. */
static int begin_send(rgi_message *message, int *possible) {
  if (message->place >= 0)
    return enqueue_message(message, possible);
  *possible = rgi_message_remote_has_room(message->source);
  return RG_SUCCESS;
}

/* message is in no list. */
static int end_send(rgi_message *message) {
  if (message->place < 0)
    return rgi_message_remote_send(message);
  if (message->rts)
    rgi_message_pipe_start(message);
  else
    atomic_store_explicit(&message->done, 1, memory_order_release);
  return RG_SUCCESS;
}

/* Returns 0 if it stays delayed. */
static int send_delayed(rgi_message *message) {
  int possible = 0, error = RG_SUCCESS;
  if (messages.blocked[message->source] != messages.round &&
      !(messages.retry > 0 && message->purpose && must_pause()))
    error = begin_send(message, &possible);
  if (!possible && !error) {
    messages.blocked[message->source] = messages.round;
    return 0;
  }
  undelay_send(message);
  if (!error)
    error = end_send(message);
  if (error)
    rgi_message_finish(message, error);
  return 1;
}

static void send_all_delayed(void) {
  int sent = 0;
  messages.round++;
  for (rgi_message *message = messages.delayed, *next; message; message = next) {
    next = message->next;
    sent |= send_delayed(message);
  }
  if (sent && rgi_runtime.threads) /* another thread may sleep until one of them is done */
    rgi_node_ring(rgi_node.me);
}

static int send_message(rgi_message *message) {
  int possible = 0;
  if (!must_delay(message->source))
    RGI_TRY(begin_send(message, &possible));
  if (possible)
    return end_send(message);
  delay_send(message);
  return RG_SUCCESS;
}

/* --- the interface and progress --------------------------------------------------------- */

int rgi_message_send(const rgi_message_envelope *to, const void *data, rgi_message *message) {
  *message = (rgi_message){.sending = 1,
                           .context = to->context,
                           .source = to->peer,
                           .tag = to->tag,
                           .bytes = to->bytes,
                           .place = rgi_node_find(to->peer),
                           .purpose = rgi_arena_get_purpose(),
                           .mpi = MPI_REQUEST_NULL};
  memcpy(&message->data, &data, sizeof data); /* the member is not const, but data are only read */
  lock_messages();
  int error = send_message(message);
  unlock_messages();
  return error;
}

int rgi_message_receive(const rgi_message_envelope *from, void *data, rgi_message *message) {
  *message = (rgi_message){.context = from->context,
                           .source = from->peer,
                           .tag = from->tag,
                           .data = data,
                           .room = from->bytes,
                           .mpi = MPI_REQUEST_NULL};
  lock_messages();
  drain_inbox();
  rgi_message_match_post(message);
  unlock_messages();
  return RG_SUCCESS;
}

void rgi_message_accept(rgi_message_cell *taken, void *data, size_t room, rgi_message *message) {
  *message = (rgi_message){
      .context = taken->envelope.context, .data = data, .room = room, .mpi = MPI_REQUEST_NULL};
  lock_messages();
  rgi_message_match_accept(message, taken);
  unlock_messages();
}

static int is_under_way(void) {
  return atomic_load_explicit(&rgi_message_under_way, memory_order_relaxed) > 0;
}

/* A few cells at a time: the caller may be about to receive one, and a sender does not wait for it.
 */
static int collect_cells(void) {
  rgi_message_cell *cell;
  for (int i = 0; i < RGI_MESSAGE_MPI_TESTS; i++) {
    RGI_TRY(rgi_message_mpi_collect(&cell));
    if (!cell)
      break;
    if (cell->kind != RGI_MESSAGE_FIN) {
      rgi_message_match_arrival(cell);
      continue;
    }
    if (!rgi_message_staged_fin(&cell->envelope))
      rgi_message_match_fin(&cell->envelope);
    rgi_spare_free(cell);
  }
  return RG_SUCCESS;
}

static int progress_other_nodes(void) {
  if (!rgi_message_mpi_in_use())
    return RG_SUCCESS;
  rgi_message_mpi_progress_sends();
  RGI_TRY(collect_cells());
  rgi_message_remote_progress();
  return RG_SUCCESS;
}

static int make_progress(void) {
  drain_inbox();
  int error = progress_other_nodes();
  if (is_under_way()) {
    send_all_delayed();
    rgi_message_pipes_progress();
  }
  return error;
}

void rgi_message_forget(uint64_t context) {
  if (!messages.blocked)
    return; /* none is kept */
  lock_messages();
  make_progress();
  rgi_message_match_forget(context);
  unlock_messages();
}

static int is_busy(void) {
  return is_under_way() || rgi_message_mpi_in_use() || rgi_message_cells_pending();
}

static int progress_locked(void) {
  int error = make_progress();
  unlock_messages();
  return error;
}

static int progress_if_busy(void) {
  if (!is_busy())
    return RG_SUCCESS;
  lock_messages();
  return progress_locked();
}

static int attempt_progress(void) {
  return is_busy() && try_lock_messages() ? progress_locked() : RG_SUCCESS;
}

static const rgi_progress_source own = {
    .progress = progress_if_busy, .attempt = attempt_progress, .busy = is_busy};

static int open_messages(void) {
  messages.delayed = NULL;
  messages.delayed_end = &messages.delayed;
  messages.retry = 0;
  atomic_store(&rgi_message_under_way, 0);
  messages.blocked = rgi_spare_alloc_zeroed((size_t)rgi_runtime.size, sizeof *messages.blocked);
  if (!messages.blocked)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for a table of %d processes",
                     rgi_runtime.size);
  rgi_message_match_open();
  rgi_message_cells_open();
  RGI_TRY(rgi_message_pipes_open());
  rgi_message_remote_open();
  RGI_TRY(rgi_message_mpi_open(rgi_runtime.comm));
  rgi_progress_use(&own);
  return RG_SUCCESS;
}

static void close_messages(int mpi) {
  rgi_requests_stop();
  rgi_progress_use(NULL);
  rgi_message_match_close();
  rgi_spare_free(messages.blocked);
  messages.blocked = NULL;
  rgi_message_cells_close();
  rgi_message_pipes_close();
  if (!mpi)
    return;
  rgi_message_remote_close();
  rgi_message_mpi_close();
}

__attribute__((constructor)) static void add_module(void) {
  static rgi_module module = {.name = "messages",
                              .stage = RGI_MODULE_BASIC,
                              .open = open_messages,
                              .close = close_messages};
  rgi_module_register(&module);
}

void rgi_message_cancel(rgi_message *message, int *cancelled) {
  lock_messages();
  *cancelled = message->state == RGI_MESSAGE_POSTED;
  if (*cancelled)
    rgi_message_match_unpost(message);
  unlock_messages();
}

void rgi_message_abandon(rgi_message *message) {
  lock_messages();
  if (message->state == RGI_MESSAGE_ACTIVE) {
    if (message->rts)
      rgi_message_pipe_abandon(message);
    else
      rgi_message_remote_abandon(message);
  } else if (message->state != RGI_MESSAGE_IDLE) {
    if (message->state == RGI_MESSAGE_POSTED)
      rgi_message_match_unpost(message);
    else
      undelay_send(message);
    rgi_message_finish(message, RG_ERR_TIMEOUT);
  }
  unlock_messages();
}

int rgi_message_probe(const rgi_message_envelope *wanted, int *there, rgi_message_envelope *found,
                      rgi_message_cell **taken) {
  rgi_message_cell *cell = NULL;
  lock_messages();
  int error = make_progress();
  if (!error)
    cell = taken ? rgi_message_match_take(wanted) : rgi_message_match_find(wanted);
  if (cell)
    *found = cell->envelope;
  if (cell && taken)
    *taken = cell;
  unlock_messages();
  *there = cell != NULL;
  return error;
}
