/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The shared state of a group's collectives: what the members on one node share.
 *
 * Every member has an entry. An operation is one step or several; steps are
 * numbered alike on all members. An entry has cells for the last DEPTH steps, each
 * a cache line that only its member writes: the step's number, which says
 * that the member has come so far, and tiny data with it. Longer data go through
 * the shared buffer: DEPTH chunks for each member, attached at their first use. */
#ifndef RGI_SHARED_STATE_H
#define RGI_SHARED_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bell.h"
#include "collectives/shm_coll.h"
#include "formation/members.h"
#include "shm/arena.h"

#define RGI_SHM_DEPTH 4
#define RGI_SHM_TINY 56
#define RGI_SHM_CHUNK ((size_t)64 << 10)

typedef struct {
  _Atomic uint32_t step;
  uint32_t bytes; /* of the member's operation, whose part the step is; modulo 2^32 */
  char data[RGI_SHM_TINY];
} rgi_shared_state_cell;

typedef struct {
  _Atomic uint32_t done;                         /* the last step this member has finished */
  _Atomic uint32_t arrival_count[RGI_SHM_DEPTH]; /* how many steps have counted it in, by cell */
  char pad[RGI_LINE - (RGI_SHM_DEPTH + 1) * sizeof(uint32_t)];
  rgi_shared_state_cell cell[RGI_SHM_DEPTH];
} rgi_shared_state_member;

typedef struct {
  rgi_bell release[RGI_SHM_DEPTH]; /* the last step of this cell that was released */
  rgi_bell done_bell;              /* changes when somebody is done, if somebody waits for it */
  char pad[RGI_LINE - (RGI_SHM_DEPTH + 1) * sizeof(rgi_bell)];
  rgi_bell arrived[RGI_SHM_DEPTH];      /* how many have come to the steps of this cell */
  uint32_t last_arrived[RGI_SHM_DEPTH]; /* who came last, and may have the result in its cell */
  _Atomic uint64_t buffer;
  _Atomic uint32_t broken; /* an operation ended in an error: the steps are out of step */
  char pad2[RGI_LINE - RGI_SHM_DEPTH * sizeof(rgi_bell) - (RGI_SHM_DEPTH + 1) * sizeof(uint32_t) -
            sizeof(uint64_t)];
  rgi_shared_state_member member[];
} rgi_shared_state;

struct rgi_shm_coll {
  rgi_shm_coll *next; /* among those with the same hash */
  uint64_t key, slot; /* what the memory is found by */
  unsigned long epoch, idle_since;
  int groups;   /* how many groups use it */
  int in_cache; /* kept for the next group with these members */
  rgi_members *members;
  rgi_shared_state *state; /* NULL until the first operation */
  int n, me;
  int *ranks;           /* group ranks of the local members; NULL: all, in order */
  uint32_t step, ended; /* the step that runs; the last one that was ended */
  uint32_t safe;        /* all members have ended this one */
  uint32_t bytes;       /* of the operation that runs; modulo 2^32 */
  char *buffer;
};

/* Makes and frees one; rgi_shm_coll_attach keeps them. */
int rgi_shared_state_make(rg_group g, uint64_t key, rgi_shm_coll **l);
void rgi_shared_state_free(rgi_shm_coll *l);

/* Attaches the memory; the shared buffer (and the memory, if need be). */
int rgi_shared_state_attach(rgi_shm_coll *l);
int rgi_shared_state_attach_buffer(rgi_shm_coll *l);

#endif
