/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "mortal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

int mortal_rank, mortal_rounds;

static uint64_t seed;
static atomic_int wrong, deaths;
static atomic_long points;
static long last_point; /* 0: none */

static void die(int sign) {
  (void)sign;
  raise(SIGKILL);
}

static void die_after(long microseconds) {
  const struct itimerval timer = {
      .it_value = {.tv_sec = microseconds / 1000000, .tv_usec = microseconds % 1000000 + 1}};
  signal(SIGALRM, die);
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void read_plan(const char *plan) {
  for (const char *p = plan; p; p = strchr(p, ','), p += p != NULL) {
    int rank, n = 0;
    long moment;
    if (sscanf(p, "%d:%ld%n", &rank, &moment, &n) < 2 || rank != mortal_rank)
      continue;
    if (strncmp(p + n, "us", 2) == 0)
      die_after(moment);
    else
      last_point = moment;
  }
}

void mortal_begin(int argc, char **argv, int threads) {
  int given;
  MPI_Init_thread(&argc, &argv, threads, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &mortal_rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (given < threads)
    mortal_fail("the level of threads", given);
  seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  mortal_rounds = argc > 2 ? atoi(argv[2]) : 100;
  MPI_Barrier(MPI_COMM_WORLD);
  read_plan(argc > 3 ? argv[3] : "none");
}

void mortal_point(void) {
  if (atomic_fetch_add(&points, 1) + 1 == last_point)
    raise(SIGKILL);
}

void mortal_fail(const char *what, long long number) {
  printf("WRONG rank %d: %s (%lld)\n", mortal_rank, what, number);
  fflush(stdout);
  atomic_fetch_add(&wrong, 1);
}

int mortal_code(int code, const char *call) {
  if (code && code != MPIX_ERR_PROC_FAILED && code != MPIX_ERR_REVOKED &&
      code != MPIX_ERR_PROC_FAILED_PENDING && code != MPI_ERR_IN_STATUS)
    mortal_fail(call, code);
  return code;
}

uint64_t mortal_draw(uint64_t a, uint64_t b) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + a * 0xbf58476d1ce4e5b9u + b * 0x94d049bb133111ebu;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

int mortal_world_rank(MPI_Comm comm, int rank) {
  MPI_Group members, world;
  int found;
  MPI_Comm_group(comm, &members);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(members, 1, &rank, world, &found);
  MPI_Group_free(&members);
  MPI_Group_free(&world);
  return found;
}

/* The survivors' communicator takes the other's place. */
static void shrink(MPI_Comm *comm) {
  MPI_Comm next = MPI_COMM_NULL;
  int all, after;
  mortal_point();
  if (mortal_code(MPIX_Comm_shrink(*comm, &next), "MPIX_Comm_shrink")) {
    mortal_fail("no communicator of the survivors", 0);
    abort();
  }
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_size(next, &after);
  if (all - after > deaths)
    atomic_store(&deaths, all - after);
  if (*comm != MPI_COMM_WORLD)
    MPI_Comm_free(comm);
  *comm = next;
}

/* Whether all are at the end of their work without an error. */
static int agree(MPI_Comm comm, int failed) {
  int well = !failed;
  if (failed)
    MPIX_Comm_revoke(comm);
  mortal_point();
  int code = mortal_code(MPIX_Comm_agree(comm, &well), "MPIX_Comm_agree");
  return well && !code;
}

int mortal_settle_with(MPI_Comm *comm, int failed, mortal_restore *restore, void *data) {
  if (agree(*comm, failed))
    return 1;
  do {
    shrink(comm);
    failed = restore(*comm, data);
  } while (!agree(*comm, failed));
  return 0;
}

static int find_least(MPI_Comm comm, void *data) {
  int *round = data, least = *round;
  MORTAL_TRY(MPI_Allreduce(round, &least, 1, MPI_INT, MPI_MIN, comm));
  *round = least;
  return MPI_SUCCESS;
}

int mortal_settle(MPI_Comm *comm, int failed, int *round) {
  return mortal_settle_with(comm, failed, find_least, round);
}

int mortal_end(uint64_t checksum) {
  printf("RESULT %016llx %d %d %ld\n", (unsigned long long)checksum, atomic_load(&deaths),
         atomic_load(&wrong), atomic_load(&points));
  fflush(stdout);
  MPI_Finalize();
  return atomic_load(&wrong) != 0;
}
