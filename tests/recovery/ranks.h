/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the programs here have in common: ranks that are killed, or kill themselves as a plan
 * says, and survivors that check every result. */
#ifndef RANKS_H
#define RANKS_H

#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NEVER (-1)

static int my_rank, world_size; /* in the world */
static int round_now;           /* where this rank is, for messages */
static double longest;          /* seconds of a recovery */

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void fail(const char *what) {
  fprintf(stderr, "rank %d, round %d: %s: %s\n", my_rank, round_now, what, rg_error_detail());
  exit(3);
}

static inline void must(int right, const char *what) {
  if (!right)
    fail(what);
}

/* Returns an error that a death explains; any other one ends the program. */
static inline int survivable(int error, const char *what) {
  must(!error || error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED, what);
  return error;
}

#define TRY(call)                                                                                  \
  do {                                                                                             \
    int error_ = survivable(call, #call);                                                          \
    if (error_)                                                                                    \
      return error_;                                                                               \
  } while (0)

/* "rank:round,rank:round": the round in which this rank is to kill itself. */
static inline int my_round(const char *plan) {
  for (const char *p = plan; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    int rank, at;
    if (sscanf(p, "%d:%d", &rank, &at) == 2 && rank == my_rank)
      return at;
  }
  return NEVER;
}

static inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* This process is killed at any moment, whatever it is doing. */
static inline void kill_later(uint64_t microseconds) {
  timer_t timer;
  struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec when = {
      .it_value = {(time_t)(microseconds / 1000000), 1 + (long)(microseconds % 1000000) * 1000}};
  must(!timer_create(CLOCK_MONOTONIC, &how, &timer) && !timer_settime(timer, 0, &when, NULL),
       "a timer");
}

static inline int rank_in(rg_group g) {
  int rank = -1;
  rg_group_rank(g, &rank);
  return rank;
}

static inline int size_of(rg_group g) {
  int n = 0;
  rg_group_size(g, &n);
  return n;
}

static inline void enter_mpi(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

/* A group of all ranks. */
static inline rg_group enter_library(void) {
  rg_group g = NULL;
  must(!rg_init(MPI_COMM_WORLD, NULL) && !rg_group_world(&g), "rg_init");
  return g;
}

static inline rg_group enter_world(int *argc, char ***argv) {
  enter_mpi(argc, argv);
  return enter_library();
}

static inline void leave_world(rg_group *g) {
  rg_group_free(g);
  must(!rg_finalize(), "rg_finalize");
  MPI_Finalize();
}

/* All ranks have come here; one that has returned may be dead before the others return. */
static inline int all_here(rg_group g) {
  return survivable(rg_barrier(g), "rg_barrier");
}

/* Those that live when all have come here. */
static inline rg_group survivors_of(rg_group g) {
  rg_group left;
  unsigned well = 1;
  must(!rg_group_agree(g, &well, NULL), "rg_group_agree");
  must(!rg_group_shrink(g, &left), "rg_group_shrink");
  return left;
}

/* g becomes its survivors' group. */
static inline void drop_dead(rg_group *g) {
  rg_group next;
  must(!rg_group_shrink(*g, &next), "rg_group_shrink");
  rg_group_free(g);
  *g = next;
}

/* Whether no rank has an error and none has died: the same for all that return. */
static inline int all_well(rg_group g, int error, int *well) {
  unsigned word = error == RG_SUCCESS;
  int failed;
  must(!error || !rg_group_revoke(g),
       "rg_group_revoke"); /* no other rank is to wait for this one */
  TRY(rg_group_agree(g, &word, &failed));
  *well = word == 1 && !failed;
  return RG_SUCCESS;
}

/* After a piece of work: 1 if all are well; else 0, g is its survivors', and they are to do it
 * again. */
static inline int is_done(rg_group *g, int error) {
  int well;
  must(!all_well(*g, error, &well), "rg_group_agree");
  if (!well)
    drop_dead(g);
  return well;
}

/* So many of the first ranks are killed within so many microseconds. (A death before all have
 * returned from rg_init would end the job.) */
static inline void kill_some(int deaths, int among, uint64_t seed, uint64_t most) {
  int first = (int)(mix(seed) % (uint64_t)among);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < deaths; i++)
    if ((first + i) % among == my_rank)
      kill_later(mix(seed + 1 + (uint64_t)i) % most);
}

/* In the end: rank 0 of the survivors prints the line, and if it dies with it another one does.
 * print(g, text): into LINE bytes. */
#define LINE 200
static inline void tell_last(rg_group *g, void (*print)(rg_group g, char *text)) {
  do {
    if (rank_in(*g) == 0) {
      char text[LINE];
      print(*g, text);
      fputs(text, stdout);
      fflush(stdout);
    }
  } while (!is_done(g, RG_SUCCESS));
}

/* For tell_last: "RESULT rounds members deaths milliseconds". */
static inline void print_result(rg_group g, char *text) {
  snprintf(text, LINE, "RESULT %d %d %d %.1f\n", round_now, size_of(g), world_size - size_of(g),
           1e3 * longest);
}

#endif
