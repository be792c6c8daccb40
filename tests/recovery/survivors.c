/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_survivors.py starts, with RG_SURVIVE=1: survivors PLAN ROUNDS SECONDS TELL. The
 * ranks add up their world ranks again and again. PLAN is "rank:round,rank:round": the
 * rank kills itself when it has done so many rounds, or at -2 before rg_init; in "rank:-" it is
 * killed from outside at any moment. A rank that sees a failure shrinks the group and continues
 * with the survivors from the last round that all of them have done. In the end rank 0 of the
 * survivors prints "RESULT rounds members deaths milliseconds", the longest time from a
 * death to the first sum without it, and all ranks check every sum. With TELL each
 * survivor prints "BACK rank noticed went-on", by the system's monotonic clock. */
#include "ranks.h"

#define DONE 0x80000000u
#define BEFORE (-2) /* rg_init */

static int tell;

/* The sum that the members of g must get. */
static int expected(rg_group g) {
  int n, sum = 0, *ranks;
  rg_group_size(g, &n);
  ranks = malloc((size_t)n * sizeof *ranks);
  rg_group_members(g, ranks);
  for (int i = 0; i < n; i++)
    sum += ranks[i];
  free(ranks);
  return sum;
}

/* One round: the operations turn. */
static int step(rg_group g) {
  int sum = my_rank, n, rank, got = -1;
  rg_group_size(g, &n);
  rg_group_rank(g, &rank);
  switch (round_now % 3) {
  case 0:
    return rg_barrier(g);
  case 1: {
    int error = rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM);
    if (!error && sum != expected(g))
      fail("the sum is wrong");
    return error;
  }
  default: {
    int error = rg_sendrecv(g, &rank, 1, MPI_INT, (rank + 1) % n, 1, &got, 1, MPI_INT,
                            (rank + n - 1) % n, 1, NULL);
    if (!error && got != (rank + n - 1) % n)
      fail("another neighbour's message");
    return error;
  }
  }
}

/* All ranks come here, at the end or after a failure. 1: all have done all rounds. Each rank clears
 * its own bit only. */
static int agree(rg_group g, int well) {
  unsigned word = well ? DONE | 1u << my_rank % 31 : 0;
  int failed, n;
  if (rg_group_agree(g, &word, &failed))
    fail("rg_group_agree");
  rg_group_size(g, &n);
  if (n > 1 && !failed && word != DONE && word != 0)
    fail("the agreed word is wrong");
  return word & DONE && !failed;
}

/* The survivors' group, and the round to go on with: the first that any of them needs. */
static rg_group recover(rg_group g, int agreed) {
  double began = now();
  for (;; agreed = 0) {
    int least = round_now, n;
    if (!agreed)
      agree(g, 0);
    if (rg_group_failed(g, 0, NULL, &n) || n == 0)
      fail("nobody has failed");
    drop_dead(&g);
    int error = rg_allreduce(g, MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN);
    if (!error) {
      round_now = least;
      if (tell)
        printf("BACK %d %.6f %.6f\n", my_rank, began, now());
      if (now() - began > longest)
        longest = now() - began;
      return g;
    }
    if (error != RG_ERR_PROC_FAILED)
      fail("after shrinking");
  }
}

int main(int argc, char **argv) {
  const char *plan = argc > 1 ? argv[1] : "";
  int rounds = argc > 2 ? atoi(argv[2]) : 1000, mine, error;
  double pause = argc > 3 ? atof(argv[3]) : 0;
  rg_group g;
  tell = argc > 4;
  enter_mpi(&argc, &argv);
  mine = my_round(plan);
  if (mine == BEFORE)
    raise(SIGKILL);
  g = enter_library();
  all_here(g); /* a death in round 0 comes when rg_init has returned everywhere */
  for (;;) {
    if (round_now == mine)
      raise(SIGKILL);
    if (round_now >= rounds) {
      if (agree(g, 1))
        break;
      g = recover(g, 1);
      continue;
    }
    if (pause > 0)
      usleep((useconds_t)(1e6 * pause));
    error = step(g);
    if (!error)
      round_now++;
    else if (error == RG_ERR_PROC_FAILED)
      g = recover(g, 0);
    else
      fail("a round");
  }
  tell_last(&g, print_result);
  leave_world(&g);
  return 0;
}
