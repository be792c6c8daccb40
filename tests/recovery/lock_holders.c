/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_survivors.py starts, with RG_SURVIVE=1: arrays and mutexes when members die.
 * Three times the last rank takes the lock of its own elements, as an accumulate does,
 * and a mutex, and dies with both. A process that needs one of them gets an error and no more;
 * the survivors recover the array with all elements, proven by its checksum. Rank 0
 * prints "KEPT survivors". */
#include <regroup/array.h>
#include <regroup/array_math.h>
#include <regroup/array_regroup.h>

#include "object/array.h"
#include "ranks.h"

static void make(rg_group g, rg_array *a) {
  const int64_t shape[2] = {37, 41};
  rg_array_spec spec = {.size = sizeof spec};
  must(!rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape), "rg_array_spec_set");
  if (round_now == 1)
    spec.ghosts[0] = spec.ghosts[1] = 1;
  if (round_now == 2) {
    spec.layout = RG_LAYOUT_BLOCK_CYCLIC;
    spec.chunk[0] = spec.chunk[1] = 4;
  }
  must(!rg_array_create(g, &spec, a), "rg_array_create");
  must(!rg_array_zero(*a) && !rg_array_sync(*a), "rg_array_zero");
  for (int64_t i = 0; i < shape[0] && my_rank == 0; i++)
    for (int64_t k = 0; k < shape[1]; k++) {
      const int64_t lo[2] = {i, k}, hi[2] = {i + 1, k + 1};
      double x = (double)(100 * i + k);
      must(!rg_array_put(*a, lo, hi, &x, NULL), "rg_array_put");
    }
  must(!rg_array_sync(*a), "rg_array_sync");
}

static void die_with_locks(rg_array a, rg_mutexes mutexes) {
  rg_group g;
  must(!rg_mutexes_lock(mutexes, 0), "rg_mutexes_lock");
  rg_array_group(a, &g);
  must(rgi_lock_try(&a->locks[rank_in(g)]), "the lock of the elements");
  raise(SIGKILL);
}

/* One element of the dead member, and one of a member that lives. */
static void try_all(rg_array a, rg_mutexes mutexes, int dead) {
  const double one = 0;
  int64_t lo[2], hi[2];
  int locked;
  must(!rg_array_distribution(a, dead, lo, hi), "rg_array_distribution");
  if (lo[0] < hi[0] && lo[1] < hi[1]) {
    hi[0] = lo[0] + 1;
    hi[1] = lo[1] + 1;
    must(rg_array_acc(a, lo, hi, &one, NULL, NULL) == RG_ERR_PROC_FAILED, "rg_array_acc");
  }
  must(!rg_array_distribution(a, 0, lo, hi), "rg_array_distribution");
  hi[0] = lo[0] + 1;
  hi[1] = lo[1] + 1;
  must(!rg_array_acc(a, lo, hi, &one, NULL, NULL), "rg_array_acc to a member that lives");
  must(rg_mutexes_lock(mutexes, 0) == RG_ERR_PROC_FAILED, "rg_mutexes_lock of the dead's");
  must(rg_mutexes_try(mutexes, 0, &locked) == RG_ERR_PROC_FAILED, "rg_mutexes_try of the dead's");
  must(!rg_mutexes_lock(mutexes, 1) && !rg_mutexes_unlock(mutexes, 1),
       "rg_mutexes_lock of another");
}

static rg_group lose_one(rg_group g) {
  int last = size_of(g) - 1;
  rg_array a, before_death;
  rg_mutexes m;
  rg_group next;
  uint64_t before, after;
  make(g, &a);
  must(!rg_mutexes_create(g, 2, &m) && !rg_array_checksum(a, &before), "rg_array_checksum");
  all_here(g);
  if (rank_in(g) == last)
    die_with_locks(a, m);
  must(rg_array_sync(a) == RG_ERR_PROC_FAILED, "rg_array_sync");
  try_all(a, m, last);
  must(!rg_group_shrink(g, &next), "rg_group_shrink");
  before_death = a;
  must(rg_array_recover(g, &a) == RG_ERR_PROC_FAILED && a == before_death,
       "rg_array_recover with the dead");
  must(!rg_array_recover(next, &a) && a != before_death, "rg_array_recover");
  must(!rg_array_checksum(a, &after) && before == after, "the checksum");
  must(!rg_array_free(&a) && !rg_mutexes_free(&m) && !rg_group_free(&g), "freeing");
  return next;
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv);
  for (round_now = 0; round_now < 3 && size_of(g) > 1; round_now++)
    g = lose_one(g);
  if (my_rank == 0)
    printf("KEPT %d\n", size_of(g));
  leave_world(&g);
  return 0;
}
