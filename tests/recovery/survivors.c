/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_survivors.py starts, with RG_SURVIVE=1: survivors PLAN ROUNDS SECONDS TELL. The
 * ranks add up their world ranks again and again. PLAN is "rank:round,rank:round": the
 * rank kills itself when it has done so many rounds; in "rank:-" it is killed from
 * outside at any moment. Whoever sees a failure shrinks the group and goes on with the
 * survivors from the last round that all of them have done. In the end rank 0 of the
 * survivors prints "RESULT rounds members deaths milliseconds", the longest time from a
 * death to the first sum without it, and everybody checks every sum. With TELL each
 * survivor prints "BACK noticed went-on", by the system's monotonic clock. */
#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DONE 0x80000000u

static int world_rank, round_now, tell;
static double longest;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "rank %d, round %d: %s: %s\n", world_rank, round_now, what, rg_error_detail());
  exit(3);
}

static int my_round(const char *plan) {
  for (const char *p = plan; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    int rank, at;
    if (sscanf(p, "%d:%d", &rank, &at) == 2 && rank == world_rank)
      return at;
  }
  return -1;
}

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
  int sum = world_rank, n, rank, got = -1;
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

/* Everybody comes here, at the end or after a failure: 1: all have done all rounds. Nobody
 * else clears the lowest bits: each clears its own. */
static int agree(rg_group g, int well) {
  unsigned word = well ? DONE | 1u << world_rank % 31 : 0;
  int failed, n;
  if (rg_group_agree(g, &word, &failed))
    fail("rg_group_agree");
  rg_group_size(g, &n);
  if (n > 1 && !failed && word != DONE && word != 0)
    fail("the agreed word is wrong");
  return word & DONE && !failed;
}

/* The survivors' group, and the round to go on with: the least that anyone needs. */
static rg_group recover(rg_group g, int agreed) {
  double began = now();
  for (;; agreed = 0) {
    rg_group next;
    int least = round_now, n;
    if (!agreed)
      agree(g, 0);
    if (rg_group_failed(g, 0, NULL, &n) || n == 0)
      fail("nobody has failed");
    if (rg_group_shrink(g, &next))
      fail("rg_group_shrink");
    rg_group_free(&g);
    g = next;
    int error = rg_allreduce(g, MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN);
    if (!error) {
      round_now = least;
      if (tell)
        printf("BACK %.6f %.6f\n", began, now());
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
  int rounds = argc > 2 ? atoi(argv[2]) : 1000, n, world_size, mine, error;
  double pause = argc > 3 ? atof(argv[3]) : 0;
  rg_group g;
  tell = argc > 4;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (rg_init(MPI_COMM_WORLD, NULL) || rg_group_world(&g))
    fail("rg_init");
  mine = my_round(plan);
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
  int rank;
  rg_group_rank(g, &rank);
  rg_group_size(g, &n);
  if (rank == 0)
    printf("RESULT %d %d %d %.1f\n", round_now, n, world_size - n, 1e3 * longest);
  rg_group_free(&g);
  if (rg_finalize())
    fail("rg_finalize");
  MPI_Finalize();
  return 0;
}
