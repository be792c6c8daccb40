/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of a reserve: what each process of the world does. It lies in memory that
 * several processes share, behind a lock that is taken over from one that dies with it;
 * each entry is one word that is written last, so that the table is right wherever that
 * was.
 *
 * A process that is drawn is TAKEN until it has heard of it and comes: if who took it
 * dies before it has told it, it goes back to sleep. */
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
  int32_t acquirer;       /* world rank of who took it */
  int32_t queried;        /* whether it has heard of it, as its acquirer has died */
  uint64_t number;        /* of the operation that it was taken for; 0: of none */
} rgi_reserve_table_entry;

typedef struct {
  _Atomic uint32_t owner;       /* of the lock: world rank plus 1; 0: nobody */
  _Atomic uint32_t known;       /* whether it has begun: then n is what was asked for */
  int n, size, least;           /* processes; of them the last ones that are never drawn, 0 or 1 */
  rgi_reserve_table_entry of[]; /* for each process */
} rgi_reserve_table;

size_t rgi_reserve_table_bytes(int size);

/* Of `size` processes the last n sleep, except for the last `least`. memory:
 * rgi_reserve_table_bytes(size), zeroed. */
void rgi_reserve_table_init(rgi_reserve_table *l, int size, int n, int least);

/* The same for one that several processes share, unless another one has done it; any n. */
int rgi_reserve_table_init_once(rgi_reserve_table *l, int size, int n);

/* Draws n that live, the lowest that sleep, for the operation `number` of the process
 * `acquirer`, into ranks: *there is n then. If fewer sleep it draws none, and *there is how many
 * do; *coming: how many more there will be without anybody's doing, since their draw has
 * failed. */
int rgi_reserve_table_acquire(rgi_reserve_table *l, int n, int acquirer, uint64_t number,
                              int ranks[], int *there, int *coming);

/* What a process does from now on. */
int rgi_reserve_table_set(rgi_reserve_table *l, int rank, rgi_reserve_table_state state);

/* Whether nobody can draw any more: everybody sleeps, has left or is dead. *lost: nobody has
 * left, all that worked have died. */
int rgi_reserve_table_finished(rgi_reserve_table *l, int *over, int *lost);

/* Whether who took this process has died. */
int rgi_reserve_table_abandoned(const rgi_reserve_table *l, int rank);

/* The same, for who keeps the directory for others; true once for each draw. *number: the draw's.
 */
int rgi_reserve_table_must_query(rgi_reserve_table *l, int rank, uint64_t *number);

/* It has not heard of that draw, and sleeps. Nothing if it has been drawn again since. */
int rgi_reserve_table_give_back(rgi_reserve_table *l, int rank, uint64_t number);

int rgi_reserve_table_count(const rgi_reserve_table *l);

#endif
