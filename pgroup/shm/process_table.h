/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of processes of a node, in its arena: which processes of the world are known to
 * have died, in the order of noticing, and the state of each process of the node.
 *
 * Every rank holds a robust mutex of its own in the arena. The kernel marks the mutex when the
 * process ends, however that happens: any process that looks sees it, without a message. A process
 * that computes or is stopped still holds its mutex. The process that sees a death first writes it
 * into the node's list and rings the bells of all ranks of the node.
 *
 * Ranks, guards and the node daemon each have a view of the table, an rgi_process_table, since each
 * has the arena at an address of its own. */
#ifndef RGI_PROCESS_TABLE_H
#define RGI_PROCESS_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "shm/node.h"

/* For each process of the node. */
typedef struct {
  pthread_mutex_t held;   /* by the process, as long as it lives and the library runs */
  _Atomic uint32_t left;  /* 1: has come to the end of rg_finalize */
  _Atomic uint32_t ended; /* 1: has ended, in whatever way; its guard writes this */
  int32_t pid;
  _Atomic double since, seen; /* its last wait: when it began, when it was last noted */
  char pad[64 - (sizeof(pthread_mutex_t) + 3 * sizeof(uint32_t) + 2 * sizeof(double)) % 64];
} rgi_process_state;

/* How the job has ended, for all guards of the node. */
typedef struct {
  _Atomic uint32_t ready;   /* processes that have returned from rg_init */
  _Atomic uint32_t gone;    /* processes that have ended, in whatever way */
  _Atomic uint32_t outcome; /* an rgi_process_job_end */
} rgi_process_job;

/* RGI_PROCESS_JOB_DONE: the survivors have ended well; RGI_PROCESS_JOB_LOST: no process is left on
 * any node. */
typedef enum {
  RGI_PROCESS_JOB_OPEN,
  RGI_PROCESS_JOB_DONE,
  RGI_PROCESS_JOB_LOST
} rgi_process_job_end;

#define RGI_REVOCATIONS_MOST 4096
#define RGI_REVOCATION_PLACES ((uint64_t)2 * RGI_REVOCATIONS_MOST)

/* The head of the table. */
typedef struct {
  rgi_process_job job;
  _Atomic uint32_t deaths, revocations;
  _Atomic uint64_t revoked[RGI_REVOCATION_PLACES]; /* contexts, each from its own place on; 0:
                                                      free (shm/revocation.c) */
} rgi_process_table_journal;

typedef struct {
  rgi_process_table_journal *journal; /* NULL: there is no table */
  _Atomic int32_t *dead;              /* world ranks plus 1, as many as deaths */
  _Atomic unsigned char *is_dead;     /* for each rank of the world */
  rgi_process_state *state;           /* for each process of the node */
  rgi_node_process *members;          /* their bells */
  const int *ranks;                   /* their world ranks */
  int n, me;                          /* how many; the place of this view's owner, or -1 */
  int world;                          /* ranks of the world */
  _Atomic int64_t looked;             /* when, in microseconds */
  double empty;                       /* rgi_process_table_all_waiting: since when all have ended */
} rgi_process_table;

/* Bytes, zeroed, in the arena for n processes of a world of that size. */
size_t rgi_process_table_bytes(int n, int world);

/* Makes *t a view of the table in that memory. The caller has set members, ranks, n and me. */
void rgi_process_table_attach(rgi_process_table *t, void *memory, int world);

/* Rings the bells of all processes of the node. */
void rgi_process_table_ring(const rgi_process_table *t);

/* Writes a death into the list, unless it is there, and rings. */
void rgi_process_table_note_death(rgi_process_table *t, int world_rank);

/* Looks whether a process of this node has died. Any thread. */
void rgi_process_table_check(rgi_process_table *t);

/* Whether all processes of the node have left or died. */
int rgi_process_table_all_left(const rgi_process_table *t);

/* By a guard: the process of that id, its child, has ended. */
void rgi_process_table_ended(rgi_process_table *t, int pid);

/* By a guard or the node daemon: whether all of the node's processes that have not ended have been
 * waiting for so long. */
int rgi_process_table_all_waiting(rgi_process_table *t, double seconds);

/* How many are known to be dead; the i-th in the order of noticing; whether a rank is. */
static inline int rgi_process_table_deaths(const rgi_process_table *t) {
  return t->journal ? (int)atomic_load_explicit(&t->journal->deaths, memory_order_acquire) : 0;
}

static inline int rgi_process_table_death(const rgi_process_table *t, int i) {
  return atomic_load_explicit(&t->dead[i], memory_order_acquire) - 1;
}

static inline int rgi_process_table_is_dead(const rgi_process_table *t, int world_rank) {
  return t->journal && atomic_load_explicit(&t->is_dead[world_rank], memory_order_acquire) != 0;
}

#endif
