/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "mortal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

int mortal_rank, mortal_rounds, mortal_is_new;
MPI_Comm mortal_comm;

enum { SPAWNED_WELL = 1, HAS_RESERVE = 2 };

static char **arguments;
static uint64_t seed;
static atomic_int wrong, deaths;
static atomic_long points;
static long last_point; /* 0: none */
static int wanted;      /* members, where the dead are replaced */
static int all;         /* processes so far: of the beginning, and spawned ones that have joined */

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

/* --- spawning ------------------------------------------------------------------------------- */

/* Both sides: all have the communicator of both, or none has. */
static int join(MPI_Comm inter, int is_new, MPI_Comm *made) {
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  mortal_point();
  int well = !mortal_code(MPI_Intercomm_merge(inter, is_new, &both), "MPI_Intercomm_merge");
  mortal_point();
  int failed = mortal_code(MPIX_Comm_agree(inter, &well), "MPIX_Comm_agree") || !well;
  MPI_Comm_free(&inter);
  if (both != MPI_COMM_NULL)
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  if (failed && both != MPI_COMM_NULL)
    MPI_Comm_free(&both);
  if (!failed)
    *made = both;
  return failed;
}

/* Where there are not enough in reserve, or a process dies meanwhile, the survivors go on alone. */
static void replace_dead(MPI_Comm *comm) {
  char number[16], none[] = "none", *words[] = {arguments[1], arguments[2], none, number, NULL};
  MPI_Comm inter = MPI_COMM_NULL, made;
  int size, well = HAS_RESERVE;
  MPI_Comm_size(*comm, &size);
  if (size >= wanted)
    return;
  snprintf(number, sizeof number, "%d", wanted);
  mortal_point();
  int code = MPI_Comm_spawn(arguments[0], words, wanted - size, MPI_INFO_NULL, 0, *comm, &inter,
                            MPI_ERRCODES_IGNORE);
  if (code == MPI_SUCCESS)
    well |= SPAWNED_WELL;
  else if (code != MPIX_ERR_PROC_FAILED && code != MPIX_ERR_REVOKED)
    well = 0;
  mortal_point();
  code = mortal_code(MPIX_Comm_agree(*comm, &well), "MPIX_Comm_agree");
  if (!(well & HAS_RESERVE))
    wanted = 0;
  if (code || !(well & SPAWNED_WELL) || join(inter, 0, &made))
    return;
  MPI_Comm_free(comm);
  *comm = made;
  all += wanted - size;
}

/* A process that has been spawned in vain ends. */
static void join_survivors(MPI_Comm parent) {
  mortal_is_new = 1;
  if (!join(parent, 1, &mortal_comm))
    return;
  MPI_Finalize();
  exit(0);
}

static void count_members(int argc) {
  const char *reserve = getenv("RG_RESERVE");
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  if (argc > 4)
    all = atoi(arguments[4]);
  wanted = reserve && atoi(reserve) > 0 ? all : 0;
}

/* --- the beginning ---------------------------------------------------------------------------- */

void mortal_begin(int argc, char **argv, int threads) {
  MPI_Comm parent;
  int given;
  MPI_Init_thread(&argc, &argv, threads, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &mortal_rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (given < threads)
    mortal_fail("the level of threads", given);
  seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  mortal_rounds = argc > 2 ? atoi(argv[2]) : 100;
  arguments = argv;
  count_members(argc);
  mortal_comm = MPI_COMM_WORLD;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL)
    join_survivors(parent);
  else
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
  int after;
  mortal_point();
  if (mortal_code(MPIX_Comm_shrink(*comm, &next), "MPIX_Comm_shrink")) {
    mortal_fail("no communicator of the survivors", 0);
    abort();
  }
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
  if (!mortal_is_new && agree(*comm, failed))
    return 1;
  do {
    if (!mortal_is_new) {
      shrink(comm);
      replace_dead(comm);
    }
    mortal_is_new = 0;
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
