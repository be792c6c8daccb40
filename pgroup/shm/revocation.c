/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The contexts of groups are in a table without an order, since there are few: a place is free
 * again when the node's members have freed the group. Numbers that no process frees, and what other
 * nodes have revoked, are in a ring of the last ones. Two processes may enter the same context at
 * once; of two places that have it the later one is given back. */
#include "shm/revocation.h"

#include <regroup/error.h>

#include "shm/process.h"

enum { NONE = -1 };

static int find_place(const rgi_process_table_journal *journal, uint64_t context, int from) {
  int end = (int)atomic_load(&journal->places);
  while (from < end && atomic_load(&journal->revoked[from].context) != context)
    from++;
  return from < end ? from : NONE;
}

static int is_in_ring(const rgi_process_table_journal *journal, uint64_t context) {
  uint32_t count = atomic_load(&journal->ringed);
  for (uint32_t i = 0; i < count && i < RGI_REVOCATIONS_LAST; i++)
    if (atomic_load(&journal->ring[i]) == context)
      return 1;
  return 0;
}

static int has_context(const rgi_process_table *table, uint64_t context) {
  const rgi_process_table_journal *journal = table->journal;
  return journal && ((atomic_load_explicit(&journal->revocations, memory_order_relaxed) &&
                      find_place(journal, context, 0) != NONE) ||
                     is_in_ring(journal, context));
}

static void give_place(rgi_process_table_journal *journal, int place, uint64_t context) {
  atomic_store(&journal->revoked[place].freed, 0);
  if (atomic_compare_exchange_strong(&journal->revoked[place].context, &context, 0))
    atomic_fetch_sub(&journal->revocations, 1);
}

static int take_place(rgi_process_table_journal *journal, uint64_t context) {
  for (int place = 0; place < RGI_REVOCATIONS_MOST; place++) {
    uint64_t none = 0;
    if (!atomic_compare_exchange_strong(&journal->revoked[place].context, &none, context))
      continue;
    uint32_t places = atomic_load(&journal->places);
    while (places <= (uint32_t)place &&
           !atomic_compare_exchange_weak(&journal->places, &places, (uint32_t)place + 1))
      ;
    return place;
  }
  return NONE;
}

/* The count is raised first: where it is 0 no process looks into the table. */
int rgi_revocation_note(rgi_process_table *table, uint64_t context) {
  rgi_process_table_journal *journal = table->journal;
  if (!journal || has_context(table, context))
    return RG_SUCCESS;
  atomic_fetch_add(&journal->revocations, 1);
  if (take_place(journal, context) == NONE) {
    atomic_fetch_sub(&journal->revocations, 1);
    return RG_ERR_LIMIT;
  }
  int first = find_place(journal, context, 0), twin;
  while (first != NONE && (twin = find_place(journal, context, first + 1)) != NONE)
    give_place(journal, twin, context);
  rgi_process_table_ring(table);
  return RG_SUCCESS;
}

void rgi_revocation_note_number(rgi_process_table *table, uint64_t number) {
  if (!table->journal || has_context(table, number))
    return;
  uint32_t at = atomic_fetch_add(&table->journal->ringed, 1);
  atomic_store(&table->journal->ring[at % RGI_REVOCATIONS_LAST], number);
  rgi_process_table_ring(table);
}

void rgi_revocation_freed(uint64_t context, int members) {
  rgi_process_table_journal *journal = rgi_process_view.journal;
  int place = find_place(journal, context, 0);
  if (place != NONE && (int)atomic_fetch_add(&journal->revoked[place].freed, 1) + 1 >= members)
    give_place(journal, place, context);
}

/* 0 is no context: free places have it. */
int rgi_revocation_has(uint64_t context) {
  return context && has_context(&rgi_process_view, context);
}

int rgi_revocation_any(void) {
  const rgi_process_table_journal *journal = rgi_process_view.journal;
  return journal && (atomic_load_explicit(&journal->revocations, memory_order_relaxed) > 0 ||
                     atomic_load_explicit(&journal->ringed, memory_order_relaxed) > 0);
}
