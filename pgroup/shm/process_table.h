/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of processes of a node, in its arena: the state of each process of the world, as far
 * as this node knows it, and the list of the dead in the order of noticing.
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

/* The state of a process, one atomic word for each rank of the world. It only grows:
 *
 *   from                to             by whom
 *   NONE                STARTED        the process, when it has opened the table in rg_init
 *   STARTED             READY          the process, when it returns from rg_init, or
 *                                      when MPI_Init serves MPI
 *   READY               LEFT           the process, at the end of rg_finalize
 *   READY               LEFT           the process, when it closes the table without that: the job
 *                                      does not survive deaths
 *   LEFT                ENDED          its guard, when it has ended
 *   STARTED             DEAD_STARTING  the first process, guard or node daemon of its node that
 *   READY, LEFT         DEAD           sees its mutex abandoned
 *   NONE                DEAD           the node daemon, when it hears of a death on another node
 *
 * Of processes of other nodes only NONE and DEAD are known. LEFT becomes DEAD where the process is
 * killed while it still holds its mutex. */
typedef enum {
  RGI_PROCESS_NONE,
  RGI_PROCESS_STARTED,
  RGI_PROCESS_READY,
  RGI_PROCESS_LEFT,
  RGI_PROCESS_ENDED,
  RGI_PROCESS_DEAD, /* from here on the process is dead */
  RGI_PROCESS_DEAD_STARTING
} rgi_process_state;

/* What a process that has been waiting for long shows to the others (shm/stall.h): on which group,
 * which of the node's processes are members, by their places, and the members as a text. */
#define RGI_PROCESS_STALL_PLACES 256
#define RGI_PROCESS_STALL_LIST 160
typedef struct {
  _Atomic uint32_t version; /* 0: there is none; odd while it is written */
  uint32_t unmet;           /* the wait is in its group's first operation */
  _Atomic double until;     /* it counts */
  uint64_t context, here[RGI_PROCESS_STALL_PLACES / 64];
  char call[40], list[RGI_PROCESS_STALL_LIST];
} rgi_process_stall;

/* For each process of the node. */
typedef struct {
  rgi_process_stall stall;
  pthread_mutex_t held;       /* by the process, as long as it lives and the library runs */
  int32_t rank;               /* of the world */
  _Atomic int32_t pid;        /* 0: it has not opened the table; the rest is not there yet */
  _Atomic double since, seen; /* its last wait: when it began, when it was last noted */
  _Atomic int64_t patient;    /* it is one that may last for ever */
  char pad[64 - (sizeof(pthread_mutex_t) + 2 * sizeof(int32_t) + 3 * sizeof(double)) % 64];
} rgi_process_entry;

/* How the job has ended, for all guards of the node. RGI_PROCESS_JOB_DONE: the survivors have ended
 * well; RGI_PROCESS_JOB_LOST: no process is left on any node. */
typedef enum {
  RGI_PROCESS_JOB_OPEN,
  RGI_PROCESS_JOB_DONE,
  RGI_PROCESS_JOB_LOST
} rgi_process_job_end;

#define RGI_REVOCATIONS_MOST 4096
#define RGI_REVOCATIONS_LAST 1024

/* A group that is revoked: its context, 0: none; and how many of the node's members have freed it.
 */
typedef struct {
  _Atomic uint64_t context;
  _Atomic uint32_t freed;
} rgi_process_table_revocation;

/* The head of the table. */
typedef struct {
  _Atomic uint32_t outcome; /* of the job: an rgi_process_job_end */
  _Atomic uint32_t deaths, revocations;
  _Atomic uint32_t places, ringed; /* shm/revocation.c: places used so far; numbers in the ring */
  rgi_process_table_revocation revoked[RGI_REVOCATIONS_MOST];
  _Atomic uint64_t ring[RGI_REVOCATIONS_LAST];
  _Atomic int64_t looked; /* when a process of the node last looked for deaths, in microseconds */
} rgi_process_table_journal;

typedef struct {
  rgi_process_table_journal *journal; /* NULL: there is no table */
  _Atomic int32_t *dead;              /* world ranks plus 1, as many as deaths */
  _Atomic unsigned char *state;       /* for each rank of the world an rgi_process_state */
  rgi_process_entry *entry;           /* for each process of the node */
  rgi_node_process *members;          /* their bells */
  int n, me;                          /* how many; the place of this view's owner, or -1 */
  int world;                          /* ranks of the world */
  double empty;                       /* rgi_process_table_all_waiting: since when all have ended */
} rgi_process_table;

/* Bytes, zeroed, in the arena for n processes of a world of that size. */
size_t rgi_process_table_bytes(int n, int world);

/* Makes *table a view of the table in that memory. The caller has set members, n and me. */
void rgi_process_table_attach(rgi_process_table *table, void *memory, int world);

/* Rings the bells of all processes of the node. */
void rgi_process_table_ring(const rgi_process_table *table);

/* Writes a death into the list, unless it is there, and rings. */
void rgi_process_table_note_death(rgi_process_table *table, int world_rank);

/* Looks whether a process of this node has died. Any thread. */
void rgi_process_table_check(rgi_process_table *table);

/* As rgi_process_table_check, unless a process of this node has done so within the last `seconds`:
 * one looks for all, so that the looks of a node do not grow with the square of its processes. now:
 * rgi_clock_now. Whether it has looked. */
int rgi_process_table_check_each(rgi_process_table *table, double now, double seconds);

/* Raises the state of a rank; a state that is as high, or dead, stays. */
void rgi_process_table_raise(rgi_process_table *table, int world_rank, rgi_process_state to);

/* Whether all processes of the node have returned from rg_init; have left or died; have ended. */
int rgi_process_table_all_ready(const rgi_process_table *table);
int rgi_process_table_all_left(const rgi_process_table *table);
int rgi_process_table_all_ended(const rgi_process_table *table);

/* By a guard: the process of that id, its child, has ended. Whether it is dead: it had not left. */
int rgi_process_table_ended(rgi_process_table *table, int pid);

/* By a guard or the node daemon: whether all of the node's processes that have not ended have been
 * waiting for so long. */
int rgi_process_table_all_waiting(rgi_process_table *table, double seconds);

/* By the node daemon: how long one of the node's processes has been in one wait that is not
 * patient; the longest. */
double rgi_process_table_longest_wait(const rgi_process_table *table);

static inline rgi_process_state rgi_process_table_state(const rgi_process_table *table,
                                                        int world_rank) {
  return (rgi_process_state)atomic_load_explicit(&table->state[world_rank], memory_order_acquire);
}

/* How many are known to be dead; the i-th in the order of noticing; whether a rank is. */
static inline int rgi_process_table_deaths(const rgi_process_table *table) {
  return table->journal ? (int)atomic_load_explicit(&table->journal->deaths, memory_order_acquire)
                        : 0;
}

static inline int rgi_process_table_death(const rgi_process_table *table, int i) {
  return atomic_load_explicit(&table->dead[i], memory_order_acquire) - 1;
}

static inline int rgi_process_table_is_dead(const rgi_process_table *table, int world_rank) {
  return table->journal && rgi_process_table_state(table, world_rank) >= RGI_PROCESS_DEAD;
}

#endif
