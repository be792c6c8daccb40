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

/* --- senders and receivers -------------------------------------------------------------- */

/* Operands carry the number of the rank that gave them: the initiators' ranks, then the
 * responders'. */

static int between(const bench_call *call) {
  return call->initiators > 0;
}

static int own_number(const bench_call *call) {
  return call->rank + (between(call) && !call->initiates ? call->initiators : 0);
}

/* The first of the ranks whose operands come here. */
static int first_giver(const bench_call *call) {
  return between(call) && call->initiates ? call->initiators : 0;
}

/* How many they are. Between groups it is the other one, in both directions. */
static int givers(const bench_call *call) {
  return !between(call) ? call->ranks : call->initiates ? call->responders : call->initiators;
}

static int is_root(const bench_call *call) {
  return call->rank == call->root && (!between(call) || call->initiates);
}

/* Of a root's data: between groups the root's own group gets none. */
static int gets_from_root(const bench_call *call) {
  return !between(call) || !call->initiates;
}

/* Blocks of the vector that MPI_Reduce_scatter_block deals out: the least common multiple
 * of both sizes. */
static int dealt(const bench_call *call) {
  int blocks = call->ranks;
  while (between(call) && blocks % givers(call))
    blocks += call->ranks;
  return blocks;
}

int bench_blocks(const bench_call *call) {
  int most = givers(call) > call->ranks ? givers(call) : call->ranks;
  return call->operation == RG_OP_REDUCE_SCATTER ? dealt(call) : most;
}

int bench_share(const bench_call *call) {
  return call->bytes / (int)sizeof(double) * (dealt(call) / call->ranks);
}

/* --- operands ------------------------------------------------------------------------- */

unsigned char bench_byte(int turn, int from, int to, int i) {
  uint32_t h = (uint32_t)turn * 0xC2B2AE35u + (uint32_t)from * 0x9E3779B1u +
               (uint32_t)to * 0x85EBCA6Bu + (uint32_t)i * 0x27D4EB2Fu;
  h ^= h >> 15;
  return (unsigned char)(h * 0x2C1B3C6Du >> 24);
}

/* Number r gives r + 1 times this: whole numbers, whose sums are exact. */
static double weight(int turn, long i) {
  return 1 + (double)((i * 7 + (long)turn * 3) % 1021);
}

static long vector_length(const bench_call *call) {
  return call->bytes / (long)sizeof(double) *
         (call->operation == RG_OP_REDUCE_SCATTER ? dealt(call) : 1);
}

static void fill_vector(const bench_call *call, char *send) {
  for (long i = 0; i < vector_length(call); i++) {
    double x = (own_number(call) + 1) * weight(call->turn, i);
    memcpy(send + i * (long)sizeof x, &x, sizeof x);
  }
}

/* What goes to each rank; to all alike where there are no blocks for each. */
static void fill_blocks(const bench_call *call, char *send) {
  int each = call->operation == RG_OP_SCATTER || call->operation == RG_OP_ALLTOALL;
  for (int to = 0; to < (each ? givers(call) : 1); to++)
    for (int i = 0; i < call->bytes; i++)
      send[(long)to * call->bytes + i] = (char)bench_byte(call->turn, own_number(call), to, i);
}

void bench_fill(const bench_call *call, char *send, char *receive) {
  size_t room = bench_room(call->operation, bench_blocks(call), call->bytes);
  memset(receive, NOTHING, room);
  memset(send, NOTHING, room);
  if (reduces(call->operation))
    fill_vector(call, send);
  else if (call->operation != RG_OP_BCAST || is_root(call))
    fill_blocks(call, send);
}

/* --- results ----------------------------------------------------------------------------- */

/* 1 + 2 + ... + ranks. */
static double sum_to(int ranks) {
  return 0.5 * ranks * (ranks + 1);
}

static double sum_of_givers(const bench_call *call) {
  return sum_to(first_giver(call) + givers(call)) - sum_to(first_giver(call));
}

static const char *check_sums(const bench_call *call, const char *receive, long first,
                              double factor) {
  static char text[160];
  long n = call->operation == RG_OP_REDUCE_SCATTER ? bench_share(call)
                                                   : call->bytes / (long)sizeof(double);
  for (long i = 0; i < n; i++) {
    double x, right = factor * weight(call->turn, first + i);
    memcpy(&x, receive + i * (long)sizeof x, sizeof x);
    if (x != right) {
      snprintf(text, sizeof text, "wrong result: element %ld is %.17g, not %.17g", i, x, right);
      return text;
    }
  }
  return NULL;
}

/* A block that `from` has sent to `to`. */
static const char *check_block(const bench_call *call, const char *block, int from, int to) {
  static char text[160];
  for (int i = 0; i < call->bytes; i++) {
    unsigned char right = bench_byte(call->turn, from, to, i), is = (unsigned char)block[i];
    if (is != right) {
      snprintf(text, sizeof text, "wrong result: byte %d from rank %d is %u, not %u", i, from, is,
               right);
      return text;
    }
  }
  return NULL;
}

static const char *check_blocks(const bench_call *call, const char *receive, int to) {
  const char *wrong = NULL;
  for (int i = 0; i < givers(call) && !wrong; i++)
    wrong = check_block(call, receive + (long)i * call->bytes, first_giver(call) + i, to);
  return wrong;
}

const char *bench_verify(const bench_call *call, const char *send, const char *receive) {
  switch (call->operation) {
  case RG_OP_BCAST:
    return gets_from_root(call) ? check_block(call, send, call->root, 0) : NULL;
  case RG_OP_REDUCE:
    return is_root(call) ? check_sums(call, receive, 0, sum_of_givers(call)) : NULL;
  case RG_OP_ALLREDUCE:
    return check_sums(call, receive, 0, sum_of_givers(call));
  case RG_OP_GATHER:
    return is_root(call) ? check_blocks(call, receive, 0) : NULL;
  case RG_OP_SCATTER:
    return gets_from_root(call) ? check_block(call, receive, call->root, call->rank) : NULL;
  case RG_OP_ALLGATHER:
    return check_blocks(call, receive, 0);
  case RG_OP_ALLTOALL:
    return check_blocks(call, receive, call->rank);
  case RG_OP_REDUCE_SCATTER:
    return check_sums(call, receive, (long)call->rank * bench_share(call), sum_of_givers(call));
  case RG_OP_SCAN:
    return check_sums(call, receive, 0, sum_to(call->rank + 1));
  case RG_OP_EXSCAN: /* the first rank's result is undefined */
    return call->rank ? check_sums(call, receive, 0, sum_to(call->rank)) : NULL;
  default:
    return NULL; /* a barrier leaves nothing */
  }
}
