/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The shared state of a group's collectives: what the members on one node share.
 *
 * The memory. One slot of the node's arena (progress/slot.h) holds a header with a part for each
 * cell, and one member entry for each member on the node. The first member to attach makes it,
 * zeroed. An operation is one step or several; all members number the steps alike, from 1, modulo
 * 2^32. Step k uses cell k % depth of the header and of every member entry, so that the cells hold
 * the last `depth` steps. Data of more than RGI_SHM_TINY bytes go through the shared buffer: for
 * each member RGI_SHM_CHUNKS long chunks, of which step k uses chunk k % RGI_SHM_CHUNKS. One member
 * allocates it at the first need, and the members that come meanwhile wait (shared_state_buffer.c).
 * Where the arena has no room for it they go through the cells, in more steps (shm_coll_cells.c):
 * an error would reach the members on this node only.
 *
 * The depth is RGI_SHM_FEW. Where ranks outnumber processors it is RGI_SHM_DEPTH for the groups of
 * all ranks of a node: so long a member goes on alone, and with fewer cells all ranks would be
 * scheduled too often. The buffer then also has RGI_SHM_DEPTH short chunks for each member, for
 * data of up to RGI_SHM_SMALL bytes. Other groups may be many, and are to be small.
 *
 * Two ways to wait. With a processor for every process of the node (rgi_shm_step_can_spin)
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
 *   chunk of the buffer     its member, likewise; a reduction also lets every member write
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
 *   buffer, failed          every member that attaches or detaches the buffer, and a process that
 *                           gives back a buffer that no member has attached, by compare-and-swap;
 *                           failed: the member that had no room for the buffer
 *   joined                  its member, at the first step of a group
 *   uses                    its member, when a group begins or ceases to use a cached state
 *   broken                  any member whose operation has ended in an error
 *   done_bell               a member that sets `done` and sees a sleeper
 *   room_bell               likewise, if all members have come to a multiple of some steps
 *   depth                   every member that attaches the memory: the same number
 *
 * A member entry is written by its member only, and its cells are lines of their own: two
 * members never write to the same line, except in the header, which is used where processes
 * sleep anyway, and for the word that ends a giver's wait in a gather.
 *
 * Memory ordering. Plain stores become visible by one of four pairs:
 *   1. cell[].step: store-release in rgi_shm_step_publish, load-acquire in
 *      rgi_shm_step_await_member. A reader that sees the number of its own step sees the
 *      cell's data, its bytes and the chunk that was filled before. Likewise the word for a giver
 *      whose block has been read: what the giver writes to its memory comes after that.
 *   2. arrived: each increment is sequentially consistent, thus acquires and releases. All
 *      increments of a step form one release sequence: the member that makes the last
 *      increment, and a reader that loads the final value with acquire
 *      (rgi_shm_step_await_all), see what every member wrote before its own increment. The
 *      final value is arrival_count * n; arrival_count is needed since not every step counts
 *      members in. The next use of the counter comes `depth` steps later and therefore, by 4,
 *      after every reader has left this step.
 *   3. release: store-release in rgi_bell_set, load-acquire in rgi_shm_step_await_release.
 *      The sleepers see all that the releasing member wrote or, by 2, saw.
 *   4. done: store-release in rgi_shm_step_end, load-acquire in rgi_shm_step_begin. A member
 *      may run ahead of the others (the root of a broadcast need not wait for them), but
 *      before it writes the cell and chunk of step k it has seen done >= k - depth of every
 *      member, and k - RGI_SHM_CHUNKS for a long chunk: the loads by which they read the old
 *      content come before its stores.
 * `claimed` is seen by the last member to arrive, by 2, unless the claimer has already released the
 * barrier: that member then releases it once more, which changes nothing, since no step of the same
 * cell begins before it has ended this one.
 * `safe` in the handle remembers how far 4 holds, so that a member seldom looks: a step in
 * which it has seen all members (by 1, 2 or 3) also tells it that they have ended the steps before.
 * In a step by levels (shm_coll_levels.c) only neighbours in a tree read a cell, and in a step in
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
 * Errors and deaths. A member whose operation ends in an error may leave its step
 * unpublished, so the numbers of the members no longer agree: it sets `broken`. Every member
 * that begins a step or waits in one then fails too, and the cache gives the state to no new
 * group, of which shared_state_cache.c tells how the members agree. An arena without room for the
 * shared buffer breaks nothing: the members agree about it in a step of its own.
 *
 * A killed member leaves at worst an unpublished step, an arrival without its release
 * or a result half written: no other member gets past that step, since each wait ends with
 * the failure check of progress/wait.h, and its operation with RG_ERR_PROC_FAILED. The last living
 * member that detaches frees the slot and the shared buffer; it does not free a buffer that the
 * dead member had allocated and not yet stored in `buffer`. */
#ifndef RGI_SHARED_STATE_H
#define RGI_SHARED_STATE_H

#include <regroup/group.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bell.h"
#include "collectives/levels.h"
#include "formation/members.h"
#include "shm/arena.h"
#include "shm/node.h"

#define RGI_SHM_FEW 4
#define RGI_SHM_DEPTH 16
#define RGI_SHM_TINY 56
#define RGI_SHM_SMALL ((size_t)8 << 10)
#define RGI_SHM_CHUNK ((size_t)64 << 10)
#define RGI_SHM_CHUNKS 4

/* One step of one member: a line. */
typedef struct {
  _Atomic uint32_t step;
  uint32_t bytes; /* length of the member's operation, modulo 2^32 */
  char data[RGI_SHM_TINY];
} rgi_shared_state_cell;

/* A member entry: this, `depth` values of `joined`, as many of arrival_count, and from the next
 * line on the cells. */
typedef struct {
  _Atomic uint32_t done;     /* the last step this member has ended */
  _Atomic uint32_t uses;     /* odd: a group of its process uses the state; 0: not cached so far */
  _Atomic uint64_t joined[]; /* the group whose first step this was, by cell */
} rgi_shared_state_member;

/* What the members have in common in the steps of a cell. */
typedef struct {
  rgi_bell release;        /* the last step that was released */
  rgi_bell arrived;        /* arrivals so far */
  uint32_t last_arrived;   /* the last member to arrive; its cell may have the result */
  _Atomic uint32_t failed; /* the step for which there was no buffer */
} rgi_shared_state_turn;

/* The header. */
typedef struct {
  _Atomic uint64_t buffer;      /* where it is, and how many have it: shared_state_buffer.c */
  rgi_bell done_bell;           /* changes when a member ends a step and another one waits */
  rgi_bell room_bell;           /* likewise, when all have come to a certain step */
  _Atomic uint32_t claimed;     /* the barrier that a certain member releases; or 0 */
  _Atomic uint16_t broken;      /* an operation ended in this error, the first one */
  _Atomic uint16_t depth;       /* 0: no member has attached it */
  rgi_shared_state_turn turn[]; /* `depth` of them; the members begin at the next line */
} rgi_shared_state_memory;

/* Which members read the caller's cell. */
typedef struct {
  int reader; /* one more member; or -1 */
  int unread; /* no member but that one */
} rgi_shared_state_use;

/* One process's handle of a shared state. */
typedef struct rgi_shared_state rgi_shared_state;

struct rgi_shared_state {
  rgi_shared_state *next; /* in the cache: among those with the same hash */
  uint64_t key, slot;     /* what the memory is found by */
  uint64_t mark;          /* of the slots, when it was suspended */
  unsigned long epoch, idle_since;
  int groups;   /* how many groups use it */
  int in_cache; /* cached for the next group with these members */
  int suspended;
  rgi_members *members;
  rgi_shared_state_memory *memory;   /* NULL until the first operation */
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
  uint32_t gave;    /* the last step in, or after which the caller gave to all others; or 0 */
  uint32_t bytes;   /* length of the operation that runs, modulo 2^32 */
  char *buffer;     /* NULL until attached */
  uint64_t joining; /* the group whose first step is about to begin; or 0 */
  uint64_t wanting; /* the group for which the memory is attached; or 0 */
  rgi_shared_state_use use[]; /* by cell */
};

/* Makes the handle for a group's members on this node, and frees it. Local. */
int rgi_shared_state_make(rg_group g, uint64_t key, rgi_shared_state **l);
void rgi_shared_state_free(rgi_shared_state *l);

/* The handle of a cached state that no group of this process uses for a while: meanwhile the memory
 * may be given back. rgi_shared_state_resume: it is used again; l->memory is NULL if the memory has
 * been given back. In between only _break and _free are called. Local. */
void rgi_shared_state_suspend(rgi_shared_state *l);
void rgi_shared_state_resume(rgi_shared_state *l);

/* Marks the state as broken, if it has memory. Local. */
void rgi_shared_state_break(rgi_shared_state *l, int error);

/* Another one for the same members, with memory of its own. Local. */
int rgi_shared_state_copy(const rgi_shared_state *l, uint64_t key, rgi_shared_state **copy);

/* The depth of a state for n members on this node. */
static inline uint32_t rgi_shared_state_depth(int n) {
  return rgi_node.oversubscribed && n == rgi_node.n && n > 2 ? RGI_SHM_DEPTH : RGI_SHM_FEW;
}

/* Where the cells are in a member entry. */
static inline size_t rgi_shared_state_cells_at(uint32_t depth) {
  return rgi_lines_whole(sizeof(rgi_shared_state_member) +
                         depth * (sizeof(uint64_t) + sizeof(uint32_t)));
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

/* A member's part of the shared buffer: the long chunks come first. */
static inline size_t rgi_shared_state_part(uint32_t depth) {
  return RGI_SHM_CHUNKS * RGI_SHM_CHUNK + (depth > RGI_SHM_FEW ? depth * RGI_SHM_SMALL : 0);
}

/* Of the cell of a step: the depth is a power of two. */
static inline uint32_t rgi_shared_state_index(const rgi_shared_state *l, uint32_t step) {
  return step & l->last_cell;
}

static inline rgi_shared_state_member *rgi_shared_state_member_at(const rgi_shared_state *l,
                                                                  int i) {
  return (rgi_shared_state_member *)(void *)(l->entry + (size_t)i * l->stride);
}

static inline rgi_shared_state_cell *rgi_shared_state_cell_at(const rgi_shared_state *l, int i,
                                                              uint32_t step) {
  char *first = l->cells + (size_t)i * l->stride;
  return (rgi_shared_state_cell *)(void *)first + rgi_shared_state_index(l, step);
}

/* How many steps have counted member i in, at the cell of this step. */
static inline _Atomic uint32_t *rgi_shared_state_arrivals(const rgi_shared_state *l, int i,
                                                          uint32_t step) {
  char *m = l->entry + (size_t)i * l->stride + sizeof(rgi_shared_state_member);
  return (_Atomic uint32_t *)(void *)(m + l->depth * sizeof(uint64_t)) +
         rgi_shared_state_index(l, step);
}

static inline rgi_shared_state_turn *rgi_shared_state_turn_of(const rgi_shared_state *l,
                                                              uint32_t step) {
  return &l->memory->turn[rgi_shared_state_index(l, step)];
}

/* Attaches the memory. */
int rgi_shared_state_attach(rgi_shared_state *l);

typedef enum {
  RGI_SHARED_STATE_LATER,  /* another member allocates it: the caller comes again */
  RGI_SHARED_STATE_BUFFER, /* l->buffer is it */
  RGI_SHARED_STATE_NO_ROOM /* on all members that attach it for this step */
} rgi_shared_state_room;

/* Attaches the shared buffer for an operation that begins with this step. The caller has seen that
 * the cells of the step may be written. */
rgi_shared_state_room rgi_shared_state_attach_buffer(rgi_shared_state *l, uint32_t step);
void rgi_shared_state_detach_buffer(rgi_shared_state *l);

/* Of the memory of a state that is to be freed. */
void rgi_shared_state_free_buffer(const void *memory, int users);

/* For an rgi_slot_giving. */
int rgi_shared_state_give_buffer(void *memory, int users);

/* Local member i's rank in the group. */
static inline int rgi_shared_state_group_rank(const rgi_shared_state *l, int i) {
  return l->ranks ? l->ranks[i] : i;
}

#endif
