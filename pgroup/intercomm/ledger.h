/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The ledger of a reserve: who sleeps, and how many of the others have left. It
 * lies in memory that several processes share and is changed by atomics, without
 * a lock: a process that stops anywhere holds nobody up. Pure otherwise.
 *
 * A draw of n first takes n off the number of those that sleep, all or nothing,
 * and thereby owns a claim to n of them; then it looks for n that sleep, which it
 * must find, since there are never fewer of them than claims. */
#ifndef RGI_LEDGER_H
#define RGI_LEDGER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  _Atomic uint64_t counts; /* sleeping and not claimed: upper half; have left: lower half */
  int size, least;         /* processes; of them those that are never drawn */
  _Atomic int sleeps[];    /* for each process */
} rgi_ledger;

size_t rgi_ledger_bytes(int size);

/* Of `size` processes the last n sleep; the last `least` of these, 0 or 1, is
 * never drawn. memory: rgi_ledger_bytes(size), zeroed. */
void rgi_ledger_start(rgi_ledger *l, int size, int n, int least);

/* Draws n, the lowest that it finds, into ranks; returns n. If fewer sleep it draws none
 * and returns how many do. */
int rgi_ledger_take(rgi_ledger *l, int n, int ranks[]);

/* A process goes to sleep, or leaves. 1: that was the last one outside, so that
 * nobody can draw any more. */
int rgi_ledger_put(rgi_ledger *l, int rank);
int rgi_ledger_leave(rgi_ledger *l);

int rgi_ledger_count(const rgi_ledger *l);

#endif
