/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Keeping the elements of a mirrored array. What goes to the holder goes in messages: waits
 * for them end when a member dies, as those for one-sided accesses do not. */
#ifndef RGI_REPLICA_H
#define RGI_REPLICA_H

#include "object/array.h"

/* A member that the caller holds the replica of, and what is on its way from it. */
typedef struct rgi_replica {
  int rank;
  rg_request elements;
} rgi_replica;

/* When the holders have been chosen. RG_ERR_NOMEM. */
int rgi_replicas_open(rg_array a);
void rgi_replicas_close(rg_array a);

/* Every member, after all accesses are complete: keeps the elements. */
int rgi_replicas_update(rg_array a);

/* Its first part, before the members meet. who: NULL, or who sends at all; the others could
 * have died (tests). */
int rgi_replicas_write(rg_array a, const unsigned char who[]);

#endif
