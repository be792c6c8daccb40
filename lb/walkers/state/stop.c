/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "walkers/state/stop.h"

#include "base/error.h"
#include "recovery/checkpoint_due.h"
#include "walkers/state/balancer_state.h"

int rgi_stop_due(rg_balancer balancer) {
  return balancer->options.stop_when_due && rgi_checkpoint_due_here();
}

void rgi_stop_note(rg_balancer balancer) {
  rgi_checkpoint_due_note();
  balancer->work.stopping = 1;
}

/* After a death the load board is a new one: what the process knows is told again. */
int rgi_stop_look(rg_balancer balancer) {
  int told = atomic_load(&balancer->async.board.shared->stopping);
  if (told)
    rgi_stop_note(balancer);
  else if (rgi_stop_due(balancer)) {
    balancer->work.stopping = 1;
    return rgi_internode_stop(&balancer->async.nodes);
  }
  return RG_SUCCESS;
}
