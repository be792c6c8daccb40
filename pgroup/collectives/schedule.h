/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Schedules: one member's part of a collective, as a list of steps. An algorithm
 * is a function that writes the list; running it never waits, so that blocking
 * and non-blocking operations are the same.
 *
 * Sends and receives are begun when their step comes; rgi_round waits for all
 * that have been begun. Copying and combining is done when its step comes. Steps
 * inside the node by shared memory (rgi_inside_...) wait where they stand: only
 * blocking calls have them.
 *
 * Peers are ranks in a team: some members of the group, in the order of their
 * ranks in the group unless said otherwise. The same algorithm so serves the
 * group, the members on a node, and one member of each node.
 *
 * Functions that write steps return nothing: a lack of memory is remembered and
 * told when the schedule is to run. */
#ifndef RGI_SCHEDULE_H
#define RGI_SCHEDULE_H

#include <regroup/group.h>

#include "collectives/typed.h"
#include "message/message.h"
#include "progress/request.h"

typedef struct {
  int size, me;     /* me: -1 for a process outside the team */
  const int *ranks; /* in the group; NULL: all, in order */
} rgi_team;

static inline int rgi_team_rank(const rgi_team *t, int i) {
  return t->ranks ? t->ranks[i] : i;
}

typedef enum {
  RGI_SEND,
  RGI_RECEIVE,
  RGI_ROUND,
  RGI_COPY,
  RGI_UNPACK,
  RGI_LEFT,
  RGI_RIGHT,
  RGI_THEN,
  RGI_INSIDE_BARRIER,
  RGI_INSIDE_BCAST,
  RGI_INSIDE_REDUCE,
  RGI_INSIDE_ALLREDUCE,
  RGI_INSIDE_GATHER,
  RGI_INSIDE_SCATTER,
  RGI_INSIDE_ALLGATHER,
  RGI_INSIDE_ALLTOALL
} rgi_step_kind;

typedef struct {
  rgi_step_kind kind;
  int peer; /* rank in the group; inside the node: the root there; a round: for how many
               messages it waits, 0: for all */
  char *to; /* what is written */
  const char *from;
  size_t bytes;
} rgi_step;

typedef struct rgi_room {
  struct rgi_room *next;
} rgi_room;

/* A blocking call has its schedule on the stack; short ones need no memory. */
#define RGI_FEW_STEPS 8

typedef struct rgi_schedule {
  struct rg_request_s request; /* first: what a non-blocking call gives */
  struct rgi_state *state;     /* of the group */
  const char *call;
  int tag, blocking;
  rgi_step *steps, few[RGI_FEW_STEPS];
  int count, size, at;
  /* Messages under way: room for as many as one round has (have). */
  rgi_request *messages;
  int *peers; /* of each: the step that began it */
  int in_round, most, have, begun, ended;
  rgi_room *rooms; /* memory of the algorithm, freed with the schedule */
  rgi_reduction reduction;
  rgi_typed typed;     /* of what is unpacked */
  size_t unpack_bytes; /* so much at the end; 0: nothing */
  int error;           /* the first */
} rgi_schedule;

/* --- writing ----------------------------------------------------------------------- */

void *rgi_room_of(rgi_schedule *s, size_t bytes); /* NULL when there is no memory */
void rgi_send(rgi_schedule *s, const rgi_team *t, int to, const void *data, size_t bytes);
void rgi_receive(rgi_schedule *s, const rgi_team *t, int from, void *data, size_t bytes);
void rgi_round(rgi_schedule *s);

/* Waits for the first n of a round's messages; the others go on. */
void rgi_first_of_round(rgi_schedule *s, int n);

void rgi_copy(rgi_schedule *s, void *to, const void *from, size_t bytes);

/* left = left op right, where right is spoilt; right = left op right. */
void rgi_left(rgi_schedule *s, void *left, void *right, size_t bytes);
void rgi_right(rgi_schedule *s, const void *left, void *right, size_t bytes);

/* Dense bytes to the user's memory, of type s->typed; bytes: how many dense. */
void rgi_unpack_later(rgi_schedule *s, void *memory, const void *dense, size_t bytes);

/* A step in shared memory among the members on this node. */
void rgi_inside(rgi_schedule *s, rgi_step_kind kind, int root, const void *from, void *to,
                size_t bytes);

/* More steps that depend on what has come by then: when all before has ended, write
 * is called and the steps that it writes are put here. data must stay. */
typedef void rgi_writer(rgi_schedule *s, void *data);
void rgi_then(rgi_schedule *s, rgi_writer *write, void *data);

/* --- running ----------------------------------------------------------------------- */

/* Room for the messages of a round; none is under way. */
int rgi_schedule_room(rgi_schedule *s);

/* Does what rgi_then asked for at the step s->at. An error ends the operation. */
int rgi_write_more(rgi_schedule *s);

/* A rank has sent so many bytes where others are expected: the operation goes on, so
 * that nobody waits for ever, and fails at its end. */
void rgi_wrong_length(rgi_schedule *s, int rank, size_t sent, size_t expected);

/* An empty schedule for the next operation of the group, in the caller's memory;
 * frees what it holds. */
void rgi_schedule_begin(rgi_schedule *s, struct rgi_state *state, const char *call, int blocking);
void rgi_schedule_end(rgi_schedule *s);

/* Runs it to its end, and frees what it holds. */
int rgi_schedule_run(rgi_schedule *s);

/* Lets it run by itself: s is from malloc, and belongs to the request from here
 * on. On failure it is freed. */
int rgi_schedule_start(rgi_schedule *s, rg_request *request);

#endif
