/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_storm.py and soak.py start: storm SEED ROUNDS. Rounds of all that the library
 * does on groups, drawn by the seed alike on all ranks: collectives of all sizes,
 * long messages, requests that are open, splitting, merging, reassigning processes,
 * while ranks are killed from outside at any moment. A rank that gets an error revokes the
 * groups of this round; the survivors agree, shrink and repeat the round. Every
 * result is checked. In the end rank 0 of the survivors prints "RESULT rounds members
 * deaths milliseconds": the longest recovery, from the first error. */
#include "ranks.h"

#define MOST 40000 /* ints of a vector */

/* Leaves the round with an error from which ranks recover. */
#undef TRY
#define TRY(call)                                                                                  \
  do {                                                                                             \
    int error_ = (call);                                                                           \
    if (error_)                                                                                    \
      return leave(error_, #call);                                                                 \
  } while (0)

static uint64_t draws;
static int in[4 * MOST], out[64 * MOST];

/* The groups that were created in this round. */
static rg_group formed[8];
static int formed_n;

static int leave(int error, const char *what) {
  if (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED && error != RG_ERR_MISMATCH)
    fail(what);
  if (error == RG_ERR_MISMATCH && !strstr(rg_error_detail(), "ended in an error"))
    fail(what);
  return error;
}

/* The same numbers on all ranks. */
static int draw(int below) {
  draws += 0x9e3779b97f4a7c15u;
  return (int)(mix(draws) >> 33) % below;
}

static int draw_size(void) {
  static const int sizes[] = {1, 2, 14, 15, 100, 3000, 20000, MOST};
  return sizes[draw(8)];
}

static rg_group keep(rg_group g) {
  return formed[formed_n++] = g;
}

/* No rank may wait for one that has left the round, neither in the groups that it has created nor
 * before merging with its part. */
static void drop_all(rg_group g, int failed) {
  if (failed && rg_group_revoke(g))
    fail("rg_group_revoke");
  for (int i = 0; i < formed_n; i++) {
    if (failed && rg_group_revoke(formed[i]))
      fail("rg_group_revoke");
    if (rg_group_free(&formed[i]))
      fail("rg_group_free");
  }
  formed_n = 0;
}

/* --- operations ---------------------------------------------------------------------- */

static void place(rg_group g, int *n, int *me) {
  *n = size_of(g);
  *me = rank_in(g);
}

static int collective(rg_group g, int what, int count) {
  int n, me, salt = round_now % 1000;
  place(g, &n, &me);
  int root = salt % n;
  for (int i = 0; i < count + n; i++)
    in[i] = me + i + salt;
  switch (what) {
  case 0:
    return rg_barrier(g);
  case 1:
    TRY(rg_bcast(g, in, count, MPI_INT, root));
    must(in[0] == root + salt && in[count - 1] == root + count - 1 + salt, "rg_bcast is wrong");
    return 0;
  case 2:
    TRY(rg_allreduce(g, in, out, count, MPI_INT, MPI_SUM));
    for (int i = 0; i < count; i += 97)
      must(out[i] == n * (n - 1) / 2 + n * (i + salt), "rg_allreduce is wrong");
    return 0;
  case 3:
    TRY(rg_reduce(g, in, out, count, MPI_INT, MPI_MAX, root));
    must(me != root || out[count - 1] == n - 1 + count - 1 + salt, "rg_reduce is wrong");
    return 0;
  case 4:
    TRY(rg_allgather(g, in, count, MPI_INT, out, count, MPI_INT));
    for (int i = 0; i < n; i++)
      must(out[i * count + count - 1] == i + count - 1 + salt, "rg_allgather is wrong");
    return 0;
  case 5:
    count = count / n + 1;
    TRY(rg_alltoall(g, in, count, MPI_INT, out, count, MPI_INT));
    for (int i = 0; i < n; i++)
      must(out[i * count] == i + me * count + salt, "rg_alltoall is wrong");
    return 0;
  case 6:
    TRY(rg_gather(g, in, count, MPI_INT, out, count, MPI_INT, root));
    must(me != root || out[(n - 1) * count] == n - 1 + salt, "rg_gather is wrong");
    return 0;
  default:
    TRY(rg_scan(g, in, out, count, MPI_INT, MPI_SUM));
    must(out[0] == me * (me + 1) / 2 + (me + 1) * salt, "rg_scan is wrong");
    return 0;
  }
}

/* A ring of messages, long ones too, with a collective open meanwhile. */
static int requests(rg_group g, int count, int blocking) {
  int n, me, sum, one = 1, bytes = 4 * count;
  rg_request open[3] = {NULL};
  place(g, &n, &me);
  for (int i = 0; i < bytes; i++)
    in[i] = me ^ i;
  int right = (me + 1) % n, left = (me + n - 1) % n, error;
  if (blocking) {
    error = rg_sendrecv(g, in, bytes, MPI_INT, right, 7, out, bytes, MPI_INT, left, 7, NULL);
  } else {
    error = rg_irecv(g, out, bytes, MPI_INT, left, 7, &open[0]);
    if (!error)
      error = rg_iallreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM, &open[1]);
    if (!error)
      error = rg_isend(g, in, bytes, MPI_INT, right, 7, &open[2]);
    int waited = rg_wait_all(3, open, NULL);
    error = error ? error : waited;
  }
  TRY(error);
  must(blocking || sum == n, "rg_iallreduce is wrong");
  for (int i = 0; i < bytes; i += 61)
    must(out[i] == (left ^ i), "another neighbour's message");
  return 0;
}

/* Parts of g, of which neighbours merge, hand members over, and part. */
static int regroup(rg_group g) {
  rg_group part, both, now_;
  int n, me, parts = 1 + draw(4), count = draw_size(), what = draw(8), hand = draw(2);
  place(g, &n, &me);
  int size = (n + parts - 1) / parts, mine = me / size, last = (n - 1) / size;
  TRY(rg_group_split(g, mine, 0, &part));
  keep(part);
  TRY(collective(part, what, count));
  int other = mine ^ 1;
  if (other <= last) {
    int tag = 3 + mine / 2;
    if (hand) {
      int leaving[1] = {0}, m;
      rg_group_size(part, &m);
      int gives = mine % 2 == 0 && m > 1;
      TRY(rg_group_reassign(part, g, other * size, gives, leaving, tag, &now_));
      keep(now_);
      TRY(requests(now_, 1 + count / 4, 0));
    } else {
      TRY(rg_group_merge(part, g, other * size, mine % 2, tag, &both));
      keep(both);
      TRY(collective(both, (what + 1) % 8, count));
      TRY(requests(both, 1 + count / 4, 1));
    }
  }
  return 0;
}

static int step(rg_group g, uint64_t seed) {
  rg_group copy;
  draws = seed + (uint64_t)round_now * 1000003u;
  int kind = draw(5), what = draw(8), count = draw_size();
  switch (kind) {
  case 0:
    TRY(collective(g, what, count));
    return 0;
  case 1:
    TRY(requests(g, count, draw(2)));
    return 0;
  case 2:
    TRY(rg_group_dup(g, &copy));
    keep(copy);
    TRY(collective(copy, what, count));
    TRY(requests(copy, 1 + count / 4, 0));
    return 0;
  default:
    return regroup(g);
  }
}

/* --- recovery -------------------------------------------------------------------------- */

/* All ranks come here, at the end or with an error. 1: all is done; else g is the
 * survivors' group, and round_now the round to continue with. */
static int settle(rg_group *g, int failed) {
  double began = now();
  for (;;) {
    unsigned word = !failed;
    int deaths, least = round_now;
    must(!rg_group_agree(*g, &word, &deaths), "rg_group_agree");
    if (word == 1 && !deaths)
      return 1;
    drop_dead(g);
    int error = rg_allreduce(*g, MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN);
    failed = error != 0;
    if (error && leave(error, "rg_allreduce of the survivors"))
      continue;
    /* Others may have an error and come back here. */
    round_now = least;
    if (now() - began > longest)
      longest = now() - began;
    return 0;
  }
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  int rounds = argc > 2 ? atoi(argv[2]) : 300, done = 0;
  rg_group g = enter_world(&argc, &argv);
  while (!done) {
    int failed = 0;
    while (round_now < rounds && !failed) {
      failed = step(g, seed) != 0;
      drop_all(g, failed);
      round_now += !failed;
    }
    done = settle(&g, failed);
  }
  tell_last(&g, print_result);
  leave_world(&g);
  return 0;
}
