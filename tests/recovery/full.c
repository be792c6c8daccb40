/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_full.py starts, with RG_SURVIVE=1 and a small arena: full CASE DEATHS. The ranks
 * fill the arena of their node to the last block, those for groups included; then one rank after
 * another dies. The survivors agree, shrink and go on each time.
 *   blocks  the arena is filled with blocks and slots of all sizes
 *   arrays  it is filled by what an application does: arrays, until RG_ERR_NOMEM
 *   replace as blocks, and processes in reserve (RG_RESERVE) take the places of the dead
 * "PASSED CASE" is printed in the end by the first that lives. */
#include <regroup/array.h>

#include "progress/slot.h"
#include "ranks.h"
#include "shm/arena.h"

#define TURNS 40 /* of rounds, with the arena full: what they take is given back */

#define MOST 40000

static struct {
  uint64_t offset;
  size_t bytes;
} block[MOST];
static int blocks, deaths;

static const char *what;

static int is(const char *name) {
  return strcmp(what, name) == 0;
}

static void fill_with_blocks(void) {
  uint64_t slot;
  void *memory;
  for (size_t bytes = 1 << 20; bytes >= 64; bytes /= 2)
    while (blocks < MOST && rgi_arena_alloc("a test", bytes, &block[blocks].offset) == RG_SUCCESS)
      block[blocks++].bytes = bytes;
  for (size_t bytes = 1 << 15; bytes >= 8; bytes /= 2)
    for (uint64_t key = (uint64_t)my_rank * MOST;
         rgi_slot_attach(mix(key + bytes), 1, bytes, &slot, &memory) == RG_SUCCESS;)
      key++;
}

static void give_blocks_back(void) {
  while (blocks > 0) {
    blocks--;
    rgi_arena_free(block[blocks].offset, block[blocks].bytes);
  }
}

/* All ranks of g; the arrays stay. */
static void fill_with_arrays(rg_group g) {
  for (int64_t n = 1 << 16; n >= 1; n /= 2) {
    rg_array a;
    while (!rg_array_create_simple(g, RG_TYPE_DOUBLE, 1, &n, &a))
      ;
  }
}

static void fill(rg_group g) {
  if (is("arrays"))
    fill_with_arrays(g);
  else
    fill_with_blocks();
  all_here(g);
}

static void must_work(rg_group g) {
  int one = 1, sum = 0;
  must(!rg_barrier(g), "rg_barrier of the survivors");
  must(!rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM) && sum == size_of(g), "the sum");
}

/* Groups and decisions come and go. */
static void take_turns(rg_group g) {
  for (int i = 0; i < TURNS; i++) {
    unsigned word = ~(1u << i % 32);
    rg_group same;
    must(!rg_group_agree(g, &word, NULL) && word == ~(1u << i % 32), "rg_group_agree");
    must(!rg_group_shrink(g, &same), "rg_group_shrink");
    must_work(same);
    rg_group_free(&same);
  }
}

static rg_group recover(rg_group g) {
  rg_group next;
  unsigned word = 7;
  int failed = 0;
  must(!rg_group_agree(g, &word, &failed) && word == 7 && failed, "rg_group_agree");
  must(is("replace") ? !rg_group_replace(g, &next) : !rg_group_shrink(g, &next),
       "rg_group_shrink or rg_group_replace");
  rg_group_free(&g);
  must_work(next);
  return next;
}

/* The last rank of g dies; in the end the others have the arena as it was. */
static rg_group lose_one(rg_group g) {
  all_here(g);
  if (rank_in(g) == size_of(g) - 1)
    raise(SIGKILL);
  must(rg_barrier(g) == RG_ERR_PROC_FAILED, "rg_barrier with the dead");
  g = recover(g);
  if (!is("replace"))
    take_turns(g);
  if (blocks && round_now % 2) { /* there is room, and then there is none */
    give_blocks_back();
    fill_with_blocks();
  }
  round_now++;
  return g;
}

/* Those that take the places of the dead join the work where it is. */
static void work(rg_group g) {
  must(!rg_allreduce(g, MPI_IN_PLACE, &round_now, 1, MPI_INT, MPI_MAX), "the round");
  while (round_now < deaths) {
    g = lose_one(g);
    if (is("replace"))
      must(!rg_allreduce(g, MPI_IN_PLACE, &round_now, 1, MPI_INT, MPI_MAX), "the round");
  }
  if (rank_in(g) == 0)
    printf("PASSED %s\n", what);
  rg_group_free(&g);
}

int main(int argc, char **argv) {
  rg_acquisition drawn = {.size = sizeof drawn};
  rg_group g = enter_world(&argc, &argv), outside;
  what = argc > 1 ? argv[1] : "blocks";
  deaths = argc > 2 ? atoi(argv[2]) : 1;
  if (is("replace")) {
    must(!rg_reserve_open(RG_RESERVE_OPTION, &outside), "rg_reserve_open");
    rg_group_free(&g);
    g = outside;
  }
  if (g) {
    must_work(g);
    fill(g);
    work(g);
  } else if (!rg_reserve_park(&drawn) && drawn.group) {
    must_work(drawn.group);
    work(drawn.group);
  }
  g = NULL;
  leave_world(&g);
  return 0;
}
