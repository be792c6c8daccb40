/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The choice of holders, and where the pairs of versions are (mirror.h). The pairs in a holder's
 * memory: its own, then those of the members that it holds, in the order of their ranks. All
 * members compute the same places from the members' nodes and the distribution. */
#include "object/mirror.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/heap.h"
#include "formation/group.h"
#include "machine/domain.h"
#include "shm/node.h"

static uint64_t pair_bytes(rg_array a, int rank) {
  uint64_t bytes = rgi_mirror_elements(a, rank);
  return bytes ? RGI_LINE + 2 * rgi_lines_whole(bytes) : 0;
}

/* --- holders ---------------------------------------------------------------------------- */

static int choose_holders(rg_array a, int node[], uint64_t domain[]) {
  for (int i = 0; i < a->members; i++) {
    int rank = rgi_members_at(a->group->members, i);
    node[i] = rgi_node_of(rank);
    domain[i] = rgi_domain_of(rank);
  }
  return rgi_domain_holders(a->members, node, rgi_node.count, domain, a->holders);
}

/* The pairs of a holder: its own first, then those that it holds, in the order of their ranks. */
static void place_copies(rg_array a, uint64_t end[]) {
  for (int i = 0; i < a->members; i++)
    end[i] = pair_bytes(a, i);
  for (int i = 0; i < a->members; i++) {
    a->copies[i] = end[a->holders[i]];
    end[a->holders[i]] += pair_bytes(a, i);
  }
  a->pairs = end[a->me];
}

int rgi_mirror_open(rg_array a) {
  size_t n = (size_t)a->members;
  uint64_t *words = malloc(n * (sizeof *words + sizeof(int)));
  a->copies = malloc(n * (sizeof *a->copies + sizeof *a->holders));
  int error = words && a->copies ? RG_SUCCESS
                                 : rgi_error(RG_ERR_NOMEM, "no memory for %d members", a->members);
  if (!error) {
    a->holders = (void *)(a->copies + n);
    error = choose_holders(a, (void *)(words + n), words);
  }
  if (!error)
    place_copies(a, words);
  free(words);
  return error;
}

/* --- offsets ------------------------------------------------------------------------------ */

uint64_t rgi_mirror_start(rg_array a, int rank) {
  return rgi_lines_whole(rgi_mirror_elements(a, rank) + 1);
}

uint64_t rgi_mirror_bytes(rg_array a) {
  return a->pairs;
}

rgi_mirror_pair rgi_mirror_own(rg_array a, int rank) {
  return (rgi_mirror_pair){rank, a->heap_offsets[rank] + rgi_mirror_start(a, rank)};
}

rgi_mirror_pair rgi_mirror_copy(rg_array a, int rank) {
  rgi_mirror_pair pair = rgi_mirror_own(a, a->holders[rank]);
  pair.offset += a->copies[rank];
  return pair;
}

void rgi_mirror_clear(rg_array a, char *pairs) {
  for (int i = 0; i < a->members; i++)
    if (a->holders[i] == a->me && rgi_mirror_elements(a, i))
      memset(pairs + a->copies[i], 0, RGI_LINE);
  if (rgi_mirror_elements(a, a->me))
    memset(pairs, 0, RGI_LINE);
}

static uint64_t version_at(rg_array a, int rank, uint64_t label) {
  return RGI_LINE + (label % 2) * rgi_lines_whole(rgi_mirror_elements(a, rank));
}

uint64_t rgi_mirror_newest(rg_array a, rgi_mirror_pair pair) {
  const uint64_t *labels = rgi_heap_at(a->world[pair.member], pair.offset);
  return labels[0] > labels[1] ? labels[0] : labels[1];
}

void rgi_mirror_label(rg_array a, rgi_mirror_pair pair, uint64_t label) {
  volatile uint64_t *labels = rgi_heap_at(a->world[pair.member], pair.offset);
  atomic_thread_fence(memory_order_release);
  labels[label % 2] = label;
}

char *rgi_mirror_version(rg_array a, int rank, rgi_mirror_pair pair, uint64_t label) {
  char *memory = rgi_heap_at(a->world[pair.member], pair.offset);
  return memory + version_at(a, rank, label);
}
