/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A hash table that only grows: a context stands at its own place or behind it, and half of the
 * places stay free, so every search ends. The first functions run in ranks and in the node daemon,
 * which give their view of the table. */
#include "shm/revocation.h"

#include <regroup/error.h>

#include "shm/process.h"

static int find_context(const rgi_process_table *t, uint64_t context) {
  if (!t->journal || !atomic_load_explicit(&t->journal->revocations, memory_order_relaxed))
    return 0;
  for (uint64_t at = context;; at++) {
    uint64_t found = atomic_load_explicit(&t->journal->revoked[at % RGI_REVOCATION_PLACES],
                                          memory_order_acquire);
    if (found == context || !found)
      return found != 0;
  }
}

/* The count is raised first: where it is 0 no process looks into the table. */
int rgi_revocation_note(rgi_process_table *t, uint64_t context) {
  if (!t->journal || find_context(t, context))
    return RG_SUCCESS;
  if (atomic_fetch_add(&t->journal->revocations, 1) >= RGI_REVOCATIONS_MOST)
    return RG_ERR_LIMIT;
  for (uint64_t at = context;; at++) {
    uint64_t none = 0;
    _Atomic uint64_t *place = &t->journal->revoked[at % RGI_REVOCATION_PLACES];
    if (atomic_compare_exchange_strong(place, &none, context) || none == context)
      break;
  }
  rgi_process_table_ring(t);
  return RG_SUCCESS;
}

int rgi_revocation_has(uint64_t context) {
  return find_context(&rgi_process_view, context);
}

int rgi_revocation_any(void) {
  return rgi_process_view.journal &&
         atomic_load_explicit(&rgi_process_view.journal->revocations, memory_order_relaxed) > 0;
}
