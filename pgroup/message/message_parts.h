/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the files message*.c share. All of it is called with the lock held. */
#ifndef RGI_MESSAGE_PARTS_H
#define RGI_MESSAGE_PARTS_H

#include "message/message.h"
#include "shm/arena.h"

/* Where a request stands. */
typedef enum {
  RGI_MESSAGE_IDLE,    /* in no list */
  RGI_MESSAGE_POSTED,  /* a posted receive that no message has matched */
  RGI_MESSAGE_DELAYED, /* a send that waits for room in the receiver's inbox */
  RGI_MESSAGE_ACTIVE   /* under way */
} rgi_message_state;

typedef struct {
  uint64_t context, bytes;
  int32_t source, tag;
} rgi_message_envelope;

typedef enum {
  RGI_MESSAGE_EAGER,      /* the data follow the cell's head */
  RGI_MESSAGE_RTS,        /* a rendezvous request: the data come through a pipe */
  RGI_MESSAGE_REMOTE_RTS, /* an rgi_message_remote_rts follows the head, and the data come by MPI */
  RGI_MESSAGE_FIN /* the data of an earlier one have gone: its data_tag is the envelope's tag */
} rgi_message_cell_kind;

typedef struct {
  int32_t data_tag; /* the data's tag */
  int32_t fin;      /* they have gone: what MPI says of their coming is true */
} rgi_message_remote_rts;

/* A message as it arrives; its data follow. It lies in the arena, or in memory of
 * this process's own when it came from another node (lines is 0 then). */
typedef struct rgi_message_cell {
  union {
    uint64_t previous;             /* in an inbox: offset of the one that came before */
    struct rgi_message_cell *next; /* afterwards */
  };
  uint32_t lines; /* that it takes in the arena */
  uint32_t kind;
  rgi_message_envelope envelope;
} rgi_message_cell;

static inline char *rgi_message_cell_data(rgi_message_cell *c) {
  return (char *)(c + 1);
}

static inline size_t rgi_message_min(size_t a, size_t b) {
  return a < b ? a : b;
}

/* --- message.c --------------------------------------------------------------- */

/* A long message inside the node is under way; it is no longer. */
void rgi_message_activate(rgi_message *r);
void rgi_message_deactivate(rgi_message *r);

/* r has ended, and may be gone afterwards. error: of r unless it has one. */
void rgi_message_finish(rgi_message *r, int error);

/* --- message_match.c ----------------------------------------------------------- */

void rgi_message_match_open(void);
void rgi_message_match_close(void);

/* A message has come: takes the cell over. */
void rgi_message_match_arrival(rgi_message_cell *c);

/* r, a receive, matches the first message that fits, now or later. */
void rgi_message_match_post(rgi_message *r);
void rgi_message_match_unpost(rgi_message *r);

/* The first message that r would match, or NULL. */
const rgi_message_cell *rgi_message_match_find(const rgi_message *wanted);

/* Lists of requests; end: NULL if nobody keeps it. */
void rgi_message_append(rgi_message *r, rgi_message ***end, rgi_message_state state);
void rgi_message_remove(rgi_message *r, rgi_message ***end);

/* The message that a cell of kind RGI_MESSAGE_FIN is about has not been received yet. */
void rgi_message_match_fin(const rgi_message_envelope *e);

/* --- message_cell.c ------------------------------------------------------------ */

void rgi_message_cells_open(void);
void rgi_message_cells_close(void);

/* A cell in the arena with room for so many bytes of data. */
int rgi_message_cell_take(size_t bytes, rgi_message_cell **c);
void rgi_message_cell_give(rgi_message_cell *c);

/* Hangs a cell into the inbox of a process of this node and rings its bell. 0:
 * the inbox holds too much already (never said to an RTS); that process rings
 * when it has emptied it. */
int rgi_message_cell_enqueue(int place, rgi_message_cell *c);

/* All cells of the own inbox, in the order in which they came. */
rgi_message_cell *rgi_message_cells_collect(void);
int rgi_message_cells_pending(void);

/* How many bytes of the arena one process's buffered messages may take. */
size_t rgi_message_cells_quota(void);

/* --- message_pipe.c ------------------------------------------------------------ */

void rgi_message_pipes_open(void);

/* A rendezvous request for r, to be enqueued. */
int rgi_message_pipe_make_rts(rgi_message *r, const rgi_message_envelope *e, rgi_message_cell **c);

/* Takes an RTS for a receive. 0: its sender has withdrawn it; it is gone. */
int rgi_message_pipe_claim(rgi_message_cell *rts);
int rgi_message_pipe_withdrawn(const rgi_message_cell *rts);

/* r receives what the claimed RTS announces. */
void rgi_message_pipe_accept(rgi_message *r, rgi_message_cell *rts);
void rgi_message_pipe_progress(rgi_message *r);
void rgi_message_pipe_abandon(rgi_message *r);

/* --- message_mpi.c ------------------------------------------------------------- */

int rgi_message_mpi_open(MPI_Comm world);
void rgi_message_mpi_close(void);

/* Whether there are other nodes. */
int rgi_message_mpi_in_use(void);

int rgi_message_mpi_send(rgi_message *r, int dest, const rgi_message_envelope *e);
void rgi_message_mpi_accept(rgi_message *r, rgi_message_cell *c);

/* Moves all of it on. */
int rgi_message_mpi_progress(void);
void rgi_message_mpi_abandon(rgi_message *r);

#endif
