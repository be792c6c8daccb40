/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Slots on a pretended node with many processes, without rg_init: in a full arena there are slots
 * for the shared state of groups of all of them, of what is set aside. */
#include <stdlib.h>

#include "collectives/shared/shared_state.h"
#include "progress/slot.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "tests/check/check.h"

#define BLOCKS 20000
#define GROUPS 20 /* that members tell of, and that survivors form: so many are promised */

static struct {
  uint64_t offset;
  size_t bytes;
} block[BLOCKS];
static int blocks;

static void fill(void) {
  for (size_t bytes = 1 << 20; bytes > 0; bytes = bytes > 1 << 14 ? bytes / 2 : bytes - RGI_LINE)
    while (blocks < BLOCKS && rgi_arena_alloc("a test", bytes, &block[blocks].offset) == RG_SUCCESS)
      block[blocks++].bytes = bytes;
}

static void empty(void) {
  for (; blocks > 0; blocks--)
    rgi_arena_free(block[blocks - 1].offset, block[blocks - 1].bytes);
}

static size_t used(void) {
  rgi_arena_usage usage;
  rgi_arena_get_usage(&usage);
  return usage.used;
}

static int finished(const void *memory, int users) {
  (void)memory;
  (void)users;
  return 1;
}

/* The purposes' slots one after the other; returns how many there are before none is left. */
static int attach_all(int members, uint64_t at[], int most) {
  static const rgi_arena_purpose purposes[] = {RGI_ARENA_TELL, RGI_ARENA_SURVIVORS};
  size_t bytes = rgi_shared_state_bytes(members, RGI_SHM_DEPTH);
  int n = 0;
  for (int p = 0; p < 2; p++) {
    void *memory;
    rgi_arena_purpose before = rgi_arena_set_purpose(purposes[p]);
    while (n < most && rgi_slot_attach((uint64_t)n + 1, members, bytes, &at[n], &memory) == 0)
      n++;
    rgi_arena_set_purpose(before);
  }
  return n;
}

static void expect_slots(int members) {
  uint64_t at[GROUPS];
  fill();
  size_t full = used();
  for (int turn = 0; turn < 3; turn++) {
    int n = attach_all(members, at, GROUPS);
    RGT_INT(n, GROUPS);
    for (int i = 0; i < n; i++)
      RGT_INT(rgi_slot_detach(at[i], finished), 1);
    RGT_INT(used(), full);
  }
  empty();
}

/* The count of a process's attachments ends with an error, and not at 0. */
static void expect_limit(void) {
  uint64_t at = 0;
  void *memory;
  for (int i = 0; i < UINT16_MAX; i++)
    RGT_OK(rgi_slot_attach(1, 1, 8, &at, &memory));
  RGT_FAILS(rgi_slot_attach(1, 1, 8, &at, &memory), RG_ERR_LIMIT);
  for (int i = 0; i < UINT16_MAX; i++)
    RGT_INT(rgi_slot_detach(at, finished), i == UINT16_MAX - 1);
}

static void test_node(int n) {
  rgi_node_info before = rgi_node;
  rgi_arena_address address;
  rgi_arena_sizes sizes = {.bytes = 2 << 20};
  void *table = calloc(1, rgi_slot_table_bytes());
  int *ranks = calloc((size_t)n, sizeof *ranks);
  for (int i = 0; i < n; i++)
    ranks[i] = i;
  rgi_node = (rgi_node_info){.count = 1, .n = n, .ranks = ranks};
  rgi_slot_set_aside(n, 4 * n, sizes.aside);
  RGT_OK(rgi_arena_make(&sizes, &address));
  rgi_slots_open(table);
  for (int members = n; members > 1; members = members * 2 / 3)
    expect_slots(members);
  expect_limit();
  rgi_arena_close();
  rgi_node = before;
  free(ranks);
  free(table);
}

static void test_few(void) {
  test_node(2);
  test_node(20);
}

static void test_many(void) {
  static const int sizes[] = {50, 51, 52, 64, 128, 129, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    test_node(sizes[i]);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"few processes", test_few}, {"many processes", test_many}, {NULL, NULL}};
  return rgt_main(argc, argv, "slot", tests);
}
