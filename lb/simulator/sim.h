/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A run with balancing as a discrete-event simulation, with the library's policies and a model of
 * what the machine costs. The result depends on the arguments only. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <regroup/policy.h>

#include "lb/patterns/pattern.h"
#include "machine.h"
#include "meetings.h"

typedef struct {
  int64_t ranks, group; /* ranks in a group at first; the last may be smaller */
  double unit;          /* seconds of a unit on one process */
  rgi_pattern pattern;
  const sim_meetings *meetings; /* of the pattern's walkers, whose units it has; or NULL */
  sim_machine machine;
  rg_policy policy;
  int view;            /* groups that an asking group knows of: the nearest ones */
  int64_t least, most; /* processes of each walker; 0: no limit */
  int64_t nodes;       /* on which the ranks lie, in equal parts; 0: as on one */
  double late;         /* when the walkers that find no group at first come; seconds */
  uint64_t seed;
} sim_setup;

typedef struct {
  double seconds;  /* until the last walker has ended (with idle_join: until the last
                      group has been formed) */
  double bound;    /* all work on all ranks, or the longest walker on all of them */
  double mean, sd; /* groups that a process was in, counting the first */
  int64_t least, most;
  int64_t formations, asked, refused; /* groups formed, policy calls, refusals */
  int64_t crossed;                    /* groups that joined one of another node */
  int64_t meetings;                   /* that took place */
} sim_result;

/* Ranks in a group at first, when so many are asked for: enough for a walker, and not more than it
 * can use. */
int64_t sim_group(const sim_setup *setup, int64_t group);

/* Errors: RG_ERR_NOMEM, those of the policy. */
int sim_run(const sim_setup *setup, sim_result *result);

#endif
