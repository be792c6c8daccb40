/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The benchmark's check of results: right ones, made by the definition of each
 * operation, are accepted, damaged ones are not.
 * ranks: 1
 * sources: tests/bench/verify.c */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests/bench/verify.h"

#define MOST_RANKS 5
#define MOST_BYTES 72
#define ROOM (MOST_RANKS * MOST_BYTES + 8)

/* What all ranks have. */
static struct { char send[MOST_RANKS][ROOM], receive[MOST_RANKS][ROOM]; } all;

static bench_call call_of(rg_operation op, int ranks, int rank, int bytes) {
  return (bench_call){
      .operation = op, .ranks = ranks, .rank = rank, .root = 7 % ranks, .turn = 7, .bytes = bytes};
}

static void fill(rg_operation op, int ranks, int bytes) {
  for (int r = 0; r < ranks; r++) {
    bench_call c = call_of(op, ranks, r, bytes);
    bench_fill(&c, all.send[r], all.receive[r]);
  }
}

/* The sum over the ranks from..to of the doubles from `first` on, into `out`. */
static void sum(char *out, int from, int to, int first, int doubles) {
  for (int i = 0; i < doubles; i++) {
    double x = 0, part;
    for (int r = from; r <= to; r++) {
      memcpy(&part, all.send[r] + 8 * (first + i), 8);
      x += part;
    }
    memcpy(out + 8 * i, &x, 8);
  }
}

/* Block `from` of one rank's operands to block `to` of another's results. */
static void move(int giver, int from, int taker, int to, int bytes) {
  memcpy(all.receive[taker] + to * bytes, all.send[giver] + from * bytes, (size_t)bytes);
}

/* What MPI says that rank r gets. */
static void define(rg_operation op, int ranks, int r, int bytes) {
  int root = 7 % ranks, doubles = bytes / 8;
  switch (op) {
  case RG_OP_BCAST:
    memcpy(all.send[r], all.send[root], (size_t)bytes);
    break;
  case RG_OP_SCATTER:
    move(root, r, r, 0, bytes);
    break;
  case RG_OP_GATHER:
  case RG_OP_ALLGATHER:
    for (int k = 0; k < ranks && (op == RG_OP_ALLGATHER || r == root); k++)
      move(k, 0, r, k, bytes);
    break;
  case RG_OP_ALLTOALL:
    for (int k = 0; k < ranks; k++)
      move(k, r, r, k, bytes);
    break;
  case RG_OP_REDUCE_SCATTER:
    sum(all.receive[r], 0, ranks - 1, r * doubles, doubles);
    break;
  case RG_OP_SCAN:
    sum(all.receive[r], 0, r, 0, doubles);
    break;
  case RG_OP_EXSCAN:
    sum(all.receive[r], 0, r - 1, 0, doubles);
    break;
  case RG_OP_REDUCE:
  case RG_OP_ALLREDUCE:
    if (op == RG_OP_ALLREDUCE || r == root)
      sum(all.receive[r], 0, ranks - 1, 0, doubles);
    break;
  default:
    break;
  }
}

/* How many bytes of the result MPI defines on rank r. */
static int defined(rg_operation op, int ranks, int r, int bytes) {
  int root = 7 % ranks, vector = bytes / 8 * 8;
  switch (op) {
  case RG_OP_BCAST:
  case RG_OP_SCATTER:
    return bytes;
  case RG_OP_GATHER:
    return r == root ? ranks * bytes : 0;
  case RG_OP_ALLGATHER:
  case RG_OP_ALLTOALL:
    return ranks * bytes;
  case RG_OP_REDUCE:
    return r == root ? vector : 0;
  case RG_OP_EXSCAN:
    return r ? vector : 0;
  case RG_OP_ALLREDUCE:
  case RG_OP_REDUCE_SCATTER:
  case RG_OP_SCAN:
    return vector;
  default:
    return 0;
  }
}

static int is_block_form(rg_operation op) {
  return op == RG_OP_GATHERV || op == RG_OP_SCATTERV || op == RG_OP_ALLGATHERV ||
         op == RG_OP_ALLTOALLV;
}

static void with_each(void (*test)(rg_operation op, int ranks, int bytes)) {
  static const int sizes[] = {1, 8, 20, MOST_BYTES};
  for (int op = 0; op < RG_OP_COUNT; op++)
    for (int ranks = 1; ranks <= MOST_RANKS && !is_block_form((rg_operation)op); ranks++)
      for (int i = 0; i < 4; i++)
        test((rg_operation)op, ranks, sizes[i]);
}

static const char *verify(rg_operation op, int ranks, int r, int bytes) {
  bench_call c = call_of(op, ranks, r, bytes);
  return bench_verify(&c, all.send[r], all.receive[r]);
}

static void right(rg_operation op, int ranks, int bytes) {
  fill(op, ranks, bytes);
  for (int r = 0; r < ranks; r++) {
    define(op, ranks, r, bytes);
    RGT_PTR_NULL(verify(op, ranks, r, bytes));
  }
}

static void test_right(void) {
  with_each(right);
}

/* Each byte that is defined, changed alone; and no byte beyond them matters. */
static void damaged(rg_operation op, int ranks, int bytes) {
  fill(op, ranks, bytes);
  for (int r = 0; r < ranks; r++)
    define(op, ranks, r, bytes);
  for (int r = 0; r < ranks; r++) {
    char *result = op == RG_OP_BCAST ? all.send[r] : all.receive[r];
    for (int i = 0; i < (int)bench_room(op, ranks, bytes); i++) {
      result[i] ^= 0x10;
      RGT_INT(verify(op, ranks, r, bytes) != NULL, i < defined(op, ranks, r, bytes));
      result[i] ^= 0x10;
    }
  }
}

static void test_damaged(void) {
  with_each(damaged);
}

/* A call that does nothing is seen on every rank that should have got something. */
static void nothing(rg_operation op, int ranks, int bytes) {
  fill(op, ranks, bytes);
  for (int r = 0; r < ranks; r++) {
    int has = op == RG_OP_BCAST && r == 7 % ranks; /* a root has its own data */
    RGT_INT(verify(op, ranks, r, bytes) != NULL, !has && defined(op, ranks, r, bytes) > 0);
  }
}

static void test_nothing(void) {
  with_each(nothing);
}

/* The result of the turn before. */
static void test_stale(void) {
  for (int op = 0; op < RG_OP_COUNT; op++) {
    if (is_block_form((rg_operation)op) || op == RG_OP_BARRIER)
      continue;
    fill((rg_operation)op, 3, 64);
    for (int r = 0; r < 3; r++) {
      bench_call c = call_of((rg_operation)op, 3, r, 64);
      define((rg_operation)op, 3, r, 64);
      c.turn = 8;
      RGT_INT(bench_verify(&c, all.send[r], all.receive[r]) != NULL,
              defined((rg_operation)op, 3, r, 64) > 0);
    }
  }
}

/* --- between two groups ------------------------------------------------------------------- */

/* Process p of all: initiators first. */
static bench_call call_across(rg_operation op, int first, int second, int p, int bytes) {
  int initiates = p < first;
  return (bench_call){.operation = op,
                      .ranks = initiates ? first : second,
                      .rank = initiates ? p : p - first,
                      .root = 7 % first,
                      .turn = 7,
                      .bytes = bytes,
                      .initiators = first,
                      .responders = second,
                      .initiates = initiates};
}

static struct { char send[8][ROOM * 12], receive[8][ROOM * 12]; } across;

static void sum_across(char *out, int from, int n, int first, int doubles) {
  for (int i = 0; i < doubles; i++) {
    double x = 0, part;
    for (int r = from; r < from + n; r++) {
      memcpy(&part, across.send[r] + 8 * (first + i), 8);
      x += part;
    }
    memcpy(out + 8 * i, &x, 8);
  }
}

static void move_across(int giver, int from, int taker, int to, int bytes) {
  memcpy(across.receive[taker] + to * bytes, across.send[giver] + from * bytes, (size_t)bytes);
}

/* What MPI says that process p gets; returns how many bytes that is. */
static int define_across(const bench_call *call, int p) {
  int bytes = call->bytes, root = call->root, doubles = bytes / 8;
  int others = call->initiates ? call->initiators : 0,
      n = call->initiates ? call->responders : call->initiators;
  int at_root = call->initiates && call->rank == root, share = bench_share(call);
  switch (call->operation) {
  case RG_OP_BCAST:
    if (!call->initiates)
      memcpy(across.send[p], across.send[root], (size_t)bytes);
    return call->initiates ? 0 : bytes;
  case RG_OP_SCATTER:
    if (!call->initiates)
      move_across(root, call->rank, p, 0, bytes);
    return call->initiates ? 0 : bytes;
  case RG_OP_GATHER:
  case RG_OP_ALLGATHER:
  case RG_OP_ALLTOALL:
    if (call->operation == RG_OP_GATHER && !at_root)
      return 0;
    for (int k = 0; k < n; k++)
      move_across(others + k, call->operation == RG_OP_ALLTOALL ? call->rank : 0, p, k, bytes);
    return n * bytes;
  case RG_OP_REDUCE_SCATTER:
    RGT_INT(share * call->ranks % n, 0);
    sum_across(across.receive[p], others, n, call->rank * share, share);
    return share * 8;
  case RG_OP_REDUCE:
  case RG_OP_ALLREDUCE:
    if (call->operation == RG_OP_REDUCE && !at_root)
      return 0;
    sum_across(across.receive[p], others, n, 0, doubles);
    return doubles * 8;
  default:
    return 0;
  }
}

static void check_across(rg_operation op, int first, int second, int bytes) {
  for (int p = 0; p < first + second; p++) {
    bench_call c = call_across(op, first, second, p, bytes);
    bench_fill(&c, across.send[p], across.receive[p]);
  }
  for (int p = 0; p < first + second; p++) {
    bench_call c = call_across(op, first, second, p, bytes);
    char *result = op == RG_OP_BCAST ? across.send[p] : across.receive[p];
    int defined = define_across(&c, p);
    RGT_PTR_NULL(bench_verify(&c, across.send[p], across.receive[p]));
    for (int i = 0; i < (int)bench_room(op, bench_blocks(&c), bytes); i++) {
      result[i] ^= 0x10;
      RGT_INT(bench_verify(&c, across.send[p], across.receive[p]) != NULL, i < defined);
      result[i] ^= 0x10;
    }
  }
}

static void test_across(void) {
  for (int op = 0; op < RG_OP_COUNT; op++)
    for (int first = 1; first <= 4; first++)
      for (int second = 1; second <= 4; second++)
        if (!is_block_form((rg_operation)op) && op != RG_OP_SCAN && op != RG_OP_EXSCAN)
          check_across((rg_operation)op, first, second, 20);
}

/* Results name the first byte or element that is wrong. */
static void test_text(void) {
  const char *wrong;
  fill(RG_OP_ALLGATHER, 3, 20);
  define(RG_OP_ALLGATHER, 3, 2, 20);
  all.receive[2][20 + 5] ^= 1;
  wrong = verify(RG_OP_ALLGATHER, 3, 2, 20);
  RGT_TRUE(wrong && strstr(wrong, "byte 5 from rank 1"));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"right results", test_right},
                                   {"damaged results", test_damaged},
                                   {"no result", test_nothing},
                                   {"stale results", test_stale},
                                   {"what is said", test_text},
                                   {"between two groups", test_across},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "bench_verify", tests);
}
