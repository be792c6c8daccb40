/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The ledger of a reserve: what each process of the world does. It lies in memory that
 * several processes share, behind a lock that is taken over from one that dies with it;
 * each entry is one word that is written last, so that the ledger is right wherever that
 * was.
 *
 * A process that is drawn is TAKEN until it has heard of it and comes: if who took it
 * dies before it has told it, it goes back to sleep. */
#ifndef RGI_LEDGER_H
#define RGI_LEDGER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { RGI_WORKS, RGI_SLEEPS, RGI_TAKEN, RGI_HAS_LEFT } rgi_sleeper;

typedef struct {
  _Atomic uint32_t state; /* rgi_sleeper */
  int32_t taker;          /* world rank of who took it */
  int32_t asked;          /* whether it has heard of it, as its taker has died */
  uint64_t number;        /* of the operation that it was taken for; 0: of none */
} rgi_sleeper_entry;

typedef struct {
  _Atomic uint32_t owner; /* of the lock: world rank plus 1; 0: nobody */
  _Atomic uint32_t known; /* whether it has begun: then n is what was asked for */
  int n, size, least;     /* processes; of them the last ones that are never drawn, 0 or 1 */
  rgi_sleeper_entry of[]; /* for each process */
} rgi_ledger;

size_t rgi_ledger_bytes(int size);

/* Of `size` processes the last n sleep, except for the last `least`. memory:
 * rgi_ledger_bytes(size), zeroed. */
void rgi_ledger_start(rgi_ledger *l, int size, int n, int least);

/* The same for one that several processes share, unless another one has done it; any n. */
int rgi_ledger_begin(rgi_ledger *l, int size, int n);

/* Draws n that live, the lowest that sleep, for the operation `number` of the process
 * `taker`, into ranks: *there is n then. If fewer sleep it draws none, and *there is how many
 * do; *coming: how many more there will be without anybody's doing, since their draw has
 * failed. */
int rgi_ledger_take(rgi_ledger *l, int n, int taker, uint64_t number, int ranks[], int *there,
                    int *coming);

/* What a process does from now on. */
int rgi_ledger_put(rgi_ledger *l, int rank, rgi_sleeper state);

/* Whether nobody can draw any more: everybody sleeps, has left or is dead. *lost: nobody has
 * left, all that worked have died. */
int rgi_ledger_over(rgi_ledger *l, int *over, int *lost);

/* Whether who took this process has died. */
int rgi_ledger_forsaken(const rgi_ledger *l, int rank);

/* The same, for who keeps the books for others; true once for each draw. *number: the draw's. */
int rgi_ledger_must_ask(rgi_ledger *l, int rank, uint64_t *number);

/* It has not heard of that draw, and sleeps. Nothing if it has been drawn again since. */
int rgi_ledger_give_back(rgi_ledger *l, int rank, uint64_t number);

int rgi_ledger_count(const rgi_ledger *l);

#endif
