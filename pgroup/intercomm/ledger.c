/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "intercomm/ledger.h"

#define ONE_SLEEPS (UINT64_C(1) << 32)
#define ONE_LEFT UINT64_C(1)

static int sleeping(uint64_t counts) {
  return (int)(counts >> 32);
}

static int all_done(const rgi_ledger *l, uint64_t counts) {
  return sleeping(counts) + (int)(uint32_t)counts == l->size - l->least;
}

size_t rgi_ledger_bytes(int size) {
  return sizeof(rgi_ledger) + (size_t)size * sizeof(_Atomic int);
}

void rgi_ledger_start(rgi_ledger *l, int size, int n, int least) {
  l->size = size;
  l->least = least;
  for (int i = size - n; i < size - least; i++)
    atomic_store(&l->sleeps[i], 1);
  atomic_store(&l->counts, (uint64_t)(n - least) * ONE_SLEEPS);
}

static int claim(rgi_ledger *l, int n) {
  uint64_t counts = atomic_load(&l->counts);
  while (sleeping(counts) >= n)
    if (atomic_compare_exchange_weak(&l->counts, &counts, counts - (uint64_t)n * ONE_SLEEPS))
      return n;
  return sleeping(counts);
}

int rgi_ledger_take(rgi_ledger *l, int n, int ranks[]) {
  int claimed = claim(l, n);
  if (claimed < n)
    return claimed;
  for (int found = 0; found < n;) /* more than once round only when others draw as well */
    for (int i = 0; i < l->size && found < n; i++) {
      int yes = 1;
      if (atomic_compare_exchange_strong(&l->sleeps[i], &yes, 0))
        ranks[found++] = i;
    }
  return n;
}

int rgi_ledger_put(rgi_ledger *l, int rank) {
  atomic_store(&l->sleeps[rank], 1);
  return all_done(l, atomic_fetch_add(&l->counts, ONE_SLEEPS) + ONE_SLEEPS);
}

int rgi_ledger_leave(rgi_ledger *l) {
  return all_done(l, atomic_fetch_add(&l->counts, ONE_LEFT) + ONE_LEFT);
}

int rgi_ledger_count(const rgi_ledger *l) {
  return sleeping(atomic_load(&((rgi_ledger *)(uintptr_t)l)->counts));
}
