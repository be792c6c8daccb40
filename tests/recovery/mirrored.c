/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_mirrored.py starts, with RG_SURVIVE=1 on two nodes: an array that spans nodes
 * when members die.
 *
 *     mirrored all|one|unmirrored|during
 *
 * all: every rank that is not on rank 0's node dies, some time after an rg_array_sync and
 * changes that come after it; the survivors have the elements of the rg_array_sync. one:
 * the last rank alone dies. unmirrored: as all, without a mirror: the error says so, and
 * accesses end with one, too.
 * during: as all, at any moment of a loop of changes and rg_array_syncs; all elements are of
 * the last one from which the survivor has returned, or the one after it.
 * Rank 0 prints "KEPT survivors". */
#include <sys/time.h>

#include "base/clock.h"
#include "ranks.h"
#include "shm/node.h"

static void make(rg_group g, unsigned flags, rg_array *a) {
  const int64_t shape[2] = {53, 47};
  rg_array_spec spec = {.size = sizeof spec};
  must(!rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape), "rg_array_spec_set");
  spec.ghosts[0] = 1;
  spec.flags = flags;
  must(!rg_array_create(g, &spec, a), "rg_array_create");
}

/* Replaces *a by the survivors' array; or the error that all of them get. */
static int recover(rg_group *g, rg_array *a) {
  int error;
  do {
    drop_dead(g);
    error = rg_array_recover(*g, a);
  } while (error == RG_ERR_PROC_FAILED);
  return error;
}

static void check_recovered(rg_group *g, rg_array *a, uint64_t before) {
  uint64_t after;
  must(!recover(g, a), "rg_array_recover");
  must(!rg_array_checksum(*a, &after) && before == after, "the checksum");
  must(!rg_array_sync(*a) && !rg_array_free(a), "rg_array_sync of the new one");
}

static void die(int sign) {
  (void)sign;
  kill(getpid(), SIGKILL);
}

static int fill(rg_array a, double k) {
  int error = rg_array_fill(a, NULL, NULL, &k);
  if (!error)
    error = rg_array_sync(a);
  must(!error || error == RG_ERR_PROC_FAILED, "rg_array_sync");
  return error;
}

static int extremes(rg_array a, double *least, double *most) {
  int error = rg_array_min(a, NULL, NULL, least, NULL);
  return error ? error : rg_array_max(a, NULL, NULL, most, NULL);
}

/* Until all survivors have read all elements: not all of a node die in the same moment. */
static rg_array recover_and_look(rg_group *g, rg_array a, double *least, double *most) {
  unsigned word;
  do {
    must(!recover(g, &a), "rg_array_recover");
    word = !extremes(a, least, most);
    must(!rg_group_agree(*g, &word, NULL), "rg_group_agree");
  } while (!word);
  return a;
}

/* All of the node die, at a time that is another one in each run. */
static int lose_node_soon(rg_group g) {
  struct itimerval timer = {{0, 0}, {0, 2000 + (int64_t)(rgi_clock_now() * 1e9) % 30000}};
  MPI_Bcast(&timer, sizeof timer, MPI_BYTE, 0, MPI_COMM_WORLD);
  int error = rg_barrier(g); /* all have returned from MPI */
  if (rgi_node_of(my_rank) != rgi_node_of(0)) {
    signal(SIGALRM, die);
    must(!setitimer(ITIMER_REAL, &timer, NULL), "setitimer");
  }
  return error;
}

/* The other node dies, all at about the same time, while all elements count up. */
static void lose_during(rg_group *g) {
  rg_array a;
  double least, most, k = 1;
  make(*g, RG_ARRAY_MIRRORED, &a);
  must(!fill(a, 0), "rg_array_fill");
  int error = lose_node_soon(*g);
  while (!error && !(error = fill(a, k)))
    k++; /* at most one ahead of the others */
  a = recover_and_look(g, a, &least, &most);
  must(least == most && (most == k - 1 || most == k), "one state");
  rg_array_free(&a);
}

/* The elements of the dead are out of reach: an error, and no wait inside MPI. */
static void check_lost(rg_group *g, rg_array a) {
  static double all[53 * 47];
  const int64_t lo[2] = {0, 0}, hi[2] = {53, 47};
  rg_array before = a;
  must(recover(g, &a) == RG_ERR_ARRAY && a == before && strstr(rg_error_detail(), "are lost"),
       "rg_array_recover without a mirror");
  must(rg_array_get(a, lo, hi, all, NULL) == RG_ERR_PROC_FAILED, "rg_array_get");
  must(rg_array_put(a, lo, hi, all, NULL) == RG_ERR_PROC_FAILED, "rg_array_put");
  must(!rg_array_fence(a) && !rg_array_free(&a), "rg_array_fence");
}

/* The others die after an rg_array_sync and changes. */
static void lose_after(rg_group *g, const char *how) {
  rg_array a;
  uint64_t before;
  int mirrored = strcmp(how, "unmirrored") != 0;
  make(*g, mirrored ? RG_ARRAY_MIRRORED : 0, &a);
  must(!rg_array_random(a, 7) && !rg_array_sync(a), "rg_array_sync");
  must(!rg_array_checksum(a, &before), "rg_array_checksum");
  const double two = 2;
  int error =
      rg_array_scale(a, NULL, NULL, &two); /* a rank that has returned may be dead already */
  must(!error || error == RG_ERR_PROC_FAILED, "rg_array_scale");
  if (!strcmp(how, "one") ? my_rank == size_of(*g) - 1 : rgi_node_of(my_rank) != rgi_node_of(0))
    raise(SIGKILL);
  while (!error)
    error = rg_barrier(*g);
  must(error == RG_ERR_PROC_FAILED, "rg_barrier");
  if (mirrored)
    check_recovered(g, &a, before);
  else
    check_lost(g, a);
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv);
  if (!strcmp(argv[1], "during"))
    lose_during(&g);
  else
    lose_after(&g, argv[1]);
  if (rank_in(g) == 0)
    printf("KEPT %d\n", size_of(g));
  leave_world(&g);
  return 0;
}
