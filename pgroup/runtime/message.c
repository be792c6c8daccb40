/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/message.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/node.h"
#include "runtime/runtime.h"
#include "runtime/wait.h"

/* Up to here a message inside a node is one cell, copied in and out. */
#define SHORT_BYTES ((size_t)32 << 10)
/* Longer ones go through so many chunks of so many bytes: together they fit into
 * a second-level cache. */
#define CHUNKS 4
#define CHUNK_BYTES ((size_t)64 << 10)
/* Between nodes data up to here travel with the envelope. */
#define EAGER_BYTES ((size_t)8 << 10)
#define BUCKETS 256 /* of contexts */
#define ENVELOPE_TAG 0

typedef struct {
  uint64_t context, bytes;
  int32_t source, tag;
  uint64_t pipe;    /* inside a node: where the data come; 0: they follow here */
  int32_t data_tag; /* between nodes: the tag they come with; 0: they follow here */
  int32_t unused;
} envelope;

typedef struct {
  _Atomic uint64_t next; /* in the inbox: offset of the one before */
  uint64_t size;         /* of this cell in the arena */
  envelope envelope;
  char data[];
} cell;

typedef struct {
  _Atomic uint64_t produced, consumed; /* chunks */
  int32_t sender, receiver;            /* places on the node */
  char pad[RGI_LINE - 2 * sizeof(uint64_t) - 2 * sizeof(int32_t)];
  char chunk[CHUNKS][CHUNK_BYTES];
} pipe_block;

/* A message that nobody has asked for yet. */
typedef struct arrival {
  struct arrival *next;
  uint64_t cell; /* in the arena; 0: own memory */
  envelope envelope;
  char data[];
} arrival;

typedef struct {
  rgi_request *asked, **asked_end;
  arrival *arrived, **arrived_end;
} bucket;

static struct {
  pthread_mutex_t lock;
  MPI_Comm comm; /* a duplicate of the world; MPI_COMM_NULL on one node */
  bucket bucket[BUCKETS];
  rgi_request *active; /* pipes and MPI requests under way */
  int next_data_tag, most_data_tag;
  unsigned long inside, between;
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER, .comm = MPI_COMM_NULL};

/* --- lists ---------------------------------------------------------------------- */

static bucket *bucket_of(uint64_t context) {
  return &messages.bucket[context % BUCKETS];
}

static int fits(const rgi_request *r, const envelope *e) {
  return r->context == e->context && (r->source == RGI_ANY || r->source == e->source) &&
         (r->tag == RGI_ANY || r->tag == e->tag);
}

static void ask(rgi_request *r) {
  bucket *b = bucket_of(r->context);
  r->next = NULL;
  r->link = b->asked_end;
  *b->asked_end = r;
  b->asked_end = &r->next;
  r->listed = 1;
}

static void unask(rgi_request *r) {
  bucket *b = bucket_of(r->context);
  *r->link = r->next;
  if (r->next)
    r->next->link = r->link;
  else
    b->asked_end = r->link;
  r->listed = 0;
}

static void activate(rgi_request *r) {
  r->next = messages.active;
  r->link = &messages.active;
  if (r->next)
    r->next->link = &r->next;
  messages.active = r;
}

static void deactivate(rgi_request *r) {
  *r->link = r->next;
  if (r->next)
    r->next->link = r->link;
}

static void finish(rgi_request *r) {
  free(r->own);
  r->own = NULL;
  r->done = 1;
  if (rgi_rt.threads) /* another one may be asleep for it */
    rgi_ring(rgi_node.me);
}

/* --- inside the node -------------------------------------------------------------- */

static void hang_into_inbox(int place, uint64_t offset) {
  cell *c = rgi_arena_at(offset);
  _Atomic uint64_t *inbox = &rgi_node.processes[place].inbox;
  uint64_t old = atomic_load_explicit(inbox, memory_order_relaxed);
  do
    atomic_store_explicit(&c->next, old, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(inbox, &old, offset, memory_order_release,
                                                memory_order_relaxed));
  rgi_ring(place);
}

static int send_cell(int place, const envelope *e, const void *data, size_t bytes) {
  uint64_t offset;
  size_t size = sizeof(cell) + bytes;
  RGI_TRY(rgi_arena_take("a message", size, &offset));
  cell *c = rgi_arena_at(offset);
  c->size = size;
  c->envelope = *e;
  if (bytes)
    memcpy(c->data, data, bytes);
  hang_into_inbox(place, offset);
  return RG_SUCCESS;
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Puts what fits into the pipe. */
static int push_pipe(rgi_request *r) {
  pipe_block *p = rgi_arena_at(r->pipe);
  int moved = 0;
  uint64_t produced = atomic_load_explicit(&p->produced, memory_order_relaxed);
  while (r->moved < r->bytes &&
         produced - atomic_load_explicit(&p->consumed, memory_order_acquire) < CHUNKS) {
    size_t n = least(CHUNK_BYTES, r->bytes - r->moved);
    memcpy(p->chunk[produced % CHUNKS], r->data + r->moved, n);
    r->moved += n;
    atomic_store_explicit(&p->produced, ++produced, memory_order_release);
    rgi_ring(p->receiver);
    moved = 1;
  }
  return moved;
}

/* Takes what is there out of the pipe; the receiver gives it back at the end. */
static int pull_pipe(rgi_request *r) {
  pipe_block *p = rgi_arena_at(r->pipe);
  int moved = 0;
  uint64_t consumed = atomic_load_explicit(&p->consumed, memory_order_relaxed);
  while (r->moved < r->bytes &&
         consumed < atomic_load_explicit(&p->produced, memory_order_acquire)) {
    size_t n = least(CHUNK_BYTES, r->bytes - r->moved);
    if (r->moved < r->room)
      memcpy(r->data + r->moved, p->chunk[consumed % CHUNKS], least(n, r->room - r->moved));
    r->moved += n;
    atomic_store_explicit(&p->consumed, ++consumed, memory_order_release);
    rgi_ring(p->sender);
    moved = 1;
  }
  return moved;
}

static int open_pipe(rgi_request *r, int place, envelope *e) {
  RGI_TRY(rgi_arena_take("a long message", sizeof(pipe_block), &r->pipe));
  pipe_block *p = rgi_arena_at(r->pipe);
  atomic_init(&p->produced, 0);
  atomic_init(&p->consumed, 0);
  p->sender = rgi_node.me;
  p->receiver = place;
  e->pipe = r->pipe;
  int error = send_cell(place, e, NULL, 0);
  if (error) {
    rgi_arena_give(r->pipe, sizeof(pipe_block));
    return error;
  }
  push_pipe(r);
  activate(r);
  return RG_SUCCESS;
}

/* --- between nodes ------------------------------------------------------------------ */

#if MPI_VERSION >= 4
static int send_bytes(const char *data, size_t n, int dest, int tag, MPI_Request *request) {
  return MPI_Isend_c(data, (MPI_Count)n, MPI_BYTE, dest, tag, messages.comm, request);
}

static int receive_bytes(char *data, size_t n, int source, int tag, MPI_Request *request) {
  return MPI_Irecv_c(data, (MPI_Count)n, MPI_BYTE, source, tag, messages.comm, request);
}
#else
/* An older MPI counts in ints. */
static int send_bytes(const char *data, size_t n, int dest, int tag, MPI_Request *request) {
  return n > INT_MAX ? MPI_ERR_COUNT
                     : MPI_Isend(data, (int)n, MPI_BYTE, dest, tag, messages.comm, request);
}

static int receive_bytes(char *data, size_t n, int source, int tag, MPI_Request *request) {
  return n > INT_MAX ? MPI_ERR_COUNT
                     : MPI_Irecv(data, (int)n, MPI_BYTE, source, tag, messages.comm, request);
}
#endif

static int send_by_mpi(rgi_request *r, int dest, envelope *e) {
  size_t with = r->bytes <= EAGER_BYTES ? r->bytes : 0;
  r->own = malloc(sizeof *e + with);
  if (!r->own)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  if (!with && r->bytes) {
    e->data_tag = 1 + messages.next_data_tag;
    messages.next_data_tag = (messages.next_data_tag + 1) % messages.most_data_tag;
  }
  memcpy(r->own, e, sizeof *e);
  if (with)
    memcpy(r->own + sizeof *e, r->data, with);
  int size = (int)(sizeof *e + with);
  RGI_TRY_MPI(MPI_Isend(r->own, size, MPI_BYTE, dest, ENVELOPE_TAG, messages.comm, &r->mpi));
  if (e->data_tag) {
    /* The envelope is small enough for MPI to have taken it. */
    RGI_TRY_MPI(MPI_Wait(&r->mpi, MPI_STATUS_IGNORE));
    RGI_TRY_MPI(send_bytes(r->data, r->bytes, dest, e->data_tag, &r->mpi));
  }
  activate(r);
  return RG_SUCCESS;
}

static int receive_by_mpi(rgi_request *r, const envelope *e) {
  char *to = r->data;
  if (e->bytes > r->room && !(to = r->own = malloc(e->bytes)))
    return rgi_error(RG_ERR_NOMEM, "no memory for a message of %zu bytes", (size_t)e->bytes);
  RGI_TRY_MPI(receive_bytes(to, e->bytes, e->source, e->data_tag, &r->mpi));
  activate(r);
  return RG_SUCCESS;
}

/* --- meeting ------------------------------------------------------------------------- */

/* A message and a request belong together. */
static int meet(rgi_request *r, const envelope *e, const char *data) {
  r->source = e->source;
  r->tag = e->tag;
  r->bytes = e->bytes;
  if (e->bytes > r->room)
    r->error = RG_ERR_TRUNCATE;
  if (e->pipe) {
    r->pipe = e->pipe;
    activate(r);
    return RG_SUCCESS;
  }
  if (e->data_tag)
    return receive_by_mpi(r, e);
  if (least(e->bytes, r->room))
    memcpy(r->data, data, least(e->bytes, r->room));
  finish(r);
  return RG_SUCCESS;
}

static rgi_request *find_asked(const envelope *e) {
  for (rgi_request *r = bucket_of(e->context)->asked; r; r = r->next)
    if (fits(r, e))
      return r;
  return NULL;
}

static void keep(arrival *a) {
  bucket *b = bucket_of(a->envelope.context);
  a->next = NULL;
  *b->arrived_end = a;
  b->arrived_end = &a->next;
}

/* The first arrival that fits, and where it hangs. */
static arrival *find_arrived(const rgi_request *r, arrival ***at) {
  for (*at = &bucket_of(r->context)->arrived; **at; *at = &(**at)->next)
    if (fits(r, &(**at)->envelope))
      return **at;
  return NULL;
}

static void unkeep(arrival **at) {
  arrival *a = *at;
  bucket *b = bucket_of(a->envelope.context);
  *at = a->next;
  if (b->arrived_end == &a->next)
    b->arrived_end = at;
}

static void drop_cell(uint64_t offset) {
  cell *c = rgi_arena_at(offset);
  rgi_arena_give(offset, c->size);
}

static int take_cell(uint64_t offset) {
  cell *c = rgi_arena_at(offset);
  rgi_request *r = find_asked(&c->envelope);
  if (r) {
    unask(r);
    int error = meet(r, &c->envelope, c->data);
    drop_cell(offset);
    return error;
  }
  arrival *a = malloc(sizeof *a);
  if (!a)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  a->cell = offset;
  a->envelope = c->envelope;
  keep(a);
  return RG_SUCCESS;
}

/* The inbox holds the newest first. */
static int empty_inbox(void) {
  _Atomic uint64_t *inbox = &rgi_node.processes[rgi_node.me].inbox;
  if (!atomic_load_explicit(inbox, memory_order_relaxed))
    return RG_SUCCESS;
  uint64_t newest = atomic_exchange_explicit(inbox, 0, memory_order_acquire), oldest = 0;
  while (newest) {
    cell *c = rgi_arena_at(newest);
    uint64_t before = atomic_load_explicit(&c->next, memory_order_relaxed);
    atomic_store_explicit(&c->next, oldest, memory_order_relaxed);
    oldest = newest;
    newest = before;
  }
  while (oldest) {
    cell *c = rgi_arena_at(oldest);
    uint64_t after = atomic_load_explicit(&c->next, memory_order_relaxed);
    RGI_TRY(take_cell(oldest));
    oldest = after;
  }
  return RG_SUCCESS;
}

static int take_mpi_message(MPI_Message *message, MPI_Status *status) {
  int size;
  MPI_Get_count(status, MPI_BYTE, &size);
  arrival *a = malloc(offsetof(arrival, envelope) + (size_t)size);
  if (!a)
    return rgi_error(RG_ERR_NOMEM, "no memory for a message");
  RGI_TRY_MPI(MPI_Mrecv(&a->envelope, size, MPI_BYTE, message, MPI_STATUS_IGNORE));
  a->cell = 0;
  rgi_request *r = find_asked(&a->envelope);
  if (!r) {
    keep(a);
    return RG_SUCCESS;
  }
  unask(r);
  int error = meet(r, &a->envelope, a->data);
  free(a);
  return error;
}

static int look_at_mpi(void) {
  int there = 1;
  while (messages.comm != MPI_COMM_NULL && there) {
    MPI_Message message;
    MPI_Status status;
    RGI_TRY_MPI(
        MPI_Improbe(MPI_ANY_SOURCE, ENVELOPE_TAG, messages.comm, &there, &message, &status));
    if (there)
      RGI_TRY(take_mpi_message(&message, &status));
  }
  return RG_SUCCESS;
}

static int push_on(rgi_request *r) {
  int over;
  if (r->pipe) {
    if (r->sending)
      push_pipe(r);
    else
      pull_pipe(r);
    over = r->moved == r->bytes;
    if (over && !r->sending)
      rgi_arena_give(r->pipe, sizeof(pipe_block));
  } else {
    RGI_TRY_MPI(MPI_Test(&r->mpi, &over, MPI_STATUS_IGNORE));
    if (over && !r->sending && r->own && r->room)
      memcpy(r->data, r->own, r->room);
  }
  if (over) {
    deactivate(r);
    finish(r);
  }
  return RG_SUCCESS;
}

static int progress_locked(void) {
  RGI_TRY(empty_inbox());
  RGI_TRY(look_at_mpi());
  for (rgi_request *r = messages.active, *next; r; r = next) {
    next = r->next;
    RGI_TRY(push_on(r));
  }
  return RG_SUCCESS;
}

/* --- what the others call ---------------------------------------------------------------- */

int rgi_message_open(MPI_Comm world) {
  int *bound, found = 0;
  for (int i = 0; i < BUCKETS; i++) {
    messages.bucket[i].asked_end = &messages.bucket[i].asked;
    messages.bucket[i].arrived_end = &messages.bucket[i].arrived;
  }
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  RGI_TRY_MPI(MPI_Comm_dup(world, &messages.comm));
  MPI_Comm_get_attr(world, MPI_TAG_UB, &bound, &found);
  messages.most_data_tag = found ? *bound : 32767;
  return RG_SUCCESS;
}

void rgi_message_close(void) {
  for (int i = 0; i < BUCKETS; i++) {
    bucket *b = &messages.bucket[i];
    for (arrival *a = b->arrived, *next; a; a = next) {
      next = a->next;
      free(a);
    }
    b->arrived = NULL;
    b->asked = NULL;
  }
  messages.active = NULL;
  if (messages.comm != MPI_COMM_NULL)
    MPI_Comm_free(&messages.comm);
}

static int send_locked(int dest, rgi_request *r, envelope *e) {
  int place = rgi_node_find(dest);
  if (place < 0) {
    RGI_TRY(send_by_mpi(r, dest, e));
    messages.between++;
    return RG_SUCCESS;
  }
  messages.inside++;
  if (r->bytes > SHORT_BYTES)
    return open_pipe(r, place, e);
  RGI_TRY(send_cell(place, e, r->data, r->bytes));
  r->done = 1;
  return RG_SUCCESS;
}

int rgi_message_send(uint64_t context, int dest, int tag, const void *data, size_t bytes,
                     rgi_request *r) {
  envelope e = {.context = context, .bytes = bytes, .source = rgi_rt.rank, .tag = tag};
  memset(r, 0, sizeof *r);
  r->sending = 1;
  r->mpi = MPI_REQUEST_NULL;
  r->context = context;
  r->tag = tag;
  r->bytes = bytes;
  memcpy(&r->data, &data, sizeof data); /* only read: no const there */
  pthread_mutex_lock(&messages.lock);
  int error = send_locked(dest, r, &e);
  pthread_mutex_unlock(&messages.lock);
  return error;
}

static int receive_locked(rgi_request *r) {
  arrival **at, *a;
  RGI_TRY(empty_inbox());
  a = find_arrived(r, &at);
  if (!a) {
    ask(r);
    return RG_SUCCESS;
  }
  unkeep(at);
  cell *c = a->cell ? rgi_arena_at(a->cell) : NULL;
  int error = meet(r, &a->envelope, c ? c->data : a->data);
  if (a->cell)
    drop_cell(a->cell);
  free(a);
  return error;
}

int rgi_message_receive(uint64_t context, int source, int tag, void *data, size_t room,
                        rgi_request *r) {
  memset(r, 0, sizeof *r);
  r->mpi = MPI_REQUEST_NULL;
  r->context = context;
  r->source = source;
  r->tag = tag;
  r->data = data;
  r->room = room;
  pthread_mutex_lock(&messages.lock);
  int error = receive_locked(r);
  pthread_mutex_unlock(&messages.lock);
  return error;
}

int rgi_progress(void) {
  pthread_mutex_lock(&messages.lock);
  int error = progress_locked();
  pthread_mutex_unlock(&messages.lock);
  return error;
}

int rgi_message_busy(void) {
  return messages.active != NULL || messages.comm != MPI_COMM_NULL;
}

int rgi_message_test(rgi_request *r, int *done) {
  RGI_TRY(rgi_progress());
  *done = r->done;
  return RG_SUCCESS;
}

int rgi_message_wait(rgi_request *r, const char *call) {
  rgi_wait w;
  rgi_wait_start(&w, call, r->sending ? -1 : r->source);
  for (;;) {
    uint32_t bell = atomic_load_explicit(&rgi_my_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_progress());
    if (r->done)
      break;
    RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, messages.comm == MPI_COMM_NULL));
  }
  return r->error ? rgi_error(r->error,
                              "%s: a message of %zu bytes from rank %d is longer than the "
                              "buffer of %zu",
                              call, r->bytes, r->source, r->room)
                  : RG_SUCCESS;
}

void rgi_message_cancel(rgi_request *r, int *cancelled) {
  pthread_mutex_lock(&messages.lock);
  *cancelled = r->listed;
  if (r->listed)
    unask(r);
  pthread_mutex_unlock(&messages.lock);
}

int rgi_message_probe(uint64_t context, int source, int tag, int *there, int *from, int *its_tag,
                      size_t *bytes) {
  rgi_request wanted = {.context = context, .source = source, .tag = tag};
  arrival **at;
  pthread_mutex_lock(&messages.lock);
  int error = progress_locked();
  arrival *a = error ? NULL : find_arrived(&wanted, &at);
  if (a) {
    *from = a->envelope.source;
    *its_tag = a->envelope.tag;
    *bytes = a->envelope.bytes;
  }
  pthread_mutex_unlock(&messages.lock);
  *there = a != NULL;
  return error;
}

int rgi_message_await(uint64_t context, int source, int tag, const char *call, int *from,
                      int *its_tag, size_t *bytes) {
  rgi_wait w;
  rgi_wait_start(&w, call, source);
  for (;;) {
    int there = 0;
    uint32_t bell = atomic_load_explicit(&rgi_my_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_message_probe(context, source, tag, &there, from, its_tag, bytes));
    if (there)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, messages.comm == MPI_COMM_NULL));
  }
}

void rgi_message_count(unsigned long *inside, unsigned long *between) {
  *inside = messages.inside;
  *between = messages.between;
}
