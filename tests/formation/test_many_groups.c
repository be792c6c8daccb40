/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * tier: all
 * ranks: 2
 * env: RG_ARENA_SIZE=4096 RG_TIMEOUT=60
 * time: 120
 * beside: no
 * A million groups at once, and ten million one after another. */
#include <malloc.h>
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "collectives/node/node_coll.h"
#include "collectives/shared/shared_state.h"
#include "shm/arena.h"
#include "tests/check/check.h"

#define MILLION 1000000

static rg_group world;
static rg_group *groups;

/* Bytes of this process's heap in use. */
static size_t heap(void) {
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

static void form(int tags) {
  int failed = 0;
  for (int i = 0; i < MILLION; i++)
    failed += rg_group_create_range(world, 0, rgt_size - 1, 1, i % tags, &groups[i]) != RG_SUCCESS;
  RGT_INT(failed, 0);
}

static void free_all(void) {
  int failed = 0;
  for (int i = 0; i < MILLION; i++)
    failed += rg_group_free(&groups[i]) != RG_SUCCESS;
  RGT_INT(failed, 0);
}

static void test_alive(void) {
  size_t before = heap();
  form(MILLION);
  size_t each = (heap() - before) / MILLION;
  RGT_TRUE(each < 300); /* bytes for each group, its count of creations included */
  free_all();
}

static void test_one_after_another(void) {
  size_t first = 0;
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < MILLION; i++) {
      rg_group g = NULL;
      if (rg_group_create_range(world, 0, rgt_size - 1, 1, i % 1000, &g) || rg_group_free(&g))
        RGT_TRUE(!"created and freed");
    }
    if (round == 0)
      first = heap();
  }
  RGT_INT(heap(), first); /* no growth after the first round */
}

/* Every group works: its flags are attached at the first operation. */
static void test_all_work(void) {
  rgi_shared_state **local = malloc(MILLION * sizeof *local);
  rgi_arena_usage empty, usage;
  int failed = 0;
  rgi_arena_get_usage(&empty);
  form(7);
  for (int i = 0; i < MILLION; i++) {
    failed += rgi_shared_state_make(groups[i], &local[i]) != RG_SUCCESS;
    failed += rgi_node_coll_barrier(local[i], "test") != RG_SUCCESS;
  }
  RGT_INT(failed, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_arena_get_usage(&usage);
  RGT_TRUE((usage.used - empty.used) / MILLION <= 1024); /* bytes for each group of two */
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < MILLION; i++)
    rgi_shared_state_free(local[i]);
  free_all();
  free(local);
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_arena_get_usage(&usage);
  RGT_INT(usage.used, empty.used);
}

static void test_start(void) {
  groups = calloc(MILLION, sizeof *groups);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void test_stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  free(groups);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"a million alive", test_alive},
                                   {"ten million one after another", test_one_after_another},
                                   {"a million that work", test_all_work},
                                   {"stop", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "many_groups", tests);
}
