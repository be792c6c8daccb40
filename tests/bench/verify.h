/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a collective gives, by closed forms: operands that only their place decides,
 * and whether a result is made of them. Local; no messages. */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include <regroup.h>

/* One call as one rank sees it. */
typedef struct {
  rg_operation operation;
  int ranks, rank, root;
  int turn;  /* operands differ from turn to turn */
  int bytes; /* of a block or vector; reductions: doubles, as many as fit */
} bench_call;

/* The bytes that a buffer of this operation must have. */
size_t bench_room(rg_operation operation, int ranks, int bytes);

/* Writes this rank's operands to `send`, and to `receive` (and a broadcast's buffer
 * on all but the root) what no result looks like. */
void bench_fill(const bench_call *c, char *send, char *receive);

/* Whether the call has left the right result. Returns NULL, or what is wrong: a text
 * that lasts until the next call. */
const char *bench_verify(const bench_call *c, const char *send, const char *receive);

/* The i-th byte of a message from one rank to another; for other commands' data. */
unsigned char bench_byte(int turn, int from, int to, int i);

#endif
