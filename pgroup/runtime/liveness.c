/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/liveness.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "runtime/error.h"
#include "runtime/mesh.h"
#include "runtime/node.h"
#include "runtime/options.h"
#include "runtime/pause.h"
#include "runtime/polite.h"

#define LOOK_SECONDS 5e-3
#define REVOKED 4096
#define PLACES ((uint64_t)2 * REVOKED)

/* In the arena: who is dead, in the order of noticing. */
typedef struct {
  rgi_will will;
  _Atomic uint32_t deaths, revocations;
  _Atomic uint64_t revoked[PLACES]; /* contexts, each from its own place on; 0: free */
} journal;

static struct {
  journal *journal;
  _Atomic int32_t *dead;          /* world ranks plus 1, as many as deaths */
  _Atomic unsigned char *is_dead; /* for each rank of the world */
  rgi_pulse *pulse;               /* for each process of the node */
  _Atomic int64_t looked;         /* when, in microseconds */
  int world;
} lives;

_Thread_local rgi_scope rgi_scope_now;
static _Thread_local int awaits; /* its waits are the process's */

static size_t whole_lines(size_t bytes) {
  return (bytes + RGI_LINE - 1) / RGI_LINE * RGI_LINE;
}

size_t rgi_liveness_bytes(int n, int world) {
  return whole_lines(sizeof(journal)) + whole_lines((size_t)world * sizeof *lives.dead) +
         whole_lines((size_t)world) + (size_t)n * sizeof(rgi_pulse);
}

static void place(char *memory, int world) {
  lives.world = world;
  lives.journal = (journal *)memory;
  memory += whole_lines(sizeof(journal));
  lives.dead = (void *)memory;
  memory += whole_lines((size_t)world * sizeof *lives.dead);
  lives.is_dead = (void *)memory;
  lives.pulse = (void *)(memory + whole_lines((size_t)world));
}

int rgi_liveness_open(void *memory, int world) {
  pthread_mutexattr_t attr;
  place(memory, world);
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_t *mine = &lives.pulse[rgi_node.me].held;
  int failed = pthread_mutex_init(mine, &attr);
  pthread_mutexattr_destroy(&attr);
  if (!failed)
    failed = pthread_mutex_lock(mine);
  lives.pulse[rgi_node.me].pid = getpid();
  rgi_liveness_tell(NULL, -1, -1);
  return failed ? rgi_error(RG_ERR_SYSTEM, "rg_init: a robust mutex: %s", strerror(failed))
                : RG_SUCCESS;
}

void rgi_liveness_tell(const void *mesh, int listener, int reading) {
  const rgi_addresses a = {.processes = rgi_node.n,
                           .world = lives.world,
                           .patience = rgi_option(RGI_OPT_PATIENCE),
                           .stopped = rgi_option(RGI_OPT_STOPPED)};
  rgi_arena_tell_guardian(a, lives.journal, rgi_node.processes, mesh, listener, reading);
}

rgi_will *rgi_liveness_borrow(void *memory, int world, int n) {
  place(memory, world);
  rgi_node.n = n;
  return &lives.journal->will;
}

void rgi_liveness_ended(int pid) {
  for (int i = 0; i < rgi_node.n; i++)
    if (lives.pulse[i].pid == pid)
      atomic_store(&lives.pulse[i].ended, 1);
}

int rgi_liveness_pid(int place) {
  return lives.pulse[place].pid;
}

void rgi_liveness_close(void) {
  if (lives.journal)
    pthread_mutex_unlock(&lives.pulse[rgi_node.me].held);
  memset(&lives, 0, sizeof lives);
  awaits = 0;
}

/* --- noticing --------------------------------------------------------------------- */

void rgi_liveness_ring(void) {
  for (int i = 0; i < rgi_node.n; i++)
    rgi_ring(i);
}

/* The list's next entry is filled, then counted, then its rank marked: whoever is
 * killed on the way has the rest done by the next one who looks. */
static int append(uint32_t at, int world_rank) {
  int32_t entry = 0;
  if (atomic_compare_exchange_strong(&lives.dead[at], &entry, world_rank + 1))
    entry = world_rank + 1;
  uint32_t count = at;
  atomic_compare_exchange_strong(&lives.journal->deaths, &count, at + 1);
  atomic_store(&lives.is_dead[entry - 1], 1);
  return entry == world_rank + 1;
}

void rgi_liveness_note(int world_rank) {
  uint32_t at = 0;
  while (!rgi_is_dead(world_rank) && !append(at, world_rank))
    at++;
  rgi_liveness_ring();
}

/* Giving it back as it is tells everybody else the same. A mutex that is free belongs
 * to a process that has left the library well. */
static int has_died(int place) {
  int got = pthread_mutex_trylock(&lives.pulse[place].held);
  if (got == 0 || got == EOWNERDEAD)
    pthread_mutex_unlock(&lives.pulse[place].held);
  return got == EOWNERDEAD || got == ENOTRECOVERABLE;
}

static void look_at_all(void) {
  for (int i = 0; i < rgi_node.n; i++)
    if (i != rgi_node.me && !rgi_is_dead(rgi_node.ranks[i]) && has_died(i))
      rgi_liveness_note(rgi_node.ranks[i]);
}

void rgi_liveness_look(double now) {
  int64_t time = (int64_t)(now * 1e6),
          last = atomic_load_explicit(&lives.looked, memory_order_relaxed);
  if (!lives.journal || time - last < (int64_t)(LOOK_SECONDS * 1e6) ||
      !atomic_compare_exchange_strong(&lives.looked, &last, time))
    return;
  look_at_all();
}

void rgi_liveness_look_now(void) {
  if (lives.journal)
    look_at_all();
}

int rgi_deaths(void) {
  return lives.journal ? (int)atomic_load_explicit(&lives.journal->deaths, memory_order_acquire)
                       : 0;
}

int rgi_death(int i) {
  return atomic_load_explicit(&lives.dead[i], memory_order_acquire) - 1;
}

int rgi_is_dead(int world_rank) {
  return lives.journal &&
         atomic_load_explicit(&lives.is_dead[world_rank], memory_order_acquire) != 0;
}

/* --- the end ----------------------------------------------------------------------------- */

void rgi_liveness_ready(int alone) {
  awaits = alone && rgi_guarded();
  rgi_polite_waits = awaits ? rgi_liveness_waits : NULL;
  atomic_fetch_add(&lives.journal->will.ready, 1);
}

void rgi_leave(void) {
  atomic_store(&lives.pulse[rgi_node.me].left, 1);
  rgi_liveness_ring();
  rgi_mesh_tell(RGI_TELL_LEFT, 0);
}

int rgi_has_left(int place) {
  return atomic_load(&lives.pulse[place].left) != 0;
}

void rgi_will_end(void) {
  atomic_store(&lives.journal->will.outcome, 1);
  rgi_mesh_tell(RGI_TELL_ENDED, 0);
}

/* --- waiting ------------------------------------------------------------------------------ */

#define FRESH_SECONDS 5.0

void rgi_liveness_waits(double since, double now) {
  if (!lives.journal || !awaits)
    return;
  rgi_pulse *mine = &lives.pulse[rgi_node.me];
  atomic_store_explicit(&mine->since, since, memory_order_relaxed);
  atomic_store_explicit(&mine->seen, now, memory_order_relaxed);
}

/* A process that computes, is stopped or waits for a disk has not been seen to wait for a
 * while. */
static int waits(const rgi_pulse *p, double seconds, double now) {
  double seen = atomic_load(&p->seen);
  return now - seen < FRESH_SECONDS && seen - atomic_load(&p->since) >= seconds;
}

/* In a guardian: the mutexes are the processes' affair. Where all have ended, news of how may
 * still be on its way. */
int rgi_liveness_stuck(double seconds) {
  static double empty; /* since when nobody has been there */
  double now = rgi_now();
  int here = 0;
  for (int i = 0; i < rgi_node.n; i++) {
    if (atomic_load(&lives.pulse[i].ended))
      continue;
    here = 1;
    if (!waits(&lives.pulse[i], seconds, now))
      return 0;
  }
  if (here || empty == 0)
    empty = here ? 0 : now;
  return here || now - empty >= seconds;
}

/* --- revoking ------------------------------------------------------------------------ */

int rgi_revocations(void) {
  return lives.journal &&
         atomic_load_explicit(&lives.journal->revocations, memory_order_relaxed) > 0;
}

int rgi_is_revoked(uint64_t context) {
  uint64_t found;
  if (!rgi_revocations())
    return 0;
  for (uint64_t at = context;; at++) {
    found = atomic_load_explicit(&lives.journal->revoked[at % PLACES], memory_order_acquire);
    if (found == context || !found)
      return found != 0;
  }
}

/* Counted first: then it is looked for. Half of the places stay free. */
int rgi_revoke_here(uint64_t context) {
  if (!lives.journal || rgi_is_revoked(context))
    return RG_SUCCESS;
  if (atomic_fetch_add(&lives.journal->revocations, 1) >= REVOKED)
    return RG_ERR_LIMIT;
  for (uint64_t at = context;; at++) {
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&lives.journal->revoked[at % PLACES], &none, context) ||
        none == context)
      break;
  }
  rgi_liveness_ring();
  return RG_SUCCESS;
}

/* The others are told first: who is killed in between has not told some of them. */
int rgi_revoke_quietly(uint64_t context) {
  if (lives.journal && !rgi_is_revoked(context))
    rgi_mesh_tell(RGI_TELL_REVOKED, context);
  return rgi_revoke_here(context);
}

int rgi_revoke(uint64_t context) {
  return rgi_revoke_quietly(context) == RG_SUCCESS
             ? RG_SUCCESS
             : rgi_error(RG_ERR_LIMIT, "rg_group_revoke: %d groups have been revoked already",
                         REVOKED);
}

/* --- scopes ---------------------------------------------------------------------------- */

int rgi_births_check(const uint64_t births[RGI_BIRTHS], const char *call) {
  for (int i = 0; i < RGI_BIRTHS; i++)
    if (births[i] && rgi_is_revoked(births[i]))
      return rgi_error(RG_ERR_REVOKED,
                       "%s: the group did not come to be: a process died while it was formed, and "
                       "not all of its members have it",
                       call);
  return RG_SUCCESS;
}

int rgi_scope_check(const rgi_scope *scope, const char *call) {
  if (!scope->members || !lives.journal)
    return RG_SUCCESS;
  for (int i = 0, n = rgi_deaths(); i < n; i++) {
    int rank = scope->find(scope->members, rgi_death(i));
    if (rank >= 0)
      return rgi_error(RG_ERR_PROC_FAILED,
                       "%s: rank %d of the group (rank %d of the world) has died", call, rank,
                       rgi_death(i));
  }
  if (!atomic_load_explicit(&lives.journal->revocations, memory_order_acquire))
    return RG_SUCCESS;
  if (rgi_is_revoked(scope->context))
    return rgi_error(RG_ERR_REVOKED, "%s: a member has revoked the group", call);
  if (scope->parent && rgi_is_revoked(scope->parent))
    return rgi_error(RG_ERR_REVOKED, "%s: the parent group has been revoked", call);
  return rgi_births_check(scope->births, call);
}

int rgi_scope_cause(const rgi_scope *scope, int error, const char *call) {
  int cause = error == RG_ERR_TIMEOUT || error == RG_ERR_MPI ? rgi_scope_check(scope, call) : 0;
  return cause ? cause : error;
}
