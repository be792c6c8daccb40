/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Groups are intervals of ranks, and their leaders the lowest ones. The leader
 * of the right neighbour of the group a..b is always b + 1: only its own left
 * neighbour, which is a..b, could change that. A group asks its right neighbour
 * only, and looks at what its left one asks only while it has work or once it is
 * done, so that no two groups wait for each other. A group is done when nothing
 * to its right has work. */
#include "crew.h"
#include "pace.h"
#include "policies.h"

enum { JOIN = 1, DONE = 2 };

/* The right neighbour's answer, on all members. */
static int ask_right(mcmc_run *run) {
  mcmc_crew *c = &run->crew;
  int right = c->first + c->size, answer = DONE;
  if (right == run->plan.ranks)
    return DONE;
  if (c->rank == 0) {
    rg_request request;
    mcmc_must(rg_irecv(run->world, &answer, 1, MPI_INT, right, MCMC_ANSWER, &request), "rg_irecv");
    mcmc_must(rg_send(run->world, NULL, 0, MPI_INT, right, MCMC_REQUEST), "rg_send");
    mcmc_wait(run, &request);
  }
  mcmc_must(rg_bcast(c->group, &answer, 1, MPI_INT, 0), "rg_bcast");
  return answer;
}

/* The left neighbour's request comes sooner or later, once: until it is answered
 * that group does nothing else. */
static void refuse_left(mcmc_run *run) {
  int answer = DONE;
  rg_status status;
  if (run->crew.rank != 0 || run->crew.first == 0)
    return;
  mcmc_must(rg_recv(run->world, NULL, 0, MPI_INT, RG_ANY_SOURCE, MCMC_REQUEST, &status), "rg_recv");
  mcmc_must(rg_send(run->world, &answer, 1, MPI_INT, status.source, MCMC_ANSWER), "rg_send");
}

void mcmc_run_async(mcmc_run *run) {
  do {
    while (run->crew.left > 0) {
      int joiner = mcmc_crew_unit(run, 1);
      if (joiner >= 0)
        mcmc_crew_merge(run, joiner, MCMC_LEFT);
    }
    mcmc_crew_idle(run);
    if (ask_right(run) == DONE)
      break;
    mcmc_crew_merge(run, run->crew.first + run->crew.size, MCMC_RIGHT);
  } while (1);
  refuse_left(run);
}
