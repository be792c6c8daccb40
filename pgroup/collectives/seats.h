/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Seats: what the members of a group on one node share, and the steps of which
 * their collectives are made.
 *
 * Every member has a seat. An operation is one step or several; steps are
 * numbered alike on all members. A seat has cells for the last DEPTH steps, each
 * a cache line that only the seat's owner writes: the step's number, which says
 * that the member has come so far, and tiny data with it. Longer data go through
 * the board: DEPTH chunks for each seat, attached at their first use.
 *
 * A member may run ahead of others (the root of a broadcast need not wait for
 * them), but not by DEPTH steps: before it writes a cell again, all have said by
 * `done` that they no longer need what was there.
 *
 * With a processor for every process, members look at one another's cells.
 * Otherwise that would keep processors busy that others need: they count
 * themselves in (arrived), the last one does what is left to do, and the others
 * sleep until they are woken (release). Then everybody runs once. */
#ifndef RGI_SEATS_H
#define RGI_SEATS_H

#include <stddef.h>
#include <stdint.h>

#include "base/futex.h"
#include "collectives/local.h"
#include "formation/members.h"
#include "shm/arena.h"

#define RGI_DEPTH 4
#define RGI_TINY 56
#define RGI_CHUNK ((size_t)64 << 10)

typedef struct {
  _Atomic uint32_t step;
  uint32_t bytes; /* of the member's operation, whose part the step is; modulo 2^32 */
  char data[RGI_TINY];
} rgi_cell;

typedef struct {
  _Atomic uint32_t done;            /* the last step this member has finished */
  _Atomic uint32_t uses[RGI_DEPTH]; /* how many steps have counted it in, by cell */
  char pad[RGI_LINE - (RGI_DEPTH + 1) * sizeof(uint32_t)];
  rgi_cell cell[RGI_DEPTH];
} rgi_seat;

typedef struct {
  rgi_bell release[RGI_DEPTH]; /* the last step of this cell that was released */
  rgi_bell room;               /* changes when somebody is done, if somebody waits for it */
  char pad[RGI_LINE - (RGI_DEPTH + 1) * sizeof(rgi_bell)];
  rgi_bell arrived[RGI_DEPTH]; /* how many have come to the steps of this cell */
  uint32_t winner[RGI_DEPTH];  /* who came last, and may have the result in its cell */
  _Atomic uint64_t board;
  _Atomic uint32_t broken; /* an operation ended in an error: the steps are out of step */
  char pad2[RGI_LINE - RGI_DEPTH * sizeof(rgi_bell) - (RGI_DEPTH + 1) * sizeof(uint32_t) -
            sizeof(uint64_t)];
  rgi_seat seat[];
} rgi_seats;

struct rgi_local {
  rgi_local *next;    /* among those with the same hash */
  uint64_t key, slot; /* what the memory is found by */
  unsigned long epoch, idle_since;
  int groups; /* how many groups use it */
  int shared; /* kept for the next group with these members */
  rgi_members *members;
  rgi_seats *seats; /* NULL until the first operation */
  int n, me;
  int *ranks;           /* group ranks of the local members; NULL: all, in order */
  uint32_t step, ended; /* the step that runs; the last one that was ended */
  uint32_t safe;        /* all members have ended this one */
  uint32_t bytes;       /* of the operation that runs; modulo 2^32 */
  char *board;
};

/* Makes and frees one; rgi_local_attach keeps them. */
int rgi_seats_make(rg_group g, uint64_t key, rgi_local **l);
void rgi_seats_free(rgi_local *l);

/* Begins a step: attaches the memory if need be and waits until the step's own
 * cell may be written. */
int rgi_step_begin(rgi_local *l, const char *call);

/* Puts tiny data and the step's number into the own cell. */
void rgi_step_show(rgi_local *l, const void *data, size_t bytes);

/* Waits until member i has shown the step; with a processor for everybody. */
int rgi_step_see(rgi_local *l, int i, const char *call);

/* Counts the caller in; returns 1 to the last one. */
int rgi_step_arrive(rgi_local *l);

/* Waits until all have been counted in. */
int rgi_step_await_all(rgi_local *l, const char *call);

/* When member i was seen in a step: whether it means an operation of the same length.
 * RG_ERR_TRUNCATE: of a longer one; RG_ERR_MISMATCH. */
int rgi_step_fits(const rgi_local *l, int i, uint32_t step, const char *call);

/* The same of all members. */
int rgi_step_all_fit(const rgi_local *l, uint32_t step, const char *call);

/* Lets the others go on; waits to be let, by member i or (-1) by the last one that is
 * counted in. */
void rgi_step_release(rgi_local *l);
int rgi_step_await_release(rgi_local *l, int i, const char *call);

/* All members have come here when anyone leaves. */
int rgi_step_meet(rgi_local *l, const char *call);

/* To be called when all members were seen in this step: all have ended what was
 * ended before it. */
void rgi_step_all_seen(rgi_local *l);

/* The caller no longer needs what was shown up to this step. */
void rgi_step_end(rgi_local *l);

/* What an operation returns: after an error the seats are of no more use. */
int rgi_step_result(rgi_local *l, int error);

/* The caller's own processors are enough for all. */
int rgi_spare(void);

static inline rgi_cell *rgi_cell_of(rgi_local *l, int i) {
  return &l->seats->seat[i].cell[l->step % RGI_DEPTH];
}

/* Attaches the memory and the board if need be. */
int rgi_board_attach(rgi_local *l);

/* Member i's chunk of the board for a step. */
static inline char *rgi_chunk_of(rgi_local *l, int i, uint32_t step) {
  return l->board + ((size_t)i * RGI_DEPTH + step % RGI_DEPTH) * RGI_CHUNK;
}

#endif
