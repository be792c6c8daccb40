/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "verify.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOTHING 0xA5 /* as a double: negative, while sums are not */

static int in_blocks(rg_operation op) {
  return op == RG_OP_GATHER || op == RG_OP_SCATTER || op == RG_OP_ALLGATHER ||
         op == RG_OP_ALLTOALL || op == RG_OP_REDUCE_SCATTER;
}

static int reduces(rg_operation op) {
  return op == RG_OP_REDUCE || op == RG_OP_ALLREDUCE || op == RG_OP_REDUCE_SCATTER ||
         op == RG_OP_SCAN || op == RG_OP_EXSCAN;
}

size_t bench_room(rg_operation op, int ranks, int bytes) {
  return (size_t)bytes * (size_t)(in_blocks(op) ? ranks : 1) + sizeof(double);
}

/* --- operands ------------------------------------------------------------------------- */

unsigned char bench_byte(int turn, int from, int to, int i) {
  uint32_t h = (uint32_t)turn * 0xC2B2AE35u + (uint32_t)from * 0x9E3779B1u +
               (uint32_t)to * 0x85EBCA6Bu + (uint32_t)i * 0x27D4EB2Fu;
  h ^= h >> 15;
  return (unsigned char)(h * 0x2C1B3C6Du >> 24);
}

/* Rank r gives r + 1 times this: whole numbers, whose sums are exact. */
static double weight(int turn, long i) {
  return 1 + (double)((i * 7 + (long)turn * 3) % 1021);
}

static long vector_length(const bench_call *c) {
  return c->bytes / (long)sizeof(double) * (c->operation == RG_OP_REDUCE_SCATTER ? c->ranks : 1);
}

static void fill_vector(const bench_call *c, char *send) {
  for (long i = 0; i < vector_length(c); i++) {
    double x = (c->rank + 1) * weight(c->turn, i);
    memcpy(send + i * (long)sizeof x, &x, sizeof x);
  }
}

/* What goes to each rank; to all alike where there are no blocks for each. */
static void fill_blocks(const bench_call *c, char *send) {
  int each = c->operation == RG_OP_SCATTER || c->operation == RG_OP_ALLTOALL;
  for (int to = 0; to < (each ? c->ranks : 1); to++)
    for (int i = 0; i < c->bytes; i++)
      send[(long)to * c->bytes + i] = (char)bench_byte(c->turn, c->rank, to, i);
}

void bench_fill(const bench_call *c, char *send, char *receive) {
  size_t room = bench_room(c->operation, c->ranks, c->bytes);
  memset(receive, NOTHING, room);
  memset(send, NOTHING, room);
  if (reduces(c->operation))
    fill_vector(c, send);
  else if (c->operation != RG_OP_BCAST || c->rank == c->root)
    fill_blocks(c, send);
}

/* --- results ----------------------------------------------------------------------------- */

/* 1 + 2 + ... + ranks. */
static double sum_to(int ranks) {
  return 0.5 * ranks * (ranks + 1);
}

static const char *check_sums(const bench_call *c, const char *receive, long first, double factor) {
  static char text[160];
  for (long i = 0; i < c->bytes / (long)sizeof(double); i++) {
    double x, right = factor * weight(c->turn, first + i);
    memcpy(&x, receive + i * (long)sizeof x, sizeof x);
    if (x != right) {
      snprintf(text, sizeof text, "wrong result: element %ld is %.17g, not %.17g", i, x, right);
      return text;
    }
  }
  return NULL;
}

/* A block that `from` has sent to `to`. */
static const char *check_block(const bench_call *c, const char *block, int from, int to) {
  static char text[160];
  for (int i = 0; i < c->bytes; i++) {
    unsigned char right = bench_byte(c->turn, from, to, i), is = (unsigned char)block[i];
    if (is != right) {
      snprintf(text, sizeof text, "wrong result: byte %d from rank %d is %u, not %u", i, from, is,
               right);
      return text;
    }
  }
  return NULL;
}

static const char *check_blocks(const bench_call *c, const char *receive, int to) {
  const char *wrong = NULL;
  for (int from = 0; from < c->ranks && !wrong; from++)
    wrong = check_block(c, receive + (long)from * c->bytes, from, to);
  return wrong;
}

const char *bench_verify(const bench_call *c, const char *send, const char *receive) {
  int at_root = c->rank == c->root;
  switch (c->operation) {
  case RG_OP_BCAST:
    return check_block(c, send, c->root, 0);
  case RG_OP_REDUCE:
    return at_root ? check_sums(c, receive, 0, sum_to(c->ranks)) : NULL;
  case RG_OP_ALLREDUCE:
    return check_sums(c, receive, 0, sum_to(c->ranks));
  case RG_OP_GATHER:
    return at_root ? check_blocks(c, receive, 0) : NULL;
  case RG_OP_SCATTER:
    return check_block(c, receive, c->root, c->rank);
  case RG_OP_ALLGATHER:
    return check_blocks(c, receive, 0);
  case RG_OP_ALLTOALL:
    return check_blocks(c, receive, c->rank);
  case RG_OP_REDUCE_SCATTER:
    return check_sums(c, receive, c->rank * (c->bytes / (long)sizeof(double)), sum_to(c->ranks));
  case RG_OP_SCAN:
    return check_sums(c, receive, 0, sum_to(c->rank + 1));
  case RG_OP_EXSCAN: /* the first rank's result is undefined */
    return c->rank ? check_sums(c, receive, 0, sum_to(c->rank)) : NULL;
  default:
    return NULL; /* a barrier leaves nothing */
  }
}
