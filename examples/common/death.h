/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * --kill: ranks that kill themselves, and reports of deaths. */
#ifndef COMMON_DEATH_H
#define COMMON_DEATH_H

#include <regroup/array.h>
#include <regroup/balance.h>
#include <stdint.h>

enum { COMMON_DEATHS = 64 };

typedef struct {
  int count;
  struct {
    int rank;
    int in_merge;   /* else: */
    double seconds; /* after the start */
  } kill[COMMON_DEATHS];
} common_death_schedule;

/* "RANK:SECONDS,RANK:merge,..." or "seed:N": three ranks at random moments of so many seconds.
 * Returns 0 if it is neither, or a rank is not one of so many. */
int common_death_schedule_read(const char *text, int ranks, double seconds,
                               common_death_schedule *kills);

/* The same for the command line's option, or NULL, on all ranks of MPI_COMM_WORLD alike. Returns 0
 * after a line by rank 0, also if the job would not survive. */
int common_death_schedule_take(const char *text, int rank, double seconds,
                               common_death_schedule *kills);

/* What is known of deaths. */
typedef struct {
  int count, merge_kill, quiet;
  double lost; /* seconds from noticing to going on, all deaths */
  double start;
  rg_array when; /* for each rank, when it was to die; outlives it. NULL: only the
                    schedule is known */
  const common_death_schedule *kills;
  rg_timeline_death death[COMMON_DEATHS];
} common_deaths;

/* Makes the array, before the work. Collective. Returns an error. */
int common_deaths_prepare(common_deaths *deaths, rg_group world);
/* Sets the timer for this rank's own death, if it is in the schedule. */
void common_deaths_arm(common_deaths *deaths, const common_death_schedule *kills, int rank,
                       double start);
/* Stops the timer: the work is over. */
void common_deaths_disarm(void);
/* A merge has begun: this rank dies in it if the schedule says so. */
void common_deaths_in_merge(common_deaths *deaths, int rank);
/* The balancer has reported a death; the lowest rank that lives prints it. */
void common_deaths_note(common_deaths *deaths, rg_group world, int rank,
                        const rg_balance_death *death);

#endif
