/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of a reserve: what each process of the world does (reserve_entry.h), and acquiring.
 *
 * An acquirer claims the lowest processes that sleep, one after the other in the order of their
 * ranks. When it has enough it makes them all ACQUIRED; if there are too few it gives them back. At
 * a process that another acquirer has claimed it waits until that one has done the one or the
 * other. Since all claim in the same order, none waits for another in a circle, and each sees the
 * reserve as if it were the only one. If an acquirer dies before it has sent the message, the
 * process sees that in its own entry and sleeps again. */
#ifndef RGI_RESERVE_TABLE_H
#define RGI_RESERVE_TABLE_H

#include "intercomm/reserve_entry.h"

/* The last n of `size` processes sleep at first. spread: as rgi_reserve_entries_open; else the
 * caller is the holder. RG_ERR_NOMEM; to be closed after an error, too. */
int rgi_reserve_table_open(int size, int n, int spread);
void rgi_reserve_table_close(void);

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
int rgi_reserve_table_acquire(rgi_reserve_table_wish *wish);

/* The process has been acquired by that one, which cannot tell it: it sleeps. */
int rgi_reserve_table_give_back(int rank, int acquirer);

/* What a process does from now on: the caller, or by the holder. */
int rgi_reserve_table_set(int rank, rgi_reserve_state state);

/* Whether the caller's acquirer has died; *number: of that operation, 0 if no message of it can be
 * under way. Then the caller sleeps again by rgi_reserve_table_set. */
int rgi_reserve_table_abandoned(uint64_t *number);

/* *over: no process can acquire any more, since each sleeps, has left or is dead. *lost: none has
 * left, and all that worked have died. */
int rgi_reserve_table_finished(int *over, int *lost);

/* How many processes sleep. */
int rgi_reserve_table_count(int *sleeping);

/* Whether a living process other than the caller slept, as the last call found it. */
int rgi_reserve_table_slept(int rank);

#endif
