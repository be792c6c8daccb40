/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A message under way (rgi_message), and the lists that the files message*.c hang it into. The
 * functions are called with the lock of message.c held. */
#ifndef RGI_MESSAGE_LIST_H
#define RGI_MESSAGE_LIST_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/arena.h"

#define RGI_ANY (-1)

/* What a message is matched by, and its length. peer, a world rank: to whom it is sent in calls
 * that send, by whom elsewhere. Of a receive or a probe peer and tag may be RGI_ANY, and bytes is
 * the room for the message. */
typedef struct {
  uint64_t context;
  int32_t peer, tag;
  uint64_t bytes;
} rgi_message_envelope;

/* Where a message stands. */
typedef enum {
  RGI_MESSAGE_IDLE,    /* in no list */
  RGI_MESSAGE_POSTED,  /* a posted receive that no message has matched */
  RGI_MESSAGE_DELAYED, /* a send that waits for room in the receiver's inbox, or for memory */
  RGI_MESSAGE_ACTIVE   /* its data are being moved */
} rgi_message_state;

typedef struct rgi_message {
  /* What the caller may read when it is done. */
  atomic_int done;
  int error;         /* RG_SUCCESS, RG_ERR_TRUNCATE, RG_ERR_NOMEM, RG_ERR_TIMEOUT (given up) or
                        RG_ERR_MPI */
  atomic_int source; /* of the message that came, or to whom it is sent: world rank. A thread that
                        waits for message reads it */
  int tag;
  size_t bytes; /* its length */
  /* The rest is for the files message*.c. */
  int sending, place;
  rgi_arena_purpose purpose; /* of a send inside the node */
  rgi_message_state state;
  uint64_t context;
  char *data;
  size_t room, moved;
  struct rgi_message_rts *rts; /* of a long message in the node: its rendezvous request */
  uint64_t pipe;               /* of a long message that this process receives */
  MPI_Request mpi;
  struct rgi_message_staged *staged; /* of a long message between nodes that is staged */
  int left;                          /* given up, but MPI uses data as long as the library runs */
  char *own;                         /* memory to be freed at the end */
  struct rgi_message *next, **link;
} rgi_message;

/* How many messages of this process need rgi_progress although nothing is in the inbox: long ones
 * inside the node and delayed sends. Any thread may read it. */
extern atomic_int rgi_message_under_way;

static inline void rgi_message_count_under_way(int more) {
  int now = atomic_load_explicit(&rgi_message_under_way, memory_order_relaxed);
  atomic_store_explicit(&rgi_message_under_way, now + more, memory_order_relaxed);
}

/* Lists of messages; end: NULL for a list without a pointer to its end. */
void rgi_message_append(rgi_message *message, rgi_message ***end, rgi_message_state state);
void rgi_message_remove(rgi_message *message, rgi_message ***end);

/* message has ended: the caller must not use message afterwards, its owner may have freed it.
 * error: of message unless it has one. */
void rgi_message_finish(rgi_message *message, int error);

static inline size_t rgi_message_min(size_t a, size_t b) {
  return a < b ? a : b;
}

#endif
