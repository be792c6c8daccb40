/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "mirror/keep.h"

#include <regroup/collectives.h>
#include <regroup/p2p.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mirror/mirror.h"

#define TAG 0

int rgi_keep_open(rg_array a) {
  a->wards = calloc((size_t)a->members, sizeof *a->wards);
  if (!a->wards)
    return rgi_error(RG_ERR_NOMEM, "rg_array_create: no memory for %d members", a->members);
  for (int i = 0; i < a->members; i++)
    if (a->keepers[i] == a->me && rgi_mirror_elements(a, i))
      a->wards[a->wards_n++].rank = i;
  return RG_SUCCESS;
}

void rgi_keep_close(rg_array a) {
  if (!a->torn) /* else a message may yet come into it */
    free(a->wards);
}

/* --- the keeper ------------------------------------------------------------------------ */

static int expect(rg_array a, rgi_ward *w, uint64_t label) {
  char *to = rgi_mirror_version(a, w->rank, rgi_mirror_copy(a, w->rank), label);
  MPI_Count bytes = (MPI_Count)rgi_mirror_elements(a, w->rank);
  return rg_irecv(a->group, to, bytes, MPI_BYTE, w->rank, TAG, &w->elements);
}

static int expect_all(rg_array a, const unsigned char who[], uint64_t label) {
  for (int i = 0; i < a->wards_n; i++)
    if (!who || who[a->wards[i].rank])
      RGI_TRY(expect(a, &a->wards[i], label));
  return RG_SUCCESS;
}

static int take(rg_array a, rgi_ward *w, uint64_t label) {
  if (!w->elements)
    return RG_SUCCESS;
  RGI_TRY(rg_wait(&w->elements, NULL));
  rgi_mirror_label(a, rgi_mirror_copy(a, w->rank), label);
  return RG_SUCCESS;
}

static int take_all(rg_array a, uint64_t label) {
  int error = RG_SUCCESS;
  for (int i = 0; i < a->wards_n; i++) {
    int failed = take(a, &a->wards[i], label);
    error = error ? error : failed;
  }
  return error;
}

/* --- its wards --------------------------------------------------------------------------- */

static void keep_here(rg_array a, uint64_t label) {
  rgi_pair own = rgi_mirror_own(a, a->me);
  memcpy(rgi_mirror_version(a, a->me, own, label), a->near[a->me], rgi_mirror_elements(a, a->me));
  rgi_mirror_label(a, own, label);
}

static int send(rg_array a, uint64_t label) {
  rg_request elements = NULL;
  MPI_Count bytes = (MPI_Count)rgi_mirror_elements(a, a->me);
  int keeper = a->keepers[a->me];
  RGI_TRY(rg_isend(a->group, a->near[a->me], bytes, MPI_BYTE, keeper, TAG, &elements));
  keep_here(a, label); /* meanwhile */
  return rg_wait(&elements, NULL);
}

/* --- both --------------------------------------------------------------------------------- */

int rgi_mirror_write(rg_array a, const unsigned char who[]) {
  uint64_t label = a->kept + 1;
  if (a->torn)
    return rgi_error(RG_ERR_ARRAY, "rg_array_sync: an earlier one of this mirrored array has "
                                   "failed; make it anew");
  a->torn = 1;
  int error = expect_all(a, who, label);
  if (!error && rgi_mirror_elements(a, a->me) && (!who || who[a->me]))
    error = send(a, label);
  int failed = take_all(a, label);
  RGI_TRY(error);
  RGI_TRY(failed);
  a->torn = 0;
  return RG_SUCCESS;
}

/* Who has failed does not come to the barrier: who leaves it may rely on all copies. */
int rgi_mirror_keep(rg_array a) {
  int error = rgi_mirror_write(a, NULL);
  if (error && error != RG_ERR_PROC_FAILED && error != RG_ERR_TIMEOUT)
    rg_group_revoke(a->group); /* nobody waits for what will not come */
  RGI_TRY(error);
  RGI_TRY(rg_barrier(a->group));
  a->kept++;
  return RG_SUCCESS;
}
