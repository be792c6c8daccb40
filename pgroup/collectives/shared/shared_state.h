/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The shared state of a group's collectives: what the members on one node share.
 *
 * The memory. A group has one state, found by its context: nothing is shared with another group.
 * One slot of the node's arena (progress/slot.h) holds a header with a part for each cell, and one
 * member entry for each member on the node. The first member to attach makes it, zeroed. It is
 * freed when all members have left it, whatever has happened in between (rgi_shared_state_free).
 *
 * An operation is one step or several; all members number the steps alike, from 1, modulo
 * 2^32. Step k uses cell k % depth of the header and of every member entry, so that the cells hold
 * the last `depth` steps. Data of more than RGI_SHM_TINY bytes go through a shared buffer: for each
 * member some chunks of one size, of which a step uses one. There is a buffer for each size of
 * chunks that the group's operations have needed so far (shared_state_buffer.c), and it stays as
 * long as the state. Where the arena has no room for it all members go through the cells, in more
 * steps (cells.c).
 *
 * The depth is RGI_SHM_FEW. Where ranks outnumber processors it is RGI_SHM_DEPTH for the groups of
 * all ranks of a node: so long a member goes on alone, and with fewer cells all ranks would be
 * scheduled too often. Other groups may be many, and are to be small. A buffer has `depth` chunks
 * of up to RGI_SHM_SMALL bytes for each member, or RGI_SHM_CHUNKS longer ones.
 *
 * Two ways to wait. With a processor for every process of the node (rgi_step_can_spin)
 * a member polls the cells of the others; where they are many, and for small data, only those of
 * its neighbours in a tree (levels.h). Otherwise polling would take processors that other members
 * need: members count themselves in (`arrived`), the last one to arrive does what is left to do,
 * and the others sleep until it wakes them (`release`). So each member runs once in a step. All
 * members of a node take the same way. A barrier that follows a broadcast or scatter is released
 * by the root of that instead: it leaves first, so that what it may give next is there when the
 * others run.
 *
 * Which process writes what, and when:
 *
 *   cell[].data, .bytes     its member, between the begin of the step and its publication; in a
 *                           gather of long blocks the root then writes the word that tells the
 *                           member that its block has been read
 *   chunk of the buffer     its member, between the begin of the step and its
 *                           publication; a reduction also lets every member write
 *                           its share of the last member's chunk, between two barriers, and the
 *                           root of a scatter writes the others' chunks; a member that reads
 *                           others' memory writes all of its chunks when all members have published
 *                           the first step of the operation, and have thus ended those before (1)
 *   cell[].step             its member: publishes the step
 *   arrival_count           its member: how often it has counted itself in, by cell
 *   done                    its member: the last step whose data it no longer needs
 *   arrived                 every member, by an atomic increment
 *   last_arrived, and the   last member to arrive, before it sets release
 *     a result in its cell
 *   release                 the last member to arrive; in a broadcast or scatter the root; in a
 *                           barrier that a member has claimed, that one
 *   claimed                 the member that releases the barrier with this number, before it counts
 *                           itself in
 *   buffer, failed          the member that allocates a buffer, between two changes of `buffer`;
 *                           failed: the step for which it had no room
 *   left                    its member, when it detaches the memory, or attaches it again
 *   broken_call, broken     any member whose operation has ended in an error: the first one's call,
 *                           then its error
 *   done_bell               a member that sets `done` and sees a sleeper
 *   room_bell               the same member, if all members have come to a multiple of some steps
 *   depth                   every member that attaches the memory: the same number
 *
 * A member entry is written by its member only, and its cells are lines of their own: two
 * members never write to the same line, except in the header, which is used where processes
 * sleep anyway, and for the word that ends a giver's wait in a gather.
 *
 * Memory ordering. Plain stores become visible by one of four pairs:
 *   1. cell[].step: store-release in rgi_step_publish, load-acquire in
 *      rgi_step_await_member. A reader that sees the number of its own step sees the
 *      cell's data, its bytes and the chunk that was filled before. The word for a giver whose
 * block has been read is stored and read in the same way: what the giver writes to its memory comes
 * after that.
 *   2. arrived: each increment is sequentially consistent, thus acquires and releases. All
 *      increments of a step form one release sequence: the member that makes the last
 *      increment, and a reader that loads the final value with acquire
 *      (rgi_step_await_all), see what every member wrote before its own increment. The
 *      final value is arrival_count * n; arrival_count is needed since not every step counts
 *      members in. The next use of the counter comes `depth` steps later and therefore, by 4,
 *      after every reader has left this step.
 *   3. release: store-release in rgi_bell_set, load-acquire in rgi_step_await_release.
 *      The sleepers see all that the releasing member wrote or, by 2, saw.
 *   4. done: store-release in rgi_step_end, load-acquire in rgi_step_begin. A member
 *      may run ahead of the others (the root of a broadcast need not wait for them), but
 *      before it writes the cell and chunk of step k it has seen done >= k - depth of every
 *      member, and k - RGI_SHM_CHUNKS for a long chunk: the loads by which they read the old
 *      content come before its stores.
 * `claimed` is seen by the last member to arrive, by 2, unless the claimer has already released the
 * barrier: that member then releases it once more, which changes nothing, since no step of the same
 * cell begins before it has ended this one.
 * `safe` in the handle remembers how far 4 holds, so that a member seldom looks: a step in
 * which it has seen all members (by 1, 2 or 3) also tells it that they have ended the steps before.
 * In a step by levels (node_levels.c) only neighbours in a tree read a cell, and in a step in
 * which a member only takes, or gives to one member, none or one does: 4 is asked of these alone,
 * if the cell was last used in such a step. The first step of a group asks it of all. Long chunks
 * of a state with short ones are used only in steps that ask it of all.
 *
 * `broken` carries no data, so its reads are relaxed: a member that misses it finds it at its
 * next look. `done_bell` has a fence on either side: the member that ends a step stores `done`
 * before it looks who expects that; a member that waits counts itself before it looks at `done`
 * (rgi_bell_expect). So one of them sees the other. The same fences serve `room_bell`; of two
 * writers that come to the multiple at once, one at least sees that the other has.
 *
 * Errors and deaths. A member whose operation ends in an error may leave its step unpublished, so
 * the numbers of the members no longer agree: it sets `broken`. Every member that begins a step or
 * waits in one then fails too. Other groups do not see it. An error that a member finds before it
 * has begun a step changes nothing. An arena without room for a buffer breaks nothing: the members
 * agree about it in a step of its own.
 *
 * A killed member leaves at worst an unpublished step, an arrival without its release
 * or a result half written: no other member gets past that step, since each wait ends with
 * the failure check of progress/wait.h, and its operation with RG_ERR_PROC_FAILED. The last living
 * member that detaches frees the slot and the buffers; it does not free a buffer that the
 * dead member had allocated and not yet stored in `buffer`. */
#ifndef RGI_SHARED_STATE_H
#define RGI_SHARED_STATE_H

#include <regroup/group.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bell.h"
#include "collectives/shared/levels.h"
#include "formation/members.h"
#include "shm/arena.h"
#include "shm/node.h"

#define RGI_SHM_FEW 4
#define RGI_SHM_DEPTH 16
#define RGI_SHM_TINY 56
#define RGI_SHM_SMALL ((size_t)8 << 10)
#define RGI_SHM_CHUNK ((size_t)64 << 10)
#define RGI_SHM_CHUNKS 4
#define RGI_SHM_BUFFERS 4 /* rgi_shared_state_chunk */

/* One step of one member: a line. */
typedef struct {
  _Atomic uint32_t step;
  uint32_t bytes; /* length of the member's operation, modulo 2^32 */
  char data[RGI_SHM_TINY];
} rgi_shared_state_cell;

/* A member entry: this, and from the next line on the cells. */
typedef struct {
  _Atomic uint32_t done;            /* the last step this member has ended */
  _Atomic uint32_t left;            /* it has detached the memory */
  _Atomic uint32_t arrival_count[]; /* by cell */
} rgi_shared_state_member;

/* What the members have in common in the steps of a cell. */
typedef struct {
  rgi_bell release;        /* the last step that was released */
  rgi_bell arrived;        /* arrivals so far */
  uint32_t last_arrived;   /* the last member to arrive; its cell may have the result */
  _Atomic uint32_t failed; /* the step for which there was no room for a buffer */
} rgi_shared_state_turn;

/* The header. */
typedef struct {
  _Atomic uint64_t buffer[RGI_SHM_BUFFERS]; /* where they are: shared_state_buffer.c */
  rgi_bell done_bell;           /* changes when a member ends a step and another one waits */
  rgi_bell room_bell;           /* changes when all have come to a certain step */
  _Atomic uint32_t claimed;     /* the barrier that a certain member releases; or 0 */
  _Atomic uint32_t broken_call; /* the call of the first error, stored before that; or 0 */
  _Atomic uint32_t order;       /* a hash of the list of members, by the first one */
  _Atomic uint16_t broken;      /* an operation ended in this error, the first one */
  _Atomic uint8_t depth;        /* 0: no member has attached it */
  _Atomic uint8_t orders;       /* a member has another list */
  rgi_shared_state_turn turn[]; /* `depth` of them; the members begin at the next line */
} rgi_shared_state_memory;

/* Which members read the caller's cell. */
typedef struct {
  int reader; /* one more member; or -1 */
  int unread; /* no member but that one */
} rgi_shared_state_use;

/* One process's handle of a shared state. */
typedef struct {
  uint64_t key, slot; /* what the memory is found by */
  unsigned long epoch;
  int is_world; /* there may be other handles */
  int used;     /* a call was made in which the others may wait for this member */
  rgi_members *members;
  rgi_shared_state_memory *memory;   /* NULL until the first step */
  char *entry, *cells;               /* the first member's entry in it, and cells */
  char *now;                         /* the first member's cell of the step that runs */
  uint32_t depth, last_cell, stride; /* last_cell: depth - 1; stride: of the entries */
  int n, me;                         /* local members, and the caller's place among them */
  int *ranks;                        /* group ranks of the local members; NULL: all, in order */
  uint32_t step, ended;              /* the step that runs; the last one that the caller ended */
  uint32_t safe;                     /* all members have ended this one */
  rgi_levels *levels;                /* the caller's place in the levels; NULL: there are none */
  uint32_t near_safe;                /* its parent and children there have ended this one */
  uint32_t flat;                     /* no later step was read by all members */
  uint32_t gave;  /* the last step in, or after which the caller gave to all others; or 0 */
  uint32_t bytes; /* length of the operation that runs, modulo 2^32 */
  uint32_t call;  /* the number of the call that runs, from 1 */
  /* Of the operation that runs: rgi_step_attach_buffer. NULL: it has none. */
  char *buffer;
  uint32_t chunk;             /* bytes of a chunk in it */
  char *of[RGI_SHM_BUFFERS];  /* the buffers; NULL until attached */
  rgi_shared_state_use use[]; /* by cell */
} rgi_shared_state;

/* Makes the handle for a group's members on this node, in the group's order. Local: no message, no
 * waiting; the memory is attached at the first step. Handles of the same context share it. */
int rgi_shared_state_make(rg_group g, rgi_shared_state **state);

/* Frees the handle, and the memory if all members have left it; also one that has used the handle
 * and not attached it leaves it. NULL is fine. */
void rgi_shared_state_free(rgi_shared_state *state);

/* By a member that cannot make its handle, or cannot begin an operation: the others on its node,
 * which may wait for it, end with this error. */
void rgi_shared_state_break(rg_group g, int error);

/* By a member with a handle, in any thread: an operation has ended in this error, in that call. The
 * members on its node find it in their next look. */
void rgi_shared_state_note(const rgi_shared_state *state, int error, uint32_t call);

/* The error in which an operation of these members on this node has ended, or RG_SUCCESS. The
 * handle need not have attached the memory. */
int rgi_shared_state_error(const rgi_shared_state *state);

/* The depth of a state for n members on this node. */
static inline uint32_t rgi_shared_state_depth(int n) {
  return rgi_node.oversubscribed && n == rgi_node.n && n > 2 ? RGI_SHM_DEPTH : RGI_SHM_FEW;
}

/* Where the cells are in a member entry. */
static inline size_t rgi_shared_state_cells_at(uint32_t depth) {
  return rgi_lines_whole(sizeof(rgi_shared_state_member) + depth * sizeof(uint32_t));
}

/* The size of a member entry. */
static inline size_t rgi_shared_state_stride(uint32_t depth) {
  return rgi_shared_state_cells_at(depth) + depth * sizeof(rgi_shared_state_cell);
}

/* Of what comes before the member entries. */
static inline size_t rgi_shared_state_head(uint32_t depth) {
  return rgi_lines_whole(sizeof(rgi_shared_state_memory) + depth * sizeof(rgi_shared_state_turn));
}

/* Of the memory for n members. */
static inline size_t rgi_shared_state_bytes(int n, uint32_t depth) {
  return rgi_shared_state_head(depth) + (size_t)n * rgi_shared_state_stride(depth);
}

/* The sizes of chunks, the last one RGI_SHM_CHUNK; the first one of so many bytes. */
static inline uint32_t rgi_shared_state_chunk(int size) {
  static const uint32_t bytes[RGI_SHM_BUFFERS] = {256, 2048, RGI_SHM_SMALL, RGI_SHM_CHUNK};
  return bytes[size];
}

static inline int rgi_shared_state_size(size_t bytes) {
  return bytes <= 256 ? 0 : bytes <= 2048 ? 1 : bytes <= RGI_SHM_SMALL ? 2 : 3;
}

/* A member's part of a buffer with such chunks. */
static inline size_t rgi_shared_state_part(uint32_t depth, uint32_t chunk) {
  return (size_t)chunk * (chunk > RGI_SHM_SMALL ? RGI_SHM_CHUNKS : depth);
}

/* Of the cell of a step: the depth is a power of two. */
static inline uint32_t rgi_shared_state_index(const rgi_shared_state *state, uint32_t step) {
  return step & state->last_cell;
}

static inline rgi_shared_state_member *rgi_shared_state_member_at(const rgi_shared_state *state,
                                                                  int i) {
  return (rgi_shared_state_member *)(void *)(state->entry + (size_t)i * state->stride);
}

static inline rgi_shared_state_cell *rgi_shared_state_cell_at(const rgi_shared_state *state, int i,
                                                              uint32_t step) {
  char *first = state->cells + (size_t)i * state->stride;
  return (rgi_shared_state_cell *)(void *)first + rgi_shared_state_index(state, step);
}

/* How many steps have counted member i in, at the cell of this step. */
static inline _Atomic uint32_t *rgi_shared_state_arrivals(const rgi_shared_state *state, int i,
                                                          uint32_t step) {
  return &rgi_shared_state_member_at(state, i)->arrival_count[rgi_shared_state_index(state, step)];
}

static inline rgi_shared_state_turn *rgi_shared_state_turn_of(const rgi_shared_state *state,
                                                              uint32_t step) {
  return &state->memory->turn[rgi_shared_state_index(state, step)];
}

/* Attaches the memory. RG_ERR_NOMEM on all members on the node if one has got it. */
int rgi_shared_state_attach(rgi_shared_state *state);

typedef enum {
  RGI_SHARED_STATE_LATER,  /* another member allocates it: the caller comes again */
  RGI_SHARED_STATE_BUFFER, /* l->of[size] is it */
  RGI_SHARED_STATE_NO_ROOM /* for any member, in this step */
} rgi_shared_state_room;

/* Attaches the buffer with chunks of this size for an operation that begins with this step. The
 * caller has seen that the cells of the step may be written. */
rgi_shared_state_room rgi_shared_state_attach_buffer(rgi_shared_state *state, int size,
                                                     uint32_t step);

/* Of the memory of a state that is to be freed. */
void rgi_shared_state_free_buffers(const rgi_shared_state_memory *memory, int users);

/* Local member i's rank in the group. */
static inline int rgi_shared_state_group_rank(const rgi_shared_state *state, int i) {
  return state->ranks ? state->ranks[i] : i;
}

#endif
