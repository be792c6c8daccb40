/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Schedules: one member's part of a collective, as a list of steps. An algorithm
 * is a function that writes the list; running it never waits for messages, so that blocking
 * and non-blocking operations are the same.
 *
 * Sends and receives are begun when the run reaches their step; the end of a round waits for
 * all that have been begun. Copying and combining are done when the run reaches their step.
 * Steps inside the node by shared memory (RGI_SCHED_SHM_...) wait in their place: only
 * blocking calls have them.
 *
 * Peers are ranks in a subgroup (subgroup.h).
 *
 * Functions that write steps return nothing: a lack of memory is kept in the schedule and
 * returned when it is to run. */
#ifndef RGI_SCHED_H
#define RGI_SCHED_H

#include <regroup/group.h>

#include "collectives/node/way.h"
#include "collectives/reduction/reduction.h"
#include "collectives/schedule/coll_state.h"
#include "collectives/schedule/subgroup.h"
#include "message/message.h"
#include "progress/request.h"

/* The root of a reduce or gather inside the node whose result all members there get; of a reduce
 * that is a scan, and an exscan (RGI_NODE_COLL_...). */
#define RGI_SCHED_ALL (-1)
#define RGI_SCHED_SCAN (-2)
#define RGI_SCHED_EXSCAN (-3)

typedef enum {
  RGI_SCHED_SEND,
  RGI_SCHED_RECEIVE,
  RGI_SCHED_END_ROUND,
  RGI_SCHED_COPY,
  RGI_SCHED_UNPACK,
  RGI_SCHED_REDUCE_LEFT,
  RGI_SCHED_REDUCE_RIGHT,
  RGI_SCHED_CONTINUE,
  RGI_SCHED_SHM_BARRIER,
  RGI_SCHED_SHM_BCAST,
  RGI_SCHED_SHM_REDUCE,
  RGI_SCHED_SHM_REDUCE_SCATTER,
  RGI_SCHED_SHM_GATHER,
  RGI_SCHED_SHM_SCATTER,
  RGI_SCHED_SHM_ALLTOALL
} rgi_sched_step_kind;

typedef struct {
  rgi_sched_step_kind kind;
  int peer; /* rank in the group; inside the node: the root there, or RGI_SCHED_ALL;
               a round: for how many messages it waits, 0: for all */
  void *to; /* what is written */
  const void *from;
  size_t bytes;
  rgi_way way; /* in shared memory */
} rgi_sched_step;

typedef struct rgi_sched_buffer {
  struct rgi_sched_buffer *next;
} rgi_sched_buffer;

/* A blocking call has its schedule on the stack; short ones need no memory. */
#define RGI_SCHED_INLINE_STEPS 8

typedef struct rgi_sched {
  struct rg_request_s request; /* first: what a non-blocking call returns */
  rgi_coll *coll;              /* of the group; an open request is a user of it */
  const char *call;
  int tag, blocking;
  rgi_sched_step *steps, inline_steps[RGI_SCHED_INLINE_STEPS];
  int count, size, at;
  /* Messages under way: memory for `have` of them; the largest round has `most`. */
  rgi_message *messages;
  int *peers; /* of each: the step that began it */
  int in_round, most, have, begun, ended;
  rgi_sched_buffer *buffers; /* memory of the algorithm, freed with the schedule */
  rgi_reduction reduction;
  rgi_datatype datatype; /* of what is unpacked */
  size_t unpack_bytes;   /* dense bytes to unpack at the end; 0: none */
  int looks;             /* of a request, in vain */
  int telling;           /* a request that has ended tells the others */
  rgi_coll_word word;    /* then */
  int error;             /* the first */
  char *text; /* of it, if the operation goes on after it: other calls may fail before its end */
} rgi_sched;

/* --- writing ----------------------------------------------------------------------- */

void *rgi_sched_alloc(rgi_sched *sched, size_t bytes); /* NULL when there is no memory */
void rgi_sched_send(rgi_sched *sched, const rgi_subgroup *subgroup, int to, const void *data,
                    size_t bytes);
void rgi_sched_receive(rgi_sched *sched, const rgi_subgroup *subgroup, int from, void *data,
                       size_t bytes);
void rgi_sched_end_round(rgi_sched *sched);

/* Waits for the first n of a round's messages; the others stay under way. */
void rgi_sched_await_first(rgi_sched *sched, int n);

void rgi_sched_copy(rgi_sched *sched, void *to, const void *from, size_t bytes);

/* left = left op right, which overwrites right too; right = left op right. */
void rgi_sched_reduce_left(rgi_sched *sched, void *left, void *right, size_t bytes);
void rgi_sched_reduce_right(rgi_sched *sched, const void *left, void *right, size_t bytes);

/* Unpacks so many dense bytes into the user's memory, of type sched->datatype. */
void rgi_sched_unpack(rgi_sched *sched, void *memory, const void *dense, size_t bytes);

/* Memory for the next step; NULL when there is none. */
rgi_sched_step *rgi_sched_next(rgi_sched *sched);

/* Any step, for instance one in shared memory (RGI_SCHED_SHM_...). Inline: a short operation is
 * one step, which so is written in its place at once. */
static inline void rgi_sched_add(rgi_sched *sched, rgi_sched_step step) {
  rgi_sched_step *next = rgi_sched_next(sched);
  if (next)
    *next = step;
}

/* Further steps that depend on messages of the steps before: when those have ended, write is
 * called, and the steps that it writes are inserted here. data must stay. */
typedef void rgi_sched_writer(rgi_sched *sched, void *data);
void rgi_sched_continue(rgi_sched *sched, rgi_sched_writer *write, void *data);

/* --- running ----------------------------------------------------------------------- */

/* Allocates the messages of the largest round; none is under way. */
int rgi_sched_alloc_requests(rgi_sched *sched);

/* Runs the continuation at the step sched->at. An error ends the operation. */
int rgi_sched_run_continuation(rgi_sched *sched);

/* A rank has sent another number of bytes than expected: the operation goes on, so that no
 * member waits for ever, and fails at its end. */
void rgi_sched_length_error(rgi_sched *sched, int rank, size_t sent, size_t expected);

/* An empty schedule for the next operation of the group, in the caller's memory;
 * frees what it holds. */
void rgi_sched_init(rgi_sched *sched, rgi_coll *coll, const char *call, int blocking);
void rgi_sched_free(rgi_sched *sched);

/* Runs it to its end, and frees what it holds. */
int rgi_sched_run(rgi_sched *sched);

/* Starts it as a request: sched is from malloc and belongs to the request from here on. On failure
 * it is freed. */
int rgi_sched_start(rgi_sched *sched, rg_request *request);

#endif
