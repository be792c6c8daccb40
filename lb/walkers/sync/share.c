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

int rgi_sync_share_entry(rg_balancer balancer, int r, rgi_queue_entry *entry) {
  int own = r == balancer->members.rank;
  void *memory = entry->memory;
  int error = rg_bcast(balancer->members.group, entry, sizeof *entry, MPI_BYTE, r),
      more = entry->memory != NULL;
  entry->memory = memory;
  if (error || !more)
    return error;
  if (!own && !(entry->memory = malloc(entry->bytes ? entry->bytes : 1)))
    return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", entry->bytes);
  return rg_bcast(balancer->members.group, entry->memory, (MPI_Count)entry->bytes, MPI_BYTE, r);
}

int rgi_sync_share_walker(rg_balancer balancer, int r, rgi_queue_entry *own) {
  rgi_queue_entry entry = {0};
  int error = RG_SUCCESS;
  if (own) {
    entry = *own;
    own->memory = NULL;
  }
  if (own && rgi_store_spans_nodes(&balancer->survival.store))
    error = rgi_record_pack_attach(&balancer->survival.store, &entry);
  if (!error)
    error = rgi_sync_share_entry(balancer, r, &entry);
  if (!error)
    error = rgi_queue_insert(&balancer->list, &entry);
  if (error)
    free(entry.memory);
  return error;
}
