/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
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
  if (!a->replica_failed) /* else a message may yet come into it */
    free(a->replicas);
}

/* --- the holder ------------------------------------------------------------------------ */

static int expect_replica(rg_array a, rgi_replica *w, uint64_t label) {
  char *to = rgi_mirror_version(a, w->rank, rgi_mirror_copy(a, w->rank), label);
  MPI_Count bytes = (MPI_Count)rgi_mirror_elements(a, w->rank);
  return rg_irecv(a->group, to, bytes, MPI_BYTE, w->rank, TAG, &w->elements);
}

static int expect_replicas(rg_array a, const unsigned char who[], uint64_t label) {
  for (int i = 0; i < a->replicas_n; i++)
    if (!who || who[a->replicas[i].rank])
      RGI_TRY(expect_replica(a, &a->replicas[i], label));
  return RG_SUCCESS;
}

static int take_replica(rg_array a, rgi_replica *w, uint64_t label) {
  if (!w->elements)
    return RG_SUCCESS;
  RGI_TRY(rg_wait(&w->elements, NULL));
  rgi_mirror_label(a, rgi_mirror_copy(a, w->rank), label);
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

/* --- its replicas --------------------------------------------------------------------------- */

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

int rgi_replicas_write(rg_array a, const unsigned char who[]) {
  uint64_t label = a->replicated + 1;
  if (a->replica_failed)
    return rgi_error(RG_ERR_ARRAY, "rg_array_sync: an earlier one of this mirrored array has "
                                   "failed; make it anew");
  a->replica_failed = 1;
  int error = expect_replicas(a, who, label);
  if (!error && rgi_mirror_elements(a, a->me) && (!who || who[a->me]))
    error = send_elements(a, label);
  int failed = take_replicas(a, label);
  RGI_TRY(error);
  RGI_TRY(failed);
  a->replica_failed = 0;
  return RG_SUCCESS;
}

/* Who has failed does not come to the barrier: who leaves it may rely on all copies. */
int rgi_replicas_update(rg_array a) {
  int error = rgi_replicas_write(a, NULL);
  if (error && error != RG_ERR_PROC_FAILED && error != RG_ERR_TIMEOUT)
    rg_group_revoke(a->group); /* nobody waits for what will not come */
  RGI_TRY(error);
  RGI_TRY(rg_barrier(a->group));
  a->replicated++;
  return RG_SUCCESS;
}
