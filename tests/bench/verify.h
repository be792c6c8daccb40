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
  /* Between two groups: how many are in each, else 0. ranks and rank are those of the
   * own group, the root is an initiator. */
  int initiators, responders;
  int initiates; /* whether this rank is one */
} bench_call;

/* The bytes that a buffer of this operation must have; between groups ranks is
 * bench_blocks. */
size_t bench_room(rg_operation operation, int ranks, int bytes);

/* The most blocks that go out of a buffer or into it. */
int bench_blocks(const bench_call *c);

/* The doubles of its result of MPI_Reduce_scatter_block: one block's, or between groups of
 * different size as many as make both groups' vectors equally long. */
int bench_share(const bench_call *c);

/* Writes this rank's operands to `send`, and to `receive` (and a broadcast's buffer
 * on all but the root) what no result looks like. */
void bench_fill(const bench_call *c, char *send, char *receive);

/* Whether the call has left the right result. Returns NULL, or what is wrong: a text
 * that lasts until the next call. */
const char *bench_verify(const bench_call *c, const char *send, const char *receive);

/* The i-th byte of a message from one rank to another; for other commands' data. */
unsigned char bench_byte(int turn, int from, int to, int i);

#endif
