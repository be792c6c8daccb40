/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A process of another node that has copies of this one's walkers, while they run. */
#ifndef RGI_WALKERS_BUDDY_H
#define RGI_WALKERS_BUDDY_H

#include <regroup/balance.h>

#include "walkers/store_pack.h"

typedef struct {
  int rank;            /* or -1 */
  int open;            /* copies that have not been answered */
  double last;         /* when one was sent */
  rgi_store_pack mine; /* what the next one has besides */
} rgi_buddy;

int rgi_buddy_open(rg_balancer b);
void rgi_buddy_close(rg_balancer b);
/* A walker was made: it goes with its parent's next copy. */
int rgi_buddy_add(rg_balancer b, uint64_t record);
/* A walker of this process has a new version. */
int rgi_buddy_send(rg_balancer b, uint64_t record, int ended);
/* Takes what others send, and answers. */
int rgi_buddy_serve(rg_balancer b);
/* Whether something that was sent has not been answered. */
int rgi_buddy_waits(const struct rg_balancer_s *b);

#endif
