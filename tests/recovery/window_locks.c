/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_window_locks.py starts, with libregroup-mpi.so preloaded: window_locks HOW SEED, on a
 * window of the processes of each node.
 * exclusive, shared: member 1 is killed with the lock of member 0's memory. The others, which wait
 * for it, get it one after the other, again and again.
 * waiting: member 0 has the lock when member 1, which waits for it, is killed; members 2 to n-1,
 * which ask later, get it when member 0 releases it.
 * adding: member 1 is killed while it accumulates to member 0; then the others do.
 * drawn: members lock the memory of member 0 exclusively and shared, read and write there, and some
 * are killed at any moment. An owner that lives is never disturbed, and no count of a member that
 * lives is lost.
 * In the end the memory of the dead can be locked, and MPI_Win_free is an error. */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "ranks.h"

enum { ROUNDS = 400, SOON = 150000, MOST = 16, LARGE = 1 << 16 };
enum {
  INSIDE,
  COUNTS,
  READERS = COUNTS + MOST,
  SUM = READERS + MOST,
  ADDED,
  WORDS = ADDED + LARGE
};

static int wrong, me, n, victims; /* victims: the last so many members, of those after 0 */
static MPI_Win win;

static void check(int good) {
  wrong += !good;
}

static int is_victim(int member) {
  return member > 0 && member >= n - victims;
}

static int64_t get(int word) {
  int64_t value = -1;
  check(MPI_Get(&value, 1, MPI_INT64_T, 0, word, 1, MPI_INT64_T, win) == MPI_SUCCESS);
  return value;
}

static void put(int word, int64_t value) {
  check(MPI_Put(&value, 1, MPI_INT64_T, 0, word, 1, MPI_INT64_T, win) == MPI_SUCCESS);
}

static void add(int count) {
  static int64_t ones[LARGE];
  for (int i = 0; i < count && !ones[i]; i++)
    ones[i] = 1;
  check(MPI_Accumulate(ones, count, MPI_INT64_T, 0, ADDED, count, MPI_INT64_T, MPI_SUM, win) ==
        MPI_SUCCESS);
}

static void lock(int type, int member) {
  check(MPI_Win_lock(type, member, 0, win) == MPI_SUCCESS);
}

static void unlock(int member) {
  check(MPI_Win_unlock(member, win) == MPI_SUCCESS);
}

/* --- drawn moments --------------------------------------------------------------------------- */

/* The mark of an owner that lives would be a violation: that of a victim may be left of it. */
static void check_mark(int64_t mark) {
  check(mark == 0 || is_victim((int)mark - 1));
}

static void write_alone(void) {
  lock(MPI_LOCK_EXCLUSIVE, 0);
  check_mark(get(INSIDE));
  put(INSIDE, me + 1);
  for (int i = 0; i < n; i++)
    check(get(READERS + i) == 0 || is_victim(i));
  put(COUNTS + me, get(COUNTS + me) + 1);
  put(SUM, get(SUM) + 1);
  sched_yield();
  check(get(INSIDE) == me + 1);
  put(INSIDE, 0);
  unlock(0);
}

static void read_together(void) {
  lock(MPI_LOCK_SHARED, 0);
  put(READERS + me, 1);
  check_mark(get(INSIDE));
  int64_t sum = get(SUM);
  sched_yield();
  check(get(SUM) == sum);
  put(READERS + me, 0);
  unlock(0);
}

static void work(uint64_t seed) {
  int64_t alone = 0;
  if (is_victim(me))
    kill_later(mix(seed + (uint64_t)my_rank) % SOON);
  for (int i = 0; i < ROUNDS || is_victim(me); i++) {
    if (mix(seed + (uint64_t)(1000 * me + i)) % 3)
      read_together();
    else {
      write_alone();
      alone++;
    }
    lock(MPI_LOCK_SHARED, 0);
    add(1);
    unlock(0);
  }
  lock(MPI_LOCK_SHARED, 0);
  check(get(COUNTS + me) == alone);
  unlock(0);
}

/* --- fixed moments ------------------------------------------------------------------------- */

static void tell(MPI_Comm node, int member) {
  MPI_Send(&me, 1, MPI_INT, member, 0, node);
}

static void hear(MPI_Comm node, int member) {
  int said;
  MPI_Recv(&said, 1, MPI_INT, member, 0, node, MPI_STATUS_IGNORE);
}

static void die_with_lock(int type, MPI_Comm node) {
  lock(type, 0);
  for (int i = 0; i < n; i++)
    if (i != 1)
      tell(node, i);
  usleep(200000); /* the others wait */
  kill(getpid(), SIGKILL);
}

static void outlive_owner(MPI_Comm node) {
  hear(node, 1);
  for (int i = 0; i < 3; i++) {
    lock(MPI_LOCK_EXCLUSIVE, 0);
    put(COUNTS, get(COUNTS) + 1);
    unlock(0);
    lock(MPI_LOCK_SHARED, 0);
    check(get(COUNTS) > i);
    unlock(0);
  }
}

static void wait_and_die(MPI_Comm node) {
  hear(node, 0);
  kill_later(200000);
  for (int i = 2; i < n; i++)
    tell(node, i);
  lock(MPI_LOCK_EXCLUSIVE, 0);
  wrong++; /* it has got the lock */
}

static void outlive_waiter(MPI_Comm node) {
  if (me == 0) {
    lock(MPI_LOCK_EXCLUSIVE, 0);
    tell(node, 1);
    usleep(400000);
    unlock(0);
  } else {
    hear(node, 1);
    usleep(50000);
  }
  lock(me % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0);
  unlock(0);
}

/* Each element has been added to by all that live, and by the dead one as often as the element
 * before it, or once less. */
static void check_added(void) {
  static int64_t sums[LARGE];
  check(MPI_Get(sums, LARGE, MPI_INT64_T, 0, ADDED, LARGE, MPI_INT64_T, win) == MPI_SUCCESS);
  for (int i = 1; i < LARGE; i++)
    check(sums[i] == sums[i - 1] || sums[i] == sums[i - 1] - 1);
  check(sums[LARGE - 1] > 0 && sums[0] - sums[LARGE - 1] <= 1);
}

static void add_and_die(void) {
  lock(MPI_LOCK_SHARED, 0);
  kill_later(mix((uint64_t)getpid()) % SOON);
  for (;;)
    add(LARGE);
}

static void outlive_adder(rg_group world) {
  while (rg_barrier(world) != RG_ERR_PROC_FAILED)
    ;
  lock(MPI_LOCK_EXCLUSIVE, 0);
  add(LARGE);
  check_added();
  unlock(0);
}

/* --- all ----------------------------------------------------------------------------------- */

/* An error of the library's that tells of a death. */
static int tells_of_death(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (code == MPI_SUCCESS)
    return 0;
  MPI_Error_string(code, text, &length);
  return strstr(text, "has died") != NULL;
}

static int is(const char *word, const char *how) {
  return strcmp(word, how) == 0;
}

static void live_and_die(const char *how, uint64_t seed, MPI_Comm node, rg_group world) {
  int drawn = is("drawn", how);
  victims = drawn ? 1 + (int)(mix(seed) % (uint64_t)((n + 1) / 2)) : 0;
  if (victims >= n)
    victims = n - 1;
  if (drawn)
    work(seed);
  else if (is("adding", how))
    me == 1 ? add_and_die() : outlive_adder(world);
  else if (is("waiting", how))
    me == 1 ? wait_and_die(node) : outlive_waiter(node);
  else if (me == 1)
    die_with_lock(is("shared", how) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, node);
  else
    outlive_owner(node);
}

int main(int argc, char **argv) {
  int64_t *base;
  MPI_Comm node;
  rg_group world = enter_world(&argc, &argv);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &n);
  MPI_Win_allocate((WORDS + 1) * sizeof *base, sizeof *base, MPI_INFO_NULL, node, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  rg_barrier(world);
  if (n > 1)
    live_and_die(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) : 0, node, world);
  drop_dead(&world);
  while (rg_barrier(world) != RG_SUCCESS)
    drop_dead(&world);
  for (int i = 0; i < n; i++) {
    lock(MPI_LOCK_EXCLUSIVE, i);
    unlock(i);
  }
  check(MPI_Win_lock_all(0, win) == MPI_SUCCESS && MPI_Win_unlock_all(win) == MPI_SUCCESS);
  check(n == 1 || tells_of_death(MPI_Win_free(&win)));
  printf("wrong %d\n", wrong);
  leave_world(&world);
  return wrong != 0;
}
