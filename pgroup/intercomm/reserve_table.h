/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of a reserve: the state of each process of the world.
 *
 * A process is ACQUIRED from the moment that its acquirer has chosen it until it has received
 * the message and joins. If the acquirer dies before it has sent the message, the process
 * sleeps again. */
#ifndef RGI_RESERVE_TABLE_H
#define RGI_RESERVE_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  RGI_RESERVE_WORKING,
  RGI_RESERVE_SLEEPING,
  RGI_RESERVE_ACQUIRED,
  RGI_RESERVE_LEFT
} rgi_reserve_table_state;

typedef struct {
  _Atomic uint32_t state; /* rgi_reserve_table_state */
  int32_t acquirer;       /* its world rank */
  int32_t queried;        /* whether the holder has asked it, since its acquirer has died */
  uint64_t number;        /* of the operation that it was acquired for; 0: none */
} rgi_reserve_table_entry;

typedef struct {
  _Atomic uint32_t owner;       /* of the lock: world rank plus 1; 0: free */
  _Atomic uint32_t known;       /* whether it is initialized: then n is what was asked for */
  int n, size, least;           /* processes; the last ones that are never acquired, 0 or 1 */
  rgi_reserve_table_entry of[]; /* for each process */
} rgi_reserve_table;

size_t rgi_reserve_table_bytes(int size);

/* Of `size` processes the last n sleep, except for the last `least`. memory:
 * rgi_reserve_table_bytes(size), zeroed. */
void rgi_reserve_table_init(rgi_reserve_table *l, int size, int n, int least);

/* The same for a table that several processes share, unless another process has done it; any n. */
int rgi_reserve_table_init_once(rgi_reserve_table *l, int size, int n);

/* What is wanted, and what there is. */
typedef struct {
  int n;           /* processes */
  int acquirer;    /* world rank */
  uint64_t number; /* of the operation; 0: none */
  int there;       /* out: n if they have been acquired, else how many sleep */
  int coming;      /* out: how many more will come back, since their acquisition has failed */
  int *ranks;      /* out: the acquired processes; room for n, or for all processes if n is more */
} rgi_reserve_table_wish;

/* Acquires n living processes, the lowest that sleep; none if fewer sleep. */
int rgi_reserve_table_acquire(rgi_reserve_table *l, rgi_reserve_table_wish *w);

/* What a process does from now on. */
int rgi_reserve_table_set(rgi_reserve_table *l, int rank, rgi_reserve_table_state state);

/* *over: no process can acquire any more, since each sleeps, has left or is dead. *lost: none has
 * left, and all that worked have died. */
int rgi_reserve_table_finished(rgi_reserve_table *l, int *over, int *lost);

/* Whether this process's acquirer has died. */
int rgi_reserve_table_abandoned(const rgi_reserve_table *l, int rank);

/* The same on the directory's holder; true once for each acquisition. *number: its number. */
int rgi_reserve_table_must_query(rgi_reserve_table *l, int rank, uint64_t *number);

/* The process has not received that acquisition's message, and sleeps. Does nothing if it has
 * been acquired again since. */
int rgi_reserve_table_give_back(rgi_reserve_table *l, int rank, uint64_t number);

/* How many processes sleep. */
int rgi_reserve_table_count(const rgi_reserve_table *l);

#endif
