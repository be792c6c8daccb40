/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "lockstep.h"

mcmc_join mcmc_lockstep_join(int ranks, const mcmc_load load[], int me) {
  int active = me;
  while (active < ranks && load[active].left == 0)
    active++;
  int stays = active == ranks;
  int owner = (int)load[stays ? me : active].first;
  mcmc_join join = {.first = owner, .last = owner, .owner = owner};
  while (join.last + 1 < ranks && load[join.last + 1].first == owner)
    join.last++;
  while (!stays && join.first > 0 && load[join.first - 1].left == 0)
    join.first--;
  join.changed = join.first != owner;
  return join;
}

double mcmc_lockstep_longest(int ranks, const mcmc_load load[]) {
  double longest = 0;
  int start = 0; /* of the group from now on that r ends or is in the middle of */
  for (int r = 0; r < ranks; r++) {
    if (load[r].left == 0 || (r + 1 < ranks && load[r + 1].first == load[r].first))
      continue;
    double share = (double)load[r].samples / (r + 1 - start);
    longest = share > longest ? share : longest;
    start = r + 1;
  }
  return longest;
}
