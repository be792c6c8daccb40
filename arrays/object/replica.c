/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Every member posts the receives for the members that it holds, sends its elements to its holder,
 * writes its own version meanwhile, and labels what has arrived. The barrier comes last: a member
 * in which something failed does not come to it, so that a member that leaves it knows that all
 * copies are complete. */
#include "object/replica.h"

#include <regroup/collectives.h>
#include <regroup/p2p.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "object/mirror.h"

#define TAG 0

int rgi_replicas_open(rg_array a) {
  a->replicas = calloc((size_t)a->members, sizeof *a->replicas);
  if (!a->replicas)
    return rgi_error(RG_ERR_NOMEM, "rg_array_create: no memory for %d members", a->members);
  for (int i = 0; i < a->members; i++)
    if (a->holders[i] == a->me && rgi_mirror_elements(a, i))
      a->replicas[a->replicas_n++].rank = i;
  return RG_SUCCESS;
}

void rgi_replicas_close(rg_array a) {
  if (!a->replica_failed) /* else a message may still arrive in it */
    free(a->replicas);
}

/* --- the holder ------------------------------------------------------------------------ */

static int expect_replica(rg_array a, rgi_replica *replica, uint64_t label) {
  char *to = rgi_mirror_version(a, replica->rank, rgi_mirror_copy(a, replica->rank), label);
  MPI_Count bytes = (MPI_Count)rgi_mirror_elements(a, replica->rank);
  return rg_irecv(a->group, to, bytes, MPI_BYTE, replica->rank, TAG, &replica->elements);
}

static int expect_replicas(rg_array a, uint64_t label) {
  for (int i = 0; i < a->replicas_n; i++)
    RGI_TRY(expect_replica(a, &a->replicas[i], label));
  return RG_SUCCESS;
}

static int take_replica(rg_array a, rgi_replica *replica, uint64_t label) {
  if (!replica->elements)
    return RG_SUCCESS;
  RGI_TRY(rg_wait(&replica->elements, NULL));
  rgi_mirror_label(a, rgi_mirror_copy(a, replica->rank), label);
  return RG_SUCCESS;
}

static int take_replicas(rg_array a, uint64_t label) {
  int error = RG_SUCCESS;
  for (int i = 0; i < a->replicas_n; i++) {
    int failed = take_replica(a, &a->replicas[i], label);
    error = error ? error : failed;
  }
  return error;
}

/* --- the owner --------------------------------------------------------------------------- */

static void write_own(rg_array a, uint64_t label) {
  rgi_mirror_pair own = rgi_mirror_own(a, a->me);
  memcpy(rgi_mirror_version(a, a->me, own, label), a->mapped[a->me], rgi_mirror_elements(a, a->me));
  rgi_mirror_label(a, own, label);
}

static int send_elements(rg_array a, uint64_t label) {
  rg_request elements = NULL;
  MPI_Count bytes = (MPI_Count)rgi_mirror_elements(a, a->me);
  int holder = a->holders[a->me];
  RGI_TRY(rg_isend(a->group, a->mapped[a->me], bytes, MPI_BYTE, holder, TAG, &elements));
  write_own(a, label); /* meanwhile */
  return rg_wait(&elements, NULL);
}

/* --- both --------------------------------------------------------------------------------- */

static int write_replicas(rg_array a) {
  uint64_t label = a->replicated + 1;
  if (a->replica_failed)
    return rgi_error(RG_ERR_ARRAY, "rg_array_sync: an earlier one of this mirrored array has "
                                   "failed; make it anew");
  a->replica_failed = 1;
  int error = expect_replicas(a, label);
  if (!error && rgi_mirror_elements(a, a->me))
    error = send_elements(a, label);
  int failed = take_replicas(a, label);
  RGI_TRY(error);
  RGI_TRY(failed);
  a->replica_failed = 0;
  return RG_SUCCESS;
}

int rgi_replicas_update(rg_array a) {
  int error = write_replicas(a);
  if (error && error != RG_ERR_PROC_FAILED && error != RG_ERR_TIMEOUT)
    rg_group_revoke(a->group); /* so that no member waits in the barrier for the caller */
  RGI_TRY(error);
  RGI_TRY(rg_barrier(a->group));
  a->replicated++;
  return RG_SUCCESS;
}
