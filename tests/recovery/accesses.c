/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_accesses.py starts, with RG_SURVIVE=1 on two nodes: a storm of accesses of other
 * ranks' elements, in the midst of which ranks are killed.
 *
 *     accesses HOW WHO SEED
 *
 * HOW: put, get, acc, real, inc, swap, elements, request, fence, or all. WHO dies: one (the last
 * rank), three, node (all that are not on rank 0's node), daemon (that of the last rank's node, and
 * so all of that node), or none: rank 0 prints "STORM" when it begins, and another node counts as
 * lost since the test cuts it off. Every access returns RG_SUCCESS or
 * RG_ERR_PROC_FAILED. Each rank alone writes to elements of its own at each of the others;
 * where a process of the owner's node lives the survivors find there just what they have
 * written with success. Rank 0 prints "SURVIVED survivors". */
#include <sys/time.h>

#include "noded/client/overlay_client.h"
#include "ranks.h"
#include "shm/node.h"
#include "shm/process.h"

#define LONGEST 20000
#define AFTER 100 /* accesses when a death is known */

/* What each rank has for each other one. */
enum { SUM, COUNT, SWAPPED, SCATTERED, BULK = 16, WIDTH = BULK + LONGEST };

static pid_t daemon_pid; /* of this rank's node, if it is to die; else 0 */
static unsigned long random_state;
static rg_group group;
static rg_array whole, real;
static int64_t added[64], counted[64], swapped[64];
static int64_t buffer[LONGEST];

static int64_t draw(int64_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((random_state >> 33) % (unsigned long)n);
}

/* Elements of mine at that rank. */
static int64_t at(int target, int64_t element) {
  return ((int64_t)target * world_size + my_rank) * WIDTH + element;
}

static int fine(int error, const char *what) {
  return !survivable(error, what);
}

static void do_put(int target) {
  int64_t n = draw(8) ? 1 + draw(64) : LONGEST, lo = at(target, BULK), hi = lo + n;
  fine(rg_array_put(whole, &lo, &hi, buffer, NULL), "rg_array_put");
}

static void do_get(int target) {
  int64_t n = draw(8) ? 1 + draw(64) : LONGEST, lo = at(target, BULK), hi = lo + n;
  static int64_t got[LONGEST];
  fine(rg_array_get(whole, &lo, &hi, got, NULL), "rg_array_get");
}

static void do_acc(int target) {
  const int64_t one = 1, lo = at(target, SUM), hi = lo + 1;
  added[target] += fine(rg_array_acc(whole, &lo, &hi, &one, NULL, NULL), "rg_array_acc");
}

static void do_real(int target) {
  static double ones[LONGEST], half = 0.5;
  int64_t lo = at(target, BULK), hi = lo + (draw(8) ? 8 : LONGEST);
  fine(rg_array_acc(real, &lo, &hi, ones, NULL, &half), "rg_array_acc of doubles");
}

static void do_inc(int target) {
  int64_t before, where = at(target, COUNT);
  if (fine(rg_array_read_inc(whole, &where, 1, &before), "rg_array_read_inc"))
    must(before == counted[target]++, "what rg_array_read_inc has read");
}

static void do_swap(int target) {
  int64_t before, where = at(target, SWAPPED), was = swapped[target];
  if (fine(rg_array_compare_and_swap(whole, &where, was, was + 3, &before), "compare_and_swap")) {
    must(before == was, "what rg_array_compare_and_swap has found");
    swapped[target] += 3;
  }
}

static void do_elements(int target) {
  int64_t where[8], values[8], got[8];
  for (int i = 0; i < 8; i++) {
    where[i] = at(target, SCATTERED + i);
    values[i] = draw(1000);
  }
  if (fine(rg_array_scatter(whole, 8, where, values), "rg_array_scatter") &&
      fine(rg_array_gather(whole, 8, where, got), "rg_array_gather"))
    must(!memcmp(values, got, sizeof got), "what rg_array_gather has read");
}

static void do_request(int target) {
  rg_request put, get;
  int64_t lo = at(target, BULK), hi = lo + LONGEST;
  static int64_t got[LONGEST];
  int error = rg_array_iput(whole, &lo, &hi, buffer, NULL, &put);
  if (fine(error, "rg_array_iput")) {
    error = rg_array_iget(whole, &lo, &hi, got, NULL, &get);
    if (fine(error, "rg_array_iget"))
      fine(rg_wait(&get, NULL), "rg_wait of a get");
    fine(rg_wait(&put, NULL), "rg_wait of a put");
  }
}

static void do_fence(int target) {
  do_put(target);
  fine(rg_array_fence(whole), "rg_array_fence");
}

typedef struct {
  const char *name;
  void (*make)(int target);
} way;

static const way ways[] = {{"put", do_put},     {"get", do_get},           {"acc", do_acc},
                           {"real", do_real},   {"inc", do_inc},           {"swap", do_swap},
                           {"fence", do_fence}, {"elements", do_elements}, {"request", do_request}};

static void access_one(const char *how) {
  int n = (int)(sizeof ways / sizeof *ways),
      target = (my_rank + 1 + (int)draw(world_size - 1)) % world_size;
  if (!strcmp(how, "all"))
    ways[draw(n)].make(target);
  for (int i = 0; i < n; i++)
    if (!strcmp(how, ways[i].name))
      ways[i].make(target);
}

static void die(int sign) {
  (void)sign;
  kill(daemon_pid ? daemon_pid : getpid(), SIGKILL);
}

static int is_to_die(const char *who) {
  if (!strcmp(who, "daemon")) {
    daemon_pid = rgi_overlay_get()->daemon_pid;
    return my_rank == world_size - 1;
  }
  if (!strcmp(who, "node"))
    return rgi_node_of(my_rank) != rgi_node_of(0);
  if (!strcmp(who, "none"))
    return 0;
  return my_rank > 0 && my_rank >= world_size - (!strcmp(who, "one") ? 1 : 3);
}

static void storm(const char *how, const char *who) {
  int dead = 0, left = AFTER;
  struct itimerval timer = {{0, 0}, {0, 1000 + draw(30000)}};
  all_here(group);
  signal(SIGALRM, die);
  if (!strcmp(who, "none") && my_rank == 0)
    must(puts("STORM") != EOF && !fflush(stdout), "puts");
  must(!is_to_die(who) || !setitimer(ITIMER_REAL, &timer, NULL), "setitimer");
  while (left) {
    access_one(how);
    must(!rg_group_failed(group, 0, NULL, &dead), "rg_group_failed");
    left -= dead > 0;
  }
  must(!setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL), "setitimer");
}

static int has_survivor(int target) {
  for (int i = 0; i < world_size; i++)
    if (rgi_node_of(i) == rgi_node_of(target) && !rgi_process_is_dead(i))
      return 1;
  return 0;
}

static void check(int target) {
  int64_t lo = at(target, 0), hi = lo + BULK, got[BULK];
  int error = rg_array_get(whole, &lo, &hi, got, NULL);
  if (!has_survivor(target)) {
    must(error == RG_ERR_PROC_FAILED, "rg_array_get from a lost node");
    return;
  }
  must(!error, "rg_array_get at the end");
  must(got[SUM] == added[target] && got[COUNT] == counted[target] &&
           got[SWAPPED] == swapped[target],
       "what is there at the end");
}

static void shrink(void) {
  do
    drop_dead(&group);
  while (rg_barrier(group));
}

int main(int argc, char **argv) {
  group = enter_world(&argc, &argv);
  must(argc == 4, "three arguments");
  random_state = strtoul(argv[3], NULL, 10) * 64 + (unsigned long)my_rank;
  const int64_t elements = (int64_t)world_size * world_size * WIDTH;
  must(!rg_array_create_simple(group, RG_TYPE_INT64, 1, &elements, &whole) &&
           !rg_array_create_simple(group, RG_TYPE_DOUBLE, 1, &elements, &real),
       "rg_array_create_simple");
  must(!rg_array_zero(whole) && !rg_array_zero(real) && !rg_array_sync(real), "rg_array_zero");
  storm(argv[1], argv[2]);
  shrink();
  must(!rg_array_fence(NULL), "rg_array_fence of all");
  for (int target = 0; target < world_size; target++)
    check(target);
  while (rg_barrier(group))
    shrink();
  if (rank_in(group) == 0)
    printf("SURVIVED %d\n", size_of(group));
  must(!rg_array_free(&real) && !rg_array_free(&whole), "rg_array_free");
  leave_world(&group);
  return 0;
}
