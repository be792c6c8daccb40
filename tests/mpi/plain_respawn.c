/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Shrink, spawn, merge, reorder, for test_respawn.py: plain_respawn PLAN ROUNDS [GENERATION]. Each
 * rank adds up what all ranks know, and its right neighbour keeps a copy of it for each round.
 * PLAN is "rank:round:generation,...": that rank kills itself when it comes to that round, if so
 * many repairs have spawned processes before. After an error the survivors spawn as many processes
 * as have died, which take the ranks of the dead and their neighbours' copies, and all go back to
 * the last round that everybody has. At the end each rank's sum must be that of its rank and the
 * number of rounds: "RESULT size generation wrong". Rounds below 0 are points of the repair, and
 * from TIMED on microseconds after MPI_Init. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plain.h"

#ifdef MPICH

enum { MOST_ROUNDS = 1000, MOST_RANKS = 64, TIMED = 100000 };
enum { BEFORE_SPAWN = -3, AFTER_SPAWN, AFTER_MERGE };

static int rank, size, generation, wrong, round_now;
static const char *plan;
static char **arguments;
/* Of this rank and of its left neighbour, after each round. */
static double mine[MOST_ROUNDS + 1], left[MOST_ROUNDS + 1];
static int mine_known, left_known; /* rounds */

static void fail(const char *what, int code) {
  printf("WRONG rank %d generation %d: %s (%d)\n", rank, generation, what, code);
  wrong++;
}

static int noted(int code, const char *call) {
  if (code && code != MPIX_ERR_PROC_FAILED && code != MPIX_ERR_REVOKED && code != MPI_ERR_SPAWN)
    fail(call, code);
  return code;
}

static void die_after(long microseconds) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec when = {
      .it_value = {microseconds / 1000000, microseconds % 1000000 * 1000 + 1}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
    timer_settime(timer, 0, &when, NULL);
}

static void die_if_due(int at) {
  for (const char *p = plan; p && *p; p = strchr(p, ','), p += p != NULL) {
    int who, when, whose;
    if (sscanf(p, "%d:%d:%d", &who, &when, &whose) != 3 || who != rank || whose != generation)
      continue;
    if (when == at)
      raise(SIGKILL);
    if (at == TIMED && when > TIMED)
      die_after(when - TIMED);
  }
}

/* --- a round -------------------------------------------------------------------------------- */

static int step(MPI_Comm comm, int at) {
  double known = (rank + 1.0) * at, sum;
  int right = (rank + 1) % size, before = (rank + size - 1) % size;
  int code = noted(MPI_Allreduce(&known, &sum, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  if (code)
    return code;
  if (sum != at * (size * (size + 1) / 2.0))
    fail("a sum", at);
  mine[at] = mine[at - 1] + sum * (rank + 1);
  mine_known = at;
  code = noted(MPI_Sendrecv(&mine[at], 1, MPI_DOUBLE, right, 5, &left[at], 1, MPI_DOUBLE, before, 5,
                            comm, MPI_STATUS_IGNORE),
               "MPI_Sendrecv");
  if (!code)
    left_known = at;
  return code;
}

/* --- repair --------------------------------------------------------------------------------- */

/* The ranks of comm that are not in the rest. */
static int find_dead(MPI_Comm comm, MPI_Comm rest, int dead[]) {
  MPI_Group all, living;
  int n = 0;
  MPI_Comm_group(comm, &all);
  MPI_Comm_group(rest, &living);
  for (int i = 0; i < size; i++) {
    int at;
    MPI_Group_translate_ranks(all, 1, &i, living, &at);
    if (at == MPI_UNDEFINED)
      dead[n++] = i;
  }
  MPI_Group_free(&all);
  MPI_Group_free(&living);
  return n;
}

/* Both sides, until all have the communicator in the order of the ranks. */
static int join(MPI_Comm inter, int is_spawned, int dead[], MPI_Comm *made) {
  MPI_Comm both = MPI_COMM_NULL;
  int me, words[2] = {size, generation};
  die_if_due(AFTER_SPAWN);
  int code = noted(MPI_Intercomm_merge(inter, is_spawned, &both), "MPI_Intercomm_merge");
  int good = code == MPI_SUCCESS;
  if (noted(MPIX_Comm_agree(inter, &good), "MPIX_Comm_agree") || !good)
    return MPIX_ERR_PROC_FAILED;
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  code = noted(MPI_Bcast(words, 2, MPI_INT, 0, both), "MPI_Bcast");
  size = code ? size : words[0];
  if (!code && is_spawned && generation != words[1])
    fail("the generation", words[1]);
  if (!code)
    code = noted(MPI_Bcast(dead, MOST_RANKS, MPI_INT, 0, both), "MPI_Bcast");
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (!code && is_spawned)
    rank = dead[me];
  die_if_due(AFTER_MERGE);
  if (!code)
    code = noted(MPI_Comm_split(both, 0, rank, made), "MPI_Comm_split");
  good = code == MPI_SUCCESS;
  if (noted(MPIX_Comm_agree(both, &good), "MPIX_Comm_agree"))
    good = 0;
  MPI_Comm_free(&both);
  return good ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED;
}

static int spawn_and_join(MPI_Comm rest, int dead[], int n, MPI_Comm *made) {
  MPI_Comm inter = MPI_COMM_NULL;
  char number[16];
  char *words[] = {arguments[1], arguments[2], number, NULL};
  int codes[MOST_RANKS], good;
  die_if_due(BEFORE_SPAWN);
  snprintf(number, sizeof number, "%d", ++generation);
  int code = noted(MPI_Comm_spawn(arguments[0], words, n, MPI_INFO_NULL, 0, rest, &inter, codes),
                   "MPI_Comm_spawn");
  good = code == MPI_SUCCESS;
  for (int i = 0; i < n && good; i++)
    if (codes[i] != MPI_SUCCESS)
      fail("a code of MPI_Comm_spawn", codes[i]);
  if (noted(MPIX_Comm_agree(rest, &good), "MPIX_Comm_agree") || !good)
    return code ? code : MPIX_ERR_PROC_FAILED;
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  code = join(inter, 0, dead, made);
  MPI_Comm_free(&inter);
  return code;
}

/* Survivors. What an attempt has spawned in vain ends by itself. */
static void repair(MPI_Comm *comm) {
  int dead[MOST_RANKS] = {0}, code;
  MPI_Comm rest, made = MPI_COMM_NULL;
  for (int attempt = 0; attempt < 20; attempt++) {
    if (noted(MPIX_Comm_shrink(*comm, &rest), "MPIX_Comm_shrink"))
      continue;
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_RETURN);
    int n = find_dead(*comm, rest, dead);
    code = n ? spawn_and_join(rest, dead, n, &made) : MPI_SUCCESS;
    if (code == MPI_SUCCESS) {
      MPI_Comm_free(comm);
      *comm = n ? made : rest;
      MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
      return;
    }
  }
  printf("GIVEN UP rank %d\n", rank);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* All ranks: the last round that everybody has. A new one has what its right neighbour knows of it;
 * what one knows of its left neighbour it asks for again. */
static int go_back(MPI_Comm comm, int is_new) {
  static double copy[MOST_ROUNDS + 1];
  int right = (rank + 1) % size, before = (rank + size - 1) % size, least;
  left[0] = left_known;
  int code = noted(MPI_Sendrecv(left, MOST_ROUNDS + 1, MPI_DOUBLE, before, 6, copy, MOST_ROUNDS + 1,
                                MPI_DOUBLE, right, 6, comm, MPI_STATUS_IGNORE),
                   "MPI_Sendrecv");
  if (!code && is_new) {
    memcpy(mine, copy, sizeof mine);
    mine_known = (int)copy[0];
    mine[0] = 0;
  }
  if (!code)
    code = noted(MPI_Allreduce(&mine_known, &least, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (!code)
    code = noted(MPI_Sendrecv(mine, MOST_ROUNDS + 1, MPI_DOUBLE, right, 7, copy, MOST_ROUNDS + 1,
                              MPI_DOUBLE, before, 7, comm, MPI_STATUS_IGNORE),
                 "MPI_Sendrecv");
  if (code)
    return code;
  memcpy(left, copy, sizeof left);
  round_now = mine_known = left_known = least;
  return code;
}

/* Of the processes of the beginning, or with those that have spawned this one. */
static MPI_Comm begin(MPI_Comm parent) {
  MPI_Comm comm = MPI_COMM_NULL;
  int dead[MOST_RANKS];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  } else {
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    if (join(parent, 1, dead, &comm))
      comm = MPI_COMM_NULL;
    MPI_Comm_free(&parent);
  }
  if (comm != MPI_COMM_NULL)
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  die_if_due(TIMED);
  return comm;
}

static void check_result(int rounds) {
  double is = mine[rounds],
         must = (rank + 1) * (size * (size + 1) / 2.0) * rounds * (rounds + 1) / 2;
  if (is != must)
    fail("the result", (int)is);
  if (rank == 0)
    printf("RESULT %d %d %d\n", size, generation, wrong);
}

int main(int argc, char **argv) {
  MPI_Comm parent, comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  arguments = argv;
  plan = argv[1];
  int rounds = atoi(argv[2]), is_new = parent != MPI_COMM_NULL, goes_back = is_new;
  generation = argc > 3 ? atoi(argv[3]) : 0;
  comm = begin(parent);
  while (comm != MPI_COMM_NULL && round_now < rounds) {
    if (!goes_back)
      die_if_due(round_now);
    int code = goes_back ? go_back(comm, is_new) : step(comm, round_now + 1);
    int good = code == MPI_SUCCESS;
    if (code)
      MPIX_Comm_revoke(comm);
    noted(MPIX_Comm_agree(comm, &good), "MPIX_Comm_agree");
    if (!good)
      repair(&comm);
    else if (goes_back)
      is_new = 0;
    else
      round_now++;
    goes_back = !good;
  }
  if (comm != MPI_COMM_NULL) /* one that was spawned in vain has none */
    check_result(rounds);
  MPI_Finalize();
  return wrong;
}

#else
int main(void) {
  return 0;
}
#endif
