/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Replicating the elements of a mirrored array to the holders (mirror.h). They are sent in
 * messages, not put: a wait for a message ends when a member dies, a wait inside MPI does not. */
#ifndef RGI_REPLICA_H
#define RGI_REPLICA_H

#include "object/array.h"

/* A member whose holder the caller is, and the receive from it. */
typedef struct rgi_replica {
  int rank;
  rg_request elements;
} rgi_replica;

/* To be called when the holders have been chosen. RG_ERR_NOMEM. */
int rgi_replicas_open(rg_array a);
void rgi_replicas_close(rg_array a);

/* Every member, after all accesses are complete: makes a version of the elements. */
int rgi_replicas_update(rg_array a);

/* Its first part, before the barrier. senders: NULL, or which members send at all; tests leave some
 * out, as if they had died. */
int rgi_replicas_write(rg_array a, const unsigned char senders[]);

#endif
