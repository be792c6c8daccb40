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
  RGI_FRESH,   /* in no list */
  RGI_ASKED,   /* a receive that no message has met */
  RGI_DELAYED, /* a send that waits for room in the receiver's inbox */
  RGI_ACTIVE   /* under way */
} rgi_message_state;

typedef struct {
  uint64_t context, bytes;
  int32_t source, tag;
} rgi_envelope;

typedef enum {
  RGI_SHORT, /* the data follow the cell's head */
  RGI_LONG,  /* the cell is a letter: the data come through a pipe */
  RGI_FAR,   /* an rgi_announced follows the head, and the data come by MPI */
  RGI_WHOLE  /* the data of an earlier one have gone: its number is the envelope's tag */
} rgi_cell_kind;

typedef struct {
  int32_t number; /* the data's tag */
  int32_t whole;  /* they have gone: what MPI says of their coming is true */
} rgi_announced;

/* A message as it arrives; its data follow. It lies in the arena, or in memory of
 * this process's own when it came from another node (lines is 0 then). */
typedef struct rgi_cell {
  union {
    uint64_t below;        /* in an inbox: offset of the one that came before */
    struct rgi_cell *next; /* afterwards */
  };
  uint32_t lines; /* that it takes in the arena */
  uint32_t kind;
  rgi_envelope envelope;
} rgi_cell;

static inline char *rgi_cell_data(rgi_cell *c) {
  return (char *)(c + 1);
}

static inline size_t rgi_least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* --- message.c --------------------------------------------------------------- */

/* A long message inside the node is under way; it is no longer. */
void rgi_activate(rgi_request *r);
void rgi_deactivate(rgi_request *r);

/* r has ended, and may be gone afterwards. error: of r unless it has one. */
void rgi_finish(rgi_request *r, int error);

/* --- message_match.c ----------------------------------------------------------- */

void rgi_match_open(void);
void rgi_match_close(void);

/* A message has come: takes the cell over. */
void rgi_arrived(rgi_cell *c);

/* r, a receive, meets the first message that fits, now or later. */
void rgi_ask(rgi_request *r);
void rgi_unask(rgi_request *r);

/* The first message that r would meet, or NULL. */
const rgi_cell *rgi_look_for(const rgi_request *wanted);

/* Lists of requests; end: NULL if nobody keeps it. */
void rgi_append(rgi_request *r, rgi_request ***end, rgi_message_state state);
void rgi_take_out(rgi_request *r, rgi_request ***end);

/* The message that a cell of kind RGI_WHOLE is about has not been asked for yet. */
void rgi_match_whole(const rgi_envelope *e);

/* --- message_cell.c ------------------------------------------------------------ */

void rgi_cells_open(void);
void rgi_cells_close(void);

/* A cell in the arena with room for so many bytes of data. */
int rgi_cell_take(size_t bytes, rgi_cell **c);
void rgi_cell_give(rgi_cell *c);

/* Hangs a cell into the inbox of a process of this node and rings its bell. 0:
 * the inbox holds too much already (never said to a letter); that process rings
 * when it has emptied it. */
int rgi_cell_post(int place, rgi_cell *c);

/* All cells of the own inbox, in the order in which they came. */
rgi_cell *rgi_cells_collect(void);
int rgi_cells_there(void);

/* How many bytes of the arena one process's buffered messages may take. */
size_t rgi_cells_share(void);

/* --- message_pipe.c ------------------------------------------------------------ */

void rgi_pipes_open(void);

/* A letter for r, to be posted. */
int rgi_pipe_write(rgi_request *r, const rgi_envelope *e, rgi_cell **c);

/* Takes a letter for a receive. 0: its sender has withdrawn it; it is gone. */
int rgi_pipe_claim(rgi_cell *letter);
int rgi_pipe_withdrawn(const rgi_cell *letter);

/* r receives what the claimed letter announces. */
void rgi_pipe_accept(rgi_request *r, rgi_cell *letter);
void rgi_pipe_push_on(rgi_request *r);
void rgi_pipe_abandon(rgi_request *r);

/* --- message_far.c ------------------------------------------------------------- */

int rgi_far_open(MPI_Comm world);
void rgi_far_close(void);

/* Whether there are other nodes. */
int rgi_far_there(void);

int rgi_far_send(rgi_request *r, int dest, const rgi_envelope *e);
void rgi_far_accept(rgi_request *r, rgi_cell *c);

/* Moves all of it on. */
int rgi_far_look(void);
void rgi_far_abandon(rgi_request *r);

#endif
