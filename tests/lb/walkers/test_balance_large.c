/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker's packed state of more than 2^31 bytes is handed over, becomes an outcome and is
 * gathered. Where less than 12 GiB of memory are free, it has a few bytes only.
 * tier: all
 * ranks: 2
 * time: 120 */
#include <regroup.h>
#include <stdio.h>
#include <time.h>

#include "check.h"

#define LARGE (((size_t)1 << 31) + 4104)
#define SMALL ((size_t)4104)
#define NEEDED_KIB (12 << 20)

typedef struct {
  size_t bytes;
  int joined, done, unpacked;
} large_state;

static uint64_t word_at(size_t i) {
  return i * 0x9e3779b97f4a7c15u;
}

static int matches(const void *memory, size_t bytes) {
  const uint64_t *words = memory;
  size_t wrong = 0;
  for (size_t i = 0; i < bytes / sizeof *words; i++)
    wrong += words[i] != word_at(i);
  return wrong == 0;
}

static int large_packed(const rg_walker *walker, size_t *bytes, void *context) {
  const large_state *s = context;
  (void)walker;
  *bytes = s->bytes;
  return RG_SUCCESS;
}

static int large_pack(const rg_walker *walker, void *memory, size_t bytes, void *context) {
  uint64_t *words = memory;
  (void)walker;
  (void)context;
  for (size_t i = 0; i < bytes / sizeof *words; i++)
    words[i] = word_at(i);
  return RG_SUCCESS;
}

static int large_unpack(rg_walker *walker, const void *memory, size_t bytes, void *context) {
  large_state *s = context;
  (void)walker;
  RGT_TRUE(bytes == s->bytes && matches(memory, bytes));
  s->unpacked++;
  return RG_SUCCESS;
}

static int large_changed(rg_walker *walker, rg_group g, void *context) {
  large_state *s = context;
  int size;
  (void)walker;
  RGT_OK(rg_group_size(g, &size));
  s->joined = size == 2;
  return RG_SUCCESS;
}

static int large_unit(rg_walker *walker, rg_group g, void *context) {
  large_state *s = context;
  struct timespec t = {0, 5000000};
  (void)walker;
  (void)g;
  nanosleep(&t, NULL);
  s->done = s->joined;
  return RG_SUCCESS;
}

static double large_left(const rg_walker *walker, void *context) {
  const large_state *s = context;
  (void)walker;
  return s->done ? 0 : 100;
}

static int has_memory(void) {
  FILE *f = fopen("/proc/meminfo", "r");
  char line[128];
  long kib = 0;
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
      break;
  if (f)
    fclose(f);
  return kib >= NEEDED_KIB;
}

static void test_large(void) {
  int64_t count;
  int large = has_memory();
  rg_group world;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_allreduce(world, MPI_IN_PLACE, &large, 1, MPI_INT, MPI_MIN));
  large_state s = {.bytes = large ? LARGE : SMALL};
  rg_walker_kind kind = {.size = sizeof kind,
                         .unit = large_unit,
                         .left = large_left,
                         .changed = large_changed,
                         .packed = large_packed,
                         .pack = large_pack,
                         .unpack = large_unpack,
                         .context = &s};
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options options = {.size = sizeof options, .policy = &policy, .group = 1};
  rg_walker_new walker = {.size = sizeof walker, .id = 5, .left = 100};
  rg_balancer b;
  const rg_balance_outcome *o;
  RGT_OK(rg_policy_parse("most-work", &policy));
  RGT_OK(rg_balance_create(world, &kind, &options, &b));
  RGT_OK(rg_balance_add(b, &walker));
  RGT_OK(rg_balance_run(b));
  RGT_INT(s.unpacked, rgt_rank);
  RGT_OK(rg_balance_gather(b, 1));
  RGT_OK(rg_balance_outcomes(b, &count, &o));
  if (rgt_rank == 1) {
    RGT_INT(count, 1);
    RGT_TRUE(o->bytes == s.bytes && matches(o->state, o->bytes));
  }
  RGT_OK(rg_balance_free(&b));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"large state", test_large}, {NULL, NULL}};
  return rgt_main(argc, argv, "balance_large", tests);
}
