/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * In a job that survives on several nodes a walker goes with its packed record. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/error.h"
#include "walkers/state/balancer_state.h"
#include "walkers/store/record_pack.h"
#include "walkers/sync/sync.h"

int rgi_sync_share_entry(rg_balancer b, int r, rgi_queue_entry *e) {
  int own = r == b->members.rank;
  void *memory = e->memory;
  int error = rg_bcast(b->members.group, e, sizeof *e, MPI_BYTE, r), more = e->memory != NULL;
  e->memory = memory;
  if (error || !more)
    return error;
  if (!own && !(e->memory = malloc(e->bytes ? e->bytes : 1)))
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", e->bytes);
  return rg_bcast(b->members.group, e->memory, (MPI_Count)e->bytes, MPI_BYTE, r);
}

int rgi_sync_share_walker(rg_balancer b, int r, rgi_queue_entry *own) {
  rgi_queue_entry e = {0};
  int error = RG_SUCCESS;
  if (own) {
    e = *own;
    own->memory = NULL;
  }
  if (own && rgi_store_spans_nodes(&b->survival.store))
    error = rgi_record_pack_attach(&b->survival.store, &e);
  if (!error)
    error = rgi_sync_share_entry(b, r, &e);
  if (!error)
    error = rgi_queue_insert(&b->list, &e);
  if (error)
    free(e.memory);
  return error;
}
