/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "crew.h"
#include "policies.h"

void mcmc_run_none(mcmc_run *run) {
  while (run->crew.left > 0)
    mcmc_crew_unit(run, 0);
}
