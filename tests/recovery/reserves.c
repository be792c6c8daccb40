/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_reserves.py starts, with RG_SURVIVE=1: reserves CASE. Two processes work and the
 * others are in reserve; one of them dies in each case:
 *   parked    one in reserve: it is not acquired
 *   taker     one that works, in the middle of an acquisition: those it took sleep again
 *   drawn     one that was acquired: the others continue, and acquire again
 *   master    the one that acquired: those it acquired go back, and others acquire them
 *   replace   the first one that works, again and again, until the reserve is empty
 *   all       all that work: those in reserve are told
 *   asked     one that works, while another acquires processes
 *   last      the last one, after one has left: all others can be acquired, and the job ends well
 *   lost      the last one, then all that work: those in reserve are told
 *   storm     reserves storm SEED: the last one and the one before it, and for an odd seed one that
 *             works, at any moment, while those that work acquire processes at the same time: what
 *             lives can be acquired in the end
 * "PASSED CASE" is printed in the end by one that lives. */

#include "intercomm/reserve_directory.h"
#include "ranks.h"
#include "shm/process.h"

#define WORKERS 2

static int aside; /* in reserve */
static const char *what;
static uint64_t seed;

static int is(const char *name) {
  return strcmp(what, name) == 0;
}

static void wait_for_sleepers(int n) {
  for (int there = -1; there != n; usleep(2000))
    must(!rg_reserve_count(&there), "rg_reserve_count");
}

/* All members are there. */
static int count_members(rg_group g) {
  int one = 1, sum = 0;
  int error = rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM);
  must(error || sum == size_of(g), "the sum");
  return error;
}

/* A process to which the others send nothing sees a death, too. */
static void wait_for_death(int rank) {
  for (; !rgi_process_is_dead(rank); usleep(2000))
    rgi_process_check_now();
}

static void draw_and_let_go(rg_group g, int n) {
  rg_group grown;
  must(!rg_group_grow(g, n, &grown), "rg_group_grow");
  must(!count_members(grown), "counting those that were acquired");
  rg_group_free(&grown);
  wait_for_sleepers(n);
}

/* The other of the two that work, alone, acquires all in reserve again. */
static rg_group go_on(rg_group g) {
  must(rg_barrier(g) == RG_ERR_PROC_FAILED, "rg_barrier with the dead");
  drop_dead(&g);
  wait_for_sleepers(aside);
  draw_and_let_go(g, aside);
  return g;
}

/* --- cases ------------------------------------------------------------------------ */

static rg_group parked(rg_group g) {
  rg_group grown = NULL;
  wait_for_sleepers(aside - 1);
  must(!rg_barrier(g), "rg_barrier");
  must(rg_group_grow(g, aside, &grown) == RG_ERR_RESERVE, "one more than live");
  must(!rg_group_grow(g, aside - 1, &grown), "rg_group_grow");
  must(!count_members(grown), "counting those that were acquired");
  for (int i = 0, dead = WORKERS, at; i < 1; i++) {
    rg_group world;
    must(!rg_group_world(&world) && !rg_group_translate(world, 1, &dead, grown, &at) &&
             at == RG_UNDEFINED,
         "the dead was drawn");
    rg_group_free(&world);
  }
  rg_group_free(&grown);
  return g;
}

static rg_group taker(rg_group g) {
  int ranks[64], error = rg_barrier(g);
  rgi_reserve_table_wish wish = {.n = aside - 1, .acquirer = my_rank, .ranks = ranks};
  must(!error || (my_rank > 0 && error == RG_ERR_PROC_FAILED), "rg_barrier");
  if (my_rank == 0) {
    must(!rgi_reserve_directory_acquire("taker", &wish), "rgi_reserve_directory_acquire");
    raise(SIGKILL);
  }
  return go_on(g);
}

static rg_group drawn(rg_group g) {
  rg_group grown, left;
  must(!rg_group_grow(g, aside, &grown), "rg_group_grow");
  must(count_members(grown) == RG_ERR_PROC_FAILED, "counting the dead");
  must(!rg_group_shrink(grown, &left), "rg_group_shrink");
  must(!count_members(left), "counting the others");
  rg_group_free(&left);
  rg_group_free(&grown);
  wait_for_sleepers(aside - 1);
  must(!rg_barrier(g), "rg_barrier");
  draw_and_let_go(g, aside - 1);
  return g;
}

static rg_group master(rg_group g) {
  rg_group alone, grown;
  if (my_rank == 0) {
    must(!rg_group_create_range(g, 0, 0, 1, 5, &alone), "rg_group_create_range");
    must(!rg_group_grow(alone, aside, &grown), "rg_group_grow");
    must(!count_members(grown), "counting those that were acquired");
    raise(SIGKILL);
  }
  return go_on(g);
}

/* The processes that are acquired meanwhile are not lost. */
static rg_group asked(rg_group g) {
  rg_group grown;
  if (my_rank == 1) {
    usleep(100000); /* for rank 0 to ask; if it has not, it will not */
    raise(SIGKILL);
  }
  int error = rg_group_grow(g, aside, &grown);
  must(!error || error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED, "rg_group_grow");
  if (!error)
    rg_group_free(&grown);
  return go_on(g);
}

static rg_group alone_of(rg_group g) {
  rg_group alone;
  must(!rg_group_create_range(g, rank_in(g), rank_in(g), 1, 5, &alone), "rg_group_create_range");
  return alone;
}

static rg_group lose_last(rg_group g) {
  rg_group alone, grown;
  wait_for_death(world_size - 1);
  if (is("lost"))
    raise(SIGKILL);
  if (my_rank == 0) {
    wait_for_sleepers(aside - 1);
    alone = alone_of(g);
    must(rg_group_grow(alone, aside, &grown) == RG_ERR_RESERVE, "one more than live");
    draw_and_let_go(alone, aside - 1);
    rg_group_free(&alone);
  }
  return g;
}

#define STORM_SECONDS 0.5

static int dies_in_storm(int rank) {
  return rank >= world_size - 2 || (rank == 1 && seed % 2);
}

static void begin_storm(void) {
  if (dies_in_storm(my_rank))
    kill_later(mix(seed + (uint64_t)my_rank) % (uint64_t)(STORM_SECONDS * 1e6));
}

/* Each of those that work acquires for itself alone. */
static void acquire_some(rg_group alone, uint64_t number) {
  rg_group grown = NULL;
  int n = 1 + (int)(mix(seed + number) % (uint64_t)aside);
  int error = rg_group_grow(alone, n, &grown);
  if (error == RG_ERR_RESERVE)
    return;
  if (!survivable(error, "rg_group_grow"))
    survivable(count_members(grown), "counting those that were acquired");
  rg_group_free(&grown);
}

static rg_group storm(rg_group g) {
  rg_group alone = alone_of(g), grown;
  double end = now() + STORM_SECONDS;
  for (uint64_t i = 0; now() < end; i++)
    acquire_some(alone, 2 * i + (uint64_t)my_rank);
  rg_group_free(&alone);
  for (int i = 0; i < world_size; i++)
    if (dies_in_storm(i))
      wait_for_death(i);
  drop_dead(&g);
  must(!rg_barrier(g), "rg_barrier");
  wait_for_sleepers(aside - 2);
  must(!rg_barrier(g), "rg_barrier");
  must(rg_group_grow(g, aside - 1, &grown) == RG_ERR_RESERVE, "one more than live");
  draw_and_let_go(g, aside - 2);
  must(!rg_barrier(g), "rg_barrier"); /* both have seen that they sleep */
  draw_and_let_go(g, aside - 2);
  return g;
}

/* Rank 0 of the group dies as long as there is a process to take its place; the sum of the
 * squares of the ranks stays the same. */
static rg_group replace(rg_group g) {
  for (;;) {
    int me = rank_in(g), n = size_of(g), sum = me * me, expected = 0;
    rg_group next;
    for (int i = 0; i < WORKERS; i++)
      expected += i * i;
    must(!rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM), "rg_allreduce");
    must(n < WORKERS || sum == expected, "the ranks have changed");
    if (n < WORKERS)
      return g;
    all_here(g);
    if (me == 0)
      raise(SIGKILL);
    must(rg_barrier(g) == RG_ERR_PROC_FAILED, "rg_barrier with the dead");
    int error = rg_group_replace(g, &next);
    if (error) {
      must(error == RG_ERR_RESERVE, "rg_group_replace");
      must(!rg_group_shrink(g, &next), "rg_group_shrink");
    }
    must(error || rank_in(next) == me, "a survivor's rank has changed");
    rg_group_free(&g);
    g = next;
  }
}

/* --- the two sides ----------------------------------------------------------------- */

static void work(rg_group g) {
  if (is("all"))
    raise(SIGKILL);
  g = is("parked")               ? parked(g)
      : is("taker")              ? taker(g)
      : is("drawn")              ? drawn(g)
      : is("master")             ? master(g)
      : is("asked")              ? asked(g)
      : is("storm")              ? storm(g)
      : is("last") || is("lost") ? lose_last(g)
                                 : replace(g);
  if (rank_in(g) == size_of(g) - 1)
    printf("PASSED %s\n", what);
  rg_group_free(&g);
}

/* Helps until it is over. */
static void help(void) {
  rg_acquisition d = {.size = sizeof d};
  int error;
  if (is("parked") && my_rank == WORKERS)
    raise(SIGKILL);
  if ((is("last") || is("lost")) && my_rank == world_size - 1)
    raise(SIGKILL);
  while (!(error = rg_reserve_park(&d)) && d.group) {
    if (is("replace")) {
      work(d.group);
      return;
    }
    if (is("drawn") && my_rank == WORKERS)
      raise(SIGKILL);
    error = count_members(d.group);
    must(!error || error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED, "counting the members");
    if (is("drawn") && error) {
      rg_group left;
      must(!rg_group_shrink(d.group, &left) && !count_members(left), "counting the others");
      rg_group_free(&left);
    }
    rg_group_free(&d.group);
  }
  int lost = is("all") || is("lost");
  must(error == (lost ? RG_ERR_PROC_FAILED : RG_SUCCESS), "rg_reserve_park");
  must(rg_reserve_park(&d) == error, "rg_reserve_park again");
  if (lost)
    must(0, "no process is left to work");
}

int main(int argc, char **argv) {
  rg_group g, world = enter_world(&argc, &argv);
  what = argc > 1 ? argv[1] : "parked";
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  aside = world_size - WORKERS;
  all_here(world);
  must(!rg_reserve_open(world_size - WORKERS, &g), "rg_reserve_open");
  if (is("last")) {
    must(my_rank != 1 || !rg_reserve_leave(), "rg_reserve_leave");
    all_here(world);
  }
  rg_group_free(&world);
  if (is("storm"))
    begin_storm();
  if (g)
    work(g);
  else
    help();
  leave_world(&world);
  return 0;
}
