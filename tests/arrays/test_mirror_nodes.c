/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Mirrored arrays over two pretended nodes: whichever members count as dead, all members of a
 * node or any others, the rest restores the array as of the last rg_array_sync, and of an array
 * that is not mirrored what is in the memory of the living nodes.
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2 RG_TIMEOUT=60
 * ranks: 2 3 4 7
 * sources: tests/arrays/file_cases.c tests/arrays/draw_spec.c */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "distribution/distribution_owner.h"
#include "draw_spec.h"
#include "file_cases.h"
#include "object/mirror.h"
#include "object/replica.h"
#include "regroup/rebuild.h"
#include "shm/node.h"
#include "tests/check/check.h"

static rgt_drawn drawn;

static void draw(unsigned flags) {
  rgt_draw_shape(&drawn);
  rgt_draw_layout(&drawn, rgt_size);
  drawn.spec.flags = flags;
}

/* New elements, which no rg_array_sync sees. */
static void change(rg_array a, unsigned seed) {
  rg_array temporary;
  drawn.spec.flags = 0;
  RGT_OK(rg_array_create(rgt_world, &drawn.spec, &temporary));
  rgt_fill(temporary, seed);
  RGT_OK(rg_array_copy(temporary, a));
  RGT_OK(rg_array_free(&temporary));
}

/* Those that live: all but the members of a node, or but some; the same on all. */
static int draw_living(int node, unsigned char lives[]) {
  int n = 0;
  for (int i = 0; i < rgt_size; i++)
    n += lives[i] = node >= 0 ? rgi_node_of(i) != node : rgt_below(3) > 0;
  if (n == 0)
    n = lives[rgt_below(rgt_size)] = 1;
  return n;
}

static rg_group group_of(const unsigned char lives[]) {
  int ranks[64], n = 0;
  rg_group g = NULL;
  for (int i = 0; i < rgt_size; i++)
    if (lives[i])
      ranks[n++] = i;
  RGT_OK(rg_group_create(rgt_world, n, ranks, 5, &g));
  return g;
}

/* Whether a member that has elements is on a node without a living process. */
static int is_lost(rg_array a, const unsigned char lives[]) {
  for (int i = 0; i < rgt_size; i++) {
    int alive = rgi_distribution_extent(&a->d, i) == 0;
    for (int k = 0; k < rgt_size; k++)
      alive |= lives[k] && rgi_node_of(k) == rgi_node_of(i);
    if (!alive)
      return 1;
  }
  return 0;
}

/* What the living members restore: the elements of this seed; error: nothing. */
static void rebuild(rg_array a, const unsigned char lives[], unsigned seed, int error) {
  rg_group living = group_of(lives);
  rg_array b;
  rg_array_spec spec = drawn.spec;
  memset(spec.grid, 0, sizeof spec.grid);
  memset(spec.boundaries, 0, sizeof spec.boundaries);
  if (spec.layout == RG_LAYOUT_IRREGULAR)
    spec.layout = RG_LAYOUT_BLOCK;
  MPI_Barrier(MPI_COMM_WORLD);
  if (living) {
    RGT_OK(rg_array_create(living, &spec, &b));
    if (error)
      RGT_FAILS(rgi_rebuild_array(a, living, b), error);
    else if (RGT_OK(rgi_rebuild_array(a, living, b))) {
      RGT_OK(rg_array_sync(b));
      RGT_INT(rgt_wrong_bytes(b, seed), 0);
    }
    RGT_OK(rg_array_free(&b));
  }
  RGT_OK(rg_group_free(&living));
  MPI_Barrier(MPI_COMM_WORLD);
}

static int64_t elements(void) {
  int64_t n = 1;
  for (int k = 0; k < drawn.spec.dims; k++)
    n *= drawn.spec.shape[k];
  return n;
}

/* Nodes lost, and any members, after any number of rg_array_syncs. */
static void test_last_sync(void) {
  srandom((unsigned)rgt_seed());
  for (int round = 0; round < 12; round++) {
    rg_array a;
    unsigned seed = (unsigned)random();
    unsigned char lives[64];
    draw(RG_ARRAY_MIRRORED);
    RGT_OK(rg_array_create(rgt_world, &drawn.spec, &a));
    int syncs = 1 + (int)rgt_below(3);
    for (int i = 0; i < syncs; i++)
      rgt_fill(a, ++seed);
    change(a, seed + 1);
    draw_living(round % 3 - 1, lives);
    rebuild(a, lives, seed, RG_SUCCESS);
    rgt_fill(a, seed + 2); /* a new state */
    draw_living(round % 3 - 1, lives);
    rebuild(a, lives, seed + 2, RG_SUCCESS);
    RGT_OK(rg_array_free(&a));
  }
}

/* What an rg_array_sync leaves in which only these members have sent their elements: their own
 * version and the holder's, labelled. */
static void sync_partly(rg_array a, const unsigned char does[]) {
  uint64_t label = a->replicated + 1;
  rg_request sent = NULL;
  if (does[a->me] && rgi_mirror_elements(a, a->me)) {
    rgi_mirror_pair own = rgi_mirror_own(a, a->me);
    MPI_Count bytes = (MPI_Count)rgi_mirror_elements(a, a->me);
    RGT_OK(rg_isend(a->group, a->mapped[a->me], bytes, MPI_BYTE, a->holders[a->me], 0, &sent));
    memcpy(rgi_mirror_version(a, a->me, own, label), a->mapped[a->me], (size_t)bytes);
    rgi_mirror_label(a, own, label);
  }
  for (int i = 0; i < a->replicas_n; i++) {
    int rank = a->replicas[i].rank;
    rgi_mirror_pair copy = rgi_mirror_copy(a, rank);
    if (!does[rank])
      continue;
    RGT_OK(rg_recv(a->group, rgi_mirror_version(a, rank, copy, label),
                   (MPI_Count)rgi_mirror_elements(a, rank), MPI_BYTE, rank, 0, NULL));
    rgi_mirror_label(a, copy, label);
  }
  if (sent)
    RGT_OK(rg_wait(&sent, NULL));
}

/* An rg_array_sync that only some members have advanced in: all or nothing of it. */
static void test_interrupted_sync(void) {
  srandom((unsigned)rgt_seed() + 1);
  for (int round = 0; round < 12; round++) {
    rg_array a;
    unsigned seed = (unsigned)random();
    unsigned char lives[64], does[64];
    int all = 1;
    draw(RG_ARRAY_MIRRORED);
    RGT_OK(rg_array_create(rgt_world, &drawn.spec, &a));
    rgt_fill(a, seed);
    change(a, seed + 1);
    for (int i = 0; i < rgt_size; i++) {
      does[i] = rgt_below(round % 2 ? 2 : 8) > 0;
      all &= does[i] || rgi_distribution_extent(&a->d, i) == 0;
    }
    sync_partly(a, does);
    draw_living(round % 3 - 1, lives);
    rebuild(a, lives, all ? seed + 1 : seed, RG_SUCCESS);
    RGT_OK(rg_array_free(&a));
  }
}

static void test_not_mirrored(void) {
  srandom((unsigned)rgt_seed() + 2);
  for (int round = 0; round < 12; round++) {
    rg_array a;
    unsigned seed = (unsigned)random();
    unsigned char lives[64];
    draw(0);
    RGT_OK(rg_array_create(rgt_world, &drawn.spec, &a));
    rgt_fill(a, seed);
    change(a, seed + 1);
    draw_living(round % 3 - 1, lives);
    rebuild(a, lives, seed + 1, is_lost(a, lives) ? RG_ERR_ARRAY : RG_SUCCESS);
    RGT_OK(rg_array_free(&a));
  }
}

/* No state to go back to; the flag is passed on; nothing is mirrored inside a node. */
static void test_flags(void) {
  rg_array a, b;
  rg_array_spec spec = {.size = sizeof spec};
  rg_group one = NULL;
  unsigned char lives[64];
  srandom((unsigned)rgt_seed() + 3);
  do
    draw(RG_ARRAY_MIRRORED);
  while (elements() == 0);
  RGT_OK(rg_array_create(rgt_world, &drawn.spec, &a));
  draw_living(0, lives);
  rebuild(a, lives, 0, RG_ERR_ARRAY);
  RGT_TRUE(!rgi_node_of(rgt_rank) || strstr(rg_error_detail(), "rg_array_sync") != NULL);
  RGT_OK(rg_array_dup(a, &b));
  RGT_OK(rg_array_info(b, &spec));
  RGT_INT(spec.flags, RG_ARRAY_MIRRORED);
  rgt_fill(b, 3);
  RGT_OK(rg_array_regroup(rgt_world, rgt_world, NULL, &b));
  RGT_OK(rg_array_info(b, &spec));
  RGT_INT(spec.flags, RG_ARRAY_MIRRORED);
  RGT_INT(b->replicated, 1); /* it has its copies from the start */
  RGT_INT(rgt_wrong_bytes(b, 3), 0);
  RGT_OK(rg_array_free(&b));
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_group_create_range(rgt_world, rgt_rank, rgt_rank, 1, 6, &one));
  RGT_OK(rg_array_create_simple(one, RG_TYPE_DOUBLE, 1, (int64_t[]){10}, &a));
  RGT_OK(rg_array_info(a, &spec));
  spec.flags = RG_ARRAY_MIRRORED;
  RGT_OK(rg_array_create(one, &spec, &b));
  RGT_OK(rg_array_sync(b));
  RGT_TRUE(!rgi_array_is_mirrored(b));
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_free(&b));
  RGT_OK(rg_group_free(&one));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", rgt_files_start},
                                   {"the last sync", test_last_sync},
                                   {"an interrupted sync", test_interrupted_sync},
                                   {"not mirrored", test_not_mirrored},
                                   {"flags", test_flags},
                                   {"end", rgt_files_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "mirror_nodes", tests);
}
