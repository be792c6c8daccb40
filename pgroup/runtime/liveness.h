/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Liveness: which processes of the world are known to have died, and which calls
 * that concerns.
 *
 * On a node every process holds a robust mutex of its own in the arena. The kernel
 * marks it when the process ends, however that happens: whoever looks sees it,
 * nothing is sent, and a process that computes or is stopped holds it still. Who
 * sees a death first writes it into the node's list and rings everybody's bell. */
#ifndef RGI_LIVENESS_H
#define RGI_LIVENESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "runtime/guardian.h"

/* For each process of the node, in the arena. */
typedef struct {
  pthread_mutex_t held;   /* by the process, as long as it lives and the library runs */
  _Atomic uint32_t left;  /* it has come to the end of rg_finalize */
  _Atomic uint32_t ended; /* however; its guardian writes it */
  int32_t pid;
  _Atomic double since, seen; /* its wait: when it began, when it was last gone on with */
  char pad[64 - (sizeof(pthread_mutex_t) + 3 * sizeof(uint32_t) + 2 * sizeof(double)) % 64];
} rgi_pulse;

/* Bytes, zeroed, in the arena for n processes of a world of that size. */
size_t rgi_liveness_bytes(int n, int world);

/* By every process of the node; memory as above. Afterwards, and before anyone looks,
 * the node's processes meet. */
int rgi_liveness_open(void *memory, int world);
void rgi_liveness_close(void);

/* Tells this process's guardian where all this is; mesh: or NULL; listener, reading: as
 * rgi_speaker_open, or -1. */
void rgi_liveness_tell(const void *mesh, int listener, int reading);

/* For a guardian, which is none of the processes. */
rgi_will *rgi_liveness_borrow(void *memory, int world, int n);

/* By a guardian, of its own process. */
void rgi_liveness_ended(int pid);

/* The node's i-th process. */
int rgi_liveness_pid(int place);

/* Rings the bells of all processes of the node. */
void rgi_liveness_ring(void);

/* Looks whether somebody of this node has died. Any thread; cheap if it was done a
 * moment ago. now: rgi_now. */
void rgi_liveness_look(double now);

/* The same, whenever it was done last. */
void rgi_liveness_look_now(void);

/* Writes a death into the node's list: what another way of noticing found out. */
void rgi_liveness_note(int world_rank);

/* How many are known to be dead; the i-th in the order in which they were noticed;
 * whether one of them is this rank. */
int rgi_deaths(void);
int rgi_death(int i);
int rgi_is_dead(int world_rank);

/* This process returns from rg_init. alone: no other thread may call. */
void rgi_liveness_ready(int alone);

/* This process has come to its end; whether the node's i-th one has. */
void rgi_leave(void);
int rgi_has_left(int place);

/* This process has been in one wait, here or in MPI, from `since` until now, and nothing has
 * moved. Of the thread that has called rg_init, unless others may call too. */
void rgi_liveness_waits(double since, double now);

/* Whether all of the node's processes that have not ended have waited so long. */
int rgi_liveness_stuck(double seconds);

/* All have ended well: the guardians of the dead hear of it. */
void rgi_will_end(void);

/* Makes a context one whose waits end with RG_ERR_REVOKED, on all nodes. RG_ERR_LIMIT:
 * there is no room for another one. */
int rgi_revoke(uint64_t context);
int rgi_revoke_quietly(uint64_t context); /* leaves the error's text as it is */
int rgi_revoke_here(uint64_t context);    /* the other nodes know it already */
int rgi_is_revoked(uint64_t context);

/* The operations that a group owes its being to, as numbers that their participants
 * share; 0: none. One of them that gets an error revokes the number: then the group is
 * not everybody's. */
#define RGI_BIRTHS 2

/* RG_ERR_REVOKED if one of them is revoked. */
int rgi_births_check(const uint64_t births[RGI_BIRTHS], const char *call);

/* Whose death, and whose revocation, ends the waits of the public call that this
 * thread is in: the members of its group. find: the position of a world rank among
 * them, or -1. */
typedef struct {
  const void *members;
  int (*find)(const void *members, int world_rank);
  uint64_t context, parent; /* whose revocation ends it; 0: none */
  uint64_t births[RGI_BIRTHS];
} rgi_scope;

extern _Thread_local rgi_scope rgi_scope_now;

/* Whether any group has been revoked: a call that may end without a wait then looks
 * itself (rgi_scope_check). */
int rgi_revocations(void);

/* RG_ERR_PROC_FAILED, with a text, if a member is known to be dead; RG_ERR_REVOKED;
 * else RG_SUCCESS. */
int rgi_scope_check(const rgi_scope *scope, const char *call);

/* Of an error of a message: that of the scope if there is one, which the other side may have
 * seen first, and have given up the message for it. Else the error as it is, with its text. */
int rgi_scope_cause(const rgi_scope *scope, int error, const char *call);

#endif
