/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "connect.h"

static void meet(mcmc_run *run, int to, int from) {
  MPI_Sendrecv(NULL, 0, MPI_INT, to, MCMC_REQUEST, NULL, 0, MPI_INT, from, MCMC_REQUEST, run->wire,
               MPI_STATUS_IGNORE);
}

void mcmc_connect(mcmc_run *run) {
  const mcmc_plan *p = &run->plan;
  int j = run->rank / p->group, first = mcmc_plan_first(p, j), size = mcmc_plan_size(p, j);
  int rank = run->rank - first;
  for (int64_t k = 1; k < size; k *= 2)
    meet(run, first + (int)((rank + k) % size), first + (int)((rank + size - k) % size));
  if (rank == 0 && run->o.policy == MCMC_ASYNC)
    for (int k = 1; k < p->groups; k++)
      meet(run, mcmc_plan_first(p, (int)(((int64_t)j + k) % p->groups)),
           mcmc_plan_first(p, (int)(((int64_t)j + p->groups - k) % p->groups)));
}
