/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing: a round, at whose end all processes report. */
#ifndef RGI_STATE_ROUND_H
#define RGI_STATE_ROUND_H

#include <regroup/request.h>

#include "walkers/board/planner.h"
#include "walkers/team/meeting_list.h"

/* What a process reports at the end of a round. */
typedef struct {
  rg_load load; /* of its group */
  int32_t leader, lowest, born, aside, due, unused;
  double arrived;
} rgi_round_report;

typedef struct {
  int size;                       /* processes */
  int units;                      /* done in this round */
  rg_request request;             /* the exchange at its end */
  rgi_round_report own, *reports; /* of each process */
  int *leader_of;                 /* of each rank, in the next groups */
  int *starts;                    /* the walker that the group of this leader starts, or -1 */
  int *ranks;                     /* of one group */
  int has_brought;                /* this process has set a walker aside in this round: */
  rgi_queue_entry brought;
  uint64_t aside; /* on all processes: those of earlier rounds (rgi_round_aside) */
  double since;   /* when this process became idle */
} rgi_round;

/* The walkers that are set aside. */
static inline rgi_meeting_list rgi_round_aside(rgi_round *round) {
  return (rgi_meeting_list){&round->aside, 0};
}
/* Drops them. */
void rgi_round_forget(rgi_round *round);

/* Makes room for the reports of so many processes: of fewer ones, if it is called again. */
int rgi_round_open(rgi_round *round, int size);
void rgi_round_close(rgi_round *round);

/* Makes a row for each group, in the order of their lowest ranks. */
int rgi_round_rows(const rgi_round *round, rgi_planner *planner);
/* Divides the processes among the next groups, as the plan says. */
void rgi_round_regroup(rgi_round *round, const rgi_planner *planner);
/* Sets round->ranks to the members of the next group that this leader has; the leader is the first.
 * Returns the number of members. */
int rgi_round_list(rgi_round *round, int leader);

/* When the last process arrived. Of processes on one node only. */
double rgi_round_last(const rgi_round *round);
/* Whether the group that this rank leads has a walker. */
int rgi_round_works(const rgi_round *round, int leader);
/* Whether a unit has made walkers; whether the run is to end early. */
int rgi_round_born(const rgi_round *round);
int rgi_round_due(const rgi_round *round);

#endif
